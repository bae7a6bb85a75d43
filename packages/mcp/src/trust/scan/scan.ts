/**
 * Scans for poisoned definitions, offline and by fixed rules: the same definition always has the same findings. Uses no files,
 * connections or clocks, and takes linear time.
 */

import { findCommands } from './commands.js'
import { findEncoded } from './encoded.js'
import { collectFields, type Field } from './fields.js'
import { revealText, squeezeBlanks } from './fold.js'
import { findHidden } from './hidden.js'
import {
  type Ask,
  createNameIndex,
  findClone,
  findForeignTools,
  findLookalikeNames,
  type NameIndex,
  recordQuestions,
  type ScannedServer,
} from './name-index.js'
import { findPhrases } from './phrases.js'
import { findMarkup, findRoleImitation } from './role-imitation.js'
import type { RuleSettings } from './rules.js'
import { assertRules, createFinding, type Finding } from './rules.js'
import { findSecrets } from './secrets.js'
import { findStuffing } from './stuffing.js'

export interface ScanOptions {
  /** Rules that are switched off. */
  readonly rules?: RuleSettings
}

export interface ToolReport {
  readonly tool: string
  readonly findings: readonly Finding[]
}

export interface ServerReport {
  readonly server: string
  /** Findings in the server's instructions. */
  readonly findings: readonly Finding[]
  readonly tools: readonly ToolReport[]
}

export interface Examination {
  readonly findings: readonly Finding[]
  /** Questions about other tools on which the findings depend, with the answers. */
  readonly asks: ReadonlyMap<Ask, string>
}

export interface Scanner {
  /** Finds everything in one tool, prompt or resource definition, hard findings first. */
  scanTool(server: string, definition: unknown): Finding[]
  scanInstructions(server: string, instructions: string): Finding[]
  /** Scans a definition and records the questions about other tools. */
  examine(server: string, definition: unknown): Examination
  /** Adds the names of a server. */
  add(server: ScannedServer): void
  /** Do the current names still give the same answers? */
  holds(server: string, asks: ReadonlyMap<Ask, string>): boolean
}

/** Creates a scanner that knows the tool names of these servers. */
export function createScanner(servers: readonly ScannedServer[] = [], options: ScanOptions = {}): Scanner {
  const rules = assertRules(options, 'createScanner')
  const index = createNameIndex(servers)
  const clean = createClean()
  const examine = (server: string, definition: unknown): Examination => {
    const asks = new Map<Ask, string>()
    const all = scanDefinition(server, definition, recordQuestions(index, asks), clean)
    return { findings: inOrder(all.filter(({ rule }) => rules[rule] !== 'off')), asks }
  }
  return {
    scanTool: (server, definition) => [...examine(server, definition).findings],
    scanInstructions: (server, instructions) => [...examine(server, { instructions }).findings],
    examine,
    add: index.add,
    holds: (server, asks) => [...asks].every(([ask, answer]) => index.answer(server, ask) === answer),
  }
}

/** Scans all servers, comparing each tool with all others. */
export function scanServers(servers: readonly ScannedServer[], options: ScanOptions = {}): ServerReport[] {
  const scanner = createScanner(servers, options)
  return servers.map(({ name, instructions, tools }) => ({
    server: name,
    findings: instructions === undefined ? [] : scanner.scanInstructions(name, instructions),
    tools: tools.map((tool) => {
      const own = (tool as { name?: unknown } | null)?.name
      return { tool: typeof own === 'string' ? own : '', findings: scanner.scanTool(name, tool) }
    }),
  }))
}

const MOST_FINDINGS = 50
/** Minimum length of an order, in which a Chinese, Japanese or Korean character counts as three. */
const SHORTEST = 12
const WIDE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g
const isShort = (text: string) =>
  text.length < SHORTEST && text.length + 2 * (text.match(WIDE)?.length ?? 0) < SHORTEST
/** Text of plain printable characters cannot hide anything. */
const MAY_HIDE = /[^\t\n\r -~]|\\/

function scanDefinition(server: string, definition: unknown, index: NameIndex, clean: Clean): Finding[] {
  const { fields, unread } = collectFields(definition)
  const findings: Finding[] = unread.map(({ where, why }) =>
    createFinding('not-scanned', 'hard', where, '', why),
  )
  const guard = (where: string, check: () => readonly Finding[]) => {
    try {
      findings.push(...check())
    } catch (error) {
      // A failed check is a hard finding, and does not stop the other checks.
      const why = `a check failed: ${error instanceof Error ? error.message : 'unknown'}`
      findings.push(createFinding('not-scanned', 'hard', where, '', why))
    }
  }
  for (const field of fields) guard(field.where, () => scanField(field, server, index, clean))
  guard('', () => findSplit(fields))
  guard('', () => findClone(server, definition, index))
  return findings
}

/** Cache of texts without findings: parameters of one server often have equal descriptions. */
interface Clean {
  has(kind: string, text: string): boolean
  add(kind: string, text: string): void
}

const MOST_CLEAN = 20_000
const LONGEST_CLEAN = 400

function createClean(): Clean {
  const known = new Set<string>()
  return {
    has: (kind, text) => text.length <= LONGEST_CLEAN && known.has(`${kind} ${text}`),
    add(kind, text) {
      if (text.length <= LONGEST_CLEAN && known.size < MOST_CLEAN) known.add(`${kind} ${text}`)
    },
  }
}

function scanField({ where, kind, text }: Field, server: string, index: NameIndex, clean: Clean): Finding[] {
  const isName = kind === 'name' || kind === 'parameter'
  const isOwn = kind === 'description' || kind === 'instructions'
  const findings: Finding[] = []
  if (MAY_HIDE.test(text)) findings.push(...findHidden(where, text))
  if (isName) findings.push(...findLookalikeNames(kind === 'name' ? server : undefined, where, text, index))
  if (isShort(text) || (!isOwn && clean.has(kind, text))) return findings
  const before = findings.length
  const plain = squeezeBlanks(revealText(text))
  findings.push(
    ...findEncoded(where, text),
    ...findRoleImitation(where, plain),
    ...findMarkup(where, plain),
    ...findSecrets(where, text),
    ...findCommands(where, plain),
    ...findPhrases(where, isName ? spelledOut(text) : text),
  )
  if (isOwn) findings.push(...findForeignTools(server, where, text, index))
  if (isOwn || kind === 'schema-text') findings.push(...findStuffing(where, text, isOwn))
  if (findings.length === before) clean.add(kind, text)
  return findings
}

const spelledOut = (name: string) => name.replace(/[_\-.]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')

/** Finds an order that is split over neighbouring texts. Joins only unfinished sentences. The findings are soft. */
function findSplit(fields: readonly Field[]): Finding[] {
  const parts = fields.filter(
    ({ kind, text }) => kind === 'schema-text' && text.length < 240 && /\s/.test(text.trim()),
  )
  const runs: { readonly where: string; text: string; isJoined: boolean }[] = []
  for (const { where, text } of parts) {
    const last = runs.at(-1)
    const isUnfinished = last && last.text.length < 2000 && !/[.!?。！？:)"'`]\s*$/.test(last.text.slice(-8))
    if (isUnfinished && /^[\s….]*[\p{Ll}~/]/u.test(text)) {
      last.text += ` ${text.replace(/^[\s….]+/, '')}`.replace(/\s*…$/, '')
      last.isJoined = true
    } else runs.push({ where, text: text.replace(/\s*…$/, ''), isJoined: false })
  }
  return runs
    .filter(({ isJoined }) => isJoined)
    .flatMap(({ where, text }) => findPhrases(where, text))
    .filter(({ severity }) => severity === 'hard')
    .map((one) => ({ ...one, severity: 'soft' as const }))
}

/** Keeps the worst finding per rule and place. Hard findings first. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const unique = new Map<string, Finding>()
  for (const one of findings) {
    const key = `${one.rule}\u0000${one.where}`
    const known = unique.get(key)
    if (!known || (known.severity === 'soft' && one.severity === 'hard')) unique.set(key, one)
  }
  return [...unique.values()]
    .sort((a, b) => (a.severity === b.severity ? 0 : a.severity === 'hard' ? -1 : 1))
    .slice(0, MOST_FINDINGS)
}
