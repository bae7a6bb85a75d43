/** Runs a real agent without a terminal against a scripted model, and reads what it sends to the model. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { isRecord } from '@toolwell/core/internal'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedEndpoint,
  startScriptedEndpoint,
} from '@toolwell/testing'

export type Wire = 'anthropic' | 'chat' | 'google' | 'responses'

/** The parts of a request that a script needs. */
export interface Seen {
  /** Names of the tools in the request. Members of a namespace are `namespace.name`. */
  readonly names: readonly string[]
  /** Results of all calls so far, as JSON, in order. */
  readonly results: readonly string[]
}

/** The next call of a scripted model. It may wait for something first. */
export type Step = (seen: Seen) => ScriptedCall | Promise<ScriptedCall>

const protocols: Readonly<Record<Wire, () => Protocol<object>>> = {
  anthropic: () => withoutRules(anthropicProtocol()),
  chat: () => withoutRules(chatProtocol()),
  google: () => withoutRules(googleProtocol()),
  responses: () => {
    const protocol = withoutRules(responsesProtocol())
    return {
      ...protocol,
      answer: (reply, body, context) => protocol.answer(reply, declare(reply, body), context),
    }
  },
}

/** Declares the namespaces of all calls, because a model may also call a tool that it was not shown. */
function declare({ calls = [] }: ScriptedAnswer, body: object): object {
  const spaces = calls.flatMap(({ name: call }) => {
    const [, space, name] = /^(\w+)\.(\w+)$/.exec(call) ?? []
    return space ? [{ type: 'namespace', name: space, tools: [{ type: 'function', name }] }] : []
  })
  return { ...body, tools: [...list((body as { tools?: unknown }).tools), ...spaces] }
}

/** Agents send fields that are not documented. The rules of the wires are tested elsewhere. */
function withoutRules<Body extends object>(protocol: Protocol<Body>): Protocol<object> {
  return { ...(protocol as unknown as Protocol<object>), violationOf: () => undefined }
}

export interface Model extends Pick<ScriptedEndpoint<object>, 'url' | 'close'> {
  /** Scripts the run whose prompt contains `RUN-name`. */
  script(name: string, steps: readonly Step[]): void
  /** The last request of a run. */
  last(name: string): Seen
}

export async function startModel(wire: Wire): Promise<Model> {
  const scripts = new Map<string, readonly Step[]>()
  const seen = new Map<string, Seen>()
  const endpoint = await startScriptedEndpoint<object>(protocols[wire](), {
    async model(body) {
      const now = readRequest(body)
      const [, name = ''] = /RUN-(\w+)/.exec(JSON.stringify(body)) ?? []
      // Agents also ask for titles and summaries.
      if (now.names.length === 0 || !scripts.has(name)) return { text: 'Fine.' }
      if (now.results.length >= (seen.get(name)?.results.length ?? 0)) seen.set(name, now)
      const step = scripts.get(name)?.[now.results.length]
      return step ? { calls: [await step(now)] } : { text: 'Done.' }
    },
  })
  return {
    url: endpoint.url,
    close: () => endpoint.close(),
    script: (name, steps) => void scripts.set(name, steps),
    last: (name) => seen.get(name) ?? { names: [], results: [] },
  }
}

function readRequest(body: object): Seen {
  const { tools, messages, input, contents } = body as Readonly<Record<string, unknown>>
  return { names: listNames(tools), results: listResults(messages ?? input ?? contents) }
}

function listNames(tools: unknown, space = ''): string[] {
  return list(tools).flatMap((tool) => {
    if (tool.functionDeclarations) return listNames(tool.functionDeclarations)
    if (tool.type === 'namespace') return listNames(tool.tools, `${tool.name}.`)
    if (isRecord(tool.function)) return [String(tool.function.name)]
    return [`${space}${tool.name ?? tool.type}`]
  })
}

function listResults(messages: unknown): string[] {
  return list(messages).flatMap((message) => {
    if (message.role === 'tool' || /_output$/.test(String(message.type))) return [JSON.stringify(message)]
    return list(message.content ?? message.parts)
      .filter((part) => part.type === 'tool_result' || part.functionResponse !== undefined)
      .map((part) => JSON.stringify(part))
  })
}

function list(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export interface AgentProcess {
  readonly pid: number
  /** Everything it printed. */
  readonly ended: Promise<string>
}

const RUN_LIMIT_MS = 120_000

export function startAgent(
  [program, ...args]: readonly [string, ...string[]],
  { folder, env }: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
): AgentProcess {
  const child: ChildProcess = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const { pid = 0 } = child
  let text = ''
  child.stdout?.on('data', (data) => (text += String(data)))
  child.stderr?.on('data', (data) => (text += String(data)))
  const timer = setTimeout(() => {
    text += `\nNot finished within ${RUN_LIMIT_MS / 1000} s.`
    killTree(pid)
  }, RUN_LIMIT_MS)
  const ended = once(child, 'exit').then(
    () => text,
    (error) => String(error),
  )
  return { pid, ended: ended.finally(() => clearTimeout(timer)) }
}

/** Kills a process and all its descendants, as some agents do on exit. */
export function killTree(pid: number): void {
  const children = new Map<number, number[]>()
  for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')) {
    const [child = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  const tree = (root: number): number[] => [root, ...(children.get(root) ?? []).flatMap(tree)]
  for (const each of tree(pid)) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
