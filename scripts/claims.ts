/**
 * `npm run claims`: prints the claims of the five seeds and whether they hold. Runs their tests at full size; `--from FILE` reads
 * the JSON results of a vitest run instead. `--write` writes the table to docs/compatibility/seeds.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CLAIMS } from '../test/seeds/claims.ts'
import { claimRows, claimsPage, type Ran } from '../test/seeds/claims-page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: { from: { type: 'string' }, write: { type: 'boolean', default: false } },
})

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

function runTests(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-claims-'))
  const file = join(folder, 'results.json')
  const words = ['run', 'test/seeds', 'test/e2e/seeds', '--reporter=json', `--outputFile=${file}`]
  spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, TOOLWELL_TESTS: 'long' },
  })
  const text = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true, force: true })
  return text
}

const { testResults } = JSON.parse(values.from ? readFileSync(values.from, 'utf8') : runTests()) as Report
const ran: Ran[] = testResults.flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ title, status }) => ({
    file: relative(root, name)
      .replaceAll('\\', '/')
      .replace(/\.test\.ts$/, ''),
    title,
    passed: status === 'passed',
  })),
)
const rows = claimRows(CLAIMS, ran)
const page = claimsPage(rows)
if (values.write) writeFileSync(join(root, 'docs/compatibility/seeds.md'), page)
else process.stdout.write(page)
const wrong = rows
  .flatMap(({ claims }) => claims)
  .filter(({ state }) => state === 'unproven' || state === 'broken')
for (const { claim, state, detail } of wrong) process.stderr.write(`${state}: ${claim} (${detail})\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
