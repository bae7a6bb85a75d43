/** Forks in a store: their origin stays as long as they need it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type LedgerStore, memoryStore } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mixed } from '../support/tools.js'

const open = (store: LedgerStore, id: string) =>
  createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge', store }).open({ id })

/** A conversation of so many requests, each with a call. */
async function play(store: LedgerStore, requests: number, id: string) {
  const conversation = await open(store, id)
  for (let index = 0; index < requests; index++) {
    await conversation.begin({ requestId: `r${index}`, anchor: `m${index}`, wire: 'openai-chat' })
    const input = { value: { value: 'x' } }
    await conversation.run([{ callId: `c${index}`, anchor: `c${index}`, name: 'read_file', input }])
  }
  return conversation
}

describe('a ledger', () => {
  it('that a fork continues is not deleted before the fork', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolwell-forks-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    for (const store of [jsonlStore(folder), memoryStore()]) {
      const origin = await play(store, 3, 'origin')
      const fork = await origin.fork({ id: 'fork' })
      const second = await fork.fork({ id: 'second', anchor: 'c1' })
      expect(second.length).toBeLessThan(origin.length)
      await expect(store.delete?.('origin')).rejects.toThrow(/was forked from it/)
      expect((await open(store, 'fork')).length).toBe(origin.length + 1)
      // It lies within the part of the first ledger, and refers to that.
      await store.delete?.('fork')
      expect((await open(store, 'second')).length).toBe(second.length)
      await store.delete?.('second')
      await store.delete?.('origin')
      expect(await store.list?.()).toEqual([])
    }
  })

  it('whose origin is gone says so', async () => {
    const store = memoryStore()
    const origin = await play(store, 2, 'origin')
    await origin.fork({ id: 'fork' })
    const lost: LedgerStore = {
      append: store.append,
      read: async (id, from) => (id === 'origin' ? [] : store.read(id, from)),
    }
    await expect(open(lost, 'fork')).rejects.toThrow(/continues the first \d+ events of ledger "origin"/)
  })
})
