/** Runs `scripts/run.mjs` in a small separate workspace, so that no test installs or builds over the real one. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isLong } from './setup/tier.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function start(folder: string, ...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', ...parameters], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

/** One package, an installed compiler, and the stamp of an installed lockfile. */
function createWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-scripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const write = (file: string, text: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const lock = '{}'
  // The smallest library, for speed: the compiler starts often and mostly reads its own declarations.
  const compilerOptions = {
    composite: true,
    rootDir: 'src',
    outDir: 'dist',
    strict: true,
    types: [],
    lib: ['ES5'],
    skipLibCheck: true,
  }
  write('package-lock.json', lock)
  write('node_modules/.toolwell-lock', createHash('sha256').update(lock).digest('hex'))
  write('packages/demo/tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }))
  write('tsconfig.base.json', '{}')
  write('packages/demo/src/index.ts', 'export const answer: number = 42\n')
  cpSync(join(root, 'scripts/run.mjs'), join(folder, 'scripts/run.mjs'))
  const compiler = join(folder, 'node_modules/typescript')
  symlinkSync(join(root, 'node_modules/typescript'), compiler, 'junction')
  return {
    folder,
    write,
    build: () => start(folder, 'build'),
    removeCompiler: () => rmSync(compiler),
    path: (file: string) => join(folder, file),
    stamp: join(folder, 'packages/demo/dist/.built'),
  }
}

describe('an unknown command', () => {
  // Also in the small workspace: a word mistaken for a command would install and build.
  it.each([['deploy'], ['constructor'], ['']])('%j is refused with the list of known ones', (command) => {
    const { status, stdout, stderr } = start(createWorkspace().folder, command)
    const known = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
    const [, list = ''] = stderr.split(`Unknown command ${JSON.stringify(command)}. Known: `)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(list.trim().replace(/\.$/, '').split(', ').sort()).toEqual(known.sort())
  })

  it('is refused when there is none', () => {
    expect(start(createWorkspace().folder)).toMatchObject({ status: 2, stdout: '' })
  })

  it('is refused before anything is installed or built', () => {
    const { folder, path, stamp } = createWorkspace()
    rmSync(path('package-lock.json'))
    expect(start(folder, 'deploy').status).toBe(2)
    expect(existsSync(stamp)).toBe(false)
  })
})

describe('build', { timeout: 120_000 }, () => {
  it('says what it builds the first time, and does nothing the second time', () => {
    const { build, path, removeCompiler, stamp } = createWorkspace()
    // On a slow machine, it prints the seconds below.
    expect(build()).toEqual({ status: 0, stdout: '', stderr: expect.stringMatching(/^Building demo …\n/) })
    expect(existsSync(path('packages/demo/dist/index.js'))).toBe(true)
    const built = statSync(stamp).mtimeMs
    // A second build that started the compiler would fail now.
    removeCompiler()
    expect(build()).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(statSync(stamp).mtimeMs).toBe(built)
  })

  it('leaves nothing behind of a source that was renamed', () => {
    const { build, path } = createWorkspace()
    build()
    renameSync(path('packages/demo/src/index.ts'), path('packages/demo/src/other.ts'))
    const soon = new Date(Date.now() + 5_000)
    utimesSync(path('packages/demo/src'), soon, soon)
    expect(build()).toMatchObject({ status: 0 })
    const built = readdirSync(path('packages/demo/dist')).filter((file) => file.endsWith('.js'))
    expect(built).toEqual(['other.js'])
  })

  it('builds again when a source is newer', () => {
    const { build, path, stamp, write } = createWorkspace()
    build()
    const old = new Date(Date.now() - 60_000)
    utimesSync(stamp, old, old)
    write('packages/demo/src/index.ts', "export const answer: string = 'new'\n")
    expect(build()).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Building demo …\n/) })
    expect(readFileSync(path('packages/demo/dist/index.js'), 'utf8')).toContain("'new'")
  })

  it('fails with the compiler, and tries again the next time', () => {
    const { build, stamp, write } = createWorkspace()
    write('packages/demo/src/index.ts', "export const answer: number = 'wrong'\n")
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, stdout } = build()
      expect(status).toBeGreaterThan(0)
      expect(stdout).toContain('TS2322')
      expect(existsSync(stamp)).toBe(false)
    }
  })
})

describe('install', { timeout: 60_000 }, () => {
  const npm = (folder: string, ...parameters: string[]) => {
    const { status, stderr } = spawnSync('npm', [...parameters, '--no-audit', '--no-fund', '--offline'], {
      cwd: folder,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    expect({ status, stderr }).toMatchObject({ status: 0 })
  }

  const template = mkdtempSync(join(tmpdir(), 'toolwell-scripts-'))
  afterAll(() => rmSync(template, { recursive: true, force: true }))

  /** Two packages as tarballs: `half` has two files, and `slow` makes its file in a script that waits for a gate. */
  beforeAll(() => {
    const script = `const fs = require('node:fs')
fs.writeFileSync(process.env.BEGAN, '')
setInterval(() => fs.existsSync(process.env.GATE) && (fs.writeFileSync('made.js', ''), process.exit()), 20)`
    const slow = { name: 'slow', version: '1.0.0', scripts: { install: 'node make.cjs' } }
    const write = (file: string, content: unknown) =>
      writeFileSync(join(template, file), typeof content === 'string' ? content : JSON.stringify(content))
    mkdirSync(join(template, 'half'))
    mkdirSync(join(template, 'slow'))
    write('half/package.json', { name: 'half', version: '1.0.0' })
    write('half/index.js', 'module.exports = 42\n')
    write('slow/package.json', slow)
    write('slow/make.cjs', script)
    npm(template, 'pack', './half', './slow')
    const dependencies = { half: 'file:half-1.0.0.tgz', slow: 'file:slow-1.0.0.tgz' }
    write('package.json', { name: 'demo', private: true, dependencies })
    npm(template, 'install', '--package-lock-only')
  })

  function createUninstalled() {
    const { folder, path, write } = createWorkspace()
    for (const name of ['node_modules', 'packages']) rmSync(path(name), { recursive: true })
    mkdirSync(path('packages'))
    cpSync(template, folder, { recursive: true })
    const environment = { BEGAN: path('began'), GATE: path('gate') }
    const begin = () =>
      spawn(process.execPath, ['scripts/run.mjs', 'build'], {
        cwd: folder,
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      })
    const finish = async (child = begin()) => {
      let stderr = ''
      child.stderr.on('data', (text) => (stderr += text))
      const [status] = await once(child, 'close')
      return { status, stderr }
    }
    return {
      begin,
      finish,
      path,
      openGate: () => write('gate', ''),
      hasBegun: () =>
        expect.poll(() => existsSync(path('began')), { timeout: 20_000, interval: 20 }).toBe(true),
      missing: () =>
        ['half/index.js', 'slow/made.js', '.package-lock.json'].filter(
          (file) => !existsSync(path(`node_modules/${file}`)),
        ),
    }
  }

  // The whole process group, as when a terminal closes, or only one process.
  const interruptions = [
    ['SIGHUP', 'group'],
    ['SIGKILL', 'one'],
    ['SIGTERM', 'one'],
    ['SIGINT', 'group'],
    ['SIGKILL', 'group'],
  ] as const
  it.each(isLong ? interruptions : interruptions.slice(0, 2))(
    'is repaired by the next command after %s to the %s',
    async (signal, whom) => {
      const { begin, finish, hasBegun, missing, openGate, path } = createUninstalled()
      const child = begin()
      const ended = once(child, 'close')
      await hasBegun()
      const { pid = 0 } = child
      process.kill(whom === 'group' ? -pid : pid, signal)
      if (signal !== 'SIGKILL') await ended
      // As after an interrupted installation of this package.
      rmSync(path('node_modules/half/index.js'), { force: true })
      openGate()
      expect(await finish()).toMatchObject({
        status: 0,
        stderr: expect.stringContaining('Installing dependencies again, because '),
      })
      expect(missing()).toEqual([])
      expect(await finish()).toEqual({ status: 0, stderr: '' })
    },
  )

  it('repairs what npm, run by hand, left half unpacked or newer than its own list', async () => {
    const { finish, missing, openGate, path } = createUninstalled()
    openGate()
    await finish()
    // The folder of the gateway that `npm start` runs.
    mkdirSync(path('node_modules/.toolwell-start'))
    for (const leave of [
      () => rmSync(path('node_modules/.package-lock.json')),
      () => utimesSync(path('node_modules/.package-lock.json'), 1, 1),
    ]) {
      rmSync(path('node_modules/.toolwell-lock'))
      rmSync(path('node_modules/half/index.js'))
      leave()
      expect(await finish()).toMatchObject({ status: 0 })
      expect(missing()).toEqual([])
    }
    expect(existsSync(path('node_modules/.toolwell-start'))).toBe(true)
  })

  it('keeps what is whole when the lockfile changes, also where npm fails', async () => {
    const { finish, openGate, path } = createUninstalled()
    openGate()
    await finish()
    const unpacked = statSync(path('node_modules/half/index.js')).ctimeMs
    writeFileSync(path('package-lock.json'), `${readFileSync(path('package-lock.json'), 'utf8')}\n`)
    const manifest = readFileSync(path('package.json'))
    writeFileSync(path('package.json'), '{')
    expect((await finish()).status).toBeGreaterThan(0)
    writeFileSync(path('package.json'), manifest)
    expect((await finish()).stderr).toMatch(/^Installing dependencies …\n/)
    expect(statSync(path('node_modules/half/index.js')).ctimeMs).toBe(unpacked)
  })

  // `script` of util-linux, which runs a program in a terminal.
  it.runIf(process.platform === 'linux' && existsSync('/usr/bin/script'))(
    'shows on a terminal how far it is, and npm erases none of it',
    async () => {
      const { hasBegun, openGate, path } = createUninstalled()
      const { CI: _, ...env } = process.env
      const child = spawn(
        'script',
        ['-qefc', `${process.execPath} scripts/run.mjs build`, path('typescript')],
        {
          cwd: path('.'),
          env: { ...env, BEGAN: path('began'), GATE: path('gate'), TERM: 'xterm' },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
      const ended = once(child, 'close')
      await hasBegun()
      await expect.poll(() => shown, { timeout: 20_000 }).toMatch(/ 2 s, \d+ packages unpacked/)
      openGate()
      expect((await ended)[0]).toBe(0)
      const own = /\r {2}\d+ s, \d+ packages unpacked\u001b\[K/g
      expect(shown.replace(own, '')).toMatch(
        /^Installing dependencies[^\u001b]* …\r\n[^\u001b\u2800-\u28ff]*\r\u001b\[K$/,
      )
    },
  )

  it('is done once where two commands begin together', async () => {
    const { begin, finish, hasBegun, missing, openGate } = createUninstalled()
    const first = finish()
    await hasBegun()
    const second = begin()
    const waited = once(second.stderr, 'data')
    const both = Promise.all([first, finish(second)])
    expect(String((await waited)[0])).toMatch(/^Another command is installing the dependencies /)
    openGate()
    expect(await both).toMatchObject([{ status: 0 }, { status: 0 }])
    expect(missing()).toEqual([])
  })
})
