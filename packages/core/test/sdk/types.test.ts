/** The inputs and outputs of the adapters fit the types of the official clients. */
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const file = fileURLToPath(new URL('fits.ts', import.meta.url))
const sources = fileURLToPath(new URL('../../src/', import.meta.url))
const adapters = ['anthropic', 'google', 'openai-chat', 'openai-responses']

/** Each client with its other tested major, under the name that package.json gives it. */
const others: Readonly<Record<string, string>> = {
  openai: 'openai-6',
  '@anthropic-ai/sdk': 'anthropic-sdk-0',
  '@google/genai': 'google-genai-3',
}

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2024.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  skipLibCheck: true,
  // The sources, not the build, so that this fails when they change.
  paths: {
    '@toolwell/core': [`${sources}index.ts`],
    ...Object.fromEntries(
      adapters.map((name) => [`@toolwell/core/${name}`, [`${sources}adapters/${name}/index.ts`]]),
    ),
  },
}

/** The host loops, with the imports of each client changed to another name. */
function compile(nameOf: (client: string) => string) {
  const host = ts.createCompilerHost(options)
  const read = host.readFile
  host.readFile = (name) => {
    const text = read(name)
    if (name !== file) return text
    return text?.replace(/from '([^']+)'/g, (_, client: string) => `from '${nameOf(client)}'`)
  }
  host.getSourceFile = (name, languageOrOptions) => {
    const text = host.readFile(name)
    return text === undefined ? undefined : ts.createSourceFile(name, text, languageOrOptions)
  }
  const program = ts.createProgram([file], options, host)
  return { program, source: program.getSourceFile(file) }
}

const { source } = compile((client) => client)

it.each<[string, (client: string) => string]>([
  ['the default', (client) => client],
  ['the other', (client) => others[client] ?? client],
])('compiles a host loop of every client, in %s major', (_, nameOf) => {
  const { program, source } = compile(nameOf)
  const files = program.getSourceFiles().map(({ fileName }) => fileName)
  for (const client of Object.keys(others))
    expect(files.some((name) => name.includes(`/node_modules/${nameOf(client)}/`))).toBe(true)
  const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})

it('needs no cast for that', () => {
  const casts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) || ts.isTypeAssertionExpression(node) || ts.isNonNullExpression(node))
      casts.push(node.getText(source))
    if (node.kind === ts.SyntaxKind.AnyKeyword) casts.push('any')
    node.forEachChild(visit)
  }
  if (source) visit(source)
  expect(source?.statements.length).toBeGreaterThan(4)
  expect(casts).toEqual([])
})
