import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = [
  ...['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md'],
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    // `npm run docs` writes docs/api.
    .filter((file) => file.endsWith('.md') && !/^api[/\\]/.test(file))
    .map((file) => join('docs', file)),
]

/** Declarations of names that short blocks use without importing them. */
const PREAMBLE = `
import { createToolwell, defineTool, type Tool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
declare const ownTools: Tool[]
declare const trackerTools: Tool[]
declare const messages: ChatMessage[]
declare function complete(body: object): Promise<{ choices: [{ message: ChatMessage }] }>
`

interface Block {
  readonly file: string
  readonly line: number
  readonly code: string
}

function blocksOf(file: string): Block[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    code: match[1] ?? '',
  }))
}

/** Lists the problems of each block, in order. One TypeScript program contains all blocks, so that libraries are read once. */
function errorsOf(blocks: readonly Block[]): string[][] {
  const sources = new Map(
    blocks.map(({ code }, index) => [
      join(root, `docs-block-${index}.ts`),
      /^import /m.test(code) ? code : `${PREAMBLE}\n${code}\nexport {}`,
    ]),
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2024.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    // Makes every block a module, so that blocks do not share names.
    moduleDetection: ts.ModuleDetectionKind.Force,
    types: ['node'],
    skipLibCheck: true,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => sources.has(path) || fileExists(path)
  host.readFile = (path) => sources.get(path) ?? readFile(path)
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const code = sources.get(path)
    return code === undefined
      ? getSourceFile(path, languageVersion, ...rest)
      : ts.createSourceFile(path, code, languageVersion)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  const shown = (diagnostics: readonly ts.Diagnostic[]) =>
    diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  const common = shown([...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()])
  return [...sources.keys()].map((path) => {
    const source = program.getSourceFile(path)
    return [
      ...common,
      ...shown(program.getSyntacticDiagnostics(source)),
      ...shown(program.getSemanticDiagnostics(source)),
    ]
  })
}

describe('every TypeScript block in the docs', () => {
  const blocks = files.flatMap(blocksOf)
  const made = ['const name: number = "text"', 'const name = "text"\nname.length', 'const = 1']
  let errors: string[][] = []
  beforeAll(() => {
    errors = errorsOf([...blocks, ...made.map((code) => ({ file: 'made', line: 1, code }))])
  }, 120_000)

  it.each(blocks.map(({ file, line }, index) => [`${file}:${line}`, index] as const))(
    'type-checks at %s',
    (_, index) => {
      expect(errors[index]).toEqual([])
    },
  )

  it('has its own errors and those of no other', () => {
    const [wrong, right, broken] = errors.slice(blocks.length)
    expect(wrong).toEqual(["Type 'string' is not assignable to type 'number'."])
    expect(right).toEqual([])
    expect(broken?.length).toBeGreaterThan(0)
  })
})

/** The anchors of a page's headings, as GitHub builds them. */
function anchorsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}

describe('every link in the docs', () => {
  it.each(files)('leads somewhere in %s', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
    const missing = links.filter(([, link = '', anchor]) => {
      const target = link === '' ? join(root, file) : join(root, file, '..', link)
      if (!ts.sys.fileExists(target)) return !ts.sys.directoryExists(target)
      return anchor !== undefined && !anchorsOf(target).includes(anchor)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })
})
