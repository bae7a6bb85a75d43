/**
 * Checks the layers. Packages: `core ← {testing, presets, mcp, postgres} ← {gateway, pi} ← dashboard ← cli`; packages of one level do not import
 * each other. Inside a package a folder is a layer: a file imports its own folder and the folders before it. Imports of types
 * count too. Files outside the src folders (tests, examples, bench) may import anything.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { wires } from '../packages/core/src/base/wires.js'

const packagesFolder = fileURLToPath(new URL('../packages/', import.meta.url))

/** A package imports only packages with a smaller number. Add new packages here. */
const PACKAGES: Readonly<Record<string, number>> = {
  core: 0,
  testing: 1,
  presets: 1,
  mcp: 1,
  postgres: 1,
  gateway: 2,
  pi: 2,
  dashboard: 3,
  cli: 4,
}

/** The layers of each package, lowest first: a layer imports itself and earlier layers. Add new folders here. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  core: [
    'base',
    'tool',
    'schema',
    'catalogue',
    'search/index',
    'search/words',
    'search',
    'ledger',
    'ledger/stores',
    'result',
    'usage',
    'usage/stores',
    'costs',
    'surface',
    'turn',
    'accounting',
    'direct.ts',
    'conversation.ts',
    'toolwell.ts',
    'lint',
    'adapters/shared',
    'adapters/anthropic',
    'adapters/google',
    'adapters/openai-chat',
    'adapters/openai-responses',
    'adapters/ai-sdk',
    'adapters',
    'framework',
    'telemetry.ts',
    'internal.ts',
    'internal-node.ts',
    'index.ts',
  ],
  testing: [
    'shared',
    'scripted-endpoint.ts',
    'store-contract.ts',
    'anthropic',
    'google',
    'openai-chat',
    'openai-responses',
    'index.ts',
  ],
  mcp: [
    'trust/scan',
    'config',
    'definition',
    'trust/lock',
    'trust',
    'upstream',
    'auth',
    'connect-servers',
    'internal.ts',
    'index.ts',
  ],
  gateway: ['bridge', 'prompts.ts', 'storage', 'servers', 'answer', 'http', 'daemon', 'index.ts'],
  dashboard: ['page', 'index.ts'],
  cli: [
    'shared',
    'shared/servers',
    'shared/clients',
    'import',
    'connect/edit',
    'connect',
    'undo',
    'doctor',
    'inspect',
    'learn',
    'ledger',
    'lock',
    'approve',
    'login',
    'dashboard',
    'logout',
    'logs',
    'postgres',
    'search',
    'serve',
    'status',
    'stop',
    'token',
    'calls',
    'command.ts',
    'main.ts',
  ],
}

interface Import {
  readonly specifier: string
  /** Erased by the compiler. `import { type T }` is not: under verbatimModuleSyntax the module is still loaded. */
  readonly typeOnly: boolean
}

/** Imports by file, with paths relative to the source folder. */
type Sources = ReadonlyMap<string, readonly Import[]>

interface Package {
  readonly folder: string
  readonly name: string
  /** Without development dependencies, which are for tests. */
  readonly dependencies: readonly string[]
  readonly sources: Sources
}

function importsOf(text: string): Import[] {
  const found: Import[] = []
  const add = (node: ts.Node | undefined, typeOnly: boolean) => {
    if (node && ts.isStringLiteralLike(node)) found.push({ specifier: node.text, typeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly === true)
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isExternalModuleReference(node)) add(node.expression, false)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest))
  return found
}

function readPackages(): Package[] {
  return readdirSync(packagesFolder)
    .filter((folder) => existsSync(join(packagesFolder, folder, 'package.json')))
    .map((folder) => {
      const source = join(packagesFolder, folder, 'src')
      const { name, dependencies, peerDependencies, optionalDependencies, devDependencies } = JSON.parse(
        readFileSync(join(packagesFolder, folder, 'package.json'), 'utf8'),
      )
      const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.[cm]?tsx?$/.test(file))
        .map((file) => file.replaceAll('\\', '/'))
        .sort()
      return {
        folder,
        name,
        dependencies: Object.keys({
          ...dependencies,
          ...peerDependencies,
          ...optionalDependencies,
          // The page is bundled, so its users install none of its packages.
          ...(folder === 'dashboard' ? devDependencies : {}),
        }),
        sources: new Map(files.map((file) => [file, importsOf(readFileSync(join(source, file), 'utf8'))])),
      }
    })
}

/** Returns the package of `@scope/name/entry` or `name/entry`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

const isRelative = (specifier: string) => specifier.startsWith('.')

/** The file of a relative import; undefined if the sources have no such file. */
function targetOf(file: string, specifier: string, sources: Sources): string | undefined {
  const path = posix.join(posix.dirname(file), specifier).replace(/\.(?:[cm]?js|jsx)$/, '')
  return ['.ts', '.tsx', '.mts', '.cts', ''].map((ending) => path + ending).find((name) => sources.has(name))
}

/** Lists every violation of the rule between packages, as sentences. */
function packageFaults(packages: readonly Package[]): string[] {
  const folders = new Map(packages.map(({ name, folder }) => [name, folder]))
  return packages.flatMap(({ folder, name, dependencies, sources }) => {
    const rank = PACKAGES[folder]
    if (rank === undefined) return [`packages/${folder} has no place in the table`]
    const tooHigh = (other: string) => {
      const known = folders.get(other)
      return known !== undefined && (PACKAGES[known] ?? Number.POSITIVE_INFINITY) >= rank
    }
    const faults = dependencies.filter(tooHigh).map((other) => `${folder}/package.json depends on ${other}`)
    for (const [file, imports] of sources)
      for (const { specifier } of imports) {
        if (isBuiltin(specifier)) continue
        const other = packageOf(specifier)
        if (isRelative(specifier)) {
          if (targetOf(file, specifier, sources) === undefined)
            faults.push(`${folder}/${file} imports ${specifier}, which is not in its own src`)
        } else if (other === name) faults.push(`${folder}/${file} imports its own package by name`)
        else if (tooHigh(other)) faults.push(`${folder}/${file} imports ${other}`)
        else if (!dependencies.includes(other))
          faults.push(`${folder}/${file} imports ${other}, which its package.json does not name`)
      }
    return faults
  })
}

/** The files each file imports, without the packages. */
function graphOf(sources: Sources, counts: (found: Import) => boolean = () => true): Map<string, string[]> {
  const entries = [...sources].map(([file, imports]): [string, string[]] => {
    const targets = imports
      .filter((found) => isRelative(found.specifier) && counts(found))
      .map(({ specifier }) => targetOf(file, specifier, sources))
    return [file, [...new Set(targets.filter((target) => target !== undefined))]]
  })
  return new Map(entries)
}

/** The layer of a file: the longest matching entry of the table, or the file itself. */
function findLayer(file: string, layers: readonly string[]): string {
  const inside = layers.filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return inside.sort((a, b) => b.length - a.length)[0] ?? file
}

function layerFaults(graph: ReadonlyMap<string, readonly string[]>, layers: readonly string[]): string[] {
  return [...graph].flatMap(([file, targets]) => {
    const layer = findLayer(file, layers)
    const rank = layers.indexOf(layer)
    if (rank < 0) return [`${file} is not in the table of layers`]
    return targets
      .filter((target) => layers.indexOf(findLayer(target, layers)) > rank)
      .map((target) => `${file} (${layer}) imports ${target} (${findLayer(target, layers)})`)
  })
}

/** Lists import cycles. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return cycles
}

const packages = readPackages()
const core = packages.find(({ folder }) => folder === 'core')?.sources ?? new Map()

describe('packages', () => {
  it('import only lower layers, and only declared dependencies', () => {
    expect(packageFaults(packages)).toEqual([])
  })

  it.each(Object.entries(LAYERS))('%s: a layer imports itself and earlier layers', (folder, layers) => {
    const sources = packages.find((each) => each.folder === folder)?.sources ?? new Map()
    expect(sources.size).toBeGreaterThan(0)
    expect(layerFaults(graphOf(sources), layers)).toEqual([])
  })
})

describe('the files of core', () => {
  it('import no adapter for another wire; what wires share imports none', () => {
    const wireOf = (file: string) => /^adapters\/([^/]+)/.exec(file)?.[1]
    const crossing = [...graphOf(core)].flatMap(([file, targets]) =>
      targets
        .filter((target) => wireOf(file) && ![undefined, 'shared', wireOf(file)].includes(wireOf(target)))
        .map((target) => `${file} imports ${target}`),
    )
    expect(crossing).toEqual([])
  })

  it('load without circles', () => {
    expect(cyclesIn(graphOf(core, ({ typeOnly }) => !typeOnly))).toEqual([])
  })
})

describe('the names of wires', () => {
  /** These files may name a wire: the table, and the code that reads and writes one wire. */
  const MAY_NAME = /^(?:testing\/|core\/(?:base\/wires\.ts|adapters\/(?!shared\/))|pi\/(?:calls|payload)\.ts)/
  const names = new Set(Object.keys(wires))
  const faultsOf = (file: string, text: string): string[] => {
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      const isKey = ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node
      // Config files of MCP clients have the key "mcp", and it is a domain of tools.
      if ((isKey || ts.isStringLiteralLike(node)) && names.has(node.text) && node.text !== 'mcp')
        found.push(`${file} names ${node.text}`)
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest, true))
    return found
  }

  it('are in the table and in the adapters', () => {
    const faults = packages.flatMap(({ folder, sources }) =>
      [...sources.keys()]
        .filter((file) => !MAY_NAME.test(`${folder}/${file}`))
        .flatMap((file) =>
          faultsOf(`${folder}/${file}`, readFileSync(join(packagesFolder, folder, 'src', file), 'utf8')),
        ),
    )
    expect(faults).toEqual([])
  })

  it('are found in values, keys and types', () => {
    const text =
      "const a = { google: wire === 'anthropic' }, b = { 'openai-chat': google }; type C = 'ai-sdk'"
    expect(faultsOf('core/a.ts', text)).toHaveLength(4)
    expect(faultsOf('mcp/a.ts', "at('mcp', 'google-vertex')")).toEqual([])
  })
})

describe('the verbs of the command', () => {
  it('import what they share, and not each other', () => {
    const sources = packages.find(({ folder }) => folder === 'cli')?.sources ?? new Map()
    const verbs = ['doctor', 'import', 'inspect', 'learn', 'ledger', 'lock', 'login', 'logout', 'search']
    const verbOf = (file: string) => verbs.find((verb) => file.startsWith(`${verb}/`))
    const crossing = [...graphOf(sources)].flatMap(([file, targets]) =>
      targets
        .filter((target) => verbOf(file) && ![undefined, verbOf(file)].includes(verbOf(target)))
        .map((target) => `${file} imports ${target}`),
    )
    expect(crossing).toEqual([])
  })
})

describe('presets', () => {
  it('use entry points that run everywhere', () => {
    const { sources } = packages.find(({ folder }) => folder === 'presets') ?? { sources: new Map() }
    const specifiers = [...sources.values()].flat().map(({ specifier }) => specifier)
    expect(specifiers).toContain('@toolwell/core')
    const everywhere = /^(?:\.|@toolwell\/core(?:\/internal|\/manifest)?$)/
    expect(specifiers.filter((specifier) => !everywhere.test(specifier))).toEqual([])
  })
})

describe('the rule itself', () => {
  const invented = (folder: string, dependencies: string[], text: string): Package => ({
    folder,
    name: folder === 'cli' ? 'toolwell' : `@toolwell/${folder}`,
    dependencies,
    sources: new Map([['index.ts', importsOf(text)]]),
  })

  it.each([
    ['core', [], "export type { A } from '@toolwell/mcp'", 'core/index.ts imports @toolwell/mcp'],
    ['gateway', [], "import '@toolwell/pi'", 'gateway/index.ts imports @toolwell/pi'],
    ['pi', ['@toolwell/gateway'], '', 'pi/package.json depends on @toolwell/gateway'],
    ['mcp', [], "await import('toolwell')", 'mcp/index.ts imports toolwell'],
    ['pi', [], "let a: import('@toolwell/cli-kit').A", /cli-kit, which its package.json does not name/],
    ['cli', [], "import a from '../../core/src/a.js'", /which is not in its own src/],
    ['extra', [], '', 'packages/extra has no place in the table'],
  ])('finds a fault of %s with %j and %s', (folder, dependencies, text, fault) => {
    const others = ['core', 'mcp', 'gateway', 'pi', 'cli']
      .filter((other) => other !== folder)
      .map((other) => invented(other, [], ''))
    const faults = packageFaults([...others, invented(folder, dependencies, text)])
    expect(faults).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)])
  })

  it('lets the command import everything below it', () => {
    const names = ['@toolwell/core', '@toolwell/mcp', '@toolwell/gateway', '@toolwell/pi']
    const text = names.map((name) => `import '${name}/door'`).join('\n')
    const others = ['core', 'mcp', 'gateway', 'pi'].map((folder) => invented(folder, [], ''))
    expect(packageFaults([...others, invented('cli', names, text)])).toEqual([])
  })

  it('finds an import of a later layer, a file without a layer, and a cycle', () => {
    const graph = new Map([
      ['tool/tool.ts', ['catalogue/entry.ts']],
      ['catalogue/entry.ts', ['tool/tool.ts']],
      ['stray.ts', []],
    ])
    expect(layerFaults(graph, ['tool', 'catalogue'])).toEqual([
      'tool/tool.ts (tool) imports catalogue/entry.ts (catalogue)',
      'stray.ts is not in the table of layers',
    ])
    expect(cyclesIn(graph)).toEqual(['tool/tool.ts → catalogue/entry.ts → tool/tool.ts'])
  })
})
