/** The claims beside the tests that ran, and the page that shows them. */
import type { SeedClaims } from './claims.ts'

/** One test of a run. `file` is without `.test.ts`. */
export interface Ran {
  readonly file: string
  readonly title: string
  readonly passed: boolean
}

export interface ClaimRow {
  readonly claim: string
  /** `holds`: every test that it names ran and passed. `unproven`: one did not run. `broken`: one failed. `not here`: on purpose. */
  readonly state: 'holds' | 'unproven' | 'broken' | 'not here'
  readonly detail: string
  /** Titles by file, without what tells runs of one test apart. */
  readonly tests: readonly { readonly file: string; readonly title: string }[]
}

export interface SeedRows {
  readonly name: string
  readonly claims: readonly ClaimRow[]
}

const WIRE = /(?:,? over| on| \()? ?(?:openai-chat|openai-responses|anthropic|google)\)?$/

export function claimRows(seeds: readonly SeedClaims[], ran: readonly Ran[]): SeedRows[] {
  return seeds.map(({ name, files, claims }) => {
    const own = ran.filter(({ file }) => files.includes(file))
    return {
      name,
      claims: claims.map((entry): ClaimRow => {
        if ('not' in entry) return { claim: entry.claim, state: 'not here', detail: entry.not, tests: [] }
        const [claim, ...beginnings] = entry
        const found = beginnings.map((beginning) => ({
          beginning,
          tests: own.filter(({ title }) => title.startsWith(beginning)),
        }))
        const missing = found.find(({ tests }) => tests.length === 0)
        const failed = found.flatMap(({ tests }) => tests).find(({ passed }) => !passed)
        const named = new Map(
          found
            .flatMap(({ tests }) => tests.slice(0, 1))
            .map(({ file, title }) => [`${file} ${title}`, { file, title: title.replace(WIRE, '') }]),
        )
        return {
          claim,
          state: missing ? 'unproven' : failed ? 'broken' : 'holds',
          detail: missing?.beginning ?? failed?.title ?? '',
          tests: [...named.values()],
        }
      }),
    }
  })
}

export function claimsPage(seeds: readonly SeedRows[]): string {
  const all = seeds.flatMap(({ claims }) => claims)
  const holding = all.filter(({ state }) => state === 'holds').length
  return [
    '# What five systems claim, and what holds here',
    '',
    `Toolwell comes from five designs for deferred tools: the SF draft, super-agent, Qwen Code, Caliban and PawWork. These are their claims, in our words, and the tests`,
    `that show each with its [preset](../guides/presets.md). ${holding} of ${all.length} hold; the others are different here on purpose. \`npm run claims -- --write\` runs the tests and`,
    'writes this page.',
    ...seeds.flatMap(({ name, claims }) => [
      '',
      `## ${name}`,
      '',
      '| claim | holds | shown by |',
      '|---|---|---|',
      ...claims.map(({ claim, state, detail, tests }) => {
        const shown = tests.map(({ file, title }) => `“${title}” in \`${file}.test.ts\``).join('<br>')
        return `| ${claim} | ${state === 'holds' ? 'yes' : state === 'not here' ? 'no' : state} | ${(state === 'holds' ? shown : detail).replaceAll('|', '\\|')} |`
      }),
    ]),
    '',
  ].join('\n')
}
