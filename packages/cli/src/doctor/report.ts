/** Diagnoses of the doctor, and how they are printed: as text and as SARIF. */
import { relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { firstLine } from '@toolwell/core/internal'
import { plural } from '../shared/layout.js'
import type { Paint } from '../shared/terminal.js'

export type Level = 'error' | 'warning' | 'note'

/** What is looked at, in the order in which it is shown. */
export const RULES = {
  config: 'The config can be read and every entry of it used',
  clients: 'Every client that was connected finds Toolwell where it looks for it',
  'dead-server': 'Every server can be started or reached, and listed',
  'slow-server': 'Servers are listed quickly',
  'same-server': 'No server is configured twice under different names',
  'held-back': 'Nothing waits for approval',
  lock: 'Definitions are pinned by a lock',
  changed: 'Definitions are what they were when first seen',
  poisoned: 'No definition looks poisoned',
  collision: 'Names cannot be taken for one another',
  'shared-name': 'No two servers call a tool the same',
  'long-name': 'Names with their server fit the 64 characters that providers take',
  'bad-schema': 'Everything that is listed can be used, and every schema is valid',
  portability: 'Schemas fit the dialect of every provider',
  floor: 'Tools that must be visible are not deferred',
  ambient: 'No text that is always sent asks for a tool that is hidden',
  surface: 'No server puts more into every request than it may',
  'large-tool': 'No single definition takes a large part of a request',
} as const

export type RuleName = keyof typeof RULES

export interface Diagnosis {
  readonly rule: RuleName
  readonly level: Level
  readonly server?: string
  readonly tool?: string
  /** A sentence; safe to print. */
  readonly message: string
  /** What to do about it. */
  readonly fix: string
  readonly file?: string
  readonly line?: number
}

// Diagnoses for people: by rule, with the fix below each.

/** Of one rule; the rest is counted. */
const MOST = 12

export function doctorText(
  diagnoses: readonly Diagnosis[],
  tools: number,
  servers: number,
  paint: Paint,
): string {
  const lines: string[] = [`${plural(servers, 'server')}, ${plural(tools, 'tool')}`, '']
  for (const rule of Object.keys(RULES) as RuleName[]) {
    const own = diagnoses.filter((each) => each.rule === rule)
    const worst = own[0]?.level
    const mark =
      worst === undefined
        ? paint('✓', 'name')
        : worst === 'error'
          ? paint('✗', 'error')
          : worst === 'warning'
            ? '!'
            : '·'
    lines.push(`${mark} ${own.length === 0 ? paint(RULES[rule], 'dim') : paint(RULES[rule], 'bold')}`)
    for (const each of own.slice(0, MOST)) {
      lines.push(`    ${placeOf(each)}${firstLine(each.message, 600)}`)
      lines.push(`      ${paint(`→ ${firstLine(each.fix, 400)}`, 'dim')}`)
    }
    if (own.length > MOST) lines.push(`    and ${own.length - MOST} more: see them with --json`)
  }
  return `${lines.join('\n')}\n\n${summary(diagnoses)}\n`
}

function placeOf({ server, tool, file, line, rule }: Diagnosis): string {
  if (rule === 'config' || rule === 'clients') return `${file ?? ''}${line === undefined ? '' : `:${line}`}  `
  if (server === undefined) return ''
  return `${firstLine(tool === undefined ? server : `${server}/${tool}`, 80)}  `
}

function summary(diagnoses: readonly Diagnosis[]): string {
  const of = (level: Diagnosis['level']) => diagnoses.filter((each) => each.level === level).length
  return `${plural(of('error'), 'error')}, ${plural(of('warning'), 'warning')}, ${plural(of('note'), 'note')}.`
}

// Diagnoses as SARIF 2.1.0, for code hosts and editors that show such files.

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
