/** Writes docs/compatibility/conformance.md from the saved results of the conformance suite. */

/** Numbers of passed and failed checks. */
export type Checks = readonly [passed: number, failed: number]

/** Where a scenario runs: our fixture directly, and through the gateway. */
export interface Places<Value> {
  readonly direct: Value
  readonly all: Value
  readonly search: Value
}

export interface Conformance {
  /** Version of the suite. */
  readonly suite: string
  readonly date: string
  /** By revision of the protocol, then by scenario. */
  readonly revisions: Readonly<Record<string, Readonly<Record<string, Places<Checks>>>>>
}

const PLACES = ['direct', 'all', 'search'] as const
const HEAD = ['directly', 'through `/mcp/all`', 'through `/mcp`']

const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
const rule = (columns: number) => `|${'---|'.repeat(columns)}`

export function conformancePage({ suite, date, revisions }: Conformance): string {
  const all = Object.entries(revisions)
  const summary = all.map(([revision, scenarios]) => {
    const rows = Object.values(scenarios)
    const passing = PLACES.map((place) => rows.filter((row) => row[place][1] === 0).length)
    return line([revision, rows.length, ...passing])
  })
  const tables = all.map(([revision, scenarios]) => {
    const rows = Object.entries(scenarios).map(([scenario, row]) =>
      line([scenario, ...PLACES.map((place) => cell(row[place]))]),
    )
    return [`## ${revision}`, '', line(['scenario', ...HEAD]), rule(4), ...rows].join('\n')
  })
  return `# Conformance

The official conformance suite of MCP, \`@modelcontextprotocol/conformance\` ${suite}, tests a server with its tools, prompts and resources
directly, and again through the gateway. Each cell counts passed checks. Last run: ${date}.

${[line(['protocol', 'scenarios', ...HEAD.map((place) => `pass ${place}`)]), rule(5), ...summary].join('\n')}

- Every scenario that passes directly also passes through \`/mcp/all\`.
- The \`tasks-*\` scenarios are about an extension that neither the server nor the gateway offers.
- \`server-sse-polling\` tests streams. The gateway answers such a short call without a stream, so there is nothing to check.
- Two scenarios look at tools in the list. On \`/mcp\` the list has the gateway's own tools instead.

To repeat it:

\`\`\`sh
npm run conformance
\`\`\`

\`UPDATE_GOLDEN=1\` saves the result in \`bench/results/conformance.json\` and writes this page.

${tables.join('\n\n')}
`
}

const cell = ([passed, failed]: Checks) =>
  failed === 0 ? `${passed}` : `**${passed} of ${passed + failed}**`
