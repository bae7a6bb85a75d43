/** A host without a network: random but legal steps on one conversation, every produced request kept. For property tests. */
import {
  type Conversation,
  createToolwell,
  type LedgerStore,
  type Policy,
  type Tool,
  type Toolwell,
  type ToolwellOptions,
} from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { findChatViolation } from '../../../testing/src/openai-chat/rules.js'
import { mixed, server, tool } from './tools.js'

export interface SimulatedCall {
  readonly name: string
  readonly arguments: string
}

export type Step =
  /** A request; `again` sends it twice with one id. No calls: the model answers in words. */
  | { readonly kind: 'request'; readonly again: boolean; readonly calls: readonly SimulatedCall[] }
  | { readonly kind: 'load' | 'unload'; readonly names: readonly string[] }
  | { readonly kind: 'compact'; readonly keep: number; readonly trim: boolean }
  | { readonly kind: 'clear' }
  | { readonly kind: 'source'; readonly name: string; readonly change: SourceChange }
  | { readonly kind: 'policy'; readonly deny: string }

export type SourceChange = 'add' | 'grow' | 'redefine' | 'remove' | 'fail' | 'ready'

export interface SimulationOptions extends ToolwellOptions {
  readonly store: LedgerStore
  /** The provider names every call `call_0`, `call_1` … within its reply. */
  readonly reuseIds?: boolean
}

export interface Produced {
  readonly requestId: string
  readonly json: string
  readonly messages: readonly ChatMessage[]
}

export interface Simulation {
  readonly well: Toolwell
  readonly conversation: Conversation
  readonly messages: ChatMessage[]
  readonly produced: Produced[]
  /** Tools that really ran, in order, by name. */
  readonly ran: string[]
  take(step: Step): Promise<void>
}

export function simulatedTools(ran: string[] = []): Tool[] {
  const tools = [
    ...mixed(),
    ...server('fragile', ['broken_pipe'], {
      execute: () => {
        throw new Error('the pipe is broken')
      },
    }),
  ]
  return tools.map((made) => watched(made, ran))
}

function watched(made: Tool, ran: string[]): Tool {
  return {
    ...made,
    execute: (input, call) => {
      ran.push(made.name)
      return made.execute?.(input, call)
    },
  }
}

export async function simulate(options: SimulationOptions, id = 'simulated'): Promise<Simulation> {
  const { reuseIds = false, ...given } = options
  const ran: string[] = []
  const denied = new Set<string>()
  const policy: Policy = ({ id: asked }) => !denied.has(asked)
  const well = createToolwell({ tools: simulatedTools(ran), policy, ...given })
  const conversation = await well.open({ id })
  const wire = openaiChat(conversation)
  let messages: ChatMessage[] = [{ role: 'user', content: 'Begin.' }]
  let versions = 0
  let requests = 0
  let calls = 0

  const begin = async (requestId: string) => {
    const turn = await wire.begin(messages, { requestId })
    const violation = findChatViolation({ model: 'simulated', ...turn.parts })
    if (violation) throw new Error(`a strict endpoint refuses this request: ${violation.message}`)
    return turn
  }

  const request = async (again: boolean, wanted: readonly SimulatedCall[]) => {
    if (messages.at(-1)?.role === 'assistant')
      messages.push({ role: 'user', content: `Go on, ${messages.length}.` })
    const requestId = `request-${++requests}`
    const turn = await begin(requestId)
    simulation.produced.push({ requestId, json: JSON.stringify(turn.parts), messages: [...messages] })
    if (again) await begin(requestId)
    const reply: ChatMessage =
      wanted.length === 0
        ? { role: 'assistant', content: `Done ${requests}.` }
        : {
            role: 'assistant',
            content: null,
            tool_calls: wanted.map((call, index) => ({
              id: reuseIds ? `call_${index}` : `call_${++calls}`,
              type: 'function',
              function: call,
            })),
          }
    const { messages: results } = await turn.run(reply)
    messages.push(reply, ...results)
  }

  const change = (name: string, what: SourceChange) => {
    const { catalogue } = well
    const source = catalogue.sources.get(name)
    const held = [...(source?.ids ?? [])].flatMap((known) => catalogue.get(known)?.tool ?? [])
    if (what === 'remove') catalogue.removeSource(name)
    else if (!source && (what === 'fail' || what === 'ready')) return
    else if (what === 'fail') catalogue.setState(name, 'failed')
    else if (what === 'ready') catalogue.setState(name, 'ready')
    else if (what === 'redefine')
      catalogue.setSource(name, {
        tools: held.map((made) => ({ ...made, description: `${made.name}, version ${++versions}` })),
      })
    else if (what === 'grow')
      catalogue.setSource(name, { tools: [...held, watched(tool(`extra_${++versions}`), ran)] })
    else
      catalogue.setSource(name, {
        tools: [
          tool('send_mail'),
          tool('read_mail', { alwaysLoad: true }),
          tool('open_tab', { group: `tabs of ${name}` }),
          tool('close_tab', { group: `tabs of ${name}` }),
        ].map((made) => watched(made, ran)),
        state: 'ready',
      })
  }

  const simulation: Simulation = {
    well,
    conversation,
    get messages() {
      return messages
    },
    produced: [],
    ran,
    async take(step) {
      switch (step.kind) {
        case 'request':
          return request(step.again, step.calls)
        case 'load':
          await conversation.load(step.names)
          return
        case 'unload':
          await conversation.unload(step.names)
          return
        case 'compact': {
          let start = Math.max(0, messages.length - step.keep)
          while (messages[start]?.role === 'tool') start++
          const after: ChatMessage[] = [
            { role: 'user', content: `Summary of ${messages.length}.` },
            ...messages.slice(start),
          ]
          await wire.compact(messages, after, step.trim ? { trim: (active) => active.slice(1) } : {})
          messages = after
          return
        }
        case 'clear':
          await conversation.clear()
          messages = [{ role: 'user', content: 'Begin anew.' }]
          return
        case 'source':
          return change(step.name, step.change)
        case 'policy':
          if (!denied.delete(step.deny)) denied.add(step.deny)
      }
    },
  }
  return simulation
}
