/** Differences on Windows and macOS: folders, permissions, processes, shells and links. Runs with `process.platform` of each. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openBrowser } from '../packages/cli/src/login/run-login.js'
import { withFileLock } from '../packages/core/src/ledger/stores/file-lock.js'
import { jsonlStore } from '../packages/core/src/ledger/stores/jsonl.js'
import {
  defaultGatewayFolder,
  preparePrivateFolder,
  readToken,
  tokenFileIn,
} from '../packages/gateway/src/bridge/folder.js'
import { isDaemon } from '../packages/gateway/src/bridge/processes.js'
import { resolveReferences } from '../packages/mcp/src/config/references.js'
import { createUserFiles, userFolder } from '../packages/mcp/src/definition/user-files.js'
import { trustedProjects } from '../packages/mcp/src/trust/trusted-projects.js'
import { ProcessTransport } from '../packages/mcp/src/upstream/process-transport.js'
import { createWatchdog } from '../packages/mcp/src/upstream/watchdog.js'

const disk = vi.hoisted(() => ({ hasLinks: true, hasProc: true }))
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>()
  const symlink: typeof real.symlink = (...words) =>
    disk.hasLinks
      ? real.symlink(...words)
      : Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' }))
  return { ...real, symlink }
})
vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>()
  const readFile = (file: string, ...rest: never[]) => {
    if (!disk.hasProc && String(file).startsWith('/proc/')) throw new Error('no /proc')
    return real.readFileSync(file, ...rest)
  }
  return { ...real, readFileSync: readFile }
})

const here = process.platform
const { PATH } = process.env
let folder = ''
const on = (platform: string) => Object.defineProperty(process, 'platform', { value: platform })

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-platforms-')))
})
afterEach(() => {
  on(here)
  process.env.PATH = PATH
  Object.assign(disk, { hasLinks: true, hasProc: true })
  rmSync(folder, { recursive: true, force: true })
})

/** Puts a program with this name before all others. It writes its words into a file, one per line, then runs `then`. */
function standIn(name: string, then = ''): () => string {
  const bin = join(folder, 'bin')
  const log = join(folder, `${name}.log`)
  mkdirSync(bin, { recursive: true })
  writeFileSync(
    join(bin, name),
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${log}.new\nmv ${log}.new ${log}\n${then}\n`,
  )
  chmodSync(join(bin, name), 0o755)
  process.env.PATH = `${bin}${delimiter}${PATH}`
  return () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
}

describe('folders of the user', () => {
  const home = homedir()
  it.each([
    ['linux', {}, `${home}/.local/state`, `${home}/.cache`, `${home}/.local/share`],
    ['linux', { LOCALAPPDATA: '/c' }, `${home}/.local/state`, `${home}/.cache`, `${home}/.local/share`],
    ...[['darwin', {}, `${home}/Library/Application Support`, `${home}/Library/Caches`] as const].map(
      ([platform, env, state, cache]) => [platform, env, state, cache, state] as const,
    ),
    ['win32', { LOCALAPPDATA: '/c' }, '/c', '/c', '/c'],
    ['win32', {}, `${home}/.local/state`, `${home}/.cache`, `${home}/.local/share`],
    ['win32', { LOCALAPPDATA: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' }, '/s', '/k', '/c'],
  ] as const)('on %s with %j', (platform, env, state, cache, data) => {
    on(platform)
    expect(defaultGatewayFolder(env)).toBe(join(state, 'toolwell/gateway'))
    expect(userFolder('state', 'a', env)).toBe(join(state, 'toolwell/a'))
    expect(userFolder('cache', 'a', env)).toBe(join(cache, 'toolwell/a'))
    expect(userFolder('data', 'a', env)).toBe(join(data, 'toolwell/a'))
  })
})

it.each([
  ['linux', {}],
  ['darwin', { XDG_CACHE_HOME: '/h/.cache', XDG_STATE_HOME: '/h/.local/state' }],
  ['win32', { XDG_CACHE_HOME: '/h/.cache', XDG_STATE_HOME: '/h/.local/state' }],
])('an entry on %s names the folders that are not the default there', async (platform, expected) => {
  on(platform)
  vi.resetModules()
  const { entryVariables } = await import('../packages/cli/src/shared/clients/toolwell-entry.js')
  const env = {
    ...{ HOME: '/h', USERPROFILE: '/h', XDG_CONFIG_HOME: '/h/.config' },
    ...{ XDG_CACHE_HOME: '/h/.cache', XDG_STATE_HOME: '/h/.local/state' },
  }
  expect(entryVariables('cursor', { env, folder: '/h' })).toEqual(expected)
})

describe('a folder whose mode lets everybody write, as all folders on Windows', () => {
  beforeEach(() => chmodSync(folder, 0o777))

  /** The gateway reads this from the folder: a project that the user trusts, and a cached list of tools. */
  function useFolder() {
    const file = join(folder, 'mine')
    writeFileSync(file, 'text')
    const projects = trustedProjects(folder, () => {})
    projects.add(file)
    const cached = createUserFiles(folder, () => {}, true)
      .get(file)
      ?.toString()
    return { project: projects.readTrusted(file), cached }
  }

  it.each(['linux', 'darwin'])('is refused on %s', async (platform) => {
    on(platform)
    expect(() => preparePrivateFolder(folder)).toThrow('Other users can write')
    await expect(jsonlStore(folder).read('a')).rejects.toThrow('everybody may write')
    const { project, cached } = useFolder()
    expect([project, cached]).toEqual([undefined, undefined])
  })

  it('is used on Windows', async () => {
    on('win32')
    preparePrivateFolder(folder)
    const token = readToken(folder)
    chmodSync(tokenFileIn(folder), 0o666)
    expect(readToken(folder)).toBe(token)
    expect(statSync(tokenFileIn(folder)).mode & 0o777).toBe(0o666)
    expect(await jsonlStore(folder).read('a')).toEqual([])
    expect(useFolder()).toEqual({ project: 'text', cached: 'text' })
  })
})

describe('a file lock on a disk without links', () => {
  it('is held by one task at a time, and taken from a dead process', async () => {
    disk.hasLinks = false
    const file = join(folder, 'thing')
    writeFileSync(`${file}.lock`, `${(await import('node:os')).hostname()}:999999999:a`)
    let running = 0
    const task = async () => {
      expect(++running).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      running--
    }
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(file, task)))
    expect(existsSync(`${file}.lock`)).toBe(false)
  })
})

describe.skipIf(here === 'win32')('programs', () => {
  it.each([
    ['darwin', {}, 'open', 'https://a.example/?b=c&d\n'],
    ['win32', {}, 'rundll32', 'url.dll,FileProtocolHandler\nhttps://a.example/?b=c&d\n'],
    ['linux', { DISPLAY: ':0' }, 'xdg-open', 'https://a.example/?b=c&d\n'],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open', 'https://a.example/?b=c&d\n'],
    ['win32', { BROWSER: 'mybrowser --new %s' }, 'mybrowser', '--new\nhttps://a.example/?b=c&d\n'],
  ])('the browser on %s with %j is %s', async (platform, env, program, words) => {
    const read = standIn(program)
    on(platform)
    expect(openBrowser('https://a.example/?b=c&d', { ...env, PATH: process.env.PATH })).toBe(true)
    await expect.poll(read, { timeout: 60_000 }).toBe(words)
  })

  it('no browser opens without a display on Linux', () => {
    on('linux')
    expect(openBrowser('https://a.example', {})).toBe(false)
  })

  it.each([
    ['darwin', 'ps', 'node /a/toolwell.mjs serve --stdio', true],
    ['darwin', 'ps', 'node /a/other.mjs', false],
    ['win32', 'tasklist', '"node.exe","1","Console","1","40,000 K"', true],
    ['win32', 'tasklist', 'INFO: No tasks are running which match the specified criteria.', false],
  ])('without /proc, on %s, %s prints %s: a daemon is %s', async (platform, program, line, isIt) => {
    const read = standIn(program, `printf '%s\\n' '${line}'`)
    disk.hasProc = false
    on(platform)
    const file = { pid: process.pid, start: '', instance: '' } as Parameters<typeof isDaemon>[0]
    expect(await isDaemon(file)).toBe(isIt)
    expect(read()).toContain(String(process.pid))
  })

  it('the command of a secret reaches cmd.exe on Windows with its quotes', async () => {
    const read = standIn('cmd.exe', 'echo s3cret')
    vi.stubEnv('comspec', 'cmd.exe')
    on('win32')
    const endpoint = {
      type: 'stdio',
      command: ['$', '{cmd:op read "op://my vault/key"}'].join(''),
      args: [],
      env: {},
      cwd: folder,
    }
    const { endpoint: resolved } = await resolveReferences({ endpoint, secrets: [] } as never, {})
    vi.unstubAllEnvs()
    expect(resolved).toMatchObject({ command: 's3cret' })
    expect(read()).toBe('/d\n/s\n/c\n"op read "op://my vault/key""\n')
  })

  it('a server that does not end by itself is ended with its children by taskkill on Windows, without a watchdog', async () => {
    const read = standIn('taskkill', 'kill -9 "$2"')
    on('win32')
    const watchdog = createWatchdog()
    const words = ['-e', 'setInterval(() => {}, 1000)']
    const endpoint = { type: 'stdio' as const, command: process.execPath, args: words, env: {}, cwd: folder }
    const transport = new ProcessTransport({ endpoint, watchdog, hide: (text) => text, grace: 10 })
    await transport.start()
    const { pid } = transport
    await transport.close()
    watchdog.close()
    expect(read()).toBe(`/pid\n${pid}\n/T\n/F\n`)
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
  })
})
