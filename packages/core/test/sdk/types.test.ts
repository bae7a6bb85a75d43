/** What the adapters take and give fits the types of the official clients as it is. */
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const file = fileURLToPath(new URL('fits.ts', import.meta.url))
const sources = fileURLToPath(new URL('../../src/', import.meta.url))
const adapters = ['anthropic', 'google', 'openai-chat', 'openai-responses']

const program = ts.createProgram([file], {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2024.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  skipLibCheck: true,
  // The sources and not what was built of them, so that this fails where they are changed.
  paths: {
    '@toolwell/core': [`${sources}index.ts`],
    ...Object.fromEntries(
      adapters.map((name) => [`@toolwell/core/${name}`, [`${sources}adapters/${name}/index.ts`]]),
    ),
  },
})
const source = program.getSourceFile(file)

it('compiles a host loop of every client', () => {
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
