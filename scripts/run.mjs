// The one door behind `npm start`, `npm test` and the rest. Plain JavaScript with no dependency, because it
// runs before anything is installed: it installs when the lockfile changed, builds what is stale, then hands over.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...rest] = process.argv.slice(2)

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Toolwell needs Node 20.19 or later; this is ${process.versions.node}. Install a newer Node and try again.`,
  )
  process.exit(1)
}

function run(program, parameters, options = {}) {
  const child = spawnSync(program, parameters, { cwd: root, stdio: 'inherit', ...options })
  if (child.error) {
    console.error(`Could not run ${program}: ${child.error.message}`)
    process.exit(1)
  }
  if (child.status !== 0) process.exit(child.status ?? 1)
}

const node = (file, ...parameters) => run(process.execPath, [join(root, file), ...parameters])

function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(root, 'node_modules', '.toolwell-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.error('Installing dependencies …')
  // `install --no-save` keeps to the lockfile and leaves it as it is; `ci` refuses a lockfile that does not list the
  // optional binaries of every other platform.
  const parameters = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  // Standard output belongs to what was asked for.
  const stdio = ['inherit', 2, 2]
  // npm's own entry file, so that this works the same where `npm` is a .cmd shim.
  const npm = process.env.npm_execpath
  if (npm?.endsWith('.js')) run(process.execPath, [npm, ...parameters], { stdio })
  else run('npm', parameters, { stdio, shell: process.platform === 'win32' })
  writeFileSync(stamp, lock)
}

/** The newest change below a folder. A folder's own time counts: it moves when a file is renamed or deleted. */
function newest(folder) {
  let time = statSync(folder).mtimeMs
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs)
  }
  return time
}

function build() {
  const folder = (name) => join(root, 'packages', name)
  const stamp = (name) => join(folder(name), 'dist', '.built')
  const packages = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(folder(name), 'tsconfig.json')),
  )
  const configured = statSync(join(root, 'tsconfig.base.json')).mtimeMs
  const stale = packages.filter((name) => {
    const changed = Math.max(
      newest(join(folder(name), 'src')),
      statSync(join(folder(name), 'tsconfig.json')).mtimeMs,
      configured,
    )
    return !existsSync(stamp(name)) || statSync(stamp(name)).mtimeMs < changed
  })
  if (stale.length === 0) return
  console.error(`Building ${stale.join(', ')} …`)
  const started = new Date()
  // What was compiled from a source that is gone must not stay behind.
  for (const name of stale) rmSync(join(folder(name), 'dist'), { recursive: true, force: true })
  node('node_modules/typescript/bin/tsc', '-b', ...packages.map((name) => `packages/${name}`))
  for (const name of stale) {
    mkdirSync(join(folder(name), 'dist'), { recursive: true })
    writeFileSync(stamp(name), '')
    // A source that was edited while this ran counts as changed.
    utimesSync(stamp(name), started, started)
  }
}

const typescript = (file, ...parameters) =>
  run(process.execPath, ['--import', 'tsx', join(root, file), ...parameters])

const commands = {
  start: () => typescript('examples/start.ts', ...rest),
  test: () => node('node_modules/vitest/vitest.mjs', 'run', ...rest),
  check: () => {
    node('node_modules/@biomejs/biome/bin/biome', 'check', ...rest)
    node('node_modules/typescript/bin/tsc', '-p', '.')
  },
  format: () => node('node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...rest),
  build: () => {},
  bench: () => typescript('bench/run.ts', ...rest),
  examples: () => typescript('examples/run.ts', ...rest),
  // Paths are meant from where npm was called.
  toolwell: () =>
    run(process.execPath, [join(root, 'packages/cli/bin/toolwell.mjs'), ...rest], {
      cwd: process.env.INIT_CWD ?? process.cwd(),
    }),
  fuzz: () => typescript('packages/core/test/hostile/fuzz.ts', ...rest),
}

const action = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined
if (!action) {
  console.error(
    `Unknown command ${JSON.stringify(command ?? '')}. Known: ${Object.keys(commands).join(', ')}.`,
  )
  process.exit(2)
}
install()
if (command !== 'format') build()
action()
