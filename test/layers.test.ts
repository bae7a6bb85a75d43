/**
 * The layer rule. Packages: `core ← mcp ← {gateway, agent} ← {dashboard, cli}`; siblings do not import each other.
 * Inside core: a file imports its own layer and earlier ones. Types count like values; nothing is exempt.
 * What stands outside the src folders (tests, examples, bench) may import anything.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const packagesFolder = fileURLToPath(new URL('../packages/', import.meta.url))

/** A package imports only packages of a smaller number. A new folder must be placed here. */
const PACKAGES: Readonly<Record<string, number>> = {
  core: 0,
  mcp: 1,
  gateway: 2,
  agent: 2,
  dashboard: 3,
  cli: 3,
}

/** The files of packages/core/src, layer by layer. A new file must be placed here. */
const CORE: readonly { readonly layer: string; readonly files: readonly string[] }[] = [
  {
    layer: '0 nouns',
    files: [
      'errors.ts',
      'events.ts',
      'fingerprint.ts',
      'json-error.ts',
      'ledger-event.ts',
      'manifest.ts',
      'names.ts',
      'nearest.ts',
      'options.ts',
      'plain-json.ts',
      'prompts.ts',
      'signature.ts',
      'source.ts',
      'text.ts',
      'tokens.ts',
      'tool.ts',
    ],
  },
  {
    layer: '1 catalogue',
    files: [
      'catalogue.ts',
      'entry.ts',
      'look-alikes.ts',
      'name-index.ts',
      'policy.ts',
      'rules.ts',
      'validation.ts',
    ],
  },
  {
    layer: '2 search',
    files: [
      'search/asked-terms.ts',
      'search/certainty.ts',
      'search/concepts.ts',
      'search/document.ts',
      'search/exact-names.ts',
      'search/explain.ts',
      'search/fields.ts',
      'search/hash.ts',
      'search/hybrid.ts',
      'search/impact.ts',
      'search/lexical.ts',
      'search/lexicon.ts',
      'search/name-matches.ts',
      'search/query.ts',
      'search/ranking.ts',
      'search/relevance.ts',
      'search/result.ts',
      'search/searcher.ts',
      'search/segment.ts',
      'search/spelling.ts',
      'search/stored-segment.ts',
      'search/stop-words.ts',
      'search/tally.ts',
      'search/term-index.ts',
      'search/tokenize.ts',
      'search/top.ts',
      'search/tuning.ts',
      'search/vocabulary.ts',
      'search/why.ts',
    ],
  },
  {
    layer: '3 ledger',
    files: [
      'ledger-log.ts',
      'ledger-shape.ts',
      'ledger-state.ts',
      'ledger.ts',
      'stores/file-lock.ts',
      'stores/jsonl.ts',
      'stores/make-folder.ts',
      'stores/memory.ts',
      'stores/store.ts',
    ],
  },
  {
    layer: '4 surface',
    files: [
      'accounting.ts',
      'activation.ts',
      'ambient-lint.ts',
      'announce.ts',
      'auto.ts',
      'calls.ts',
      'cards.ts',
      'context.ts',
      'conversation.ts',
      'costs.ts',
      'delivery/append.ts',
      'delivery/bridge.ts',
      'delivery/delivery.ts',
      'delivery/eager.ts',
      'delivery/index.ts',
      'delivery/native.ts',
      'delivery/stub.ts',
      'deltas.ts',
      'dialect.ts',
      'host-array.ts',
      'host-steps.ts',
      'measurement.ts',
      'meta-tools.ts',
      'model-call.ts',
      'opening.ts',
      'placement.ts',
      'plan.ts',
      'pricing.ts',
      'projections.ts',
      'prohibition.ts',
      'property-keys.ts',
      'whole-schema.ts',
      'run-calls.ts',
      'schema-references.ts',
      'schema-rules.ts',
      // One search call from query to answer: reads the ledger, raises tools, writes what the model reads.
      'search/candidate.ts',
      'search/find.ts',
      'search/late-sources.ts',
      'search/named-in-query.ts',
      'search/render.ts',
      'seen-sources.ts',
      'settings.ts',
      'sound-schema.ts',
      'surface.ts',
      'toolwell.ts',
      'truth-probe.ts',
    ],
  },
  {
    layer: '5 adapters',
    files: [
      'adapters/ai-sdk/adapter.ts',
      'adapters/ai-sdk/ai-wire.ts',
      'adapters/ai-sdk/batch.ts',
      'adapters/ai-sdk/declare.ts',
      'adapters/ai-sdk/exchanges.ts',
      'adapters/ai-sdk/found.ts',
      'adapters/ai-sdk/index.ts',
      'adapters/ai-sdk/marks.ts',
      'adapters/ai-sdk/mend.ts',
      'adapters/ai-sdk/model.ts',
      'adapters/ai-sdk/namespaces.ts',
      'adapters/ai-sdk/native-way.ts',
      'adapters/ai-sdk/openai-options.ts',
      'adapters/ai-sdk/protocol.ts',
      'adapters/ai-sdk/provider-calls.ts',
      'adapters/ai-sdk/read-messages.ts',
      'adapters/ai-sdk/references.ts',
      'adapters/ai-sdk/registry.ts',
      'adapters/ai-sdk/reply.ts',
      'adapters/ai-sdk/results.ts',
      'adapters/ai-sdk/schema.ts',
      'adapters/ai-sdk/search-items.ts',
      'adapters/ai-sdk/targets.ts',
      'adapters/ai-sdk/tool-changes.ts',
      'adapters/ai-sdk/sound-messages.ts',
      'adapters/ai-sdk/text-arguments.ts',
      'adapters/ai-sdk/tool-search.ts',
      'adapters/ai-sdk/tools.ts',
      'adapters/ai-sdk/wire.ts',
      'adapters/ai-sdk/write-messages.ts',
      'adapters/anthropic/adapter.ts',
      'adapters/anthropic/anthropic-wire.ts',
      'adapters/anthropic/cache-marks.ts',
      'adapters/anthropic/index.ts',
      'adapters/anthropic/sendable.ts',
      'adapters/anthropic/server-tools.ts',
      'adapters/anthropic/sound-messages.ts',
      'adapters/anthropic/stream.ts',
      'adapters/anthropic/tools.ts',
      'adapters/anthropic/wire.ts',
      'adapters/google/adapter.ts',
      'adapters/google/google-wire.ts',
      'adapters/google/index.ts',
      'adapters/google/read-contents.ts',
      'adapters/google/replies.ts',
      'adapters/google/sound-parts.ts',
      'adapters/google/stream.ts',
      'adapters/google/tools.ts',
      'adapters/google/wire.ts',
      'adapters/google/write-contents.ts',
      'adapters/index.ts',
      'adapters/openai-chat/adapter.ts',
      'adapters/openai-chat/calls.ts',
      'adapters/openai-chat/chat-wire.ts',
      'adapters/openai-chat/index.ts',
      'adapters/openai-chat/read-messages.ts',
      'adapters/openai-chat/shapes.ts',
      'adapters/openai-chat/stream.ts',
      'adapters/openai-chat/tools.ts',
      'adapters/openai-chat/wire.ts',
      'adapters/openai-chat/write-messages.ts',
      'adapters/openai-responses/adapter.ts',
      'adapters/openai-responses/index.ts',
      'adapters/openai-responses/namespaces.ts',
      'adapters/openai-responses/read-items.ts',
      'adapters/openai-responses/replies.ts',
      'adapters/openai-responses/responses-wire.ts',
      'adapters/openai-responses/settle-reasoning.ts',
      'adapters/openai-responses/sound-items.ts',
      'adapters/openai-responses/stream.ts',
      'adapters/openai-responses/tools.ts',
      'adapters/openai-responses/wire.ts',
      'adapters/openai-responses/write-items.ts',
      'adapters/shared/adapter.ts',
      'adapters/shared/anchors.ts',
      'adapters/shared/assert-adapter.ts',
      'adapters/shared/leave-behind.ts',
      'adapters/shared/open-calls.ts',
      'adapters/shared/open-with-user.ts',
      'adapters/shared/plain-text.ts',
      'adapters/shared/readings.ts',
      'adapters/shared/repair.ts',
      'adapters/shared/same-items.ts',
      'adapters/shared/settle-ids.ts',
      'adapters/shared/sse.ts',
      'adapters/shared/streamed.ts',
      'adapters/shared/thread.ts',
      'adapters/shared/tools.ts',
      'adapters/shared/weave.ts',
    ],
  },
  {
    layer: '6 doors and contract suites',
    files: [
      'index.ts',
      'shared.ts',
      'testing/anthropic-answer.ts',
      'testing/anthropic-history.ts',
      'testing/anthropic-protocol.ts',
      'testing/anthropic-request.ts',
      'testing/anthropic-rules.ts',
      'testing/anthropic-usage.ts',
      'testing/chat-completion.ts',
      'testing/chat-protocol.ts',
      'testing/chat-request.ts',
      'testing/chat-rules.ts',
      'testing/chat-usage.ts',
      'testing/google-answer.ts',
      'testing/google-contents.ts',
      'testing/google-fields.ts',
      'testing/google-protocol.ts',
      'testing/google-request.ts',
      'testing/google-rules.ts',
      'testing/google-schema.ts',
      'testing/google-tools.ts',
      'testing/google-turns.ts',
      'testing/google-wording.ts',
      'testing/guards.ts',
      'testing/index.ts',
      'testing/openai-schema.ts',
      'testing/openai-wording.ts',
      'testing/pieces.ts',
      'testing/protocol.ts',
      'testing/responses-answer.ts',
      'testing/responses-callable.ts',
      'testing/responses-choice.ts',
      'testing/responses-history.ts',
      'testing/responses-items.ts',
      'testing/responses-protocol.ts',
      'testing/responses-request.ts',
      'testing/responses-rules.ts',
      'testing/responses-tools.ts',
      'testing/schema-keywords.ts',
      'testing/scripted-chat.ts',
      'testing/scripted-endpoint.ts',
      'testing/store-contract.ts',
    ],
  },
  {
    // On the root door alone: what a preset needs, everyone can have.
    layer: '7 presets',
    files: [
      'presets/caliban.ts',
      'presets/index.ts',
      'presets/pawwork.ts',
      'presets/qwen-code.ts',
      'presets/sentences.ts',
      'presets/sf-mcp.ts',
      'presets/sf.ts',
      'presets/super-agent.ts',
    ],
  },
]

interface Import {
  readonly specifier: string
  /** Erased by the compiler. `import { type T }` is not: under verbatimModuleSyntax the module is still loaded. */
  readonly typeOnly: boolean
}

/** Imports by file, the path taken from the source folder. */
type Sources = ReadonlyMap<string, readonly Import[]>

interface Package {
  readonly folder: string
  readonly name: string
  /** What is installed together with it. Development dependencies are for tests, which may import anything. */
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
      const { name, dependencies, peerDependencies, optionalDependencies } = JSON.parse(
        readFileSync(join(packagesFolder, folder, 'package.json'), 'utf8'),
      )
      const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.[cm]?tsx?$/.test(file))
        .map((file) => file.replaceAll('\\', '/'))
        .sort()
      return {
        folder,
        name,
        dependencies: Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }),
        sources: new Map(files.map((file) => [file, importsOf(readFileSync(join(source, file), 'utf8'))])),
      }
    })
}

/** `@scope/name/door` and `name/door` to the package's name. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

const isRelative = (specifier: string) => specifier.startsWith('.')

/** The file that a relative import means, or undefined where the sources hold no such file. */
function targetOf(file: string, specifier: string, sources: Sources): string | undefined {
  const path = posix.join(posix.dirname(file), specifier).replace(/\.(?:[cm]?js|jsx)$/, '')
  return ['.ts', '.tsx', '.mts', '.cts', ''].map((ending) => path + ending).find((name) => sources.has(name))
}

/** Every way in which packages break the rule, as sentences. */
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

function layerFaults(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const layers = new Map(CORE.flatMap(({ files }, index) => files.map((file) => [file, index])))
  const name = (file: string) => `${file} (${CORE[layers.get(file) ?? -1]?.layer ?? 'no layer'})`
  return [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => (layers.get(target) ?? Number.NaN) > (layers.get(file) ?? Number.NaN))
      .map((target) => `${name(file)} imports ${name(target)}`),
  )
}

/** Each import that closes a circle, as the circle it closes. */
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
  it('import only what stands below them, and only what they declare', () => {
    expect(packageFaults(packages)).toEqual([])
  })
})

describe('the files of core', () => {
  it('each have one layer', () => {
    expect([...core.keys()].sort()).toEqual(CORE.flatMap(({ files }) => files).sort())
  })

  it('import their own layer and earlier ones', () => {
    expect(layerFaults(graphOf(core))).toEqual([])
  })

  it('import no adapter for another wire; what wires share imports none', () => {
    const wireOf = (file: string) => /^adapters\/([^/]+)/.exec(file)?.[1]
    const crossing = [...graphOf(core)].flatMap(([file, targets]) =>
      targets
        .filter((target) => wireOf(file) && ![undefined, 'shared', wireOf(file)].includes(wireOf(target)))
        .map((target) => `${file} imports ${target}`),
    )
    expect(crossing).toEqual([])
  })

  it('use the root door alone where they are presets', () => {
    const others = [...graphOf(core)]
      .filter(([file]) => file.startsWith('presets/'))
      .flatMap(([, targets]) => targets.filter((target) => !/^(?:presets\/|index\.ts$)/.test(target)))
    expect(others).toEqual([])
  })

  it('load without circles', () => {
    expect(cyclesIn(graphOf(core, ({ typeOnly }) => !typeOnly))).toEqual([])
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
    ['gateway', [], "import '@toolwell/agent'", 'gateway/index.ts imports @toolwell/agent'],
    ['agent', ['@toolwell/gateway'], '', 'agent/package.json depends on @toolwell/gateway'],
    ['mcp', [], "await import('toolwell')", 'mcp/index.ts imports toolwell'],
    ['agent', [], "let a: import('@toolwell/cli-kit').A", /cli-kit, which its package.json does not name/],
    ['cli', [], "import a from '../../core/src/a.js'", /which is not in its own src/],
    ['extra', [], '', 'packages/extra has no place in the table'],
  ])('finds a fault of %s with %j and %s', (folder, dependencies, text, fault) => {
    const others = ['core', 'mcp', 'gateway', 'agent', 'cli']
      .filter((other) => other !== folder)
      .map((other) => invented(other, [], ''))
    const faults = packageFaults([...others, invented(folder, dependencies, text)])
    expect(faults).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)])
  })

  it('lets the command import everything below it', () => {
    const names = ['@toolwell/core', '@toolwell/mcp', '@toolwell/gateway', '@toolwell/agent']
    const text = names.map((name) => `import '${name}/door'`).join('\n')
    const others = ['core', 'mcp', 'gateway', 'agent'].map((folder) => invented(folder, [], ''))
    expect(packageFaults([...others, invented('cli', names, text)])).toEqual([])
  })

  it('finds a file that imports a later layer, and a circle', () => {
    const graph = new Map([
      ['tool.ts', ['catalogue.ts']],
      ['catalogue.ts', ['tool.ts']],
    ])
    expect(layerFaults(graph)).toEqual(['tool.ts (0 nouns) imports catalogue.ts (1 catalogue)'])
    expect(cyclesIn(graph)).toEqual(['tool.ts → catalogue.ts → tool.ts'])
  })
})
