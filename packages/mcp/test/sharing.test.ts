/** Callers that share a running server, and callers it may ask: a question reaches only the caller whose call caused it. */

import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  type Caller,
  connectServers,
  defineServer,
  memoryCache,
  memoryFirstUse,
  type ServerConfig,
} from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEverything, startModern } from './support/http-servers.js'
import { oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually, isAlive } from './support/processes.js'
import { setup } from './support/setup.js'

/** A caller that answers every question with its own name, and remembers what it was asked. */
function person(name: string, { hasRoots = true } = {}) {
  const asked: string[] = []
  const caller: Caller = {
    client: name,
    conversation: 'one',
    handlers: {
      elicit: async ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { name } }
      },
      sample: async () => {
        asked.push('sample')
        return { model: name, role: 'assistant', content: { type: 'text', text: name } }
      },
      ...(hasRoots
        ? {
            roots: () => {
              asked.push('roots')
              return [{ uri: `file:///${name}` }]
            },
          }
        : {}),
    },
  }
  return { name, caller, asked }
}

const as = ({ caller }: { readonly caller: Caller }) => ({ caller })

describe('share', () => {
  const pidOf = async (server: ServerConfig, callers: readonly Caller[]) => {
    const { text } = await setup([server])
    const pids: string[] = []
    for (const caller of callers) pids.push(await text('odd', 'pid', {}, { caller }))
    return new Set(pids).size
  }
  const callers: Caller[] = [
    { client: 'ada', conversation: '1' },
    { client: 'ada', conversation: '2' },
    { client: 'bob', conversation: '1' },
    { client: 'ada', conversation: '1' },
  ]

  it.each([
    ['all', 1],
    ['client', 2],
    ['conversation', 3],
  ] as const)('%s keeps %i servers for three conversations of two clients', async (share, count) => {
    expect(await pidOf(oddServer('odd', {}, { share }), callers)).toBe(count)
  })

  it('conversation is by the conversation that a model calls in', async () => {
    const { well } = await setup([oddServer('odd', {}, { share: 'conversation' })])
    const one = await play(well, 'one')
    const two = await play(well, 'two')
    const first = await one.call('odd__pid', {})
    expect(first).toMatch(/^\d+$/)
    expect(await two.call('odd__pid', {})).not.toBe(first)
    expect(await one.call('odd__pid', {})).toBe(first)
  })

  it('client is by who a conversation acts for', async () => {
    const { well } = await setup([oddServer('odd', {}, { share: 'client' })])
    const first = await (await play(well, 'one', 'ada')).call('odd__pid', {})
    expect(await (await play(well, 'two', 'ada')).call('odd__pid', {})).toBe(first)
    expect(await (await play(well, 'three', 'bob')).call('odd__pid', {})).not.toBe(first)
  })
})

describe('the processes of a client', () => {
  it('end when it leaves, with their last call, and others stay', async () => {
    const { servers, text, events } = await setup([oddServer('odd', {}, { share: 'client' })])
    const [ada, bob] = [{ client: 'ada' }, { client: 'bob' }]
    const pids = [
      await text('odd', 'pid', {}, { caller: ada }),
      await text('odd', 'pid', {}, { caller: bob }),
    ]
    const running = () => servers.inspect()[0]?.running.map(({ owner }) => owner.client)
    // A listing leaves no process behind.
    await servers.refresh('odd')
    expect(running()).toEqual(['ada', 'bob'])
    const stop = new AbortController()
    const waiting = text('odd', 'wait', {}, { caller: ada, signal: stop.signal }).catch(() => 'cancelled')
    servers.leave('ada')
    expect(running()).toEqual(['ada', 'bob'])
    stop.abort()
    expect(await waiting).toBe('cancelled')
    expect(running()).toEqual(['bob'])
    await eventually(() => !isAlive(Number(pids[0])), 'its process has ended')
    expect(await text('odd', 'pid', {}, { caller: bob })).toBe(pids[1])
    // It left on purpose, so nothing was lost.
    expect(events.map(({ kind }) => kind)).not.toContain('state-lost')
    servers.leave('bob')
    expect(running()).toEqual([])
  })
})

describe('a question of a server', () => {
  it.each(['all', 'client', 'conversation'] as const)(
    'reaches the caller alone, with share %s',
    async (share) => {
      const { text } = await setup([oddServer('odd', {}, { share })])
      const ada = person('ada')
      const bob = person('bob')
      expect(JSON.parse(await text('odd', 'ask', { question: 'A?' }, as(ada)))).toMatchObject({
        content: { name: 'ada' },
      })
      expect(JSON.parse(await text('odd', 'sample', {}, as(bob)))).toMatchObject({ model: 'bob' })
      expect(JSON.parse(await text('odd', 'roots', {}, as(ada)))).toEqual({ roots: [{ uri: 'file:///ada' }] })
      expect([ada.asked, bob.asked]).toEqual([['A?', 'roots'], ['sample']])
    },
  )

  it('of calls at the same time reaches each its own, where each has a connection', async () => {
    const { text } = await setup([oddServer('odd', {}, { share: 'client' })])
    const people = Array.from({ length: 5 }, (_, index) => person(`person-${index}`))
    const answers = await Promise.all(
      people.map((each) => text('odd', 'ask', { question: each.name }, as(each))),
    )
    expect(answers.map((answer) => JSON.parse(answer).content.name)).toEqual(people.map(({ name }) => name))
    for (const { name, asked } of people) expect(asked).toEqual([name])
  })

  it('that could be for either of two callers on one pipe reaches neither, and the server gets the reason', async () => {
    const { text, servers } = await setup([oddServer('odd')])
    // Roots would give each a separate connection.
    const ada = person('ada', { hasRoots: false })
    const bob = person('bob', { hasRoots: false })
    await text('odd', 'echo', {}, as(ada))
    const abort = new AbortController()
    const waiting = servers
      .call('odd', 'wait', {}, { ...as(bob), signal: abort.signal })
      .catch(() => 'cancelled')
    const answer = JSON.parse(await text('odd', 'ask', { question: 'Whose?' }, as(ada)))
    expect(answer.message).toMatch(/not clear to which call/)
    abort.abort()
    await waiting
    expect([ada.asked, bob.asked]).toEqual([[], []])
    expect(JSON.parse(await text('odd', 'ask', { question: 'Now?' }, as(ada)))).toMatchObject({
      action: 'accept',
    })
  })

  it('is never asked of a caller that answers none', async () => {
    const { text } = await setup([oddServer('odd')])
    const ada = person('ada')
    await text('odd', 'ask', {}, as(ada))
    // Without the capability, the SDK on our side answers that there is no such method.
    expect(JSON.parse(await text('odd', 'ask', { question: 'Anyone?' }))).toMatchObject({ code: -32601 })
    expect(ada.asked).toHaveLength(1)
  })

  it('over HTTP reaches the caller whose call carries it, with several under way', {
    timeout: 60_000,
  }, async () => {
    const { url } = await startEverything('streamableHttp')
    // The server shows the tool only to those who can answer.
    const { handlers = {} } = person('lister', { hasRoots: false }).caller
    const { servers } = await setup([defineServer('everything', { url })], { handlers })
    const people = Array.from({ length: 4 }, (_, index) => person(`person-${index}`, { hasRoots: false }))
    const results = await Promise.all(
      people.map(({ caller }) =>
        servers.call('everything', 'trigger-sampling-request', { prompt: 'x', maxTokens: 10 }, { caller }),
      ),
    )
    results.forEach((result, index) => {
      expect(JSON.stringify(result.content)).toContain(`person-${index}`)
    })
    for (const { asked } of people) expect(asked).toEqual(['sample'])
  })

  it('in the newer protocol, where an answer asks, reaches the caller alone', async () => {
    const { url } = await startModern()
    const program = fileURLToPath(new URL('support/modern-server.mjs', import.meta.url))
    const { text } = await setup([
      defineServer('http', { url }),
      defineServer('pipe', { command: process.execPath, args: [program, 'stdio'] }),
    ])
    for (const server of ['http', 'pipe']) {
      const people = Array.from({ length: 4 }, (_, index) => person(`person-${index}`))
      const answers = await Promise.all(
        people.map((each) => text(server, 'ask', { question: each.name }, as(each))),
      )
      expect(answers).toEqual(people.map(({ name }) => JSON.stringify({ name })))
      for (const { name, asked } of people) expect(asked).toEqual([name])
    }
  })

  it('reaches the handlers of the program, when a model made the call', async () => {
    const well = createToolwell({ mode: 'on', delivery: 'bridge' })
    const { caller, asked } = person('host')
    const servers = connectServers(well.catalogue, [oddServer('odd')], {
      firstUse: memoryFirstUse(),
      logs: false,
      cache: memoryCache(),
      ...(caller.handlers ? { handlers: caller.handlers } : {}),
    })
    onTestFinished(() => servers.close())
    await servers.settled(60_000)
    const model = await play(well, 'one')
    expect(await model.call('odd__ask', { question: 'Which?' })).toContain('host')
    expect(asked).toEqual(['Which?'])
  })
})
