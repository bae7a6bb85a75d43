/** Rules that no compiler or linter checks: files, licences and lockfiles. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const MOST_BYTES = 1024 * 1024
const MOST_LINES = 600

/** Paths that reveal this machine or its user. A name after /home/ or /Users/ does. */
const MACHINE_PATH =
  /(?<![\w.~-])\/(?:home|Users|root|work|mnt|private|var\/folders)\/[\w.-]|[A-Za-z]:\\+Users\\/
const REGISTRY_HOST =
  /\bregistry\.[a-z0-9-]+\.[a-z]|\bnpm\.pkg\.github\b|\b(?:pypi|files\.pythonhosted)\.org\b|\b(?:artifactory|nexus|verdaccio)[.:][a-z0-9]|:487[3]\b/i
const UNFINISHED_TEST =
  /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|fails)\b|\bx(?:it|describe|test)\(|\bf(?:it|describe)\(|\b(?:context|ctx|task)\.skip\(|\{[^{}]*\b(?:only|skip|todo|fails): true\b/

/** Turns .gitignore into one test of a path such as `bench/data/` or `notes.tgz`. */
function ignored(): (path: string) => boolean {
  const patterns = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean)
  const expressions = ['.git/', '.git', ...patterns].map((pattern) => {
    const anchored = pattern.replace(/\/$/, '').includes('/')
    const body = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')
    return new RegExp(`${anchored ? '^' : '(?:^|/)'}${body}$`)
  })
  return (path) => expressions.some((expression) => expression.test(path))
}

/** All files of a clone. */
function listFiles(isIgnored = ignored(), folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`
    if (entry.isDirectory()) return isIgnored(`${path}/`) ? [] : listFiles(isIgnored, `${path}/`)
    return entry.isFile() && !isIgnored(path) ? [path] : []
  })
}

const files = listFiles()
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const texts = new Map<string, string>()
for (const file of files) {
  const text = read(file)
  if (!text.includes('\0')) texts.set(file, text)
}
const sources = files.filter((file) => /^packages\/[^/]+\/src\/.*\.[cm]?tsx?$/.test(file))
const manifests = files.filter((file) => /(?:^|\/)package\.json$/.test(file) && !file.includes('/fixtures/'))

/** `file:line` of every match. */
function places(pattern: RegExp, among: Iterable<string>): string[] {
  return [...among].flatMap((file) =>
    (texts.get(file) ?? '')
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  )
}

describe('files', () => {
  it('are found', () => {
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'package-lock.json', 'packages/core/src/index.ts']),
    )
    expect(files.filter((file) => /(?:^|\/)(?:node_modules|dist|\.git)\//.test(file))).toEqual([])
  })

  it('name no path of a machine', () => {
    expect(places(MACHINE_PATH, texts.keys())).toEqual([])
  })

  it('name no package registry', () => {
    expect(places(REGISTRY_HOST, texts.keys())).toEqual([])
  })

  // On Windows, the path of a URL starts with a slash: /C:/folder.
  it('turn no URL of a file into a path without fileURLToPath', () => {
    expect(places(/import\.meta\.url\)\.pathname/, texts.keys())).toEqual([])
  })

  it('are searched for these with patterns that find them', () => {
    for (const path of [
      ['', 'home', 'ada', 'a'],
      ['', 'Users', 'ada'],
      ['', 'root', '.npm'],
      ['C:', 'Users', 'ada'],
    ])
      expect(`in ${path.join(path[0] === '' ? '/' : '\\')}`).toMatch(MACHINE_PATH)
    expect('https://example.com/home/ada and ./work/a').not.toMatch(MACHINE_PATH)
    for (const host of [
      ['registry', 'npmjs', 'org'],
      ['npm', 'pkg', 'github', 'com'],
    ])
      expect(`https://${host.join('.')}/a`).toMatch(REGISTRY_HOST)
    expect('a registry. Some sentence, npm packages').not.toMatch(REGISTRY_HOST)
  })

  it('are at most one mebibyte', () => {
    expect(files.filter((file) => statSync(join(root, file)).size > MOST_BYTES)).toEqual([])
  })
})

describe('the map in AGENTS.md', () => {
  const map = /^```\n([\s\S]*?)^```/m.exec(read('AGENTS.md'))?.[1] ?? ''
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src/`)

  it.each(folders)('shows what ls shows in %s', (folder) => {
    const [, part = ''] = map.split(`${folder} `)
    // The lines below the folder: names, at least two spaces, then the contents.
    const lines = part.split('\n').slice(1)
    const end = lines.findIndex((line) => !line.startsWith('  '))
    const shown = lines.slice(0, end).flatMap((line) => line.trim().split(/ {2,}/)[0]?.split(' ') ?? [])
    const there = readdirSync(join(root, folder), { withFileTypes: true })
    expect(shown.sort()).toEqual(
      there.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort(),
    )
  })
})

describe('lockfiles', () => {
  it('hold no download address', () => {
    const locks = files.filter((file) => /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/.test(file))
    expect(locks).toContain('package-lock.json')
    expect(places(/"resolved":\s*"(?:https?|git)|:\/\/[^"]*\.tgz/, locks)).toEqual([])
  })

  // On every platform, `npm ci` refuses a lockfile without the binaries of other platforms.
  it('list every platform’s variant of a package, so that npm ci works on all of them', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
    const missing: string[] = []
    let variants = 0
    for (const [path, { optionalDependencies = {} }] of Object.entries(packages))
      for (const name of Object.keys(optionalDependencies)) {
        const found = packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`]
        if (found?.os) variants++
        if (!found?.version || !found.integrity) missing.push(`${path} needs ${name}`)
      }
    expect(missing).toEqual([])
    expect(variants).toBeGreaterThan(40)
    for (const system of ['linux', 'darwin', 'win32'])
      for (const scope of ['@biomejs/', '@esbuild/', '@rolldown/', '@libsql/'])
        expect(
          Object.entries(packages).filter(([path, { os }]) => path.includes(scope) && os?.includes(system)),
          `${scope} for ${system}`,
        ).not.toEqual([])
  })
})

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly os?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

describe('packages', () => {
  it('are under the MIT licence, each with its text', () => {
    for (const file of manifests) expect([file, JSON.parse(read(file)).license]).toEqual([file, 'MIT'])
    const published = manifests.filter(
      (file) => file.startsWith('packages/') && JSON.parse(read(file)).private !== true,
    )
    for (const file of published)
      expect(texts.get(file.replace(/package\.json$/, 'LICENSE'))).toBe(texts.get('LICENSE'))
  })
})

describe('tests', () => {
  it('are all run', () => {
    const tests = files.filter((file) => /\.test\.tsx?$/.test(file))
    expect(tests).toContain('test/house.test.ts')
    expect(places(UNFINISHED_TEST, tests)).toEqual([])
  })

  it.each(['only', 'skip', 'todo', 'concurrent.skip'])('the check knows %s', (word) => {
    expect(UNFINISHED_TEST.test(`it.${word}('does', () => {})`)).toBe(true)
    expect(UNFINISHED_TEST.test(`it.${word}If(here)('does', () => {})`)).toBe(false)
  })
})

describe('sources', () => {
  /** `file:line` of every `any` and every default export. */
  function banned(name: string, text: string): string[] {
    const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      const isDefault =
        ts.isExportAssignment(node) ||
        node.kind === ts.SyntaxKind.DefaultKeyword ||
        (ts.isExportSpecifier(node) && node.name.text === 'default')
      if (node.kind === ts.SyntaxKind.AnyKeyword || (isDefault && !ts.isDefaultClause(node)))
        found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
      ts.forEachChild(node, visit)
    }
    visit(file)
    return found
  }

  it('have no `any` and no default export', () => {
    // pi loads the default export of a module as the extension.
    const ours = sources.filter((file) => file !== 'packages/pi/src/index.ts')
    expect(ours.flatMap((file) => banned(file, read(file)))).toEqual([])
  })

  it.each([
    'let a: any',
    'export default 1',
    'export default function a() {}',
    'export { a as default }',
    'const a = b as any',
  ])('the check knows %s', (text) => expect(banned('a.ts', text)).toEqual(['a.ts:1']))

  it.each(['const any = 1', 'switch (a) { default: b() }', '// any default'])(
    'the check lets %s pass',
    (text) => expect(banned('a.ts', text)).toEqual([]),
  )

  it(`are at most ${MOST_LINES} lines long`, () => {
    const long = sources.map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
    expect(long.filter(({ lines }) => lines > MOST_LINES)).toEqual([])
  })
})

describe('the changelog', () => {
  it('has a place for what is not released yet', () => {
    expect(read('CHANGELOG.md')).toMatch(/^## \[?Unreleased\]?/m)
  })
})

it('docs/guides/write-an-adapter.md shows the wire of examples/own-wire.ts unchanged', () => {
  const example = readFileSync(new URL('../examples/own-wire.ts', import.meta.url), 'utf8')
  const [, wire = ''] =
    /(\/\*\* One turn as this server has it\.[\s\S]*?)\nconst inputSchema = /.exec(example) ?? []
  expect(wire.length).toBeGreaterThan(1000)
  const page = readFileSync(new URL('../docs/guides/write-an-adapter.md', import.meta.url), 'utf8')
  expect(page).toContain(wire.trim())
})
