/** The real pi in a home of its own: real servers in its config, a scripted model behind a real wire, this extension. */
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
import { onTestFinished } from 'vitest'
import { installed } from '../../../../test/setup/framework-folder.ts'

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

const SERVERS = {
  memory: '@modelcontextprotocol/server-memory/dist/index.js',
  everything: '@modelcontextprotocol/server-everything/dist/index.js',
  playwright: '@playwright/mcp/cli.js',
  devtools: 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js',
}

/** The definitions of the servers, listed once for all tests of a run. */
const cache = mkdtempSync(join(tmpdir(), 'toolwell-pi-cache-'))
process.once('exit', () => rmSync(cache, { recursive: true, force: true }))

export async function piHome(api: Api, model: readonly ScriptedReply[]) {
  const pi = join(installed([`${PI}@0.73.1`]), 'node_modules', PI, 'dist/cli.js')
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-pi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const agent = join(folder, 'agent')
  const work = join(folder, 'work')
  for (const each of [agent, work]) mkdirSync(each)

  const providers: Record<string, object> = {}
  const addProvider = async (name: string, of: Api, replies: readonly ScriptedReply[]) => {
    const { protocol, model: id, path } = wires[of]
    const endpoint = await startScriptedEndpoint<object>(protocol() as never, { model: replies })
    onTestFinished(() => endpoint.close())
    providers[name] = { baseUrl: `${endpoint.url}${path}`, api: of, apiKey: 'none', models: [{ id }] }
    writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers }))
    return endpoint
  }
  const endpoint = await addProvider('scripted', api, model)

  const entry = (file: string) => ({
    command: process.execPath,
    args: [join(root, 'node_modules', file)],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
  })
  const servers = Object.fromEntries(Object.entries(SERVERS).map(([name, file]) => [name, entry(file)]))
  writeFileSync(join(work, '.mcp.json'), JSON.stringify({ mcpServers: servers }))

  const start = (
    words: readonly string[],
    { provider = 'scripted', of = api, extensions = [] as string[] } = {},
  ) => {
    const loaded = [join(root, 'packages/pi/dist/index.js'), ...extensions].flatMap((file) => ['-e', file])
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
          XDG_CACHE_HOME: cache,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
    const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
      child.once('close', (code) => resolve({ code, output: output.trim() })),
    )
    return { child, ended }
  }

  /** Every entry of the newest session file. */
  const entries = (): Record<string, unknown>[] => {
    const sessions = join(agent, 'sessions')
    const files = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.jsonl'),
    )
    const newest = files.sort((a, b) => (basename(a) < basename(b) ? -1 : 1)).at(-1) ?? ''
    const lines = readFileSync(join(sessions, newest), 'utf8').trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  }

  return {
    folder,
    work,
    agent,
    endpoint,
    addProvider,
    start,
    run: (words: readonly string[], options = {}) => start(words, options).ended,
    entries,
  }
}

const basename = (path: string) => path.slice(dirname(path).length)

/** A module that tests give to pi beside this extension. */
export function extensionFile(folder: string, code: string): string {
  const file = join(folder, `extension-${Math.random().toString(36).slice(2)}.mjs`)
  writeFileSync(file, code)
  return file
}
