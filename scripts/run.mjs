// Runs every npm command: installs if the lockfile changed, builds stale packages, then runs the command. It has no
// dependencies, because it runs before they are installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
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

/** Runs a program and prints its progress every few seconds. Calls `onProgress` with the process id at the start and each time. */
async function runWithProgress(what, program, parameters, { onProgress, failed, ...options } = {}) {
  const started = Date.now()
  const terminal = process.stderr.isTTY === true
  let open = false
  process.stderr.write(`${what} …\n`)
  const beat = setInterval(
    () => {
      const seconds = Math.round((Date.now() - started) / 1000)
      const text = `  ${seconds} s${onProgress ? `, ${onProgress(child.pid)}` : ''}`
      process.stderr.write(terminal ? `\r${text}\u001b[K` : `${text}\n`)
      open = terminal
    },
    terminal ? 1000 : 5000,
  )
  const child = spawn(program, parameters, { cwd: root, stdio: ['inherit', 2, 2], ...options })
  // An interrupted command also stops its child. The next command starts the work again.
  const interrupted = (signal) => {
    child.kill('SIGKILL')
    process.exit(128 + constants.signals[signal])
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupted)
  onProgress?.(child.pid)
  const status = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error))
    child.once('close', (code) => resolve(code ?? 1))
  })
  clearInterval(beat)
  for (const signal of signals) process.off(signal, interrupted)
  if (open) process.stderr.write('\r\u001b[K')
  if (status instanceof Error) console.error(`Could not run ${program}: ${status.message}`)
  if (status === 0) return
  failed?.()
  process.exit(typeof status === 'number' ? status : 1)
}

const modules = join(root, 'node_modules')

/** Package folders in node_modules, including links to the workspace. */
const packageFolders = () =>
  readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
    )
    .map((name) => join(modules, name))

/** Counts unpacked packages. npm creates all folders first, then fills them. */
const countPackages = () =>
  `${packageFolders().filter((folder) => existsSync(join(folder, 'package.json'))).length} packages unpacked`

/** Contains the hash of the installed lockfile, or the process ids of a running install. */
const stamp = join(modules, '.toolwell-lock')
const readStamp = () => (existsSync(stamp) ? readFileSync(stamp, 'utf8') : '')
const unfinished = 'installing'

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Finds running installs. They touch the stamp every few seconds, because process ids can be reused. */
function findInstallers() {
  const [word, ...pids] = readStamp().split(' ')
  if (word !== unfinished || Date.now() - statSync(stamp).mtimeMs > 60_000) return []
  return pids.map(Number).filter(isAlive)
}

/** True if the last install finished. npm writes its list last, so a newer package folder means an interrupted install. */
function isComplete() {
  const list = join(modules, '.package-lock.json')
  if (readStamp().startsWith(unfinished) || !existsSync(list)) return false
  const { mtimeMs } = statSync(list)
  return packageFolders().every((folder) => lstatSync(folder).mtimeMs <= mtimeMs)
}

async function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const installers = findInstallers()
  if (installers.length > 0)
    console.error(
      `Another command is installing the dependencies (process ${installers.join(', ')}). Waiting for it …`,
    )
  while (findInstallers().length > 0) await wait(200)
  const before = readStamp()
  if (before === lock) return
  const first = !existsSync(modules)
  const complete = first || isComplete()
  const writeStamp = (...pids) => writeFileSync(stamp, [unfinished, process.pid, ...pids].join(' '))
  mkdirSync(modules, { recursive: true })
  writeStamp()
  if (!complete)
    // Keep folders of Toolwell, which may be in use.
    for (const name of readdirSync(modules))
      if (!name.startsWith('.toolwell')) rmSync(join(modules, name), { recursive: true, force: true })
  // Like `ci`, `install --no-save` follows the lockfile and does not change it. Unlike `ci`, it does not delete everything
  // first, so it takes seconds and works while an editor or a server uses files. The spinner of npm would erase our line.
  const parameters = ['install', '--no-save', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  const { program, shell, parameters: words } = npm(...parameters)
  await runWithProgress(
    first
      ? 'Installing dependencies (the first time only, about half a minute)'
      : complete
        ? 'Installing dependencies'
        : 'Installing dependencies again, because the last install did not finish',
    program,
    words,
    {
      onProgress: (pid) => {
        writeStamp(pid)
        return countPackages()
      },
      // npm has restored the earlier packages.
      failed: () => !first && complete && writeFileSync(stamp, before),
      shell,
    },
  )
  writeFileSync(stamp, lock)
}

/** Time of the newest change in a folder. Includes the time of folders, which changes when a file is renamed or deleted. */
function newest(folder) {
  let time = statSync(folder).mtimeMs
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    time = Math.max(time, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs)
  }
  return time
}

async function build() {
  const folder = (name) => join(root, 'packages', name)
  const built = (name) => join(folder(name), 'dist', '.built')
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
    return !existsSync(built(name)) || statSync(built(name)).mtimeMs < changed
  })
  if (stale.length === 0) return
  const started = new Date()
  // Remove the output of deleted sources.
  for (const name of stale) rmSync(join(folder(name), 'dist'), { recursive: true, force: true })
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  await runWithProgress(
    `Building ${stale.join(', ')}`,
    process.execPath,
    [compiler, '-b', ...packages.map((name) => `packages/${name}`)],
    // The compiler prints errors to standard output.
    { stdio: ['inherit', 1, 2] },
  )
  if (stale.includes('dashboard')) node('scripts/build-page.mjs')
  for (const name of stale) {
    mkdirSync(join(folder(name), 'dist'), { recursive: true })
    writeFileSync(built(name), '')
    // Use the start time, so that a source edited during the build counts as changed.
    utimesSync(built(name), started, started)
  }
}

/** Uses the script of npm if it is known, because `npm` may be a .cmd shim. */
function npm(...parameters) {
  const file = process.env.npm_execpath
  return file?.endsWith('.js')
    ? { program: process.execPath, parameters: [file, ...parameters], shell: false }
    : { program: 'npm', parameters, shell: process.platform === 'win32' }
}

/** Packs every package, and prints the command that installs all of them in another project. */
function pack(folder = 'tarballs') {
  // A given folder is relative to the caller's folder; the default is in the clone.
  const destination =
    rest.length === 0 ? join(root, folder) : resolve(process.env.INIT_CWD ?? process.cwd(), folder)
  mkdirSync(destination, { recursive: true })
  for (const name of readdirSync(destination))
    if (/^toolwell-.*\.tgz$/.test(name)) rmSync(join(destination, name))
  const { program, parameters, shell } = npm(
    ...['pack', '--workspaces', '--ignore-scripts', '--loglevel=error', '--pack-destination', destination],
  )
  run(program, parameters, { shell, stdio: ['inherit', 2, 2] })
  const files = readdirSync(destination).filter((name) => name.endsWith('.tgz'))
  const paths = files.sort().map((name) => JSON.stringify(join(destination, name)))
  console.error('\nIn your project, install them all at once:\n')
  console.log(`npm install ${paths.join(' ')}`)
}

const typescript = (file, ...parameters) =>
  run(process.execPath, ['--import', 'tsx', join(root, file), ...parameters])

/** Runs a long-lived program, passes signals on to it, and exits after it. */
function runUntilExit(file, ...parameters) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, file), ...parameters], {
    cwd: root,
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // The shell between npm and this process exits on a signal without passing it on.
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  watch.unref()
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

const vitest = (env = {}) =>
  run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...rest], {
    env: { ...process.env, ...env },
  })

const fuzz = (...parameters) => typescript('packages/core/test/hostile/fuzz.ts', ...parameters)

const commands = {
  start: () => runUntilExit('examples/gateway.ts', ...rest),
  proof: () => typescript('examples/proof.ts', ...rest),
  agent: () => runUntilExit('examples/agent/main.ts', ...rest),
  test: () => {
    vitest()
    if (rest.length === 0)
      console.error(
        'These were the tests sized for a change. To run everything at full size: npm run test:long',
      )
  },
  // Accepts files, as `test` does. Without files, it also runs the fuzzer with a new seed.
  'test:long': () => {
    vitest({ TOOLWELL_TESTS: 'long' })
    if (rest.length === 0) fuzz('--cases', '2000')
  },
  conformance: () => {
    rest.push('packages/gateway/test/conformance.long.test.ts')
    vitest({ TOOLWELL_TESTS: 'long' })
  },
  check: () => {
    node('node_modules/@biomejs/biome/bin/biome', 'check', ...rest)
    node('node_modules/typescript/bin/tsc', '-p', '.')
  },
  format: () => node('node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...rest),
  build: () => {},
  bench: () => typescript('bench/run.ts', ...rest),
  examples: () => typescript('examples/run.ts', ...rest),
  // Paths are relative to the caller's folder.
  toolwell: () =>
    run(process.execPath, [join(root, 'packages/cli/bin/toolwell.mjs'), ...rest], {
      cwd: process.env.INIT_CWD ?? process.cwd(),
    }),
  pack: () => pack(rest[0]),
  release: () => typescript('scripts/release.ts', ...rest),
  docs: () => runUntilExit('scripts/docs.ts', ...rest),
  walk: () => node('scripts/walk.mjs', ...rest),
  claims: () => typescript('scripts/claims.ts', ...rest),
  screenshots: () => typescript('scripts/screenshots.ts', ...rest),
  fuzz: () => fuzz(...rest),
}

const action = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined
if (!action) {
  console.error(
    `Unknown command ${JSON.stringify(command ?? '')}. Known: ${Object.keys(commands).join(', ')}.`,
  )
  process.exit(2)
}
await install()
if (command !== 'format') await build()
action()
