/** The guard of `loopback-only.ts` for processes that tests start, and for those that they start in turn. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { afterAll } from 'vitest'

/** Settings for Node, to be given as NODE_OPTIONS. Plain JavaScript: no process has to load a compiler to be guarded. */
export function guardChildren(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-guard-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of ['is-loopback', 'loopback-only']) {
    const source = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8')
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    writeFileSync(join(folder, `${name}.js`), ts.transpileModule(source, { compilerOptions }).outputText)
  }
  return `--import ${pathToFileURL(join(folder, 'loopback-only.js')).href}`
}
