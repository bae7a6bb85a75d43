/** `toolwell ledger FILE`: a conversation turn by turn, from the ledger that a real host left. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatCompletion, type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { startScriptedChat } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { homeWith } from './support/home.js'

const inputSchema = {
  type: 'object',
  properties: { number: { type: 'integer' } },
  required: ['number'],
} as const

/** A conversation of two questions: a search, a call, a call that fails, and an answer. */
async function conversed(more: { id?: string; name?: string } = {}) {
  const { id = 'Thread 1', name = 'send_invoice' } = more
  const made = homeWith({})
  const folder = join(made.folder, 'ledgers')
  const chat = await startScriptedChat({
    model: [
      { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
      {
        calls: [
          { name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } },
        ],
      },
      { calls: [{ name: 'fly_to_moon', arguments: {} }] },
      { text: 'Done.' },
    ],
  })
  onTestFinished(() => chat.close())
  const well = createToolwell({ mode: 'on', store: jsonlStore(folder) })
  well.catalogue.setSource('billing', {
    tools: [name, 'print_page'].map((each) =>
      defineTool({ name: each, description: `To ${each}`, inputSchema, execute: () => 'sent' }),
    ),
  })
  const conversation = await well.open({ id })
  const wire = openaiChat(conversation)
  const messages: ChatMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
  for (;;) {
    const turn = await wire.begin(messages)
    const response = await fetch(`${chat.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', ...turn.parts }),
    })
    const completion = (await response.json()) as ChatCompletion
    const { messages: results } = await turn.run(completion)
    messages.push(completion.choices[0]?.message as ChatMessage, ...results)
    if (results.length === 0) break
  }
  const file = join(folder, '%54hread%201.jsonl')
  return { ...made, ledgers: folder, file, well, conversation, wire, messages }
}

it('shows the surface, the search, the loads, the calls and the tokens of each request', async () => {
  const { run, file } = await conversed()
  const { code, output, errors } = await run(['ledger', file])
  expect(errors).toBe('')
  expect(code).toBe(0)
  const lines = output.trimEnd().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^ {4}frozen \(start\) on openai-chat: 2 tools deferred, bridge/),
    expect.stringMatching(
      /^ {2}1 0 eager, 0 loaded, 2 deferred · \d+ tokens of tools, \d+ if all were sent · \d+ input tokens.*output$/,
    ),
    expect.stringMatching(
      /^ {4}searched "send an invoice": loaded billing\/send_invoice, 1 not loaded, \d+ tokens$/,
    ),
    expect.stringMatching(/^ {2}2 0 eager, 1 loaded \(billing__send_invoice\), 1 deferred · /),
    '    call of billing/send_invoice succeeded',
    expect.stringMatching(/^ {2}3 0 eager, 1 loaded/),
    '    call of "fly_to_moon" failed (unknown)',
    expect.stringMatching(/^ {2}4 0 eager, 1 loaded/),
    '"Thread 1": 4 requests, 2 of them only to find tools; deferred (bridge)',
    expect.stringMatching(
      /^ {2}input tokens: .* instead of .*(?: with every tool; saved | more than sending every tool)/,
    ),
    expect.stringMatching(/^ {2}with the cache discount, estimated: /),
    expect.stringMatching(/^ {2}the provider counted /),
    '  1 search, 1 loaded: billing__send_invoice',
  ])
})

it('gives the same as JSON, with the figures of the accounts', async () => {
  const { run, file } = await conversed()
  const { code, output } = await run(['ledger', file, '--json'])
  expect(code).toBe(0)
  const shown = JSON.parse(output)
  expect(shown).toMatchObject({
    file,
    conversation: 'Thread 1',
    rest: [],
    accounting: { requests: 4, measured: 4 },
  })
  expect(shown.turns).toHaveLength(4)
  expect(shown.turns[0]).toMatchObject({
    turn: 1,
    wire: 'openai-chat',
    mode: 'on',
    delivery: 'bridge',
    surface: { eager: 0, loaded: [], deferred: 2 },
    usage: { inputTokens: expect.any(Number) },
    before: [{ kind: 'frozen' }],
  })
  expect(shown.turns[0].after.map(({ kind }: { kind: string }) => kind)).toEqual(['searched', 'loaded'])
  const counted = shown.turns.map(({ usage }: { usage: { inputTokens: number } }) => usage.inputTokens)
  expect(counted.reduce((sum: number, each: number) => sum + each)).toBe(
    shown.accounting.provider.inputTokens,
  )
})

it('counts an eager tool that came late, and what a cleared conversation has cost', async () => {
  const { run, file, well, conversation, wire, messages } = await conversed()
  const late = { name: 'ask', description: 'To ask', inputSchema: { type: 'object' }, alwaysLoad: true }
  well.catalogue.setSource('late', { tools: [late] })
  await wire.begin([...messages, { role: 'user', content: 'And?' }])
  expect((await run(['ledger', file])).output).toContain('  5 1 eager, 1 loaded, 1 deferred')
  await conversation.clear()
  const said = '"Thread 1": 5 requests, 2 of them only to find tools; cleared, no request since'
  for (const text of [(await run(['ledger', file])).output, well.report()]) {
    expect(text).toContain(said)
    expect(text).toContain('the provider counted')
    expect(text).not.toMatch(/no request yet|0 searches/)
  }
})

describe('a ledger', () => {
  it('that is damaged is shown up to there, with what to do', async () => {
    const { run, file } = await conversed()
    const lines = readFileSync(file, 'utf8').split('\n')
    // An empty line comes before each line of the ledger.
    lines[7] = lines[7]?.replace('kind', 'kinb') ?? ''
    writeFileSync(file, lines.join('\n'))
    const { code, output, errors } = await run(['ledger', file])
    expect(code).toBe(1)
    expect(output).toContain('  1 0 eager, 0 loaded, 2 deferred')
    expect(errors).toContain(`see toolwell ledger check ${file}`)
    expect(JSON.parse((await run(['ledger', file, '--json'])).output)).toMatchObject({ damage: { line: 8 } })
  })

  it('with a line break in a name stays on one line', async () => {
    const { run, file } = await conversed({ name: 'send_invoice\n  9 999 eager\u001b[31m' })
    const { output } = await run(['ledger', file])
    expect(output).not.toMatch(/^ {2}9 999 eager/m)
    expect(output).not.toContain('\u001b')
  })

  it('is one at a time, and a folder with one names it', async () => {
    const { run, ledgers } = await conversed()
    expect(await run(['ledger', ledgers])).toMatchObject({ code: 0 })
    await jsonlStore(ledgers).append('other', 0, [{ id: 0, anchor: '', kind: 'cleared' }])
    const { code, errors } = await run(['ledger', ledgers])
    expect(code).toBe(2)
    expect(errors).toContain('There are 2 ledgers')
  })
})
