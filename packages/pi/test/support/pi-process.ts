/**
 * The real pi in a separate home: real servers in its config, a scripted model behind a real wire, this extension. For tests and
 * benches.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { installed } from '../../../../test/setup/framework-folder.ts'
import { rpcClient } from './rpc-client.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const PI = '@mariozechner/pi-coding-agent'

export const wires = {
  'anthropic-messages': {
    protocol: anthropicProtocol,
    model: 'claude-haiku-5-5',
    path: '',
    history: 'messages',
  },
  'openai-completions': { protocol: chatProtocol, model: 'any-model', path: '', history: 'messages' },
  'openai-responses': { protocol: responsesProtocol, model: 'any-model', path: '', history: 'input' },
  'google-generative-ai': {
    protocol: googleProtocol,
    model: 'gemini-3-flash',
    path: '/v1beta',
    history: 'contents',
  },
} as const

export type Api = keyof typeof wires

export const inModules = (file: string) => [join(root, 'node_modules', file)]

export const realServers: Readonly<Record<string, readonly string[]>> = {
  memory: inModules('@modelcontextprotocol/server-memory/dist/index.js'),
  everything: inModules('@modelcontextprotocol/server-everything/dist/index.js'),
  playwright: inModules('@playwright/mcp/cli.js'),
  devtools: inModules('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'),
}

/** Server definitions, listed once for all tests of a run. */
const cache = mkdtempSync(join(tmpdir(), 'toolwell-pi-cache-'))
export const dropCache = () => rmSync(cache, { recursive: true, force: true })
process.once('exit', dropCache)

export interface HomeOptions {
  /** Servers by name: arguments of Node. Default: four real ones. */
  readonly servers?: Readonly<Record<string, readonly string[]>>
  /** Config file: the user's file for pi (default), or `.mcp.json` of the folder in which pi runs. */
  readonly place?: 'own' | 'project'
  /** Extensions of pi. Default: this one. */
  readonly loaded?: readonly string[]
  /** Folder of the definition cache. Default: one for all homes of this process. */
  readonly cache?: string
}

/** The built extension. */
export const TOOLWELL = join(root, 'packages/pi/dist/index.js')

/** The tested version of pi. */
export const PI_VERSION = '0.73.1'

/** A list, or a function of the request. */
type Model = readonly ScriptedReply[] | ((body: object, index: number) => ScriptedReply)

export async function openHome(api: Api, model: Model, options: HomeOptions = {}) {
  const pi = join(installed([`${PI}@${PI_VERSION}`]), 'node_modules', PI, 'dist/cli.js')
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-pi-'))
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const agent = join(folder, 'agent')
  const work = join(folder, 'work')
  for (const each of [agent, work]) mkdirSync(each)

  const providers: Record<string, object> = {}
  const addProvider = async (name: string, of: Api, replies: Model) => {
    const { protocol, model: id, path } = wires[of]
    const endpoint = await startScriptedEndpoint<object>(protocol() as never, { model: replies })
    closing.push(() => endpoint.close())
    providers[name] = { baseUrl: `${endpoint.url}${path}`, api: of, apiKey: 'none', models: [{ id }] }
    writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers }))
    return endpoint
  }
  const endpoint = await addProvider('scripted', api, model)

  const entry = (args: readonly string[]) => ({
    command: process.execPath,
    args,
    env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
  })
  const given = options.servers ?? realServers
  const servers = Object.fromEntries(Object.entries(given).map(([name, args]) => [name, entry(args)]))
  const config = options.place === 'project' ? join(work, '.mcp.json') : join(agent, 'mcp.json')
  writeFileSync(config, JSON.stringify({ mcpServers: servers }))

  const start = (
    words: readonly string[],
    {
      provider = 'scripted',
      of = api,
      extensions = [] as string[],
      input = 'ignore' as 'ignore' | 'pipe',
    } = {},
  ) => {
    const loaded = [...(options.loaded ?? [TOOLWELL]), ...extensions].flatMap((file) => ['-e', file])
    const child = spawn(
      process.execPath,
      [
        pi,
        '--offline',
        '--no-extensions',
        ...loaded,
        '--provider',
        provider,
        '--model',
        wires[of].model,
        ...words,
      ],
      {
        cwd: work,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          PI_CODING_AGENT_DIR: agent,
          XDG_CONFIG_HOME: join(folder, 'config'),
          XDG_DATA_HOME: join(folder, 'data'),
          XDG_STATE_HOME: join(folder, 'state'),
          XDG_CACHE_HOME: options.cache ?? cache,
        },
        stdio: [input, 'pipe', 'pipe'],
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += String(data)))
    const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
      child.once('close', (code) => resolve({ code, output: output.trim() })),
    )
    return { child, ended }
  }

  /** Every session file, newest last. */
  const sessionFiles = (): string[] => {
    const place = join(agent, 'sessions')
    return readdirSync(place, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.jsonl'))
      .sort((a, b) => (basename(a) < basename(b) ? -1 : 1))
      .map((file) => join(place, file))
  }
  const sessions = (): Record<string, unknown>[][] =>
    sessionFiles().map((file) =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )

  return {
    folder,
    work,
    agent,
    config,
    endpoint,
    addProvider,
    start,
    /** pi in RPC mode, for actions of a user. */
    rpc: (options: Parameters<typeof start>[1] = {}, words: readonly string[] = []) => {
      const client = rpcClient(start(['--mode', 'rpc', ...words], { ...options, input: 'pipe' }).child)
      closing.push(client.end)
      return client
    },
    run: (words: readonly string[], options = {}) => start(words, options).ended,
    sessionFiles,
    /** The entries of each. */
    sessions,
    /** Every entry of the newest session file. */
    entries: () => sessions().at(-1) ?? [],
    /** Ends its processes and removes its files. */
    async close() {
      for (const end of closing.reverse()) await end()
    },
  }
}

const basename = (path: string) => path.slice(dirname(path).length)

/** An additional extension for pi, written by a test. */
export function extensionFile(folder: string, code: string): string {
  const file = join(folder, `extension-${Math.random().toString(36).slice(2)}.mjs`)
  writeFileSync(file, code)
  return file
}

/** Replies in order. A request without tools is pi's request for a summary and gets one. */
export function withSummaries(replies: readonly ScriptedReply[]): (body: object) => ScriptedReply {
  let next = 0
  return (body) => {
    const tools = 'tools' in body ? body.tools : undefined
    if (!Array.isArray(tools) || tools.length === 0) return { text: 'What was said before, in short.' }
    const reply = replies[next++]
    if (!reply) throw new Error('The script has no reply left.')
    return reply
  }
}
