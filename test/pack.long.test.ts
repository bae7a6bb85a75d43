/**
 * Builds and packs with `npm run pack`, installs the tarballs into empty projects with npm, pnpm and yarn, imports, type-checks and
 * runs them. A small registry on loopback serves other packages from the clone. Only pnpm and yarn themselves come from npm.
 */
import { spawn, spawnSync } from 'node:child_process'
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
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installed as installedFrom } from './setup/framework-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const core = join(root, 'packages/core')
const packages = readdirSync(join(root, 'packages'))
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-pack-')))
const workspace = join(temporary, 'workspace')
const consumer = join(temporary, 'consumer')
const installed = join(consumer, 'node_modules/@toolwell/core')
const entryPoints = Object.keys(readJson(join(core, 'package.json')).exports).map((entry) =>
  entry.replace('.', '@toolwell/core'),
)
/** Entry points that need no optional package. */
const alone = entryPoints.filter((entry) => entry !== '@toolwell/core/telemetry')

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** npm passes its settings to the scripts it runs; a test started by `npm test` must not inherit them. */
function clean(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name))
  return Object.fromEntries(own)
}

function run(program: string, parameters: readonly string[], cwd: string, shell = false): string {
  const env = {
    ...clean(),
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

/** Copies what a build needs into a workspace without any build output. Installed packages are linked. */
function cloneWorkspace(): void {
  mkdirSync(join(workspace, 'node_modules'), { recursive: true })
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.base.json', 'scripts'])
    cpSync(join(root, file), join(workspace, file), { recursive: true })
  for (const name of packages)
    cpSync(join(root, 'packages', name), join(workspace, 'packages', name), {
      recursive: true,
      filter: (path) => !['dist', 'node_modules'].includes(basename(path)),
    })
  mkdirSync(join(workspace, 'node_modules/@toolwell'))
  for (const name of packages)
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

const tarballs = join(temporary, 'tarballs')
let registry: Server
let packed: string[] = []
let packedCommand: string[] = []

/** The folders of every version of a package in the clone's node_modules. */
function copiesOf(name: string): string[] {
  const { packages: locked } = readJson(join(root, 'package-lock.json'))
  return Object.keys(locked).filter(
    (path) =>
      path.endsWith(`node_modules/${name}`) &&
      !locked[path].link &&
      existsSync(join(root, path, 'package.json')),
  )
}

/** The tarballs that were asked for, by folder: npm, pnpm and yarn ask for the same. */
const served = new Map<string, Buffer>()

function tarballOf(path: string): Buffer {
  const folder = join(root, path)
  const words = ['-czf', '-', '--exclude=node_modules', '-C', dirname(folder), basename(folder)]
  const tarball = served.get(path) ?? spawnSync('tar', words, { maxBuffer: 2 ** 28 }).stdout
  served.set(path, tarball)
  return tarball
}

/** Serves only the packages of the clone's node_modules to npm. Yarn installs nothing without a checksum. */
function startRegistry(): Promise<Server> {
  const server = createServer((request, response) => {
    const [path = '', copy] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('?')
    if (copy !== undefined) {
      response.end(tarballOf(copy))
      return
    }
    const { port } = server.address() as AddressInfo
    const manifests = copiesOf(path).map((found) => ({
      ...readJson(join(root, found, 'package.json')),
      dist: {
        tarball: `http://127.0.0.1:${port}/${path}?${encodeURIComponent(found)}`,
        shasum: createHash('sha1').update(tarballOf(found)).digest('hex'),
      },
    }))
    if (manifests.length === 0) {
      response.writeHead(404).end('{}')
      return
    }
    const versions = Object.fromEntries(manifests.map((manifest) => [manifest.version, manifest]))
    response.end(JSON.stringify({ name: path, versions, 'dist-tags': { latest: manifests.at(-1).version } }))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

/** Runs npm in a folder with only that registry. Asynchronous, because this process is the registry. */
function npmInstall(folder: string, ...names: string[]): Promise<{ status: number; output: string }> {
  const file = process.env.npm_execpath
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...names]
  const env = {
    ...clean(),
    npm_config_cache: join(temporary, 'cache'),
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
  }
  const child = file?.endsWith('.js')
    ? spawn(process.execPath, [file, ...words], { cwd: folder, env })
    : spawn('npm', words, { cwd: folder, env, shell: process.platform === 'win32' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ status: code ?? 1, output })))
}

const contents = (tarball: string) =>
  run('tar', ['-tzf', tarball], tarballs)
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''))

beforeAll(async () => {
  cloneWorkspace()
  const line = node(workspace, 'scripts/run.mjs', 'pack', tarballs)
  const names = readdirSync(tarballs).sort()
  expect(line).toBe(`npm install ${names.map((name) => JSON.stringify(join(tarballs, name))).join(' ')}\n`)
  packed = contents('toolwell-core-0.1.0.tgz')
  packedCommand = contents('toolwell-0.1.0.tgz')
  registry = await startRegistry()
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
  const { status, output } = await npmInstall(consumer, ...names.map((name) => join(tarballs, name)))
  if (status !== 0) throw new Error(output)
}, 300_000)

afterAll(() => {
  registry?.close()
  rmSync(temporary, { recursive: true, force: true })
})

/** Compiles a program in the consumer's folder and checks the packed declarations. */
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

function readmeProgram(name = 'core'): string {
  const text = readFileSync(join(consumer, 'node_modules/@toolwell', name, 'README.md'), 'utf8')
  return /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
}

/** A program of a README as JavaScript. */
const compiled = (program: string) =>
  ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText

describe('the packed core', () => {
  it('holds the output of every source, the manifest, the licence and the readme, and nothing else', () => {
    const built = readdirSync(join(core, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `dist/${file.replaceAll('\\', '/').slice(0, -'.ts'.length)}`)
      .flatMap((file) => [`${file}.js`, `${file}.d.ts`])
    expect([...packed].sort()).toEqual([...built, 'LICENSE', 'README.md', 'package.json'].sort())
  })

  it('does not contain files that only the build needs', () => {
    expect(existsSync(join(workspace, 'packages/core/dist/.built'))).toBe(true)
    expect(readdirSync(join(installed, 'dist')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('depends on no package; the tokenizer, the AI SDK and OpenTelemetry are optional', () => {
    const manifest = readJson(join(installed, 'package.json'))
    expect(manifest.dependencies).toBeUndefined()
    expect(manifest.peerDependenciesMeta).toEqual({
      '@opentelemetry/api': { optional: true },
      ai: { optional: true },
      'gpt-tokenizer': { optional: true },
    })
  })

  /** For each entry point: the number of its exports, or the error. One process imports them all. */
  const opened = (load: string, ...flags: string[]): Record<string, unknown> => {
    const program = `
      const open = async (entry) => Object.keys(${load}).length
      const found = ${JSON.stringify(alone)}.map(async (entry) => [entry, await open(entry).catch(String)])
      Promise.all(found).then((all) => console.log(JSON.stringify(Object.fromEntries(all))))`
    return JSON.parse(node(consumer, ...flags, '--eval', program))
  }

  it('imports every entry point, without the tokenizer installed and without eval', () => {
    const found = opened(
      'await import(entry)',
      '--disallow-code-generation-from-strings',
      '--input-type=module',
    )
    expect(found).toEqual(Object.fromEntries(alone.map((entry) => [entry, expect.any(Number)])))
    expect(Object.values(found)).not.toContain(0)
  })

  it('lets a CommonJS host require every entry point', () => {
    const found = opened('require(entry)', '--input-type=commonjs')
    expect(found).toEqual(Object.fromEntries(alone.map((entry) => [entry, expect.any(Number)])))
    expect(Object.values(found)).not.toContain(0)
  })

  it('counts by estimate where the tokenizer is not installed', () => {
    const program =
      "import { loadTokenizer } from '@toolwell/core'; console.log((await loadTokenizer()).name)"
    expect(node(consumer, '--input-type=module', '--eval', program)).toMatch(/^estimate/)
  })

  it('runs the program of its readme', () => {
    writeFileSync(join(consumer, 'readme.js'), compiled(readmeProgram()))
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
    expect(node(consumer, ...flags, program)).toMatch(
      /^Sunny\.\n"conversation-1": 3 requests, [\s\S]*\nSunny in Oslo\.\n$/,
    )
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

  it('type-checks its readme and every entry point on Node', () => {
    link('@types', join(consumer, 'node_modules'))
    link('undici-types', join(consumer, 'node_modules'))
    link('@opentelemetry', join(consumer, 'node_modules'))
    const all = entryPoints.map((entry, index) => `import * as entry${index} from '${entry}'`)
    const used = `export const entryPoints = [${entryPoints.map((_entry, index) => `entry${index}`).join(', ')}]`
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

  it('runs in an installed project, without eval', () => {
    writeFileSync(join(consumer, 'tools.jsonl'), '{"name":"send_letter","description":"Sends a letter."}\n')
    const program = 'node_modules/toolwell/bin/toolwell.mjs'
    const words = ['search', 'letter', '--catalog', 'tools.jsonl']
    const flags = ['--disallow-code-generation-from-strings', program]
    expect(node(consumer, ...flags, ...words)).toMatch(/^ 1 {2}send_letter /)
    expect(node(consumer, ...flags, 'inspect', '--catalog', 'tools.jsonl')).toMatch(/^1 server, 1 tool /)
  })
})

/** The home of one user: every folder that Toolwell reads or writes is below it. */
function homeIn(folder: string): Record<string, string> {
  const home = join(folder, 'home')
  mkdirSync(join(home, '.cursor'), { recursive: true })
  const folders = { CONFIG: '.config', CACHE: '.cache', DATA: '.local/share', STATE: '.local/state' }
  const places = Object.entries(folders).map(([name, path]) => [`XDG_${name}_HOME`, join(home, path)])
  return { HOME: home, USERPROFILE: home, ...Object.fromEntries(places) }
}

describe('the programs of the readmes', () => {
  it.each([
    ['mcp', 'entities'],
    ['gateway', 'find_tools, run_read_only_tool, run_tool, read_result\n'],
    ['dashboard', 'Open http://127.0.0.1:'],
    ['presets', 'MCP active: 1/24 (mcp__github__close_issue)'],
    ['testing', '400 false\n200 true\n'],
  ])(
    '@toolwell/%s: its program runs',
    async (name, printed) => {
      const folder = join(temporary, `readme-${name}`)
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      const servers = ['@modelcontextprotocol/client', '@modelcontextprotocol/server-memory'].map(
        (each) => `${each}@${readJson(join(root, 'package.json')).devDependencies[each]}`,
      )
      const all = readdirSync(tarballs).map((file) => join(tarballs, file))
      expect(await npmInstall(folder, ...all, ...servers)).toMatchObject({ status: 0 })
      writeFileSync(join(folder, 'program.js'), compiled(readmeProgram(name)))
      const env = { ...clean(), ...homeIn(folder) }
      const { status, stdout, stderr } = spawnSync(process.execPath, ['program.js'], {
        cwd: folder,
        env,
        encoding: 'utf8',
      })
      expect({ status, stdout, stderr }).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(printed),
      })
    },
    120_000,
  )
})

/** How each package manager installs what package.json names, and runs the command. pnpm and yarn come from npm. */
const managers = [
  { name: 'npm', add: ['npm', 'install'], exec: ['npx'] },
  { name: 'pnpm', package: 'pnpm@10.34.8', add: ['pnpm', 'install'], exec: ['pnpm', 'exec'] },
  { name: 'yarn', package: 'yarn@1.22.22', add: ['yarn', 'install'], exec: ['yarn', '-s'] },
]

describe.each(managers)('an empty folder with the tarballs, installed by $name', (manager) => {
  it('serves and connects a client by the installed command', { timeout: 300_000 }, async () => {
    const folder = join(temporary, manager.name)
    mkdirSync(folder)
    const file = (name: string) => `file:${join(tarballs, `toolwell-${name}0.1.0.tgz`)}`
    const inner = ['core', 'dashboard', 'gateway', 'mcp', 'postgres'].map((name) => [
      `@toolwell/${name}`,
      file(`${name}-`),
    ])
    const others = Object.fromEntries(inner)
    const dependencies = { toolwell: file(''), ...(manager.name === 'npm' ? others : {}) }
    const manifest = { private: true, dependencies, resolutions: others }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
    const found = manager.package && join(installedFrom([manager.package]), 'node_modules/.bin')
    const env = {
      ...clean(),
      ...homeIn(folder),
      PATH: [dirname(process.execPath), ...(found ? [found] : []), process.env.PATH].join(delimiter),
      npm_config_registry: address,
      npm_config_cache: join(temporary, 'cache'),
      ...(manager.name === 'pnpm' ? { npm_config_store_dir: join(temporary, 'store') } : {}),
      YARN_REGISTRY: address,
      YARN_CACHE_FOLDER: join(temporary, 'yarn'),
    }
    const start = async ([program = '', ...words]: readonly string[]) => {
      const child = spawn(program, words, { cwd: folder, env, shell: process.platform === 'win32' })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
      child.stdin.end()
      const status = await new Promise((resolve) => child.once('close', resolve))
      return { status, output }
    }
    const success = { status: 0, output: expect.any(String) }
    const toolwell = (...words: string[]) => start([...manager.exec, 'toolwell', ...words])
    expect(await start(manager.add)).toEqual(success)
    expect(await toolwell('--version')).toEqual({ status: 0, output: '0.1.0\n' })
    expect((await toolwell()).output).toContain('connect    Move the servers of your clients')

    const config = join(folder, 'home/.cursor/mcp.json')
    const server = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
    const before = JSON.stringify({
      mcpServers: { everything: { command: process.execPath, args: [server] } },
    })
    writeFileSync(config, before)
    expect(await toolwell('connect', 'cursor', '--yes')).toEqual(success)
    onTestFinished(async () => {
      await toolwell('stop')
    })
    const { command, args, ...rest } = readJson(config).mcpServers.toolwell
    expect([command, args[0]].filter((path) => !isAbsolute(path) || !existsSync(path))).toEqual([])

    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(
      new StdioClientTransport({ command, args, env: { ...env, ...rest.env }, cwd: folder }),
    )
    const call = { name: 'everything__echo', arguments: { message: 'hello' } }
    const answer = await client.callTool({ name: 'run_tool', arguments: call })
    expect(answer.content).toEqual([{ type: 'text', text: 'Echo: hello' }])
    expect((await toolwell('serve')).output).toContain('already')
    expect(await toolwell('stop')).toEqual(success)
    expect(await toolwell('undo', '--yes')).toEqual(success)
    expect(readFileSync(config, 'utf8')).toBe(before)
  })
})

describe('the first page of the site', () => {
  it('leads from the tarballs to an agent and a connected client', { timeout: 300_000 }, async () => {
    const folder = join(temporary, 'first-page')
    mkdirSync(folder)
    const page = readFileSync(join(root, 'docs/index.md'), 'utf8')
    const block = (language: string) => [
      ...page.matchAll(new RegExp(`^\\x60{3}${language}\\n([^]*?)^\\x60{3}`, 'gm')),
    ]
    const [[, program = ''] = []] = block('js')
    const [[, printed = ''] = []] = block('text')
    const commands = block('sh').flatMap(([, lines = '']) => lines.trim().split('\n'))
    expect(commands[0]).toBe('npm run pack')
    const [init = '', ...rest] = commands.slice(1)
    expect(init).toBe('npm init -y')
    expect(rest).toEqual([
      'npm install /path/to/tarballs/*.tgz',
      'node agent.mjs',
      'npx toolwell connect',
      'npx toolwell status',
    ])
    const env = {
      ...clean(),
      ...homeIn(folder),
      npm_config_cache: join(temporary, 'cache'),
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    }
    const start = async (line: string) => {
      const child = spawn(line, { cwd: folder, env, shell: true })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
      child.stdin.end()
      return { status: await new Promise((resolve) => child.once('close', resolve)), output }
    }
    const server = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
    const config = join(folder, 'home/.cursor/mcp.json')
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { all: { command: process.execPath, args: [server] } } }),
    )
    const success = { status: 0, output: expect.any(String) }
    expect(await start(init)).toEqual(success)
    expect(await start(rest[0]?.replace('/path/to/tarballs', tarballs) ?? '')).toEqual(success)
    writeFileSync(join(folder, 'agent.mjs'), program)
    expect(await start(rest[1] ?? '')).toEqual({ status: 0, output: printed })
    expect(await start(`${rest[2]} --yes`)).toEqual(success)
    onTestFinished(async () => {
      await start('npx toolwell stop')
    })
    expect(Object.keys(readJson(config).mcpServers)).toEqual(['toolwell'])
    const { command, args } = readJson(config).mcpServers.toolwell
    expect(args[0]).toContain(join(folder, 'node_modules'))

    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(new StdioClientTransport({ command, args, env, cwd: folder }))
    expect((await client.listTools()).tools).toHaveLength(4)
    expect((await start(rest[3] ?? '')).output).toContain('a-client')
  })
})

describe('an empty project', () => {
  it('runs a program on all packages together', () => {
    const program = `
      import { createToolwell, defineTool } from '@toolwell/core'
      import { openaiChat } from '@toolwell/core/openai-chat'
      import { connectServers, loadConfig } from '@toolwell/mcp'
      import { caliban, mcpActive } from '@toolwell/presets'
      import { startScriptedChat } from '@toolwell/testing'
      const config = { tools: { lazy_mcp: true } }
      const well = createToolwell(caliban(config))
      const servers = connectServers(well.catalogue, loadConfig({ files: [] }))
      well.catalogue.setSource('post', {
        tools: [defineTool({ name: 'send', description: 'Sends a letter.', inputSchema: { type: 'object' }, execute: () => 'sent' })],
      })
      const model = await startScriptedChat({ model: [{ calls: [{ name: 'ToolSearch', arguments: { query: 'letter' } }] }] })
      const conversation = await well.open({ id: 'one' })
      const turn = await openaiChat(conversation).begin([{ role: 'user', content: 'Send it.' }])
      const response = await fetch(model.url + '/chat/completions', { method: 'POST', body: JSON.stringify({ model: 'any', ...turn.parts }) })
      await turn.run((await response.json()).choices[0].message)
      console.log(mcpActive(conversation, config), servers.inspect().length)
      await servers.close()
      await model.close()`
    expect(node(consumer, '--input-type=module', '--eval', program)).toBe(
      'MCP active: 1/24 (mcp__post__send) 0\n',
    )
  })

  it('cannot install one package without those it needs, and npm names the missing one', async () => {
    const folder = join(temporary, 'alone')
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{}')
    const { status, output } = await npmInstall(folder, join(tarballs, 'toolwell-mcp-0.1.0.tgz'))
    expect(status).toBeGreaterThan(0)
    expect(output).toContain('@toolwell/core')
  }, 60_000)
})
