/** Test world: four strict servers with one scripted model, and hosts on one folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, defineTool, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedCall,
  type ScriptedEndpoint,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import type { Session, SessionOptions } from '../agent/session.ts'
import { delegate } from '../agent/session-tools.ts'
import type { WireName } from '../agent/wires.ts'
import { declaredNames, type RequestBody } from './story.ts'

export const WIRES = ['anthropic', 'openai-responses', 'openai-chat', 'google'] as const satisfies WireName[]
export const JOURNEY = [...WIRES, 'anthropic'] as const
export const MOVES = WIRES.flatMap((from) =>
  WIRES.filter((to) => to !== from).map((to) => [from, to] as const),
)

/** Five tools of four servers. */
export const FINDABLE = [
  ['tracker', 'create_issue'],
  ['mail', 'send_letter'],
  ['calendar', 'add_event'],
  ['archive', 'store_document'],
  ['archive', 'read_document'],
] as const
export const wireName = (index: number) => (FINDABLE[index] ?? FINDABLE[0]).join('__')

export type Step = (body: RequestBody) => ScriptedReply

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
export const select = (index: number) => search(`select:${wireName(index)}`)

/** Calls a tool like a real model: through the bridge if there is one and the tool is not declared. */
export function use(body: RequestBody, name: string, input: object): ScriptedCall {
  const names = declaredNames(body)
  return names.includes('tool_call') && !names.includes(name)
    ? { name: 'tool_call', arguments: { name, arguments: input } }
    : { name, arguments: input }
}

const closing: (() => Promise<unknown>)[] = []

/** For `afterEach`. */
export async function closeWorlds(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close()
}

export async function createWorld(options: ToolwellOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-moving-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const queue: Step[] = []
  let calls = 0
  // Each server numbers its calls from 1, so ids would collide. Another test covers that.
  const numbered = (reply: ScriptedReply): ScriptedReply =>
    'calls' in reply && reply.calls
      ? { ...reply, calls: reply.calls.map((call) => ({ id: `call_${++calls}`, ...call })) }
      : reply
  const model = (body: object): ScriptedReply =>
    numbered(queue.shift()?.(body as RequestBody) ?? { status: 500, error: 'the script has no more steps' })
  const endpoints: Record<WireName, ScriptedEndpoint<object>> = {
    anthropic: await startScriptedEndpoint(anthropicProtocol(), { model }),
    'openai-responses': await startScriptedEndpoint(responsesProtocol(), { model }),
    'openai-chat': await startScriptedEndpoint(chatProtocol({ maxDescription: 1024 }), { model }),
    google: await startScriptedEndpoint(googleProtocol({ maxName: 64, thoughtSignatures: true }), { model }),
  }
  for (const endpoint of Object.values(endpoints)) closing.push(() => endpoint.close())
  const ran: string[] = []
  const approved: string[] = []
  const source = (well: Toolwell, server: string) =>
    well.catalogue.setSource(server, {
      description: `The ${server}`,
      tools: FINDABLE.filter(([owner]) => owner === server).map(([, name]) =>
        defineTool({
          name,
          description: `${name.replace('_', ' ')} by its number`,
          inputSchema: {
            type: 'object',
            properties: { number: { type: 'integer' } },
            required: ['number'],
          },
          execute: ({ number }) => {
            ran.push(`${name} ${number}`)
            return `${name} ${number}: done`
          },
        }),
      ),
    })
  return {
    folder,
    queue,
    endpoints,
    ran,
    approved,
    source,
    /** A new host, as in another process. */
    createHost(wire: WireName): SessionOptions {
      const well = createToolwell({
        tools: [delegate],
        mode: 'on',
        store: jsonlStore(folder),
        ...options,
      })
      for (const server of new Set(FINDABLE.map(([owner]) => owner))) source(well, server)
      const servers = Object.fromEntries(
        WIRES.map((name) => [name, { url: endpoints[name].url, model: 'scripted' }]),
      )
      return {
        well,
        servers,
        wire,
        folder,
        system: 'You are a careful clerk.',
        pause: async () => undefined,
        approve: ({ name, input }) => {
          approved.push(name)
          return (input as { number?: number }).number !== 13
        },
      }
    },
    lastBody(wire: WireName): RequestBody {
      return endpoints[wire].requests.at(-1)?.body as RequestBody
    },
    refusals(): string[] {
      return WIRES.flatMap((name) =>
        endpoints[name].requests.flatMap(({ violation }) =>
          violation ? [`${name}: ${violation.code}: ${violation.message}`] : [],
        ),
      )
    },
  }
}

export const active = ({ conversation }: Session) => conversation.inspect().loadedLazyTools
export const searches = ({ conversation }: Session) => conversation.inspect().searchHistory.length
