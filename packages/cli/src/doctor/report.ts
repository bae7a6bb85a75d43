/** Diagnoses of the doctor, and how they are printed: as text and as SARIF. */
import { relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { firstLine } from '@toolwell/core/internal'
import { plural } from '../shared/layout.js'
import type { Paint } from '../shared/terminal.js'

export type Level = 'error' | 'warning' | 'note'

/** The checks, in the order of the output: the headline if all is well, and the one if a check found something. */
export const RULES = {
  config: ['The config is valid', 'The config has problems'],
  clients: ['Every connected client can start Toolwell', 'A connected client cannot start Toolwell'],
  'client-rules': [
    'No client reaches a tool that it denies',
    'A client reaches tools that it denies, or some of its rules cannot be applied',
  ],
  'dead-server': ['Every server starts and lists its tools', 'A server does not list its tools'],
  'slow-server': ['Servers list their tools quickly', 'A server lists its tools slowly'],
  'same-server': ['No server is configured twice', 'A server is configured twice under different names'],
  quarantined: ['Nothing waits for approval', 'Something waits for approval'],
  lock: ['Locks pin the definitions', 'No lock pins some definitions'],
  changed: ['Definitions are as they were first seen', 'A definition changed since it was first seen'],
  poisoned: ['No definition looks poisoned', 'A definition looks poisoned'],
  collision: ['Names of tools cannot be confused', 'Names of tools can be confused'],
  'shared-name': ['Every tool name belongs to one server', 'Two servers have a tool of the same name'],
  'long-name': [
    'Names including the server have at most 64 characters',
    'A name is longer than 64 characters',
  ],
  'bad-schema': ['Every tool and schema is valid', 'A tool is unusable or its schema is not valid'],
  portability: ['Every provider accepts the schemas', 'Not every provider accepts the schemas'],
  'always-loaded': ['Tools that must be visible are loaded', 'A tool that must be visible is deferred'],
  ambient: [
    'No text that is always sent asks for a hidden tool',
    'A text that is always sent asks for a hidden tool',
  ],
  surface: [
    'Servers keep their limit for always-loaded tools',
    'A server exceeds its limit for always-loaded tools',
  ],
  'large-tool': ['No definition is very large', 'A definition takes a large part of a request'],
} as const

export type RuleName = keyof typeof RULES

export interface Diagnosis {
  readonly rule: RuleName
  readonly level: Level
  readonly server?: string
  readonly tool?: string
  /** A sentence; safe to print. */
  readonly message: string
  /** A sentence that says what to do. */
  readonly fix: string
  readonly file?: string
  readonly line?: number
}

/** Diagnoses shown for one rule. */
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
    const [healthy, found] = RULES[rule]
    lines.push(`${mark} ${own.length === 0 ? paint(healthy, 'dim') : paint(found, 'bold')}`)
    for (const each of own.slice(0, MOST)) {
      lines.push(`    ${placeOf(each)}${firstLine(each.message, 600)}`)
      lines.push(`      ${paint(`→ ${firstLine(each.fix, 400)}`, 'dim')}`)
    }
    if (own.length > MOST) lines.push(`    and ${own.length - MOST} more: see them with --json`)
  }
  return `${lines.join('\n')}\n\n${summary(diagnoses)}\n`
}

function placeOf({ server, tool, file, line, rule }: Diagnosis): string {
  if (rule === 'config' || rule === 'clients' || rule === 'client-rules')
    return `${file ?? ''}${line === undefined ? '' : `:${line}`}  `
  if (server === undefined) return ''
  return `${firstLine(tool === undefined ? server : `${server}/${tool}`, 80)}  `
}

function summary(diagnoses: readonly Diagnosis[]): string {
  const of = (level: Diagnosis['level']) => diagnoses.filter((each) => each.level === level).length
  return `${plural(of('error'), 'error')}, ${plural(of('warning'), 'warning')}, ${plural(of('note'), 'note')}.`
}

/** Diagnoses as SARIF 2.1.0. Code hosts require a place, so a diagnosis without a file gets `config`, and one without a line gets line 1. */
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
            rules: rules.map(([id, [, found]]) => ({ id, shortDescription: { text: `${found}.` } })),
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

/** Relative if the file is in the folder, as code hosts require. */
function uriOf(file: string, folder: string): string {
  const path = relative(folder, file)
  if (path.startsWith('..')) return pathToFileURL(file).href
  return path.split(sep).map(encodeURIComponent).join('/')
}
