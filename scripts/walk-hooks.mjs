// The module loader of `npm run walk`: makes every function of the built core report its file and name when it is called.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const core = new URL('../packages/core/dist/', import.meta.url).href
const program = new URL('../examples/minimal.ts', import.meta.url).href

export async function load(url, context, nextLoad) {
  const own = url.startsWith(core)
  if (!own && url !== program) return nextLoad(url, context)
  const text = readFileSync(fileURLToPath(url), 'utf8')
  return {
    format: 'module',
    shortCircuit: true,
    source: own ? instrument(url.slice(core.length), text) : plain(text),
  }
}

function plain(text) {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  return ts.transpileModule(text, { compilerOptions }).outputText
}

/** Inserts a call of `globalThis.walked` at the start of every function body. */
function instrument(file, text) {
  const insertions = []
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const call = `globalThis.walked?.(${JSON.stringify(file)}, ${JSON.stringify(nameOf(node))})`
      if (ts.isBlock(node.body)) insertions.push([node.body.getStart() + 1, `${call};`])
      else insertions.push([node.body.getStart(), `(${call}, `], [node.body.getEnd(), ')'])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  let result = text
  // Insert from the end, so that earlier offsets stay valid. At the same offset, the outer function comes first.
  for (const [place, piece] of insertions
    .map((insertion, index) => [...insertion, index])
    .sort(([a, , first], [b, , second]) => b - a || (first < second ? 1 : -1)))
    result = result.slice(0, place) + piece + result.slice(place)
  return result
}

function nameOf(node) {
  if (node.name) return node.name.getText()
  const { parent } = node
  if (parent && (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)))
    return parent.name.getText()
  return ''
}
