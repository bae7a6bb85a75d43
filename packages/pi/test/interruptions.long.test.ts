/**
 * What comes between a load and a call: a provider that is busy or breaks off, a tool that is forbidden, a server that dies and
 * returns. pi repeats requests by itself (`retry` in its settings). It has no permissions of its own: what is forbidden is so in
 * the config of the servers.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commonPrefix, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { type Api, piHome, realServers, wires } from './support/pi-home.ts'
import { prefixOf } from './support/prefix.ts'
import { serverFile } from './support/server-file.ts'

const apis = Object.keys(wires) as Api[]
const NOTE = 'notes__add_note'
const search = { calls: [{ name: 'tool_search', arguments: { query: 'add a note to the notebook' } }] }
const add = (api: Api, text: string) => {
  const input = { text }
  return api === 'anthropic-messages'
    ? { calls: [{ name: NOTE, arguments: input }] }
    : { calls: [{ name: 'tool_call', arguments: { name: NOTE, arguments: input } }] }
}

/** pi with a server whose calls each leave a line: the process that ran it and the note. */
async function withNotes(api: Api, model: readonly ScriptedReply[]) {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const server = serverFile([{ name: 'add_note', description: 'Adds a note to the notebook', inputSchema }], {
    answer: `const { appendFileSync } = await import('node:fs')
      appendFileSync(new URL('notes', import.meta.url), process.pid + ' ' + args.text + '\\n')
      if (args.text === 'last words') process.exit(3)
      return { content: [{ type: 'text', text: 'Noted: ' + args.text }] }`,
  })
  const pi = await piHome(api, model, { servers: { ...realServers, notes: [server] } })
  // The clients of the providers repeat too: here only pi does, so that every try passes through the extension.
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
    /** The notes that were taken, each as often as it was. */
    notes: () => lines().map((line) => line.slice(line.indexOf(' ') + 1)),
    pids: () => lines().map((line) => Number.parseInt(line, 10)),
    last: () => JSON.stringify(requests.at(-1)?.body),
    /** Every request was accepted and begins with the whole one before it, and pi can read its session. */
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

    // What failed is in pi's session, and in no request of the next process either.
    expect(JSON.stringify(pi.entries())).toContain('never')
    expect(await pi.run(['-c', '-p', 'And another.'])).toEqual({ code: 0, output: 'Second.' })
    expect(requests).toHaveLength(10)
    expect(new Set(requests.slice(6, 9).map(({ raw }) => raw)).size).toBe(1)
    expect(notes()).toEqual(['one', 'two'])
    expect(last()).not.toMatch(/I w"|never/)
    expectSound()
  })
})
