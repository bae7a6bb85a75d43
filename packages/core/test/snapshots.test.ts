/** Snapshots: what a ledger adds up to, kept beside it. They save time, and change nothing else. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type LedgerEvent, type LedgerStore, memoryStore } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OpenedLedger, openLedger, readLedger, sumUp } from '../src/ledger/open-ledger.js'
import { FOLD_VERSION, writeSnapshot } from '../src/ledger/snapshot.js'
import { mixed } from './support/tools.js'

/** Everything that is known of a ledger, as plain data. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      each instanceof Map || each instanceof Set ? [...(each as Iterable<unknown>)] : each,
    ),
  )
const known = ({ events: _, from: __, started, ...sum }: OpenedLedger) =>
  plain({ ...sum, started: started.written() })

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-snapshots-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const open = (store: LedgerStore, id = 'thread') =>
  createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge', store }).open({ id })

/** A conversation of so many requests, each with a call; and the file of its snapshot, once there is one. */
async function long(store: LedgerStore, requests: number, id = 'thread') {
  const conversation = await open(store, id)
  for (let index = 0; index < requests; index++) {
    await conversation.begin({ requestId: `r${index}`, anchor: `m${index}`, wire: 'openai-chat' })
    const call = {
      callId: `c${index}`,
      anchor: `c${index}`,
      name: 'read_file',
      input: { value: { value: 'x' } },
    }
    await conversation.run([call])
  }
  return conversation
}

const file = () => join(folder, 'thread.snapshot')

async function written() {
  for (let tries = 0; tries < 500 && !existsSync(file()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  expect(existsSync(file())).toBe(true)
}

describe('a ledger in files', () => {
  it('opens from its snapshot, and is the same without it, and with any damage to it', async () => {
    const { length } = await long(jsonlStore(folder), 350)
    await written()
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    const whole = known(sumUp('thread', await readLedger(jsonlStore(folder), 'thread')))
    const opened = await openLedger(jsonlStore(folder), 'thread')
    expect(opened.from).toBeGreaterThan(900)
    expect(opened.events.length).toBeLessThan(length - 900)
    expect(known(opened)).toEqual(whole)
    const good = await readFile(file())
    for (const place of [0, 3, 30, 60, 90, good.length >> 1, good.length - 2]) {
      const bad = Buffer.from(good)
      bad[place] = (bad[place] ?? 0) ^ 1
      await writeFile(file(), bad)
      const again = await openLedger(jsonlStore(folder), 'thread')
      expect(again.from, `a bit of byte ${place}`).toBe(0)
      expect(known(again)).toEqual(whole)
    }
    for (const cut of [0, 1, 50, good.length - 1]) {
      await writeFile(file(), good.subarray(0, cut))
      expect(known(await openLedger(jsonlStore(folder), 'thread'))).toEqual(whole)
    }
    await rm(file())
    expect(known(await openLedger(jsonlStore(folder), 'thread'))).toEqual(whole)
    // A link in its place is not followed.
    await writeFile(join(folder, 'elsewhere'), good)
    await symlink(join(folder, 'elsewhere'), file())
    expect((await openLedger(jsonlStore(folder), 'thread')).from).toBe(0)
    // Whoever opens it next writes one again.
    await rm(file())
    await open(jsonlStore(folder))
    await written()
    expect((await openLedger(jsonlStore(folder), 'thread')).from).toBe(length)
  })

  it('goes on from a snapshot as from the log: requests, late retries, calls that were started, forks before it', async () => {
    const first = await long(jsonlStore(folder), 350)
    await written()
    const again = await open(jsonlStore(folder))
    expect(again.length).toBe(first.length)
    expect(again.events.length).toBeLessThan(first.length)
    expect(await again.readEvents()).toEqual(first.events)
    const begin = (conversation: typeof first, requestId: string, anchor: string) =>
      conversation.begin({ requestId, anchor, wire: 'openai-chat' })
    // A retry of a request from before the snapshot.
    const { tools, ...late } = await begin(again, 'r3', 'm3')
    expect({ tools: plain(tools), ...(plain(late) as object) }).toEqual({
      ...(plain(await begin(first, 'r3', 'm3')) as object),
    })
    expect(again.length).toBe(first.length)
    // A call from before the snapshot does not run again.
    const call = { callId: 'c3', anchor: 'c3', name: 'read_file', input: { value: { value: 'x' } } }
    expect((await again.run([call]))[0]?.outcome.kind).toBe('already-started')
    const fork = await again.fork({ id: 'before', anchor: 'c3' })
    expect(fork.length).toBe(first.events.findLastIndex(({ anchor }) => anchor === 'c3') + 2)
    expect((await jsonlStore(folder).read('before')).map(({ kind }) => kind)).toEqual(['forked'])
    // Both go on, and a new process knows what they know.
    await begin(again, 'new', 'new')
    await begin(fork, 'other', 'other')
    expect(plain((await open(jsonlStore(folder))).inspect())).toEqual(plain(again.inspect()))
    expect(plain((await open(jsonlStore(folder), 'before')).inspect())).toEqual(plain(fork.inspect()))
  })

  it('does not believe a snapshot of another ledger, of another version, or of more than there is', async () => {
    await long(jsonlStore(folder), 350)
    await written()
    const log = await readFile(join(folder, 'thread.jsonl'), 'utf8')
    // Put back to an earlier state, and gone on with otherwise.
    await writeFile(join(folder, 'thread.jsonl'), `${log.split('\n').slice(0, 40).join('\n')}\n`)
    const store = jsonlStore(folder)
    expect((await openLedger(store, 'thread')).from).toBe(0)
    const other = await long(jsonlStore(join(folder, 'other')), 360)
    await rm(file(), { force: true })
    const text = writeSnapshot(sumUp('thread', other.events), other.events[0] as LedgerEvent)
    const memory = memoryStore()
    await memory.append('thread', 0, [...other.events])
    const { length } = other.events
    for (const wrong of [text, text.replace(`"fold":${FOLD_VERSION}`, '"fold":0'), '', '{', 'null', '[]']) {
      await memory.snapshot?.write('thread', { count: length, text: wrong })
      expect((await openLedger(memory, 'thread')).from).toBe(0)
    }
  })

  it('that a fork goes on from is not deleted before the fork', async () => {
    for (const store of [jsonlStore(folder), memoryStore()]) {
      const origin = await long(store, 3, 'origin')
      const fork = await origin.fork({ id: 'fork' })
      const second = await fork.fork({ id: 'second', anchor: 'c1' })
      expect(second.length).toBeLessThan(origin.length)
      await expect(store.delete?.('origin')).rejects.toThrow(/was forked from it/)
      expect((await open(store, 'fork')).length).toBe(origin.length + 1)
      // What lies before its own beginning is taken from the first of them.
      await store.delete?.('fork')
      expect((await open(store, 'second')).length).toBe(second.length)
      await store.delete?.('second')
      await store.delete?.('origin')
      expect(await store.list?.()).toEqual([])
    }
  })

  it('whose origin is gone says so', async () => {
    const store = memoryStore()
    const origin = await long(store, 2, 'origin')
    await origin.fork({ id: 'fork' })
    const lost: LedgerStore = {
      append: store.append,
      read: async (id, from) => (id === 'origin' ? [] : store.read(id, from)),
    }
    await expect(open(lost, 'fork')).rejects.toThrow(/goes on from the first \d+ events of ledger "origin"/)
  })
})
