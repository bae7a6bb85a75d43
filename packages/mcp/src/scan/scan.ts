/**
 * Looks for poisoned definitions, offline and by fixed rules: the same definition always gives the same findings. Nothing
 * here reads a file, opens a connection or looks at a clock; time is linear in the size of the definition.
 */
import { joinSentences, readSentences, type Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { findEncoded } from './encoded.js'
import { collectFields, type Field } from './fields.js'
import { type Finding, finding, type Rule } from './finding.js'
import { findHidden } from './hidden.js'
import { judge, judgeJoined, severityOf } from './intent.js'
import { findMarkup } from './markup.js'
import { findParameters } from './parameters.js'
import { findSecrets } from './secrets.js'
import { has, orderOf } from './sentence-tests.js'
import {
  type Ask,
  createNameIndex,
  findNames,
  type NameIndex,
  recording,
  type ScannedServer,
} from './shadowing.js'
import { findStuffing } from './stuffing.js'
import type { Setting, Suspicion } from './suspicion.js'

export interface ToolReport {
  readonly tool: string
  readonly findings: readonly Finding[]
}

export interface ServerReport {
  readonly server: string
  /** About the server's instructions and its name. */
  readonly findings: readonly Finding[]
  readonly tools: readonly ToolReport[]
}

/** One more whenever a rule changes what it finds: what was found before does not count then. */
export const SCAN_VERSION = 2

export interface Examination {
  readonly findings: readonly Finding[]
  /** What the findings depend on besides the definition: names of other tools, with what was known of them. */
  readonly asks: ReadonlyMap<Ask, string>
}

export interface Scanner {
  /** Every finding in one tool, prompt or resource definition, hard ones first. */
  scanTool(server: string, definition: unknown): Finding[]
  scanInstructions(server: string, instructions: string): Finding[]
  /** The same, with what it depends on. */
  examine(server: string, definition: unknown): Examination
  /** The names of one more server. */
  add(server: ScannedServer): void
  /** Whether the names known now would give the same findings. */
  holds(server: string, asks: ReadonlyMap<Ask, string>): boolean
}

/** A scanner that knows the names of all these servers' tools. */
export function createScanner(servers: readonly ScannedServer[] = []): Scanner {
  const index = createNameIndex(servers)
  const readings = createReadings(index)
  const examine = (server: string, definition: unknown): Examination => {
    const asks = new Map<Ask, string>()
    return { findings: scanDefinition(server, definition, recording(index, asks), readings, asks), asks }
  }
  return {
    scanTool: (server, definition) => [...examine(server, definition).findings],
    scanInstructions: (server, instructions) => [...examine(server, { instructions }).findings],
    examine,
    add: index.add,
    holds: (server, asks) => [...asks].every(([ask, answer]) => index.answer(server, ask) === answer),
  }
}

/** All servers at once, each tool seen beside all others. */
export function scanServers(servers: readonly ScannedServer[]): ServerReport[] {
  const scanner = createScanner(servers)
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
/** Suspicions below a finding add up; this much makes a hard one. */
const TOGETHER = 3
/** No order is shorter. */
const SHORTEST = 12
const MOST_READINGS = 20_000
const LONGEST_KEPT = 4000
/** Text of plain printable characters hides nothing. */
const MAY_HIDE = /[^\t\n\r -~]|\\/
/** So many sentences apart, two remarks still belong together. */
const NEIGHBOURS = 6

/** What one text says by itself, wherever it stands. */
interface Reading {
  readonly findings: readonly Finding[]
  readonly suspicions: readonly Placed[]
  readonly asks: ReadonlyMap<Ask, string>
}

type Readings = (field: Field, server: string) => Reading

/** Servers repeat themselves: a text is read once. Bounded, and forgotten as a whole when full. */
function createReadings(index: NameIndex): Readings {
  const known = new Map<string, Reading>()
  return (field, server) => {
    const key = `${server}\u0000${field.kind}\u0000${field.parameter === undefined}\u0000${field.text}`
    const old = known.get(key)
    if (old && [...old.asks].every(([ask, answer]) => index.answer(server, ask) === answer)) return old
    const asks = new Map<Ask, string>()
    const reading = { ...readText(field, server, recording(index, asks)), asks }
    if (known.size >= MOST_READINGS) known.clear()
    if (field.text.length < LONGEST_KEPT) known.set(key, reading)
    return reading
  }
}

function readText(field: Field, server: string, index: NameIndex): Omit<Reading, 'asks'> {
  const { where, kind, text } = field
  const findings: Finding[] = []
  if (MAY_HIDE.test(text)) findings.push(...findHidden(where, text))
  if (kind === 'name' || kind === 'parameter')
    findings.push(...findNames(kind === 'name' ? server : undefined, where, text, index))
  if (text.length < SHORTEST) return { findings, suspicions: [] }
  findings.push(...findSecrets(where, text), ...findMarkup(where, text))
  findings.push(...findEncoded(where, text, (decoded) => givesOrders(decoded, field, server, index)))
  if (kind === 'description' || kind === 'instructions' || kind === 'schema-text')
    findings.push(...findStuffing(where, text, kind !== 'schema-text'))
  return { findings, suspicions: readField(field, server, index) }
}

function scanDefinition(
  server: string,
  definition: unknown,
  index: NameIndex,
  readings: Readings,
  asks: Map<Ask, string>,
): Finding[] {
  const { fields, unread } = collectFields(definition)
  const findings: Finding[] = unread.map(({ where, why }) => finding('not-scanned', 'hard', where, '', why))
  const guard = (where: string, check: () => readonly Finding[]) => {
    try {
      findings.push(...check())
    } catch (error) {
      // What cannot be judged is not let through, and does not hide what the other checks find.
      findings.push(
        finding(
          'not-scanned',
          'hard',
          where,
          '',
          `a check failed: ${error instanceof Error ? error.message : 'unknown'}`,
        ),
      )
    }
  }
  const suspicions: Placed[] = []
  for (const field of fields) {
    const { where } = field
    guard(where, () => {
      const reading = readings(field, server)
      for (const [ask, answer] of reading.asks) asks.set(ask, answer)
      for (const suspicion of reading.suspicions) suspicions.push({ ...suspicion, where })
      return reading.findings.map((one) => ({ ...one, where }))
    })
  }
  guard('', () => findParameters(fields, definition))
  guard('', () => {
    suspicions.push(...readAcross(fields, server, readings, asks))
    return []
  })
  guard('', () => {
    const { name, description } = definition as { name?: unknown; description?: unknown }
    const owner =
      typeof name === 'string' && typeof description === 'string'
        ? index.cloneOf(server, name, description)
        : undefined
    return owner === undefined
      ? []
      : [
          finding(
            'shadowing',
            'soft',
            'name',
            String(name),
            `has the name and the description of a tool of ${JSON.stringify(owner.slice(0, 60))}`,
          ),
        ]
  })
  findings.push(...conclude(suspicions, findings))
  return inOrder(findings)
}

interface Placed extends Suspicion {
  readonly where: string
  readonly text: string
  /** Its place in the text. */
  readonly sentence: number
}

function settingOf(field: Field, server: string, index: NameIndex): Setting {
  return {
    isParameter: field.parameter !== undefined,
    isName: field.kind === 'parameter' || field.kind === 'name' || field.kind === 'key',
    isSummary: field.kind === 'description' || field.kind === 'title' || field.kind === 'name',
    isForeignTool: (name) => index.isForeign(server, name),
    isOwnTool: (name) => index.isOwn(server, name),
  }
}

function sentencesOf({ kind, text }: Field): Sentence[] {
  const isName = kind === 'name' || kind === 'parameter'
  return readSentences(isName ? text.replace(/[_\-.]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2') : text)
}

/** Each sentence, then each with its neighbour: an order may take two. */
function readField(field: Field, server: string, index: NameIndex): Placed[] {
  const setting = settingOf(field, server, index)
  const sentences = sentencesOf(field)
  const found: Placed[] = []
  const hard = sentences.map((sentence, place) => {
    const suspicions = judge(sentence, setting)
    for (const suspicion of suspicions)
      found.push({ ...suspicion, where: field.where, text: sentence.text, sentence: place })
    return suspicions.some(({ weight }) => weight >= 3)
  })
  for (let place = 1; place < sentences.length; place++) {
    const [first, second] = [sentences[place - 1], sentences[place]]
    if (
      !first ||
      !second ||
      hard[place] ||
      hard[place - 1] ||
      first.tokens.length + second.tokens.length > 60
    )
      continue
    if (first.bits === 0 || second.bits === 0) continue
    const joined = joinSentences(first, second)
    for (const suspicion of judgeJoined(joined, setting))
      if (suspicion.weight >= 3)
        found.push({
          ...suspicion,
          weight: suspicion.rule === 'data-theft' || suspicion.rule === 'instruction-override' ? 2 : 1.5,
          where: field.where,
          text: joined.text,
          sentence: place,
        })
  }
  return found
}

/** An order split over neighbouring fields: each half is harmless. */
function readAcross(
  fields: readonly Field[],
  server: string,
  readings: Readings,
  asks: Map<Ask, string>,
): Placed[] {
  const found: Placed[] = []
  const parts = fields.filter(
    ({ kind, text }) =>
      (kind === 'schema-text' || kind === 'value' || kind === 'title' || kind === 'description') &&
      text.length < 240 &&
      /\s/.test(text.trim()),
  )
  let run = ''
  let start: Field | undefined
  const close = () => {
    if (start && run.includes('\n')) {
      const joined = run.replace(/(?:…|\.\.\.)?\n(?:…|\.\.\.)?/g, ' ')
      const { suspicions, asks: asked } = readings({ ...start, kind: 'key', text: joined }, server)
      for (const [ask, answer] of asked) asks.set(ask, answer)
      for (const suspicion of suspicions)
        if (suspicion.weight >= 3 && SPLITTABLE.has(suspicion.rule))
          found.push({ ...suspicion, where: start.where })
    }
    run = ''
    start = undefined
  }
  for (const part of parts) {
    const isOpen = !/[.!?。！？:)"'`]\s*$/.test(part.text.slice(-8))
    const continues =
      /^[\s("'“]*(?:\p{Ll}|…|\.\.\.)/u.test(part.text) ||
      /(?:…|\.\.\.|,|-|\b(?:the|all|and|to|of|any|your|not|do|from|with|never))\s*$/.test(run.slice(-12))
    if (run !== '' && !continues) close()
    start ??= part
    run = run === '' ? part.text : `${run}\n${part.text}`
    if (!isOpen && !/(?:…|\.\.\.)\s*$/.test(part.text.slice(-8))) close()
    if (run.length > 2000) close()
  }
  close()
  return found
}

const SPLITTABLE: ReadonlySet<Rule> = new Set([
  'data-theft',
  'instruction-override',
  'secrecy',
  'exfiltration',
])

function givesOrders(text: string, field: Field, server: string, index: NameIndex): boolean {
  const setting = settingOf(field, server, index)
  const all = readSentences(text).flatMap((sentence) => judge({ ...sentence, isFirst: false }, setting))
  if (all.reduce((sum, { weight }) => sum + weight, 0) >= 1.5 || findMarkup('', text).length > 0) return true
  // Nobody encodes a plain request: an order in clear words is enough here.
  return readSentences(text).some(
    (sentence) =>
      has(sentence, bit.force | bit.model | bit.secret | bit.conversation | bit.path | bit.user) &&
      orderOf(sentence, bit.read | bit.put | bit.send | bit.run | bit.ignore | bit.tell) >= 0,
  )
}

/** Strong suspicions as findings; weak ones together, when they are close enough and enough. */
function conclude(suspicions: readonly Placed[], findings: readonly Finding[]): Finding[] {
  const results: Finding[] = []
  const seen = new Set<string>()
  for (const suspicion of suspicions) {
    const severity = severityOf(suspicion.weight)
    const key = `${suspicion.rule}\u0000${suspicion.where}\u0000${severity}`
    if (severity !== undefined && !seen.has(key)) {
      seen.add(key)
      results.push(finding(suspicion.rule, severity, suspicion.where, suspicion.text, suspicion.why))
    }
  }
  if (results.some(({ severity }) => severity === 'hard')) return results
  const supports = new Set(
    findings
      .filter(({ severity, rule }) => severity === 'soft' && SUPPORTING.has(rule))
      .map(({ rule }) => rule),
  ).size
  for (const group of groups(suspicions)) {
    const best = new Map<Rule, Placed>()
    let again = 0
    for (const one of group) {
      const known = best.get(one.rule)
      // Another sentence of the same kind counts half.
      if (known && known.text !== one.text && Math.min(known.weight, one.weight) >= 1.5) again = 1
      if (!known || one.weight > known.weight) best.set(one.rule, one)
    }
    const weak = [...best.values()].sort((one, other) => other.weight - one.weight)
    const [heaviest] = weak
    const sum = weak.reduce((total, { weight }) => total + weight, 0) + supports * 1.5 + again
    if (!heaviest || sum < TOGETHER) continue
    const why = `together: ${weak
      .slice(0, 4)
      .map((one) => one.why)
      .join('; ')}`
    results.push(finding(heaviest.rule, 'hard', heaviest.where, heaviest.text, why))
    break
  }
  return results
}

/** Neighbours within one text, and what is strong enough to count wherever it stands. */
function* groups(suspicions: readonly Placed[]): Generator<Placed[]> {
  for (const [start, first] of suspicions.entries()) {
    const group = [first]
    for (let next = start + 1; next < suspicions.length; next++) {
      const one = suspicions[next] as Placed
      if (one.where !== first.where || one.sentence - first.sentence > NEIGHBOURS) break
      group.push(one)
    }
    yield group
  }
  yield suspicions.filter(({ weight }) => weight >= 1.5)
}

/** Soft findings of other checks that make an order in the same definition worse. */
const SUPPORTING: ReadonlySet<Rule> = new Set([
  'fake-structure',
  'hidden-unicode',
  'encoded-payload',
  'exfiltration-parameter',
  'stuffing',
  'dangerous-value',
])

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
