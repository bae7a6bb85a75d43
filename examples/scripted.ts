/** Runs a program of `examples/NAME/main.ts` against a scripted endpoint, and checks its requests. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  type RecordedRequest,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { installed, programFolder } from '../test/setup/framework-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The programs by folder, with the protocol of their requests. */
export const programs = {
  anthropic: anthropicProtocol,
  'openai-responses': responsesProtocol,
  'openai-chat': chatProtocol,
  google: googleProtocol,
  'ai-sdk': responsesProtocol,
  mastra: responsesProtocol,
  'openai-agents': responsesProtocol,
  langchain: chatProtocol,
  'google-adk': googleProtocol,
  'claude-agent-sdk': () => anthropicProtocol({ midConversationSystem: true }),
}
export type ProgramName = keyof typeof programs

export const readProgram = (name: ProgramName) =>
  readFileSync(join(root, 'examples', name, 'main.ts'), 'utf8')

/** The packages of each `// npm install` line, or one empty list for a program that needs none. */
export function readVariants(program: string): string[][] {
  const lines = [...program.matchAll(/^\/\/ npm install (.*)$/gm)].map(([, packages = '']) =>
    packages.split(' '),
  )
  return lines.length === 0 ? [[]] : lines
}

/** True if the clone has these versions, so that the program runs where it is. */
export const isHere = (packages: readonly string[]) =>
  packages.every((each) => {
    const [, name = '', version] = /^(.+)@(.+)$/.exec(each) ?? []
    const manifest = join(root, 'node_modules', name, 'package.json')
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
  })

const call = (name: string, input: Readonly<Record<string, unknown>>) => ({
  calls: [{ name, arguments: input }],
})
const CLAUDE_NAME = 'mcp__well__billing__send_invoice'

/** Calls the tool as the request allows: by name, by Claude's name, or through `tool_call`. */
function send(body: string, number: number): ScriptedReply {
  const name = 'billing__send_invoice'
  if (body.includes('"ToolSearch"')) return call(CLAUDE_NAME, { number })
  return body.includes('"tool_call"')
    ? call('tool_call', { name, arguments: { number } })
    : call(name, { number })
}

/** The model searches, calls what it found, and answers. What it does next depends on the body alone. */
function reply(request: object): ScriptedReply {
  const body = JSON.stringify(request)
  if (body.includes('invoice 8: send done')) return { text: 'Invoice 8 is on its way.' }
  if (body.includes('And 8.')) return send(body, 8)
  if (body.includes('invoice 7: send done')) return { text: 'Invoice 7 is on its way.' }
  if (body.includes('"select:mcp__') || body.includes('send an invoice')) return send(body, 7)
  if (body.includes('"ToolSearch"')) return call('ToolSearch', { query: `select:${CLAUDE_NAME}` })
  return call('tool_search', { query: 'send an invoice' })
}

/** The Node that runs a program: Mastra needs 22.13. */
function nodeFor(name: ProgramName): { readonly packages: string[]; path(folder: string): string } {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return name !== 'mastra' || major > 22 || (major === 22 && minor >= 13)
    ? { packages: [], path: () => process.execPath }
    : { packages: ['node@22'], path: (folder) => join(folder, 'node_modules/node/bin/node') }
}

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Instead of the model above. */
  readonly model?: readonly ScriptedReply[]
  /** Changes the program, for another protocol. */
  readonly text?: (program: string) => string
  readonly protocol?: () => Protocol<never>
}

/** Runs a program. Throws if the program fails, or if a request is not what it should be. */
export async function runProgram(
  name: ProgramName,
  packages: readonly string[],
  { env = process.env, model, text = (program) => program, protocol = programs[name] }: RunOptions = {},
): Promise<{ readonly output: string; readonly requests: readonly RecordedRequest<object>[] }> {
  const node = nodeFor(name)
  const all = [...packages, ...node.packages]
  const folder = isHere(all) ? undefined : installed(all)
  const place = folder && programFolder(folder, { 'main.ts': text(readProgram(name)) })
  const endpoint = await startScriptedEndpoint<object>(protocol() as never, { model: model ?? reply })
  try {
    const file = join(place ?? join(root, 'examples', name), 'main.ts')
    const child = spawn(
      folder === undefined ? process.execPath : node.path(folder),
      ['--import', import.meta.resolve('tsx'), file],
      {
        cwd: place ?? root,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...env,
          ...{ OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: 'none', OPENAI_AGENTS_DISABLE_TRACING: '1' },
          ...{ ANTHROPIC_BASE_URL: endpoint.url, ANTHROPIC_API_KEY: 'none' },
          ...{ GOOGLE_GEMINI_BASE_URL: endpoint.url, GEMINI_API_KEY: 'none' },
          ...{ MASTRA_TELEMETRY_DISABLED: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
          // Without the settings and sessions of the user.
          CLAUDE_CONFIG_DIR: join(place ?? root, '.claude'),
        },
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
    const status = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(status, 0, output)
    assert.match(output, /Invoice 7 is on its way\./)
    const bodies = endpoint.requests.map(({ body, violation }) => {
      assert.equal(violation, undefined)
      return JSON.stringify(body)
    })
    assert.ok(bodies.length >= 3, `${bodies.length} requests`)
    assert.ok(!bodies[0]?.includes('To send one invoice"'), 'The first request defines a hidden tool')
    assert.ok(
      bodies.some((body) => body.includes('invoice 7: send done')),
      'No request has the result',
    )
    return { output, requests: endpoint.requests }
  } finally {
    await endpoint.close()
    if (place) rmSync(place, { recursive: true, force: true })
  }
}
