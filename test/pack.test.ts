/** What a user installs: a clean build, packed, unpacked elsewhere, imported and type-checked. Nothing here needs a network. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const core = join(root, 'packages/core')
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-pack-')))
const workspace = join(temporary, 'workspace')
const consumer = join(temporary, 'consumer')
const installed = join(consumer, 'node_modules/@toolwell/core')
const doors = Object.keys(readJson(join(core, 'package.json')).exports).map((door) =>
  door.replace('.', '@toolwell/core'),
)

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function run(program: string, parameters: readonly string[], cwd: string, shell = false): string {
  // npm hands its own settings to the scripts it runs; a test started by `npm test` must not inherit them.
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name))
  const env = {
    ...Object.fromEntries(own),
    npm_config_cache: join(temporary, 'cache'),
    npm_config_offline: 'true',
  }
  const child = spawnSync(program, parameters, { cwd, env, shell, encoding: 'utf8' })
  if (child.status !== 0)
    throw new Error(
      `${program} ${parameters.join(' ')}: ${child.error ?? `${child.stdout}\n${child.stderr}`}`,
    )
  return child.stdout
}

const node = (cwd: string, ...parameters: string[]) => run(process.execPath, parameters, cwd)

/** The least of a clone in which the build runs: no old output, the installed packages by link. */
function cloneWorkspace(): void {
  mkdirSync(join(workspace, 'node_modules'), { recursive: true })
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.base.json', 'scripts'])
    cpSync(join(root, file), join(workspace, file), { recursive: true })
  for (const name of ['core', 'mcp', 'cli'])
    cpSync(join(root, 'packages', name), join(workspace, 'packages', name), {
      recursive: true,
      filter: (path) => !['dist', 'node_modules'].includes(basename(path)),
    })
  mkdirSync(join(workspace, 'node_modules/@toolwell'))
  for (const name of ['core', 'mcp'])
    symlinkSync(
      join(workspace, 'packages', name),
      join(workspace, 'node_modules/@toolwell', name),
      'junction',
    )
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.') && !['@toolwell', 'toolwell'].includes(name))
      link(name, join(workspace, 'node_modules'))
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  writeFileSync(join(workspace, 'node_modules/.toolwell-lock'), lock)
}

function link(name: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(folder, name), 'junction')
}

/** Packs one package of the workspace into the consumer's node_modules, and lists what went into it. */
function install(folder: string, target: string): string[] {
  const npm = process.env.npm_execpath
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', temporary]
  const output = npm?.endsWith('.js')
    ? node(folder, npm, ...pack)
    : run('npm', pack, folder, process.platform === 'win32')
  const [report] = JSON.parse(output)
  mkdirSync(target, { recursive: true })
  run('tar', ['-xzf', report.filename, '-C', target, '--strip-components=1'], temporary)
  return report.files.map((file: { path: string }) => file.path)
}

let packed: string[] = []
let packedCommand: string[] = []

beforeAll(() => {
  cloneWorkspace()
  node(workspace, 'scripts/run.mjs', 'build')
  packed = install(join(workspace, 'packages/core'), installed)
  install(join(workspace, 'packages/mcp'), join(consumer, 'node_modules/@toolwell/mcp'))
  packedCommand = install(join(workspace, 'packages/cli'), join(consumer, 'node_modules/toolwell'))
  for (const name of [
    '@cfworker',
    '@noble',
    '@modelcontextprotocol',
    'cross-spawn',
    'jsonc-parser',
    'smol-toml',
    'citty',
  ])
    link(name, join(consumer, 'node_modules'))
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
}, 180_000)

afterAll(() => rmSync(temporary, { recursive: true, force: true }))

/** Compiles one program in the consumer's folder against the packed declarations, which are checked as well. */
function typeCheck(name: string, text: string, options: { lib: string[]; types: string[] }): void {
  writeFileSync(join(consumer, `${name}.ts`), text)
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { ...options, noEmit: true, declaration: false, skipLibCheck: false },
    files: [`${name}.ts`],
  }
  writeFileSync(join(consumer, `${name}.json`), JSON.stringify(config))
  node(consumer, join(root, 'node_modules/typescript/bin/tsc'), '-p', `${name}.json`)
}

function readmeProgram(): string {
  const text = readFileSync(join(installed, 'README.md'), 'utf8')
  return /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
}

describe('the packed core', () => {
  it('holds the output of every source, the manifest, the licence and the readme, and nothing else', () => {
    const built = readdirSync(join(core, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `dist/${file.replaceAll('\\', '/').slice(0, -'.ts'.length)}`)
      .flatMap((file) => [`${file}.js`, `${file}.d.ts`])
    expect([...packed].sort()).toEqual([...built, 'LICENSE', 'README.md', 'package.json'].sort())
  })

  it('leaves out what the build keeps for itself', () => {
    expect(existsSync(join(workspace, 'packages/core/dist/.built'))).toBe(true)
    expect(readdirSync(join(installed, 'dist')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('depends on two packages, and on the tokenizer and the AI SDK only where they are installed', () => {
    const manifest = readJson(join(installed, 'package.json'))
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['@cfworker/json-schema', '@noble/hashes'])
    expect(manifest.peerDependenciesMeta).toEqual({
      ai: { optional: true },
      'gpt-tokenizer': { optional: true },
    })
  })

  it.each(doors)('opens %s, without the tokenizer installed and without eval', (door) => {
    const program = `import * as door from '${door}'; console.log(Object.keys(door).length > 0)`
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval']
    expect(node(consumer, ...flags, program)).toBe('true\n')
  })

  it.each(doors)('lets a CommonJS host require %s', (door) => {
    const program = `console.log(Object.keys(require('${door}')).length > 0)`
    expect(node(consumer, '--input-type=commonjs', '--eval', program)).toBe('true\n')
  })

  it('counts by estimate where the tokenizer is not installed', () => {
    const program =
      "import { loadTokenizer } from '@toolwell/core'; console.log((await loadTokenizer()).name)"
    expect(node(consumer, '--input-type=module', '--eval', program)).toMatch(/^estimate/)
  })

  it('runs the program of its readme', () => {
    const { outputText } = ts.transpileModule(readmeProgram(), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    })
    writeFileSync(join(consumer, 'readme.js'), outputText)
    const program = `
      import { startScriptedChat } from '@toolwell/testing'
      const target = { name: 'weather', arguments: { city: 'Oslo' } }
      const chat = await startScriptedChat({
        model: [
          { calls: [{ name: 'tool_search', arguments: { query: 'weather' } }] },
          { calls: [{ name: 'tool_call', arguments: target }] },
          { text: 'Sunny.' },
        ],
      })
      process.env.OPENAI_BASE_URL = chat.url
      await import('./readme.js')
      console.log(chat.requests.at(-1).body.messages.at(-1).content)
      await chat.close()`
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval']
    expect(node(consumer, ...flags, program)).toBe('Sunny.\nSunny in Oslo.\n')
  })

  it('type-checks on a runtime without Node', () => {
    const text = `
      import { createToolwell, type Inspection, memoryStore, type Tool } from '@toolwell/core'
      import { openaiChat } from '@toolwell/core/openai-chat'
      const tool: Tool = { name: 'a', description: '', inputSchema: { type: 'object' } }
      const conversation = await createToolwell({ tools: [tool], store: memoryStore() }).open({ id: 'a' })
      const { parts } = await openaiChat(conversation).begin([], { requestId: '1' })
      export const inspection: Inspection = conversation.inspect()
      export const names: string[] = (parts.tools ?? []).map((sent) => sent.function.name)
      // @ts-expect-error unknown options are refused by the compiler too
      createToolwell({ tool: [] })`
    typeCheck('edge', text, { lib: ['ES2022', 'WebWorker'], types: [] })
  }, 120_000)

  it('type-checks its readme and every door on Node', () => {
    link('@types', join(consumer, 'node_modules'))
    link('undici-types', join(consumer, 'node_modules'))
    const all = doors.map((door, index) => `import * as door${index} from '${door}'`)
    const used = `export const doors = [${doors.map((_door, index) => `door${index}`).join(', ')}]`
    typeCheck('node', [...all, used, readmeProgram()].join('\n'), { lib: ['ES2024'], types: ['node'] })
  }, 120_000)
})

describe('the packed command', () => {
  it('holds the output of every source, the program, the manifest, the licence and the readme', () => {
    const built = readdirSync(join(root, 'packages/cli/src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `dist/${file.replaceAll('\\', '/').slice(0, -'.ts'.length)}.js`)
    const others = ['LICENSE', 'README.md', 'bin/toolwell.mjs', 'package.json']
    expect([...packedCommand].sort()).toEqual([...built, ...others].sort())
  })

  it('runs where it is installed, without eval', () => {
    writeFileSync(join(consumer, 'tools.jsonl'), '{"name":"send_letter","description":"Sends a letter."}\n')
    const program = 'node_modules/toolwell/bin/toolwell.mjs'
    const words = ['search', 'letter', '--catalog', 'tools.jsonl']
    const flags = ['--disallow-code-generation-from-strings', program]
    expect(node(consumer, ...flags, ...words)).toMatch(/^ 1 {2}send_letter /)
    expect(node(consumer, ...flags, 'inspect', '--catalog', 'tools.jsonl')).toMatch(/^1 server, 1 tool /)
  })
})
