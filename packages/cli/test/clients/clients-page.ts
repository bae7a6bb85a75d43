/** Writes docs/compatibility/clients.md from the saved rows. */
import type { Cell, Row } from './try-agent.js'

export interface SavedRow extends Row {
  readonly client: string
  readonly label: string
  readonly version: string
  readonly date: string
}

const COLUMNS: readonly (readonly [keyof Row, string])[] = [
  ['found', 'found'],
  ['called', 'called'],
  ['denied', 'deny rule kept'],
  ['ownProcess', 'own browser'],
  ['survives', 'others survive its exit'],
  ['limit', 'time limit kept'],
]

const WORDS: Readonly<Record<Cell, string>> = { yes: 'yes', no: '**no**', refused: 'refused' }

export function clientsPage(rows: readonly SavedRow[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    line(['client', 'version', 'tested', ...COLUMNS.map(([, title]) => title)]),
    `|${'---|'.repeat(COLUMNS.length + 3)}`,
    ...rows.map((row) =>
      line([row.label, row.version, row.date, ...COLUMNS.map(([key]) => WORDS[row[key]])]),
    ),
  ]
  return `${BEFORE}\n${table.join('\n')}\n${AFTER}`
}

const BEFORE = `# Tested clients

These clients were installed from npm and run without a terminal against a scripted model: first with three servers of their
own, then again after \`toolwell connect\`. One of the servers keeps a page per process, in place of a browser.
`

const AFTER = `
| column | yes means |
|---|---|
| found | A search returns the tool: with \`find_tools\`, or with the client's own search if \`connect\` writes \`--all\`. |
| called | The call reaches the server, and the next request to the model contains its result. |
| deny rule kept | A tool that the client's settings deny fails in every way, also for a rule that was added after \`connect\`. The preview names the rule. \`refused\`: Toolwell does not read the rules of this client, so \`connect\` names them and does not change the client. |
| own browser | Two runs of the client at the same time have separate server processes. |
| others survive its exit | The client ends, or is killed with all its child processes. Another client's next call works, with the same gateway and the same server process. |
| time limit kept | The time limit of a server's entry is on the entry that \`connect\` writes. |

Three kinds of rules are lost, because Toolwell does not see them. Write them into a settings file instead:

- rules on the command line, such as \`claude --disallowedTools\` and \`copilot --deny-tool\`
- rules of Kilo in \`KILO_CONFIG\`, \`KILO_CONFIG_DIR\` and \`KILO_CONFIG_CONTENT\`, which Kilo hides from the programs that it starts
- rules and hooks of plugins

To repeat it on Linux (about ten minutes; downloads 2 GB into the temporary folder):

\`\`\`sh
npm run test:long -- packages/cli/test/clients
\`\`\`

\`-t codex\` selects one client. \`UPDATE_GOLDEN=1\` saves the result in \`bench/results/clients.json\` and writes this page.
`
