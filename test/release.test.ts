/** The checks of `npm run release`, and the workflow files that run it. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { findPackages, findProblems, type Manifest, readNotes, releaseNotes } from '../scripts/release.ts'
import { isLong } from './setup/tier.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const repository = 'git+https://example.com/owner/name.git'
const published = [{ name: '@toolwell/core', peerDependencies: { peer: '>=1' } }, { name: '@toolwell/demo' }]
const common = { version: '1.2.3', repository, published }
const manifest: Manifest = {
  name: '@toolwell/demo',
  version: '1.2.3',
  license: 'MIT',
  description: 'A demo.',
  engines: { node: '>=20.19' },
  repository: { url: repository, directory: 'packages/demo' },
  publishConfig: { access: 'public', provenance: true },
  sideEffects: false,
  files: ['dist'],
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  dependencies: { '@toolwell/core': '1.2.3' },
}
const contents = {
  LICENSE: '',
  'README.md': '',
  'package.json': '{}',
  'dist/index.d.ts': "export type { Tool } from '@toolwell/core'",
  'dist/index.js': "import { join } from 'node:path'\nexport { join }",
}
const problemsOf = (changed: Partial<Manifest>, files: object = contents) =>
  findProblems(
    { folder: 'packages/demo', manifest: { ...manifest, ...changed }, files: new Map(Object.entries(files)) },
    common,
  )

it('finds nothing wrong with a complete package', () => {
  expect(problemsOf({})).toEqual([])
})

it('lets a package install what another package asks its host for', () => {
  expect(problemsOf({ dependencies: { '@toolwell/core': '1.2.3', peer: '1.0.0' } })).toEqual([])
})

it.each<[string, Partial<Manifest>, object?]>([
  ['version is 1.2.4, not 1.2.3', { version: '1.2.4' }],
  ['license is not MIT', { license: 'ISC' }],
  ['engines.node is not >=20.19', { engines: { node: '>=18' } }],
  ['repository.directory is not packages/demo', { repository: { url: repository, directory: 'demo' } }],
  ['publishConfig.provenance is not true', { publishConfig: { access: 'public' } }],
  ['sideEffects is not false', { sideEffects: true }],
  [
    'exports "./more": no file for types',
    { exports: { ...manifest.exports, './more': { default: './dist/index.js' } } },
  ],
  ['bin: no bin/demo.mjs in the tarball', { bin: { demo: 'bin/demo.mjs' } }],
  ['README.md is not in the tarball', {}, { ...contents, 'README.md': undefined }],
  ['src/index.ts does not belong in the tarball', {}, { ...contents, 'src/index.ts': '' }],
  ['dist/.built does not belong in the tarball', {}, { ...contents, 'dist/.built': '' }],
  [
    'dist/late.js imports ms, which is not declared',
    {},
    { ...contents, 'dist/late.js': "await import('ms')" },
  ],
  [
    'ms is a dependency, but no file imports it',
    { dependencies: { '@toolwell/core': '1.2.3', ms: '2.1.3' } },
  ],
  ['@toolwell/core is not pinned exactly: ^1.2.3', { dependencies: { '@toolwell/core': '^1.2.3' } }],
  ['@toolwell/core is pinned to 1.2.2, not 1.2.3', { dependencies: { '@toolwell/core': '1.2.2' } }],
])('reports: %s', (problem, changed, files = contents) => {
  const present = Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined))
  expect(problemsOf(changed, present)).toContain(problem)
})

it('publishes a package after those it depends on', () => {
  const names = findPackages(root).map(({ manifest: { name } }) => name)
  expect(names.length).toBeGreaterThan(7)
  for (const {
    manifest: { name, dependencies = {} },
  } of findPackages(root))
    for (const dependency of Object.keys(dependencies).filter((each) => names.includes(each)))
      expect(names.indexOf(dependency)).toBeLessThan(names.indexOf(name))
})

it('moves the unreleased lines under the new version, and refuses if there are none', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- A line.\n\n## 0.1.0\n\n- The first.\n'
  const released = releaseNotes(changelog, '0.2.0')
  expect(readNotes(released, '0.2.0')).toBe('- A line.')
  expect(readNotes(released, 'Unreleased')).toBe('')
  expect(() => releaseNotes(released, '0.3.0')).toThrow('no lines under "## Unreleased"')
})

const release = (words: readonly string[], place = {}) => {
  const env = { ...process.env, GITHUB_ACTIONS: '', GITHUB_REPOSITORY: '', ...place }
  const parameters = ['--import', 'tsx', 'scripts/release.ts', ...words]
  return spawnSync(process.execPath, parameters, { cwd: root, encoding: 'utf8', env })
}

it.each([
  ['on a machine', {}],
  [
    'in the workflow of another repository',
    { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'somebody/toolwell' },
  ],
])('refuses to publish %s', (_, place) => {
  const { status, stdout, stderr } = release(['--publish'], place)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(
    /^--publish runs only in the workflow of .*change "repository" in every package\.json\.\n$/,
  )
})

it.runIf(isLong)('npm run release -- --dry-run finds nothing wrong and names every package', () => {
  const { status, stdout } = release(['--dry-run'])
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('Would publish') })
  for (const {
    manifest: { name },
  } of findPackages(root))
    expect(stdout).toContain(`ok   ${name}`)
})

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly run?: string; readonly uses?: string }[] }>
  >
}

it('has workflows whose commands exist, and whose tests are those of .ci/run', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const workflows = readdirSync(join(root, '.github/workflows'))
  expect(workflows.sort()).toEqual(['ci.yml', 'release.yml'])
  for (const file of workflows) {
    const { jobs } = parse(read(`.github/workflows/${file}`)) as Workflow
    const lines = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => run?.split('\n') ?? []),
    )
    for (const [, name = ''] of lines.join('\n').matchAll(/^npm (?:run (?:-s )?)?(\w+)/gm))
      expect(scripts).toHaveProperty(name)
    if (file !== 'ci.yml') continue
    const commands = read('.ci/run').match(/^npm .*$/gm) ?? []
    expect(commands).toHaveLength(4)
    expect(jobs.test?.steps.flatMap(({ run }) => run ?? [])).toEqual(commands)
  }
})
