/** `@toolwell/core/manifest`: reads tool metadata from an extension's manifest and applies it to the host's tools. */

import { isRecord } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { explainBadJson } from '../base/json-error.js'
import { nearest } from '../base/nearest.js'
import type { AlwaysLoadedRole, Risk, Tool } from './tool.js'

type ManifestKey =
  | 'title'
  | 'description'
  | 'inputSchema'
  | 'domain'
  | 'group'
  | 'aliases'
  | 'canonicalName'
  | 'searchHint'
  | 'examples'
  | 'card'
  | 'promptSnippet'
  | 'guidelines'
  | 'risk'
  | 'insteadOf'
  | 'timeout'
  | 'defer'
  | 'alwaysLoad'
  | 'role'

export type ManifestTool = { readonly name: string } & Partial<Pick<Tool, ManifestKey>>

export interface Manifest {
  /** In the order of `provides.tools`. */
  readonly tools: readonly ManifestTool[]
}

export interface ManifestOptions {
  /** The name of the manifest in messages, usually its path. Default: `manifest`. */
  readonly file?: string
}

/** One problem of a manifest. The error `invalid-manifest` has all of them in `data.problems`. */
export interface ManifestProblem {
  readonly file: string
  /** A JSON path: `$.provides.tools[3].aliases[0]`. */
  readonly path: string
  readonly message: string
  readonly fix: string
}

/** The rule for the value of a field, and its description for messages. */
interface Shape {
  readonly fits: (value: unknown) => boolean
  readonly words: string
}

type Report = (path: string, message: string, fix: string) => void

const TOOLS = '$.provides.tools'
const PROBLEMS_IN_MESSAGE = 50
const RISKS: readonly Risk[] = ['read', 'write', 'destructive', 'external']
const ROLES: readonly AlwaysLoadedRole[] = ['mode-exit', 'clarification', 'todo', 'skill']

const text: Shape = { fits: (value) => typeof value === 'string', words: 'a string' }
const name: Shape = { fits: isName, words: 'a string that is not empty' }
const flag: Shape = { fits: (value) => typeof value === 'boolean', words: 'true or false' }
const schema: Shape = {
  fits: (value) => isRecord(value) && (value.type === undefined || value.type === 'object'),
  words: 'a JSON Schema whose type is "object", such as { "type": "object", "properties": {} }',
}

const FIELDS: Readonly<Record<ManifestKey | 'name' | 'lazy', Shape | { readonly each: Shape }>> = {
  name,
  title: text,
  description: text,
  inputSchema: schema,
  domain: name,
  group: name,
  aliases: { each: name },
  canonicalName: name,
  searchHint: text,
  examples: { each: text },
  card: text,
  promptSnippet: text,
  guidelines: { each: text },
  risk: oneOf(RISKS),
  insteadOf: text,
  timeout: {
    fits: (value) => typeof value === 'number' && value > 0 && value < 2 ** 31,
    words: 'a number of milliseconds above 0',
  },
  defer: flag,
  lazy: flag,
  alwaysLoad: flag,
  role: oneOf(ROLES),
}

/**
 * Reads JSON text or a parsed value. `provides.tools` may mix names and objects. `lazy` means `defer`. Everything outside
 * `provides.tools` is ignored. Throws one `invalid-manifest` with every problem.
 */
export function readManifest(input: unknown, options: ManifestOptions = {}): Manifest {
  const { problems, report } = createReport(options)
  const entries = readEntries(input, report)
  const tools = entries.map((entry, index) => readEntry(entry, `${TOOLS}[${index}]`, report))
  checkNames(tools, report)
  checkAliases(tools, report)
  checkCanonicalNames(tools, report)
  checkGroups(tools, report)
  throwIfAny(problems)
  return { tools: tools.filter((tool) => tool !== undefined) }
}

/**
 * Applies the manifest to tools by exact name; its fields override those of the tool. An entry without a tool is a problem,
 * unless its `canonicalName` leads to a tool: then it becomes a deprecated alias, after all the tools. Tools that the
 * manifest does not name stay the same objects.
 */
export function applyManifest(
  tools: readonly Tool[],
  manifest: Manifest,
  options: ManifestOptions = {},
): Tool[] {
  const { problems, report } = createReport(options)
  const entries = new Map(manifest.tools.map((entry) => [entry.name, entry]))
  const result: Tool[] = tools.map((tool) => {
    const entry = entries.get(tool.name)
    return entry ? { ...tool, ...entry } : tool
  })
  const registered = new Map(result.map((tool) => [tool.name, tool]))
  for (const [index, entry] of manifest.tools.entries()) {
    if (registered.has(entry.name)) continue
    const canonicalName = followCanonicalNames(entry, entries).at(-1) ?? entry.name
    const survivor = registered.get(canonicalName)
    if (survivor) {
      // Without the aliases of the survivor: two entries must not claim one name.
      const { aliases: _, ...definition } = survivor
      result.push({ ...definition, ...entry, canonicalName })
      continue
    }
    report(
      `${TOOLS}[${index}]`,
      canonicalName === entry.name
        ? `no tool ${quote(entry.name)} is registered`
        : `${quote(entry.name)} is an alias of ${quote(canonicalName)}, which is not registered`,
      suggestName(canonicalName, registered.keys(), 'Register the tool, or remove the entry'),
    )
  }
  throwIfAny(problems)
  return result
}

function readEntries(input: unknown, report: Report): readonly unknown[] {
  let value = input
  if (typeof input === 'string') {
    const json = input.startsWith('\ufeff') ? input.slice(1) : input
    try {
      value = JSON.parse(json)
    } catch {
      const { line, column, message, fix } = explainBadJson(json)
      report('$', `is not JSON: ${message} at line ${line}, column ${column}`, fix)
      return []
    }
  }
  if (!isRecord(value)) {
    report('$', `is ${describeKind(value)}, not an object`, 'Write { "provides": { "tools": [] } }')
    return []
  }
  if (!isRecord(value.provides)) {
    const missing = value.provides === undefined
    const [similar] = missing ? nearest('provides', Object.keys(value), 1) : []
    report(
      '$.provides',
      missing ? 'is missing' : `is ${describeKind(value.provides)}, not an object`,
      similar === undefined ? 'Add "provides": { "tools": [] }' : `Rename ${quote(similar)} to "provides"`,
    )
    return []
  }
  const { tools } = value.provides
  if (Array.isArray(tools)) return tools
  report(
    TOOLS,
    tools === undefined ? 'is missing' : `is ${describeKind(tools)}, not an array`,
    'Give an array of names and objects: "tools": ["read", { "name": "graph", "lazy": true }]',
  )
  return []
}

function readEntry(entry: unknown, path: string, report: Report): ManifestTool | undefined {
  if (isName(entry)) return { name: entry }
  if (!isRecord(entry)) {
    const problem =
      typeof entry === 'string' ? 'is an empty name' : `is ${describeKind(entry)}, not a name or an object`
    report(path, problem, 'Give the tool\'s name, or an object such as { "name": "graph" }')
    return undefined
  }
  const read: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(entry)) {
    const at = path + writeKeyPath(key)
    if (!Object.hasOwn(FIELDS, key)) {
      const known = Object.keys(FIELDS)
      report(
        at,
        `the key ${quote(key)} is unknown`,
        suggestName(key, known, `Remove it. Known keys: ${known.join(', ')}`, 'Rename it to'),
      )
    } else if (checkField(value, FIELDS[key as keyof typeof FIELDS], at, report)) {
      read[key] = value
    }
  }
  if (entry.name === undefined)
    report(path, 'has no "name"', 'Add "name" with the name the tool is registered under')
  const { lazy, ...fields } = read
  if (lazy !== undefined && fields.defer !== undefined && lazy !== fields.defer)
    report(
      `${path}.lazy`,
      `is ${lazy}, but "defer" is ${fields.defer}`,
      'Keep one of the two; both mean the same',
    )
  if (lazy !== undefined) fields.defer = lazy
  return typeof fields.name === 'string' ? (fields as ManifestTool) : undefined
}

function checkField(
  value: unknown,
  shape: Shape | { readonly each: Shape },
  path: string,
  report: Report,
): boolean {
  if (!('each' in shape)) {
    if (shape.fits(value)) return true
    report(
      path,
      `is ${describeValue(value)}, not ${shape.words}`,
      `Give ${shape.words}, or leave the key out`,
    )
    return false
  }
  if (!Array.isArray(value)) {
    report(path, `is ${describeValue(value)}, not an array`, 'Give an array of strings, or leave the key out')
    return false
  }
  let all = true
  for (const [index, item] of value.entries()) {
    if (shape.each.fits(item)) continue
    all = false
    const at = `${path}[${index}]`
    report(at, `is ${describeValue(item)}, not ${shape.each.words}`, `Give ${shape.each.words}, or remove it`)
  }
  return all
}

type ReadTools = readonly (ManifestTool | undefined)[]

function checkNames(tools: ReadTools, report: Report): void {
  const first = new Map<string, number>()
  for (const [index, tool] of tools.entries()) {
    if (!tool) continue
    const earlier = first.get(tool.name)
    if (earlier === undefined) first.set(tool.name, index)
    else
      report(
        `${TOOLS}[${index}]`,
        `the name ${quote(tool.name)} is already used by ${TOOLS}[${earlier}]`,
        'Merge the two entries, or rename one',
      )
  }
}

function checkAliases(tools: ReadTools, report: Report): void {
  const byName = new Map(tools.flatMap((tool) => (tool ? [[tool.name, tool] as const] : [])))
  const claims = new Map<string, string>()
  for (const [index, tool] of tools.entries()) {
    for (const [position, alias] of (tool?.aliases ?? []).entries()) {
      const path = `${TOOLS}[${index}].aliases[${position}]`
      const namesake = byName.get(alias)
      const claim = claims.get(alias)
      if (alias === tool?.name) report(path, `${quote(alias)} is the tool's own name`, 'Remove the alias')
      else if (namesake)
        report(
          path,
          `${quote(alias)} is the name of another tool`,
          namesake.canonicalName === tool?.name
            ? `Remove the alias; the entry ${quote(alias)} already is one`
            : 'Rename or remove the alias',
        )
      else if (claim !== undefined)
        report(path, `${quote(alias)} is already claimed at ${claim}`, 'Keep the alias on one tool only')
      else claims.set(alias, path)
    }
  }
}

function checkCanonicalNames(tools: ReadTools, report: Report): void {
  const byName = new Map(tools.flatMap((tool) => (tool ? [[tool.name, tool] as const] : [])))
  const reported = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    if (tool?.canonicalName === undefined || tool.canonicalName === tool.name) continue
    const path = `${TOOLS}[${index}].canonicalName`
    if (!byName.has(tool.canonicalName)) {
      report(
        path,
        `no tool ${quote(tool.canonicalName)} is in the manifest`,
        suggestName(
          tool.canonicalName,
          byName.keys(),
          `Add the tool ${quote(tool.canonicalName)}, or remove the key`,
        ),
      )
      continue
    }
    const chain = [tool.name, ...followCanonicalNames(tool, byName)]
    // Report a cycle once, at its first member. Entries that only lead into the cycle are correct.
    if (chain.at(-1) !== tool.name || reported.has(tool.name)) continue
    for (const member of chain) reported.add(member)
    report(
      path,
      `leads back to itself: ${chain.join(' → ')}`,
      'Remove "canonicalName" from the tool that survives',
    )
  }
}

/** Lists the names that `canonicalName` leads to, up to the survivor or to the first name that repeats. */
function followCanonicalNames(start: ManifestTool, byName: ReadonlyMap<string, ManifestTool>): string[] {
  const seen = new Set([start.name])
  const chain: string[] = []
  for (let tool: ManifestTool | undefined = start; tool; ) {
    const next: string | undefined = tool.canonicalName
    if (next === undefined || next === tool.name) break
    chain.push(next)
    if (seen.has(next)) break
    seen.add(next)
    tool = byName.get(next)
  }
  return chain
}

function checkGroups(tools: ReadTools, report: Report): void {
  for (const [index, tool] of tools.entries()) {
    if (tool?.group === undefined || tool.group !== tool.name) continue
    if (tools.some((other) => other && other.name !== tool.name && other.group === tool.group)) continue
    report(
      `${TOOLS}[${index}].group`,
      `the only member of the group ${quote(tool.group)} is the tool of that name`,
      `Add "group": ${quote(tool.group)} to the tools that belong to it, or remove the key`,
    )
  }
}

function createReport(options: ManifestOptions): {
  readonly problems: ManifestProblem[]
  readonly report: Report
} {
  const { file = 'manifest' } = options
  const problems: ManifestProblem[] = []
  return { problems, report: (path, message, fix) => void problems.push({ file, path, message, fix }) }
}

function throwIfAny(problems: readonly ManifestProblem[]): void {
  if (problems.length === 0) return
  const lines = problems
    .slice(0, PROBLEMS_IN_MESSAGE)
    .map(({ file, path, message, fix }) => `${file}: ${path}: ${message}. Fix: ${fix}.`)
  const rest = problems.length - lines.length
  if (rest > 0) lines.push(`… and ${rest} more, in data.problems.`)
  throw new ToolwellError('invalid-manifest', lines.join('\n'), { problems })
}

function oneOf(values: readonly string[]): Shape {
  return {
    fits: (value) => typeof value === 'string' && values.includes(value),
    words: `one of ${values.map(quote).join(', ')}`,
  }
}

/** Suggests the name that was probably meant; `otherwise` if no name is near. */
function suggestName(wanted: string, known: Iterable<string>, otherwise: string, verb = 'Write'): string {
  const [suggestion] = nearest(wanted, known, 1)
  return suggestion === undefined ? otherwise : `${verb} ${quote(suggestion)}`
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Quotes short strings; names the kind of other values. */
function describeValue(value: unknown): string {
  return typeof value === 'string' && value.length <= 40 ? quote(value) : describeKind(value)
}

function quote(value: unknown): string {
  return JSON.stringify(value)
}

function writeKeyPath(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${quote(key)}]`
}
