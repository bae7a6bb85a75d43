/** Diagnoses as SARIF 2.1.0, for code hosts and editors that show such files. */
import { relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Diagnosis, RULES } from './diagnosis.js'

/** Code hosts refuse results without a place: what is said of no single file is shown at `config`, and of no single line at the first. */
export function createSarif(diagnoses: readonly Diagnosis[], folder: string, config: string): string {
  const rules = Object.entries(RULES)
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'toolwell',
            rules: rules.map(([id, text]) => ({ id, shortDescription: { text: `${text}.` } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: diagnoses.map((each) => ({
          ruleId: each.rule,
          ruleIndex: rules.findIndex(([id]) => id === each.rule),
          level: each.level,
          message: { text: `${subjectOf(each)}${each.message} ${each.fix}` },
          locations: [locationOf(each, folder, config)],
        })),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

const subjectOf = ({ server, tool }: Diagnosis) =>
  server === undefined ? '' : `${tool === undefined ? server : `${server}/${tool}`}: `

function locationOf({ file, line = 1, server, tool }: Diagnosis, folder: string, config: string): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(file ?? config, folder) },
      region: { startLine: line },
    },
    ...(server === undefined
      ? {}
      : {
          logicalLocations: [
            {
              name: tool ?? server,
              fullyQualifiedName: tool === undefined ? server : `${server}/${tool}`,
              kind: tool === undefined ? 'module' : 'function',
            },
          ],
        }),
  }
}

/** Relative where the file lies in the folder, as code hosts want it. */
function uriOf(file: string, folder: string): string {
  const path = relative(folder, file)
  if (path.startsWith('..')) return pathToFileURL(file).href
  return path.split(sep).map(encodeURIComponent).join('/')
}
