/** `scripts/run.mjs`, run in a small workspace of its own so that no test installs or builds over the real one. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
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
import { describe, expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

function start(folder: string, ...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', ...parameters], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

/** One package, an installed compiler, and the stamp that says the lockfile is installed. */
function createWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-scripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const write = (file: string, text: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const lock = '{}'
  // The smallest library: the compiler is started often, and its own declarations are most of what it reads.
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
  // In the small workspace too: a word that passes for a command would install and build.
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
    // Seconds are counted below it where the machine is slow.
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
