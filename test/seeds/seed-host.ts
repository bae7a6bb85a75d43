/** The host of the seed suites: a strict endpoint with a scripted model, which records every request. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createToolwell,
  type Tool,
  type Toolwell,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedCall,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { onTestFinished } from 'vitest'
import { openSession, type Session, type SessionOptions } from '../../examples/agent/session.ts'
import type { WireName } from '../../examples/agent/wires.ts'
import { declaredNames, type RequestBody } from '../../examples/moving/story.ts'

export const WIRES = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const satisfies WireName[]

const protocols: Readonly<Record<WireName, () => Protocol<object>>> = {
  'openai-chat': () => chatProtocol({ maxDescription: 1024 }) as unknown as Protocol<object>,
  'openai-responses': () => responsesProtocol() as unknown as Protocol<object>,
  anthropic: () => anthropicProtocol() as unknown as Protocol<object>,
  google: () => googleProtocol({ maxName: 64 }) as unknown as Protocol<object>,
}

export interface SeedHost {
  readonly well: Toolwell
  readonly session: Session
  readonly events: readonly ToolwellEvent[]
  /** Names of the tools that ran, in order. */
  readonly ran: readonly string[]
  /** Sends a user message. The model makes these calls, one reply each (a list is one batch), and then stops. */
  ask(text: string, ...replies: readonly (ScriptedCall | readonly ScriptedCall[])[]): Promise<void>
  /** The same in another session of this host. */
  askIn(
    session: Session,
    text: string,
    ...replies: readonly (ScriptedCall | readonly ScriptedCall[])[]
  ): Promise<void>
  readonly count: number
  body(index?: number): RequestBody
  /** The exact text of a request. */
  raw(index?: number): string
  names(index?: number): string[]
  /** A declaration of the tools array, as JSON. */
  declared(name: string, index?: number): string
  /** The system prompt of a request. */
  system(index?: number): string
  /** The last tool result in a request (Chat Completions). */
  answer(index?: number): string
  /** Another process on the same files. */
  restart(options?: ToolwellOptions, id?: string): Promise<SeedHost>
}

interface Setup {
  readonly wire?: WireName
  readonly id?: string
  /** Servers that are connected before the first request. */
  readonly servers?: Readonly<Record<string, readonly Tool[]>>
  readonly approve?: SessionOptions['approve'] & {}
  readonly folder?: string
}

export async function startSeed(options: ToolwellOptions, setup: Setup = {}): Promise<SeedHost> {
  const { wire = 'openai-chat', servers = {}, id = 'main', approve } = setup
  const folder = setup.folder ?? (await mkdtemp(join(tmpdir(), 'toolwell-seeds-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const queue: ScriptedReply[] = []
  let calls = 0
  const endpoint = await startScriptedEndpoint(protocols[wire](), {
    model: () => queue.shift() ?? { status: 500, error: 'the script has no more steps' },
  })
  onTestFinished(() => endpoint.close())
  const events: ToolwellEvent[] = []
  const ran: string[] = []
  const well = createToolwell({
    store: jsonlStore(folder),
    ...options,
    onEvent: (event) => events.push(event),
  })
  for (const [name, tools] of Object.entries(servers)) well.catalogue.setSource(name, { tools })
  const host: SessionOptions = {
    well,
    servers: { [wire]: { url: endpoint.url, model: 'scripted' } },
    wire,
    folder,
    system: 'You are a careful clerk.',
    async approve(call, mode) {
      if (approve && (await approve(call, mode)) !== true) return false
      ran.push(call.wireName)
      return true
    },
  }
  const session = await openSession(host, id)
  const body = (index = -1) => endpoint.requests.at(index)?.body as RequestBody
  const seed: SeedHost = {
    well,
    session,
    events,
    ran,
    get count() {
      return endpoint.requests.length
    },
    ask: (text, ...replies) => seed.askIn(session, text, ...replies),
    async askIn(other, text, ...replies) {
      for (const reply of replies)
        queue.push({ calls: [reply].flat().map((call) => ({ id: `call_${++calls}`, ...call })) })
      queue.push({ text: 'Done.' })
      await other.ask(text)
      const refused = endpoint.requests.flatMap(({ violation }) => (violation ? [violation.message] : []))
      if (refused.length > 0) throw new Error(`The endpoint refused a request: ${refused.join('; ')}`)
    },
    body,
    raw: (index = -1) => endpoint.requests.at(index)?.raw ?? '',
    names: (index = -1) => declaredNames(body(index)),
    declared: (name, index = -1) =>
      JSON.stringify(
        (body(index).tools ?? []).find((tool) => declaredNames({ tools: [tool] }).includes(name)) ?? null,
      ),
    system: (index = -1) => {
      const { messages = [], ...rest } = body(index)
      const { system, instructions, systemInstruction } = rest as Record<string, unknown>
      const first = messages[0]?.role === 'system' ? messages[0].content : undefined
      const text = first ?? system ?? instructions ?? systemInstruction
      return typeof text === 'string' ? text : JSON.stringify(text)
    },
    answer: (index = -1) =>
      withoutNotices((body(index).messages ?? []).findLast(({ role }) => role === 'tool')?.content),
    restart: (others = options, other = id) => startSeed(others, { ...setup, folder, id: other }),
  }
  return seed
}

/** The result of a tool, without the notices after it. */
function withoutNotices(content: unknown): string {
  return String(content ?? '').replace(/\n\n<(tool-update|system-reminder)>[\s\S]*$/, '')
}

/** The answer of a search, without its machine-readable line. */
export function readable(answer: string): string {
  return answer.slice(answer.indexOf('\n') + 1)
}

const text = { type: 'string' } as const

export function makeTool(name: string, description: string, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { subject: { ...text, description: `The subject of ${name}` } },
      required: ['subject'],
    },
    execute: ({ subject }) => `${name} ${subject}: done`,
    ...more,
  }
}
