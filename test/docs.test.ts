import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = [
  ...[
    'README.md',
    'AGENTS.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'bench/README.md',
    'packages/core/README.md',
    'packages/cli/README.md',
    'packages/mcp/README.md',
    'packages/presets/README.md',
    'packages/testing/README.md',
  ],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

/** Names that the short programs use without saying where they come from. */
const PREAMBLE = `
import { createToolwell, defineTool, type Tool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
declare const ownTools: Tool[]
declare const trackerTools: Tool[]
declare const messages: ChatMessage[]
declare function complete(body: object): Promise<ChatMessage>
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

function errorsIn(code: string): string[] {
  const name = join(root, 'docs-block.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2024.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    skipLibCheck: true,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => path === name || fileExists(path)
  host.readFile = (path) => (path === name ? code : readFile(path))
  host.getSourceFile = (path, ...rest) =>
    path === name ? ts.createSourceFile(path, code, ts.ScriptTarget.ES2022) : getSourceFile(path, ...rest)
  const program = ts.createProgram([name], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
}

describe('every TypeScript block in the docs', () => {
  it.each(files.flatMap(blocksOf).map((block) => [`${block.file}:${block.line}`, block] as const))(
    'type-checks at %s',
    (_, { code }) => {
      const own = /^import /m.test(code)
      expect(errorsIn(own ? code : `${PREAMBLE}\n${code}\nexport {}`)).toEqual([])
    },
  )
})

/** The anchors of a page's headings, as they are made where it is read. */
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
