import { describe, expect, it } from 'vitest'
import { storeContract } from '../../../testing/src/store-contract.js'
import { memoryStore } from '../../src/ledger/stores/memory.js'
import { searched } from '../fixtures/store-events.js'

describe('the memory store', () => {
  for (const { title, run } of storeContract({
    create: async () => ({ store: memoryStore(), dispose: async () => {} }),
  }))
    it(title, async ({ skip }) => {
      const reason = await run()
      if (reason !== undefined) skip(reason)
    })

  it('refuses events whose ids do not continue the ledger', async () => {
    const store = memoryStore()
    await expect(store.append('thread', 0, [searched(0), searched(2)])).rejects.toMatchObject({
      code: 'invalid-option',
      data: { path: 'events[1].id' },
    })
    expect(await store.read('thread')).toEqual([])
  })

  it('refuses an event that JSON cannot hold', async () => {
    const store = memoryStore()
    const circular: Record<string, string> = {}
    Object.assign(circular, { self: circular })
    const attempt = store.append('thread', 0, [{ id: 0, anchor: '', kind: 'compacted', kept: circular }])
    await expect(attempt).rejects.toMatchObject({ code: 'store-failed', cause: expect.any(TypeError) })
    expect(await store.read('thread')).toEqual([])
  })

  it('shares nothing between two stores', async () => {
    const first = memoryStore()
    await first.append('thread', 0, [searched(0)])
    expect(await memoryStore().read('thread')).toEqual([])
  })
})
