/**
 * The law of bound thinking, for any conversation on the Anthropic wire: the strict endpoint never refuses a thinking block,
 * whatever model, host, servers and other providers do between two requests, also if the user regenerates an earlier reply
 * and comes back. A retry, a fork and another process send the same bytes, and what is thought is sent until a latch makes
 * it invalid.
 */
import { anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { mixed, server, tool } from './support/tools.js'
import { startThinking } from './support/wires/anthropic.js'

const names = [
  'tracker__create_issue',
  'tracker__close_issue',
  'calendar__find_slot',
  'git__enter_worktree',
  'mail__send_mail',
]
const name = fc.constantFrom(...names)
const query = fc.oneof(
  fc.constantFrom('create an issue', 'find a slot', 'bake a cake'),
  fc.uniqueArray(name, { minLength: 1, maxLength: 3 }).map((some) => `select:${some.join(',')}`),
  name.map((one) => `unload:${one}`),
)
const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  query.map((text) => ({ name: 'tool_search', arguments: { query: text } })),
  fc.constantFrom(...names, 'Tracker-CreateIssue', 'no_such_tool', 'read_file').map((called) => ({
    name: called,
    arguments: { value: 'x' },
  })),
  name.map((inner) => ({ name: 'tool_call', arguments: { name: inner, arguments: {} } })),
)
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }).map((calls) => ({ calls })) },
  { weight: 2, arbitrary: fc.constant({ text: 'Well.' }) },
  { weight: 1, arbitrary: fc.constant({ text: 'Let me look.', finish: 'pause_turn' }) },
)
const act = fc.constantFrom(
  ...([
    'nothing',
    'nothing',
    'server comes',
    'server goes',
    'server rewords',
    'server fails',
    'server heals',
  ] as const),
  ...([
    'host rewords',
    'host loads',
    'host unloads',
    'retry',
    'fork',
    'resume',
    'compact',
    'elsewhere',
    'regenerate',
    'other branch',
    'loader denied',
    'delivery refused',
  ] as const),
)

type Host = Awaited<ReturnType<typeof startThinking>>
let versions = 0
/** The history that the host showed before it regenerated a reply, by conversation. */
const left = new WeakMap<Host['conversation'], Host['messages'] | 'over'>()
/** Steps that replace branches in a conversation: notices of such a request may move into a branch that was left. */
const ends = ['compact', 'elsewhere', 'loader denied', 'delivery refused']

/** The current decisions of the host's policy. */
interface Policy {
  denied: boolean
}

async function perform(what: string, host: Host, policy: Policy, toolChanges: boolean): Promise<Host> {
  const { catalogue } = host.well
  if (ends.includes(what)) left.set(host.conversation, 'over')
  if (what === 'server comes') catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
  if (what === 'server goes') catalogue.removeSource('mail')
  if (what === 'server fails' || what === 'server heals')
    catalogue.setState('calendar', what === 'server fails' ? 'failed' : 'ready')
  if (what === 'server rewords') {
    const description = `Does quite another thing, ${++versions}.`
    catalogue.setSource('tracker', {
      tools: server('tracker', ['create_issue', 'close_issue'], { description }),
    })
  }
  if (what === 'host rewords') {
    const reworded = tool('read_file', { description: `Reads in another way, ${++versions}.` })
    catalogue.setSource('', { tools: [reworded, tool('write_file')] })
  }
  if (what === 'host loads') await host.conversation.load(['calendar__find_slot'])
  if (what === 'host unloads') await host.conversation.unload(['calendar__find_slot'])
  if (what === 'regenerate') regenerate(host)
  if (what === 'other branch') returnToBranch(host)
  if (what === 'fork') {
    const forked = await host.fork(`fork ${++versions}`, host.length)
    if (left.get(host.conversation) === 'over') left.set(forked.conversation, 'over')
    return forked
  }
  // The other process connects the same servers.
  if (what === 'resume') return host.with(host.conversation, JSON.parse(JSON.stringify(host.messages)))
  if (what === 'loader denied') policy.denied = true
  if (what === 'delivery refused') await refuse(host, toolChanges)
  // All of these also in the middle of a tool loop.
  if (what === 'compact') await host.compact(`Summary ${++versions}.`, 2 + (host.length % 3))
  const isPaused = host.messages.at(-1)?.role === 'assistant'
  if (what === 'elsewhere' && !isPaused) return elsewhere(host)
  return host
}

/** Asks again for an earlier reply. The history that is left may come back. */
function regenerate(host: Host): void {
  const asked = host.messages.flatMap((message, index) => (isAsked(message) ? [index + 1] : []))
  const length = asked[Math.floor(asked.length / 2)]
  if (length === undefined || left.get(host.conversation) === 'over') return
  left.set(host.conversation, [...host.messages])
  host.messages.splice(length)
}

/** Goes back to a history that was left, and leaves the current one. */
function returnToBranch(host: Host): void {
  const before = left.get(host.conversation)
  if (!before || before === 'over') return
  left.set(host.conversation, [...host.messages])
  const isOpen = before.at(-1)?.role === 'assistant'
  host.messages.splice(0, host.messages.length, ...before)
  if (isOpen) host.say(`Back on this branch, ${++versions}.`)
}

function isAsked({ role, content }: Host['messages'][number]): boolean {
  return role === 'user' && typeof content === 'string'
}

/** A proxy that does not know the delivery: the next request goes another way. */
async function refuse(host: Host, toolChanges: boolean): Promise<void> {
  const requestId = `refused ${++versions}`
  const adapter = anthropic(host.conversation, { toolChanges })
  const turn = await adapter.begin(host.messages, { requestId, system: 'You are careful.' })
  await turn.refused(new Error('Extra inputs are not permitted'))
}

/** One turn at another provider, and back. */
async function elsewhere(host: Host): Promise<Host> {
  const claude = anthropic(host.conversation)
  const chat = openaiChat(host.conversation)
  const messages: ChatMessage[] = chat.adopt(claude.thread(host.messages))
  const before = messages.length
  const turn = await chat.begin(messages)
  const load = { name: 'tool_search', arguments: '{"query":"select:tracker__close_issue"}' }
  const said: ChatMessage = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${++versions}`, type: 'function', function: load }],
  }
  messages.push(said, ...(await turn.run(said)).messages)
  messages.push(
    { role: 'assistant', content: `Done ${versions}.` },
    { role: 'user', content: `Back ${versions}.` },
  )
  const thread = [...claude.thread(host.messages), ...chat.thread(messages.slice(before))]
  return host.with(host.conversation, claude.adopt(thread))
}

describe.each([
  { delivery: 'native', toolChanges: false },
  { delivery: 'native', toolChanges: true },
  { delivery: 'bridge', toolChanges: false },
  { delivery: 'append', toolChanges: false },
  { delivery: 'eager', toolChanges: false },
  // The default for small catalogues.
  { delivery: 'auto', mode: 'off', toolChanges: false },
  { delivery: 'auto', mode: 'auto', toolChanges: false },
] as const)(
  'over $delivery, mode $mode, with tool changes: $toolChanges',
  ({ delivery, toolChanges, ...given }) => {
    it('holds', async () => {
      const property = fc.asyncProperty(
        fc.array(fc.tuple(act, reply), { minLength: 2, maxLength: 12 }),
        async (steps) => {
          const policy: Policy = { denied: false }
          const allowed = ({ id }: { readonly id: string }) => !policy.denied || id !== 'toolwell/tool_search'
          let host = await startThinking(
            { tools: mixed(), mode: 'on', ...given, delivery, policy: allowed },
            (index) => steps[index]?.[1] ?? { text: 'Well.' },
            { toolChanges },
          )
          host.say('Begin.')
          for (const [index, [what]] of steps.entries()) {
            host = await perform(what, host, policy, toolChanges)
            const requestId = `request ${index}`
            const answers = await host.step(requestId)
            if (what === 'retry') {
              const raw = host.requests.at(-1)?.raw
              const again = await anthropic(host.conversation, { toolChanges }).begin(
                host.messages.slice(0, -1 - (answers.length > 0 ? 1 : 0)),
                { requestId, system: 'You are careful.' },
              )
              expect(raw).toContain(JSON.stringify(again.parts.messages))
            }
            const last = host.messages.at(-1)
            const isPaused = JSON.stringify(last).includes('Let me look.')
            if (answers.length === 0 && !isPaused) host.say(`Go on, ${index}.`)
          }
          expect(host.requests.every(({ violation }) => violation === undefined)).toBe(true)
          expect(thoughtsKept(host)).toBe(true)
        },
      )
      await fc.assert(property, {
        numRuns: Number(process.env.RUNS ?? runs(60)),
        seed: Number(process.env.SEED ?? 2026),
      })
    })
  },
)

/** The thinking before the last reply is in the last request, unless the ledger says that it is stripped. */
function thoughtsKept(host: Host): boolean {
  const { events } = host.conversation
  if (events.some(({ kind }) => kind === 'thinking-stripped' || kind === 'compacted')) return true
  const requests = host.requests.map(({ raw }) => raw)
  const last = host.messages.findLastIndex(({ role }) => role === 'assistant')
  return host.messages.slice(0, last).every(({ role, content }) => {
    const blocks: readonly Block[] = role === 'assistant' && Array.isArray(content) ? content : []
    const thinking = blocks.find(({ type }) => type === 'thinking')
    if (!thinking || requests.at(-1)?.includes(`"${thinking.signature}"`)) return true
    const wasSent = requests.some((raw) => raw.includes(`"${thinking.signature}"`))
    return !wasSent && isOnlyTold(blocks, requests.at(-1) ?? '')
  })
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly signature?: string
}

/**
 * All calls of the reply are written as text, and it has no other content. The API answers 400 to its thinking alone ("The
 * final block in an assistant message cannot be `thinking`"), so no request contains the reply.
 */
function isOnlyTold(blocks: readonly Block[], raw: string): boolean {
  return blocks.every(
    ({ type, id, name }) =>
      type === 'thinking' ||
      (type === 'tool_use' && !raw.includes(`"${id}"`) && raw.includes(`An earlier call of \\"${name}\\"`)),
  )
}
