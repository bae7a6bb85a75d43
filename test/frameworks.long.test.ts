/** Installs, compiles and runs the programs of the framework guides, unchanged. */

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { installed, programFolder } from './setup/framework-folder.ts'
import { guardChildren } from './setup/guard-children.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = ['frameworks', 'ai-sdk', 'openai-agents', 'langchain', 'google-adk']
  .map((name) => readFileSync(join(root, `docs/guides/${name}.md`), 'utf8'))
  .join('\n')
const guard = guardChildren()

/** The block whose first line names this file. */
function printed(file: string): string {
  const blocks = [...page.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
  const found = blocks.find((code) => code.startsWith(`// ${file}`))
  if (!found) throw new Error(`No framework guide prints ${file}`)
  return found
}

/** Finds the install commands above a program. */
function installLines(file: string): string[] {
  const before = page.slice(0, page.indexOf(`// ${file}`))
  const [, lines = ''] = [...before.matchAll(/^```sh\n([\s\S]*?)^```/gm)].at(-1) ?? []
  return lines.trim().split('\n')
}

/** Replaces lines of the program that begin like one of the given lines. */
function replaced(program: string, others: string): string {
  const lines = others.split('\n').slice(1).filter(Boolean)
  const alike = (line: string) => lines.find((other) => other.slice(0, 10) === line.slice(0, 10))
  return program
    .split('\n')
    .map((line) => alike(line) ?? line)
    .join('\n')
}

const invented = [
  { name: 'fly_to_moon', arguments: {} },
  { name: 'print_invoice', arguments: { number: 9 } },
]
const model: readonly ScriptedReply[] = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'billing__send_invoice', arguments: { number: 7 } }] },
  { calls: invented },
  { text: 'Invoice 7 is on its way.' },
  { calls: [{ name: 'billing__send_invoice', arguments: { number: 8 } }] },
  { text: 'Invoice 8 is on its way.' },
]

interface Body {
  readonly tools?: unknown
  readonly [history: string]: unknown
}

const needsNode = (file: string) => (file === 'mastra.ts' ? [22, 13] : [20, 19])

/** The Node of this process, or an installed newer one if the program needs it. */
function nodeFor(file: string): { readonly packages: readonly string[]; program(folder: string): string } {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [least = 0, lesser = 0] = needsNode(file)
  if (major > least || (major === least && minor >= lesser))
    return { packages: [], program: () => process.execPath }
  return { packages: [`node@${least}`], program: (folder) => join(folder, 'node_modules/node/bin/node') }
}

async function start(program: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
  const status = await new Promise((resolve) => child.once('close', resolve))
  return { status, output }
}

const programs = [
  { file: 'ai-sdk.ts', protocol: responsesProtocol, history: 'input', once: true },
  { file: 'mastra.ts', protocol: responsesProtocol, history: 'input', once: true },
  { file: 'openai-agents.ts', protocol: responsesProtocol, history: 'input' },
  { file: 'langchain.ts', protocol: chatProtocol, history: 'messages' },
  { file: 'langchain-anthropic.ts', of: 'langchain.ts', protocol: anthropicProtocol, history: 'messages' },
  { file: 'adk.ts', protocol: googleProtocol, history: 'contents' },
].flatMap((each) => installLines(each.of ?? each.file).map((line) => ({ once: false, ...each, line })))

describe.each(programs)('$file after $line', ({ file, of, line, protocol, history, once }) => {
  it('compiles, answers, and survives calls by names that nobody has', { timeout: 900_000 }, async () => {
    const node = nodeFor(file)
    const folder = installed([...line.split(' ').slice(2), ...node.packages])
    const program = of === undefined ? printed(file) : replaced(printed(of), printed(file))
    const options = { strict: true, noEmit: true, skipLibCheck: true, target: 'es2022', module: 'nodenext' }
    const types = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }
    const files = [file, 'scripted.ts']
    const run = programFolder(folder, {
      'well.ts': printed('well.ts'),
      'scripted.ts': printed('scripted.ts').replaceAll('responsesProtocol', protocol.name),
      [file]: program,
      'tsconfig.json': JSON.stringify({ compilerOptions: { ...options, ...types }, files }),
    })
    onTestFinished(() => rmSync(run, { recursive: true, force: true }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', run], { encoding: 'utf8' })
    expect(stdout).toBe('')

    const endpoint = await startScriptedEndpoint<object>(protocol() as never, { model })
    onTestFinished(() => endpoint.close())
    const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href
    const words = ['--import', loader]
    const { status, output } = await start(node.program(folder), [...words, join(run, file)], run, {
      ...process.env,
      NODE_OPTIONS: guard,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: endpoint.url,
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: endpoint.url,
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: endpoint.url,
      MASTRA_TELEMETRY_DISABLED: '1',
    })
    expect(output).toContain('Invoice 7 is on its way.')
    if (!once) expect(output).toContain('Invoice 8 is on its way.')
    expect(status).toBe(0)

    const bodies = endpoint.requests.map(({ body }) => body as Body)
    expect(endpoint.requests.map(({ violation }) => violation)).toEqual(bodies.map(() => undefined))
    expect(bodies).toHaveLength(once ? 4 : 6)
    const tools = bodies.map((body) => JSON.stringify(body.tools))
    expect(tools[0]).toContain('tool_search')
    expect(tools[0]).not.toContain('"name":"billing__send_invoice"')
    expect(new Set(tools).size).toBe(1)
    const said = bodies.map((body) => JSON.stringify(body[history]).slice(0, -1))
    for (const [index, text] of said.slice(1).entries()) expect(text.startsWith(said[index] ?? '')).toBe(true)
    expect(said[2]).toContain(JSON.stringify('send: {"number":7}').slice(1, -1))
    expect(said[3]).toContain('There is no tool named')
    expect(said[3]).toContain('fly_to_moon')
    expect(said[3]).toContain(JSON.stringify('print: {"number":9}').slice(1, -1))

    // The program of the page, without a key.
    if (protocol !== responsesProtocol && protocol !== chatProtocol) return
    const alone = await start(node.program(folder), [...words, 'scripted.ts', `./${file}`], run, {
      ...process.env,
      NODE_OPTIONS: guard,
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      MASTRA_TELEMETRY_DISABLED: '1',
    })
    expect(alone).toMatchObject({ status: 0, output: expect.stringContaining('Invoice 7 is on its way.') })
  })
})
