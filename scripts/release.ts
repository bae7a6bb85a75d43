/**
 * `npm run release`: checks and publishes every package of `packages/` that is not private.
 *
 * --dry-run       packs, checks, and prints what would be published
 * --version X.Y.Z writes the version into every package and moves the unreleased lines of CHANGELOG.md under it
 * --notes         prints the lines of CHANGELOG.md for the current version
 * --publish       checks, then publishes with provenance. Refuses to run anywhere but in the repository's own workflow
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import ts from 'typescript'
import { benchBundle, refuseBundle } from '../bench/bundle.ts'

/** Limit in bytes of one unpacked package. */
const MOST_BYTES = 3 * 1024 * 1024

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly license?: string
  readonly description?: string
  readonly engines?: { readonly node?: string }
  readonly repository?: { readonly url?: string; readonly directory?: string }
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean }
  readonly sideEffects?: boolean | readonly string[]
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, { readonly types?: string; readonly default?: string } | string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** A packed package: its manifest and the text of every file, by path. */
export interface Packed {
  readonly folder: string
  readonly manifest: Manifest
  readonly files: ReadonlyMap<string, string>
}

const readManifest = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest

/** The packages to publish, dependencies first. */
export function findPackages(root: string): { readonly folder: string; readonly manifest: Manifest }[] {
  const all = readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}`)
    .map((folder) => ({ folder, manifest: readManifest(join(root, folder, 'package.json')) }))
    .filter(({ manifest }) => manifest.private !== true)
  const sorted: typeof all = []
  const add = (each: (typeof all)[number]) => {
    if (sorted.includes(each)) return
    for (const other of all) if (each.manifest.dependencies?.[other.manifest.name]) add(other)
    sorted.push(each)
  }
  for (const each of all) add(each)
  return sorted
}

/** The lines of CHANGELOG.md under a heading such as `0.1.0` or `Unreleased`. */
export function readNotes(changelog: string, heading: string): string {
  const [, ...sections] = changelog.split(/^## /m)
  const found = sections.find((section) => section.split('\n', 1)[0] === heading)
  return found?.slice(heading.length).trim() ?? ''
}

/** The package that an import names, or undefined for a file or a Node module. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]/.test(specifier) || isBuiltin(specifier)) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Everything wrong with one packed package, a sentence each. `common` is what all packages share. */
export function findProblems(
  { folder, manifest, files }: Packed,
  common: {
    readonly version: string
    readonly repository: string
    readonly published: readonly Pick<Manifest, 'name' | 'peerDependencies'>[]
  },
): string[] {
  const problems: string[] = []
  const expect = (holds: unknown, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const { dependencies = {}, peerDependencies = {}, exports = {}, bin = {} } = manifest
  expect(manifest.version === common.version, `version is ${manifest.version}, not ${common.version}`)
  expect(manifest.license === 'MIT', 'license is not MIT')
  expect(manifest.description, 'description is missing')
  expect(manifest.engines?.node === '>=20.19', 'engines.node is not >=20.19')
  expect(
    manifest.repository?.url === common.repository,
    'repository.url is not that of the root package.json',
  )
  expect(manifest.repository?.directory === folder, `repository.directory is not ${folder}`)
  expect(manifest.publishConfig?.access === 'public', 'publishConfig.access is not public')
  expect(manifest.publishConfig?.provenance === true, 'publishConfig.provenance is not true')
  expect(manifest.files, 'files is missing')
  if (Object.keys(exports).length > 0) expect(manifest.sideEffects === false, 'sideEffects is not false')

  for (const file of ['LICENSE', 'README.md', 'package.json'])
    expect(files.has(file), `${file} is not in the tarball`)
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === 'string') expect(files.has(target.slice(2)), `exports "${entry}": no ${target}`)
    else
      for (const kind of ['types', 'default'] as const)
        expect(files.has(target[kind]?.slice(2) ?? ''), `exports "${entry}": no file for ${kind}`)
  }
  for (const file of Object.values(bin)) expect(files.has(file), `bin: no ${file} in the tarball`)
  for (const file of files.keys())
    expect(
      !/(?:^|\/)(?:src|test)\/|\.test\.|\.map$|\.tsbuildinfo$|(?:^|\/)\./.test(file),
      `${file} does not belong in the tarball`,
    )
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  expect(bytes <= MOST_BYTES, `${bytes} bytes unpacked, more than ${MOST_BYTES}`)

  const used = new Map<string, string>()
  for (const [file, text] of files)
    if (/\.(?:[cm]?js|d\.[cm]?ts)$/.test(file))
      for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
        const name = packageOf(fileName)
        if (name && name !== manifest.name) used.set(name, file)
      }
  for (const [name, file] of used)
    expect(name in dependencies || name in peerDependencies, `${file} imports ${name}, which is not declared`)
  for (const [name, range] of Object.entries(dependencies)) {
    const isPeer = common.published.some(
      (each) => each.name in dependencies && name in (each.peerDependencies ?? {}),
    )
    expect(used.has(name) || isPeer, `${name} is a dependency, but no file imports it`)
    expect(/^\d+\.\d+\.\d+$/.test(range), `${name} is not pinned exactly: ${range}`)
    if (name === 'toolwell' || name.startsWith('@toolwell/')) {
      expect(range === common.version, `${name} is pinned to ${range}, not ${common.version}`)
      expect(
        common.published.some((each) => each.name === name),
        `${name} is not published`,
      )
    }
  }
  return problems
}

/** Moves the unreleased lines under a new version. */
export function releaseNotes(changelog: string, version: string): string {
  if (readNotes(changelog, 'Unreleased') === '')
    throw new Error('CHANGELOG.md has no lines under "## Unreleased". Describe what changed first.')
  return changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version}`)
}

const root = fileURLToPath(new URL('..', import.meta.url))
const changelogFile = join(root, 'CHANGELOG.md')

function run(program: string, parameters: readonly string[], cwd = root): string {
  const shell = process.platform === 'win32' && program === 'npm'
  const child = spawnSync(program, parameters, { cwd, shell, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (child.status !== 0)
    throw new Error(
      `${program} ${parameters.join(' ')} failed: ${child.error ?? `${child.stdout}\n${child.stderr}`}`,
    )
  return child.stdout
}

/** Packs a package and unpacks it again, so that every check sees what users get. */
function pack(folder: string, into: string): { readonly tarball: string; readonly packed: Packed } {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', into]
  const output = JSON.parse(run('npm', words, join(root, folder))) as unknown
  // npm 12 returns an object with one key for each package.
  const [{ filename }] = Object.values(output as object) as [{ filename: string }]
  const unpacked = join(into, folder)
  mkdirSync(unpacked, { recursive: true })
  run('tar', ['-xzf', filename, '-C', folder], into)
  const files = new Map<string, string>()
  for (const entry of readdirSync(join(unpacked, 'package'), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      files.set(
        path.slice(unpacked.length + '/package/'.length).replaceAll('\\', '/'),
        readFileSync(path, 'utf8'),
      )
    }
  const manifest = readManifest(join(unpacked, 'package/package.json'))
  return { tarball: join(into, filename), packed: { folder, manifest, files } }
}

/** publint, and are-the-types-wrong for packages with entry points. */
async function lint({ manifest, files }: Packed, tarball: string): Promise<string[]> {
  const data = readFileSync(tarball)
  const { messages } = await publint({ pack: { tarball: new Uint8Array(data).buffer }, strict: true })
  const found = messages.map(
    (message) =>
      `publint: ${formatMessage(message, JSON.parse(files.get('package.json') ?? '{}'), { color: false })}`,
  )
  if (!manifest.exports) return found
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  // Every Node from 20.19 on can require ES modules.
  const words = [attw, tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return status === 0 ? found : [...found, `are the types wrong: ${stdout}${stderr}`]
}

async function check(into: string): Promise<{ readonly tarballs: string[]; readonly isClean: boolean }> {
  const { version, repository } = readManifest(join(root, 'package.json'))
  const packages = findPackages(root)
  const published = packages.map(({ manifest }) => manifest)
  const common = { version, repository: repository?.url ?? '', published }
  const tarballs: string[] = []
  let isClean = true
  console.log(`Version ${version}\n`)
  for (const { folder } of packages) {
    const { tarball, packed } = pack(folder, into)
    tarballs.push(tarball)
    const problems = [...findProblems(packed, common), ...(await lint(packed, tarball))]
    const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1000)} kB`
    const unpacked = [...packed.files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    console.log(
      `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${packed.manifest.name.padEnd(20)} ${packed.files.size} files, ${kilobytes(readFileSync(tarball).length)} packed, ${kilobytes(unpacked)} unpacked`,
    )
    for (const problem of problems) console.log(`     ${problem}`)
    if (problems.length > 0) isClean = false
  }
  console.log('')
  const heavy = refuseBundle(await benchBundle())
  if (heavy) console.log(`FAIL ${heavy}`)
  const notes = readNotes(readFileSync(changelogFile, 'utf8'), version)
  if (notes === '') console.log(`FAIL CHANGELOG.md has no section "## ${version}"`)
  return { tarballs, isClean: isClean && heavy === undefined && notes !== '' }
}

function setVersion(version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`--version needs a version such as 0.2.0, not ${version}.`)
  const changelog = releaseNotes(readFileSync(changelogFile, 'utf8'), version)
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
  for (const folder of ['.', ...folders]) {
    const file = join(root, folder, 'package.json')
    const text = readFileSync(file, 'utf8')
      .replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`)
      .replace(/("@toolwell\/[^"]+": )"\d[^"]*"/g, `$1"${version}"`)
    writeFileSync(file, text)
  }
  writeFileSync(changelogFile, changelog)
  run('npm', ['install', '--package-lock-only', '--ignore-scripts'])
  console.log(
    `Every package has version ${version}. Review the changes, commit them, and push the tag v${version}.`,
  )
}

/** npm proves the origin of a package only for the repository that the package names. */
function assertPublisher(): void {
  const { repository } = readManifest(join(root, 'package.json'))
  const { GITHUB_REPOSITORY: here = '', GITHUB_ACTIONS: isAction } = process.env
  if (!isAction || !repository?.url?.endsWith(`/${here}.git`))
    throw new Error(
      `--publish runs only in the workflow of ${repository?.url}, which the packages name${here && `, and this is ${here}`}. Push a tag there, or change "repository" in every package.json.`,
    )
  const unreleased = readNotes(readFileSync(changelogFile, 'utf8'), 'Unreleased')
  if (unreleased !== '')
    throw new Error('CHANGELOG.md has unreleased lines. Run npm run release -- --version X.Y.Z.')
}

/** True if the registry has this version, for example because the last run published a part of the packages. */
const isPublished = ({ name, version }: Manifest) =>
  spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' }).stdout.trim() === version

const USAGE = 'Usage: npm run release -- --dry-run | --version X.Y.Z | --notes | --publish'

async function main(words: readonly string[]): Promise<number> {
  const options = {
    'dry-run': { type: 'boolean' },
    version: { type: 'string' },
    notes: { type: 'boolean' },
    publish: { type: 'boolean' },
    help: { type: 'boolean' },
  } as const
  const { values } = parseArgs({ args: [...words], options })
  if (values.help || Object.keys(values).length !== 1) {
    console.error(USAGE)
    return values.help ? 0 : 2
  }
  const { version, repository } = readManifest(join(root, 'package.json'))
  if (values.version !== undefined) {
    setVersion(values.version)
    return 0
  }
  const changelog = readFileSync(changelogFile, 'utf8')
  if (values.notes) {
    console.log(readNotes(changelog, version))
    return 0
  }
  if (values.publish) assertPublisher()
  const into = mkdtempSync(join(tmpdir(), 'toolwell-release-'))
  try {
    const { tarballs, isClean } = await check(into)
    if (!isClean) return 1
    const packages = findPackages(root).map(({ manifest }, index) => ({
      manifest,
      tarball: tarballs[index] ?? '',
    }))
    if (!values.publish) {
      const names = packages.map(({ manifest }) => `${manifest.name}@${manifest.version}`)
      console.log(
        `\nWould publish, in this order: ${names.join(', ')}\n\nOnly from the repository that the packages name, which nobody may have registered yet: ${repository?.url}\n\nNotes:\n\n${readNotes(changelog, version)}`,
      )
      return 0
    }
    for (const { manifest, tarball } of packages)
      if (isPublished(manifest)) console.log(`${manifest.name}@${version} is published already.`)
      else console.log(run('npm', ['publish', tarball, '--provenance', '--access', 'public']))
    return 0
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
    console.error(error.message)
    return 1
  })
