/**
 * Interruptions between a load and a call: a busy or broken provider, a forbidden tool, a server that dies and returns. pi
 * repeats requests (`retry` in its settings). pi 0.73.1 has no permissions, plan mode or sub-agents, so tools are forbidden in
 * the server config and the other two have no test. Servers do not depend on the wire, so they are tested on one wire with the
 * bridge and on the native one.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commonPrefix, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { type Api, piHome, realServers, wires } from './support/pi-home.ts'
import { prefixOf } from './support/prefix.ts'
import { serverFile } from './support/server-file.ts'

const apis = Object.keys(wires) as Api[]
const NOTE = 'notes__add_note'
const REFUSED = `${NOTE} cannot be used now: no longer available. Nothing was run.`
const search = { calls: [{ name: 'tool_search', arguments: { query: 'add a note to the notebook' } }] }
const add = (api: Api, text: string) => {
  const input = { text }
  return api === 'anthropic-messages'
    ? { calls: [{ name: NOTE, arguments: input }] }
    : { calls: [{ name: 'tool_call', arguments: { name: NOTE, arguments: input } }] }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** pi with a server whose calls each write a line: the process id and the note. */
async function withNotes(api: Api, model: readonly ScriptedReply[]) {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const server = serverFile([{ name: 'add_note', description: 'Adds a note to the notebook', inputSchema }], {
    answer: `const { appendFileSync } = await import('node:fs')
      appendFileSync(new URL('notes', import.meta.url), process.pid + ' ' + args.text + '\\n')
      if (args.text === 'last words') process.exit(3)
      return { content: [{ type: 'text', text: 'Noted: ' + args.text }] }`,
  })
  const pi = await piHome(api, model, { servers: { ...realServers, notes: [server] } })
  // Only pi repeats requests, not the provider's client, so that every attempt passes through the extension.
  const retry = { baseDelayMs: 10, provider: { maxRetries: 0 } }
  writeFileSync(join(pi.agent, 'settings.json'), JSON.stringify({ retry }))
  const { requests } = pi.endpoint
  const lines = () => {
    const file = join(dirname(server), 'notes')
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  }
  return {
    pi,
    server,
    requests,
    /** Every note, once per call. */
    notes: () => lines().map((line) => line.slice(line.indexOf(' ') + 1)),
    pids: () => lines().map((line) => Number.parseInt(line, 10)),
    last: () => JSON.stringify(requests.at(-1)?.body),
    /** Every request was accepted and continues the one before, and pi can read its session. */
    expectSound() {
      expect(requests.map(({ violation }) => violation?.message)).toEqual(requests.map(() => undefined))
      const prefixes = requests.map(({ body }) => prefixOf(body, api))
      for (const [index, prefix] of prefixes.slice(0, -1).entries())
        expect(commonPrefix(prefix, prefixes[index + 1] ?? ''), `request ${index + 1}`).toBe(prefix.length)
      for (const [header, ...entries] of pi.sessions()) {
        expect(header).toMatchObject({ type: 'session' })
        const ids = new Set(entries.map(({ id }) => id))
        for (const { parentId } of entries) if (parentId !== null) expect(ids).toContain(parentId)
      }
    },
  }
}

describe.each(apis)('%s', (api) => {
  it('a request is repeated with the same bytes after 429, 529 and a cut stream, and the call runs once', async () => {
    const busy = { status: 429, error: 'Too many requests' }
    const overloaded = { status: 529, error: 'overloaded' }
    const cut = { cutAfter: 3, text: 'I was going to say', ...add(api, 'never') }
    const { pi, requests, notes, last, expectSound } = await withNotes(api, [
      search,
      busy,
      overloaded,
      cut,
      add(api, 'one'),
      { text: 'First.' },
      overloaded,
      cut,
      add(api, 'two'),
      { text: 'Second.' },
    ])
    expect(await pi.run(['-p', 'Take a note.'])).toEqual({ code: 0, output: 'First.' })
    expect(requests.map(({ status }) => status)).toEqual([200, 429, 529, 200, 200, 200])
    expect(new Set(requests.slice(1, 5).map(({ raw }) => raw)).size).toBe(1)
    expect(requests[1]?.raw).toContain(NOTE)
    expect(notes()).toEqual(['one'])

    // The failure is in pi's session, but in no request of the next process.
    expect(JSON.stringify(pi.entries())).toContain('never')
    expect(await pi.run(['-c', '-p', 'And another.'])).toEqual({ code: 0, output: 'Second.' })
    expect(requests).toHaveLength(10)
    expect(new Set(requests.slice(6, 9).map(({ raw }) => raw)).size).toBe(1)
    expect(notes()).toEqual(['one', 'two'])
    expect(last()).not.toMatch(/I w"|never/)
    expectSound()
  })
})

describe.each(apis)('%s', (api) => {
  it('a tool that is forbidden after it was loaded does not run, the model reads why, and what was sent stays', async () => {
    const { pi, notes, last, expectSound } = await withNotes(api, [
      search,
      { text: 'Found.' },
      add(api, 'forbidden'),
      { text: 'Refused.' },
      add(api, 'still forbidden'),
      { text: 'Refused again.' },
      add(api, 'allowed'),
      { text: 'Noted.' },
    ])
    const deny = (patterns: readonly string[]) => {
      const config = JSON.parse(readFileSync(pi.config, 'utf8'))
      config.mcpServers.notes.deny = patterns
      writeFileSync(pi.config, JSON.stringify(config))
    }
    const client = pi.rpc()
    expect(await client.prompt('Find the tool.')).toBe('Found.')
    deny(['add_*'])
    expect(await client.prompt('Take a note.')).toBe('Refused.')
    expect(last().split(REFUSED)).toHaveLength(2)
    await client.end()
    expect(await pi.run(['-c', '-p', 'And now?'])).toEqual({ code: 0, output: 'Refused again.' })
    expect(last().split(REFUSED)).toHaveLength(3)
    expect(notes()).toEqual([])

    deny([])
    expect(await pi.run(['-c', '-p', 'Now.'])).toEqual({ code: 0, output: 'Noted.' })
    expect(notes()).toEqual(['allowed'])
    expectSound()
  })
})

describe.each(['anthropic-messages', 'openai-responses'] as const)('%s', (api) => {
  it('a server that dies in a call, is killed, is gone and returns: the model reads what is known, and each call runs once', async () => {
    const { pi, server, notes, pids, last, expectSound } = await withNotes(api, [
      search,
      add(api, 'last words'),
      add(api, 'started again'),
      { text: 'First.' },
      add(api, 'after the kill'),
      { text: 'Second.' },
      add(api, 'to nobody'),
      { text: 'Third.' },
      add(api, 'returned'),
      { text: 'Fourth.' },
    ])
    /** A process exists until its parent has reaped it. */
    const killLast = async () => {
      const pid = pids().at(-1) ?? 0
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false)
    }
    const client = pi.rpc()
    const stateOfNotes = async () => {
      const since = client.all.length
      await client.command('prompt', { message: '/toolwell' })
      const { message } = await client.next(({ method }) => method === 'notify', since)
      return /^ +notes +(\w+)/m.exec(String(message))?.[1]
    }
    expect(await client.prompt('Take two notes.')).toBe('First.')
    expect(last()).toContain('The call may have taken effect')
    expect(last()).toContain('Noted: started again')

    await killLast()
    expect(await client.prompt('Another.')).toBe('Second.')
    expect(last()).toContain('Noted: after the kill')

    renameSync(server, `${server}.gone`)
    await killLast()
    expect(await client.prompt('Another.')).toBe('Third.')
    expect(last()).toContain(`${NOTE} failed: notes cannot be used: the server exited with code 1`)
    renameSync(`${server}.gone`, server)
    // After two failures in a row, the server is not started for a moment.
    await expect.poll(stateOfNotes, { timeout: 60_000 }).not.toBe('failed')
    expect(await client.prompt('Another.')).toBe('Fourth.')
    expect(last()).toContain('Noted: returned')
    expect(notes()).toEqual(['last words', 'started again', 'after the kill', 'returned'])
    expect(new Set(pids()).size).toBe(4)
    await client.end()
    await expect.poll(() => pids().filter(isAlive), { timeout: 60_000 }).toEqual([])
    expectSound()
  })
})
