/** The guard of `loopback-only.ts` for all child processes of tests. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { afterAll } from 'vitest'

/** Returns NODE_OPTIONS for child processes. The guard is plain JavaScript, so that no child has to load a compiler. */
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
