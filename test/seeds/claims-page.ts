/** Joins the claims with the tests that ran, and writes the page that shows them. */
import type { SeedClaims } from './claims.ts'

/** One test of a run. `file` is without `.test.ts`. */
export interface Ran {
  readonly file: string
  readonly title: string
  readonly passed: boolean
}

export interface ClaimRow {
  readonly claim: string
  /** `holds`: all named tests passed. `unproven`: a test did not run. `broken`: a test failed. `not here`: different on purpose. */
  readonly state: 'holds' | 'unproven' | 'broken' | 'not here'
  readonly detail: string
  /** The test files, without `.test.ts`. */
  readonly files: readonly string[]
}

export interface SeedRows {
  readonly name: string
  readonly claims: readonly ClaimRow[]
}

export function claimRows(seeds: readonly SeedClaims[], ran: readonly Ran[]): SeedRows[] {
  return seeds.map(({ name, files, claims }) => {
    const own = ran.filter(({ file }) => files.includes(file))
    return {
      name,
      claims: claims.map((entry): ClaimRow => {
        if ('not' in entry) return { claim: entry.claim, state: 'not here', detail: entry.not, files: [] }
        const [claim, ...beginnings] = entry
        const found = beginnings.map((beginning) => ({
          beginning,
          tests: own.filter(({ title }) => title.startsWith(beginning)),
        }))
        const missing = found.find(({ tests }) => tests.length === 0)
        const failed = found.flatMap(({ tests }) => tests).find(({ passed }) => !passed)
        return {
          claim,
          state: missing ? 'unproven' : failed ? 'broken' : 'holds',
          detail: missing?.beginning ?? failed?.title ?? '',
          files: files.filter((file) => found.some(({ tests }) => tests.some((test) => test.file === file))),
        }
      }),
    }
  })
}

export function claimsPage(seeds: readonly SeedRows[]): string {
  const all = seeds.flatMap(({ claims }) => claims)
  const holding = all.filter(({ state }) => state === 'holds').length
  return [
    '# Claims of five systems',
    '',
    'Toolwell comes from five designs for deferred tools: the SF draft, super-agent, Qwen Code, Caliban and PawWork. This page lists their claims in our words, and the',
    `tests that check each claim with its [preset](../guides/presets.md). ${holding} of ${all.length} hold. The others differ on purpose, and the last column says why.`,
    '',
    '`npm run claims -- --write` runs the tests and writes this page. `test/seeds/claims.ts` names the tests of each claim.',
    ...seeds.flatMap(({ name, claims }) => [
      '',
      `## ${name}`,
      '',
      '| claim | holds | tests, or reason |',
      '|---|---|---|',
      ...claims.map(({ claim, state, detail, files }) => {
        const holds = state === 'holds' ? 'yes' : state === 'not here' ? 'no' : state
        const shown = state === 'holds' ? files.map((file) => `\`${file}.test.ts\``).join(', ') : detail
        return `| ${claim} | ${holds} | ${shown} |`
      }),
    ]),
    '',
  ].join('\n')
}
