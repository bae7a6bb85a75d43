/** Entry points that must run on edge runtimes import no Node module and no package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const source = new URL('../packages/core/src/', import.meta.url)

/** Its type, by name; the module itself, by a name that no bundler can read. */
const TOKENIZER = ['gpt-tokenizer', '(computed: TOKENIZER_PACKAGE)']

/** Globals that other runtimes may lack. */
const NODE_GLOBALS = [
  'process',
  'Buffer',
  'require',
  'module',
  '__dirname',
  '__filename',
  'global',
  'setImmediate',
]

interface Found {
  /** Modules of `import … from` and `export … from`, types included: they end up in the published declarations. */
  readonly imports: string[]
  /** `import(…)`, as an expression or in a type, with the function around it. */
  readonly dynamic: { readonly specifier: string; readonly within: string }[]
  readonly globals: string[]
}

function read(file: string): Found {
  const text = readFileSync(fileURLToPath(new URL(file, source)), 'utf8')
  const found: Found = { imports: [], dynamic: [], globals: [] }
  const visit = (node: ts.Node, within: string): void => {
    const inner = ts.isFunctionDeclaration(node) ? (node.name?.text ?? within) : within
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      found.imports.push((node.moduleSpecifier as ts.StringLiteral).text)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      found.dynamic.push({ specifier: nameOf(node.arguments[0]), within })
    if (ts.isImportTypeNode(node))
      found.dynamic.push({
        specifier: nameOf(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument),
        within,
      })
    if (ts.isIdentifier(node) && NODE_GLOBALS.includes(node.text) && isFree(node))
      found.globals.push(node.text)
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), '')
  return found
}

function nameOf(node: ts.Node | undefined): string {
  return node && ts.isStringLiteralLike(node) ? node.text : `(computed: ${node?.getText()})`
}

/** False for the name of a property, as in `view.process` or `{ process: 1 }`. */
function isFree(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  return !('name' in parent && parent.name === node)
}

/** All files that a file imports, directly or indirectly, also by `import(…)`. */
function reach(entry: string): Map<string, Found> {
  const reached = new Map<string, Found>()
  const waiting = [entry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    const found = read(file)
    reached.set(file, found)
    for (const specifier of [...found.imports, ...found.dynamic.map(({ specifier }) => specifier)])
      if (specifier.startsWith('.'))
        waiting.push(posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts'))
  }
  return reached
}

/** The root, the other runtime-independent entry points, and one per wire. */
const edgeEntryPoints = [
  'index.ts',
  'framework/index.ts',
  'internal.ts',
  'lint/lint-prompt.ts',
  'search/hybrid.ts',
  'tool/manifest.ts',
  ...readdirSync(new URL('adapters/', source))
    .map((wire) => `adapters/${wire}/index.ts`)
    .filter((entry) => existsSync(new URL(entry, source))),
]

describe.each(edgeEntryPoints)('%s', (entry) => {
  const reached = reach(entry)
  const all = <T>(pick: (found: Found) => readonly T[]) =>
    [...reached].flatMap(([file, found]) => pick(found).map((value) => ({ file, value })))

  it('reaches more than itself', () => {
    expect(reached.size).toBeGreaterThan(3)
  })

  it('imports no Node module and no package', () => {
    const foreign = all(({ imports }) => imports).filter(({ value }) => !value.startsWith('.'))
    expect(foreign).toEqual([])
  })

  it('names the optional tokenizer only inside loadTokenizer', () => {
    const named = all(({ dynamic }) => dynamic).filter(({ value }) => !value.specifier.startsWith('.'))
    const isTokenizer = ({ specifier, within }: Found['dynamic'][number]) =>
      within === 'loadTokenizer' && TOKENIZER.includes(specifier)
    expect(named.filter(({ file, value }) => file !== 'base/tokens.ts' || !isTokenizer(value))).toEqual([])
  })

  it('uses no global that only Node has', () => {
    expect(all(({ globals }) => globals)).toEqual([])
  })
})

describe('the entry points that may use Node', () => {
  it.each(['ledger/stores/jsonl.ts', 'result/folder.ts', 'internal-node.ts'])(
    '%s is not reached from the others',
    (entry) => {
      expect(edgeEntryPoints.filter((other) => reach(other).has(entry))).toEqual([])
    },
  )

  it('the check sees the Node modules they import', () => {
    expect(read('ledger/stores/jsonl.ts').imports).toContain('node:fs/promises')
    expect(read('ledger/stores/jsonl.ts').globals).toContain('Buffer')
    const found = read('base/tokens.ts').dynamic
    expect(found).toEqual(TOKENIZER.map((specifier) => ({ specifier, within: 'loadTokenizer' })))
  })
})
