/**
 * Random threads with tools of the provider: hosted calls, calls of code, summaries by the API, results that are lost or
 * interrupted, moves between wires. The strict rules refuse no request, and messages that were sent keep their bytes.
 */
import { type Conversation, createToolwell } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import type { ScriptedCall } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { type Line, WIRES } from './hostile/wires.js'
import { server, tool } from './support/tools.js'

type Item = Readonly<Record<string, unknown>>

const anthropicTools = [
  { type: 'bash_20250124', name: 'bash' },
  { type: 'web_search_20250305', name: 'web_search' },
  { type: 'code_execution_20260120', name: 'code_execution' },
]
const openaiTools = [{ type: 'web_search' }, { type: 'programmatic_tool_calling' }]
const [chat, claude, claudeWithChanges, responses, gemini] = WIRES
const wires = [
  { wire: chat, open: (conversation: Conversation) => openaiChat(conversation) },
  {
    wire: claude,
    open: (conversation: Conversation) => anthropic(conversation, { providerTools: anthropicTools }),
  },
  {
    wire: claudeWithChanges,
    open: (conversation: Conversation) =>
      anthropic(conversation, { providerTools: anthropicTools, toolChanges: true }),
  },
  {
    wire: responses,
    open: (conversation: Conversation) => openaiResponses(conversation, { providerTools: openaiTools }),
  },
  {
    wire: responses,
    open: (conversation: Conversation) =>
      openaiResponses(conversation, { providerTools: openaiTools, native: false }),
  },
  {
    wire: gemini,
    open: (conversation: Conversation) => google(conversation, { providerTools: [{ codeExecution: {} }] }),
  },
] as const

const deferred = ['tracker__create_issue', 'tracker__close_issue', 'late__send_mail']
const name = fc.constantFrom(...deferred)
const value = { value: 'x' }
const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  name.map((one) => ({ name: 'tool_search', arguments: { query: `select:${one}` } })),
  fc
    .constantFrom('read_file', 'add', ...deferred, 'no_such_tool')
    .map((one) => ({ name: one, arguments: value })),
  name.map((one) => ({ name: 'tool_call', arguments: { name: one, arguments: value } })),
)
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('reply' as const),
      calls: fc.array(call, { maxLength: 3 }),
      /** The provider's own steps in the same reply. */
      beside: fc.constantFrom('nothing', 'hosted', 'bash', 'code', 'summary', 'signed'),
      results: fc.constantFrom('kept', 'kept', 'kept', 'lost', 'interrupted'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('world' as const),
      change: fc.constantFrom('comes', 'goes', 'rewords', 'load', 'unload', 'compact'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), to: fc.nat(wires.length - 1) }) },
)

/** Items of the provider, as its own blocks or items. */
function hosted(isAnthropic: boolean, n: number): readonly Item[] {
  if (!isAnthropic)
    return [
      { type: 'web_search_call', id: `ws_${n}`, status: 'completed', action: { type: 'search', query: 'x' } },
    ]
  const id = `srvtoolu_${n}`
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [] },
  ]
}

function code(isAnthropic: boolean, n: number): readonly Item[] {
  if (isAnthropic) {
    const id = `srvtoolu_code${n}`
    const caller = { type: 'code_execution_20260120', tool_id: id }
    return [
      { type: 'server_tool_use', id, name: 'code_execution', input: { code: 'add()' } },
      { type: 'tool_use', id: `toolu_code${n}`, name: 'add', input: value, caller },
    ]
  }
  const caller = { type: 'program', caller_id: `pc_${n}` }
  return [
    { type: 'program', id: `prog_${n}`, call_id: `pc_${n}`, code: 'add()', fingerprint: 'f' },
    {
      type: 'function_call',
      id: `fcp_${n}`,
      call_id: `cp_${n}`,
      name: 'add',
      arguments: '{"value":"x"}',
      caller,
    },
  ]
}

function codeEnd(isAnthropic: boolean, n: number): readonly Item[] {
  if (!isAnthropic)
    return [{ type: 'program_output', id: `po_${n}`, call_id: `pc_${n}`, result: '2', status: 'completed' }]
  const result = { type: 'code_execution_tool_result', tool_use_id: `srvtoolu_code${n}`, content: {} }
  return [{ role: 'assistant', content: [result, { type: 'text', text: `Computed ${n}.` }] }]
}

/** Events after which the provider reads everything again. */
const REREAD = ['frozen', 'returned', 'compacted', 'thinking-stripped']

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

async function play(mode: 'on' | 'off', first: number, steps: readonly Step[]): Promise<void> {
  const tools = [tool('read_file'), tool('add', { callers: ['direct', 'code'] })]
  const well = createToolwell({ tools, mode })
  const { catalogue } = well
  catalogue.setSource('tracker', { tools: server('tracker', ['create_issue', 'close_issue']) })
  const conversation = await well.open({ id: 'a' })
  let at = first
  const here = () => wires[at] as (typeof wires)[number] & { readonly wire: (typeof WIRES)[number] }
  const line = () => here().open(conversation) as unknown as Line
  const say = (text: string) => here().wire.user(text)
  let history: object[] = [say('Begin.')]
  let sent: { readonly list: readonly string[]; readonly events: number } | undefined

  const begin = async () => {
    const turn = await line().begin(history, {})
    expect(here().wire.violationOf(turn.parts)).toBeUndefined()
    const { messages, input, contents } = turn.parts as Record<string, readonly object[]>
    const list = (messages ?? input ?? contents ?? []).map((message) => JSON.stringify(message))
    const { events } = conversation
    const isRead = events.slice(sent?.events).some(({ kind }) => REREAD.includes(kind))
    if (sent && !isRead) expect(list.slice(0, sent.list.length)).toEqual(sent.list)
    sent = { list, events: events.length }
    return turn
  }

  const reply = async ({ calls, beside, results }: Extract<Step, { kind: 'reply' }>, n: number) => {
    const turn = await begin()
    const isClaude = here().wire.name === 'anthropic'
    const isOpenAi = here().wire.name === 'openai-responses'
    const runsCode = beside === 'code' && (isOpenAi || (isClaude && calls.length === 0))
    const bash = beside === 'bash' && isClaude ? [{ name: 'bash', arguments: { command: 'ls' } }] : []
    const named = [...calls, ...bash].map((each, index) => ({ ...each, id: `call_${n}_${index}` }))
    const said = named.length === 0 || n % 2 === 0 ? { text: `Said ${n}.` } : {}
    const answer = here().wire.reply(turn.parts, { ...said, calls: named }, n)
    const more = [
      ...(beside === 'hosted' ? hosted(isClaude, n) : []),
      ...(runsCode ? code(isClaude, n) : []),
      ...(beside === 'summary' && isClaude
        ? [{ type: 'compaction', content: `They talked until ${n}.` }]
        : []),
    ]
    let given: { readonly reply: object; readonly messages: readonly object[] } = answer
    if (isClaude && more.length > 0) {
      const [{ content }] = answer.messages as readonly [{ readonly content: readonly Item[] }]
      const thinking = content.findLastIndex(({ type }) => type === 'thinking') + 1
      const isLast = runsCode
      const blocks = isLast ? [...content, ...more] : content.toSpliced(thinking, 0, ...more)
      const message = { role: 'assistant', content: blocks }
      given = { reply: message, messages: [message] }
    } else if (isOpenAi) {
      const end = beside === 'summary' ? [{ type: 'compaction', id: `cmp_${n}`, encrypted_content: 'x' }] : []
      const output = [...more, ...answer.messages, ...end]
      given = { reply: { output }, messages: output }
    }
    history.push(...given.messages)
    if (results === 'interrupted') {
      history.push(say(`Stop ${n}.`))
      if (runsCode && isClaude) sent = undefined
      return
    }
    const { messages, providerCalls } = await turn.run(given.reply as never)
    const own = providerCalls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'done' }))
    if (own.length > 0) history.push({ role: 'user', content: own })
    if (results === 'kept') history.push(...messages)
    if (runsCode && results === 'kept') {
      // News waits until the code has read its results.
      catalogue.setSource(`more ${n}`, { tools: server(`more ${n}`, ['send_mail']) })
      await begin()
      history.push(...codeEnd(isClaude, n))
    } else if (runsCode && isClaude) sent = undefined
    if (calls.length === 0 || results === 'lost') history.push(say(`Go on ${n}.`))
  }

  for (const [n, each] of steps.entries()) {
    if (each.kind === 'reply') {
      await reply(each, n)
      if (each.beside === 'signed' && here().wire.name === 'anthropic') {
        const content = `They talked until ${n}.`
        const block = { type: 'compaction', content, signature: 's', tool_changes: [] }
        history.push({ role: 'assistant', content: [block] }, say(`After it ${n}.`))
        sent = undefined
      }
    } else if (each.kind === 'move') {
      const thread = line().thread(history)
      at = each.to
      history = [...line().adopt(thread)]
      sent = undefined
    } else if (each.change === 'comes') catalogue.setSource('late', { tools: server('late', ['send_mail']) })
    else if (each.change === 'goes') catalogue.removeSource('late')
    else if (each.change === 'rewords') {
      const description = `Does another thing, ${n}.`
      catalogue.setSource('tracker', {
        tools: server('tracker', ['create_issue', 'close_issue'], { description }),
      })
    } else if (each.change === 'compact') {
      const after = [say(`Summary ${n}.`)]
      await line().compact(history, after)
      history = after
      sent = undefined
    } else await conversation[each.change](['tracker__close_issue'])
  }
  await begin()
}

describe.each(['on', 'off'] as const)('deferral %s', (mode) => {
  it('no request is refused, and sent messages keep their bytes', async () => {
    const property = fc.asyncProperty(
      fc.nat(wires.length - 1),
      fc.array(step, { minLength: 3, maxLength: 25 }),
      (first, steps) => play(mode, first, steps),
    )
    await fc.assert(property, {
      numRuns: Number(process.env.RUNS ?? runs(120)),
      seed: Number(process.env.SEED ?? 2026),
    })
  })
})
