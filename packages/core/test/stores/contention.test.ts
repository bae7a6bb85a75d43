/** Another process writes between any two steps of this one. */
import { createToolwell, defineTool, type LedgerStore, memoryStore } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { expect, it } from 'vitest'

const call = {
  role: 'assistant' as const,
  content: null,
  tool_calls: [{ id: 'c1', type: 'function' as const, function: { name: 's__pay', arguments: '{}' } }],
}

/** A conversation whose appends meet a conflict while `isBusy` says so. */
async function openContended(isBusy: (conflicts: number) => boolean) {
  const store = memoryStore()
  let conflicts = 0
  const froms: number[] = []
  const contended: LedgerStore = {
    ...store,
    read(ledger, from = 0) {
      froms.push(from)
      return store.read(ledger, from)
    },
    async append(ledger, expected, events) {
      if (isBusy(conflicts)) {
        conflicts++
        const id = (await store.read(ledger)).length
        const other = {
          kind: 'searched',
          query: 'other',
          loaded: [],
          dropped: [],
          missed: true,
          tokens: 1,
        } as const
        await store.append(ledger, id, [{ id, anchor: '', ...other }])
      }
      return store.append(ledger, expected, events)
    },
  }
  const paid: string[] = []
  const execute = () => {
    paid.push('paid')
    return 'paid'
  }
  const well = createToolwell({ store: contended, mode: 'on', eager: ['pay'] })
  well.catalogue.setSource('s', {
    tools: [defineTool({ name: 'pay', description: 'Pays.', inputSchema: {}, execute })],
  })
  return { chat: openaiChat(await well.open({ id: 'c' })), paid, froms, conflicts: () => conflicts }
}

it('retries until it succeeds, and reads only events that it has not seen', async () => {
  const { chat, paid, froms, conflicts } = await openContended((count) => count < 40)
  const turn = await chat.begin([{ role: 'user', content: 'Pay.' }])
  const { messages } = await turn.run({ choices: [{ message: call }] })
  expect(messages).toMatchObject([{ content: 'paid' }])
  expect(paid).toEqual(['paid'])
  expect(conflicts()).toBe(40)
  const [, ...tails] = froms
  expect(tails).toHaveLength(40)
  expect(tails).toEqual([...new Set(tails)].sort((one, other) => one - other))
})

it('does not run a call whose start could not be recorded before the caller aborted', async () => {
  const controller = new AbortController()
  let isBusy = false
  const { chat, paid } = await openContended((count) => {
    if (count === 5) controller.abort()
    return isBusy
  })
  const turn = await chat.begin([{ role: 'user', content: 'Pay.' }])
  isBusy = true
  const { messages } = await turn.run({ choices: [{ message: call }] }, { signal: controller.signal })
  expect(JSON.stringify(messages)).toContain('nothing was run')
  expect(paid).toEqual([])
})
