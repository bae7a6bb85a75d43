/** Runs the agent with four strict endpoints, one scripted model and real MCP servers. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { diskCache, diskFirstUse, loadConfig } from '@toolwell/mcp'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedCall,
  type ScriptedEndpoint,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { type Agent, type AgentOptions, openAgent } from '../../../examples/agent/agent.ts'
import type { AgentEvent } from '../../../examples/agent/events.ts'
import type { Session } from '../../../examples/agent/session.ts'
import type { WireName } from '../../../examples/agent/wires.ts'
import { declaredNames, type RequestBody, storyOf } from '../../../examples/moving/story.ts'
import type { Seed } from './seed.ts'

export const WIRES = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const satisfies WireName[]

const PROTOCOLS: Readonly<Record<WireName, () => Protocol<object>>> = {
  'openai-chat': () => chatProtocol({ maxDescription: 1024 }) as unknown as Protocol<object>,
  'openai-responses': () => responsesProtocol() as unknown as Protocol<object>,
  anthropic: () => anthropicProtocol() as unknown as Protocol<object>,
  google: () => googleProtocol({ maxName: 64, thoughtSignatures: true }) as unknown as Protocol<object>,
}

/** A reply of the model, or a function of the request. A list of calls is one batch. */
export type Step =
  | ScriptedReply
  | readonly ScriptedCall[]
  | ((body: RequestBody) => ScriptedReply | Promise<ScriptedReply>)

export interface Sent {
  readonly wire: WireName
  readonly raw: string
  readonly body: RequestBody
  readonly status: number
  readonly names: readonly string[]
}

export interface World {
  readonly workspace: string
  readonly seed: Seed
  readonly wire: WireName
  /** All requests to all endpoints, in order. */
  readonly sent: readonly Sent[]
  readonly events: readonly (AgentEvent & { readonly of: string })[]
  readonly urls: Readonly<Record<WireName, string>>
  /** Adds replies of the model. */
  script(...steps: readonly Step[]): void
  /** The agent on this workspace, as a new process would open it. */
  open(options?: Partial<AgentOptions>): Promise<Agent>
  /** Sends a user message; the model answers with these steps and then with "Done.". */
  ask(session: Session, text: string | undefined, ...steps: readonly Step[]): Promise<void>
  /** Lists requests that strict servers refused, and unused replies of the script. */
  faults(): string[]
  file(path: string): Promise<string>
  close(): Promise<void>
}

const require = createRequire(import.meta.url)
const program = (name: string) =>
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js')

/** The servers of the scenarios, in the config format of clients. */
export function serverConfig(workspace: string, names: readonly string[], more: object = {}): object {
  const env = { MEMORY_FILE_PATH: join(workspace, 'memory.jsonl') }
  const args = (name: string) => [program(name), ...(name === 'filesystem' ? [workspace] : [])]
  const entry = (name: string) => ({
    command: process.execPath,
    args: args(name),
    env,
    trust: 'full',
    ...more,
  })
  return { mcpServers: Object.fromEntries(names.map((name) => [name, entry(name)])) }
}

/** Cached lists of the servers, shared by all worlds of a test file: servers start only for calls. */
let shared: Promise<string> | undefined
export async function closeShared(): Promise<void> {
  if (shared) await rm(await shared, { recursive: true, force: true })
  shared = undefined
}

export async function createWorld(
  seed: Seed,
  wire: WireName,
  names: readonly string[] = ['memory'],
): Promise<World> {
  shared ??= mkdtemp(join(tmpdir(), 'toolwell-e2e-cache-'))
  const cacheFolder = await shared
  const workspace = await mkdtemp(join(tmpdir(), 'toolwell-e2e-'))
  const config = join(workspace, 'toolwell.json')
  await writeFile(config, JSON.stringify(serverConfig(workspace, names)))
  await mkdir(join(workspace, '.agent/agents'), { recursive: true })
  const kinds = { heir: '', fresh: 'inherit_active_mcp: false\n', narrow: 'tools: [read]\n' }
  for (const [name, more] of Object.entries(kinds))
    await writeFile(
      join(workspace, `.agent/agents/${name}.md`),
      `---\nname: ${name}\ndescription: A helper.\n${more}---\nYou are the ${name}.\n`,
    )
  const queue: Step[] = []
  const sent: Sent[] = []
  const events: (AgentEvent & { readonly of: string })[] = []
  const agents: Agent[] = []
  let calls = 0
  const model = async (on: WireName, endpoint: () => ScriptedEndpoint<object>, body: object) => {
    const { raw } = endpoint().requests.at(-1) as { raw: string }
    const step = queue.shift() ?? { status: 400, error: 'the script has no more steps' }
    const reply = Array.isArray(step)
      ? { calls: step as readonly ScriptedCall[] }
      : typeof step === 'function'
        ? await step(body as RequestBody)
        : (step as ScriptedReply)
    sent.push({
      wire: on,
      raw,
      body,
      names: declaredNames(body),
      status: 'status' in reply ? reply.status : 200,
    })
    if (!('calls' in reply) || !reply.calls) return reply
    // Each server numbers its calls from 1, so ids of several servers would clash.
    return { ...reply, calls: reply.calls.map((call) => ({ id: `call_${++calls}`, ...call })) }
  }
  const endpoints = {} as Record<WireName, ScriptedEndpoint<object>>
  for (const on of WIRES)
    endpoints[on] = await startScriptedEndpoint(PROTOCOLS[on](), {
      model: (body) => model(on, () => endpoints[on], body),
    })
  const servers = Object.fromEntries(WIRES.map((on) => [on, { url: endpoints[on].url, model: 'scripted' }]))
  const world: World = {
    workspace,
    seed,
    wire,
    sent,
    events,
    urls: Object.fromEntries(WIRES.map((on) => [on, endpoints[on].url])) as Record<WireName, string>,
    script: (...steps) => void queue.push(...steps),
    async open(options = {}) {
      const agent = await openAgent({
        workspace,
        servers,
        wire,
        surface: seed.surface,
        mode: 'auto',
        serverFiles: [config],
        pause: async () => undefined,
        connect: {
          cache: diskCache({ folder: join(cacheFolder, 'cache') }),
          firstUse: diskFirstUse({ folder: join(cacheFolder, 'first-use') }),
          logs: false,
        },
        onEvent: (event, of) => events.push({ ...event, of }),
        ...options,
      })
      agents.push(agent)
      await agent.servers.settled(60_000)
      return agent
    },
    async ask(session, text, ...steps) {
      queue.push(...steps, { text: 'Done.' })
      await session.ask(text)
    },
    faults: () => [
      ...WIRES.flatMap((on) =>
        endpoints[on].requests.flatMap(({ violation }) => (violation ? [`${on}: ${violation.message}`] : [])),
      ),
      ...(queue.length > 0 ? [`${queue.length} steps were never asked for`] : []),
    ],
    file: (path) => readFile(join(workspace, path), 'utf8'),
    async close() {
      for (const agent of agents) await agent.close()
      for (const endpoint of Object.values(endpoints)) await endpoint.close()
      await rm(workspace, { recursive: true, force: true })
    },
  }
  return world
}

/** A changed config of the same servers, for `servers.update`. */
export async function configWith(world: World, names: readonly string[], more: object = {}) {
  const file = join(world.workspace, 'toolwell.json')
  await writeFile(file, JSON.stringify(serverConfig(world.workspace, names, more)))
  return loadConfig({ files: [file], workspaceFolder: world.workspace })
}

export const storyIn = (sent: Sent | undefined) => (sent ? storyOf(sent.body) : [])
