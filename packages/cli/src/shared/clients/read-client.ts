/** The servers in one file of another client. */

import { readFileSync } from 'node:fs'
import { isRecord } from '@toolwell/core/internal'
import {
  entryFolder,
  readDocument,
  type Translated,
  translateEntry,
  withCommonVariables,
} from '@toolwell/mcp/internal'
import { parse as parseToml } from 'smol-toml'
import { parseDocument } from 'yaml'
import type { ClientFile } from './clients.js'
import type { IsOff } from './disabled-servers.js'
import { type Fields, findShape, type Shape } from './shapes.js'
import type { IsGateway } from './toolwell-entry.js'

export interface ClientServers {
  readonly from: ClientFile
  readonly servers: ReadonlyMap<string, Converted>
  /** Entries that cannot be taken over, with the reason. */
  readonly refused: ReadonlyMap<string, string>
  /** Why the file could not be read. */
  readonly problem?: string
}

/** What is known of entries beside what they say. */
export interface EntryChecks {
  readonly isOff: IsOff
  readonly isGateway: IsGateway
}

/** Undefined where there is no such file, or no server in it. */
export function readClient(from: ClientFile, folder: string, known: EntryChecks): ClientServers | undefined {
  const nothing = { from, servers: new Map(), refused: new Map() }
  let text: string
  try {
    text = readFileSync(from.file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? undefined
      : { ...nothing, problem: `it cannot be read (${code})` }
  }
  const shape = findShape(from.shape)
  const parsed = parseClient(text, shape.format, from.file)
  if ('problem' in parsed) {
    const { message, line } = parsed.problem
    return { ...nothing, problem: `${message}${line === undefined ? '' : ` (line ${line})`}` }
  }
  const beside = entryFolder(from.file)
  const { value } = parsed
  const projects =
    from.shape === 'claude-code' ? valueAt(value, ['projects', folder, 'mcpServers']) : undefined
  return convertEntries(from, known, value, [
    // What was added for this folder alone counts first.
    ...listEntries(projects).map((each) => ({ ...each, beside: folder })),
    ...shape.tables.flatMap((path) => listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))),
  ])
}

/** Those of one table, as `connect` reads it. */
export function readTable(
  from: ClientFile,
  value: Fields,
  path: readonly string[],
  known: EntryChecks,
): ClientServers {
  const beside = entryFolder(from.file)
  const entries = listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))
  return convertEntries(from, known, value, entries) ?? { from, servers: new Map(), refused: new Map() }
}

/** `beside`: the folder that relative paths of an entry start from. */
function convertEntries(
  from: ClientFile,
  { isOff, isGateway }: EntryChecks,
  whole: Fields,
  entries: readonly { readonly name: string; readonly entry: unknown; readonly beside: string }[],
): ClientServers | undefined {
  const shape: Shape = findShape(from.shape)
  const servers = new Map<string, Converted>()
  const refused = new Map<string, string>()
  for (const { name, entry, beside } of entries) {
    const made = nameProblem(name) ?? convertEntry(entry, shape, whole, beside)
    if (typeof made === 'string') refused.set(name, made)
    else if (isGateway(made.entry)) refused.set(name, 'it is Toolwell itself: one entry of it is enough')
    else if (!servers.has(name))
      servers.set(name, isOff(from, name) ? { ...made, entry: { ...made.entry, enabled: false } } : made)
  }
  return servers.size + refused.size === 0 ? undefined : { from, servers, refused }
}

/** Of an object by key; of a list by the name of each. */
export function listEntries(table: unknown): { readonly name: string; readonly entry: unknown }[] {
  if (Array.isArray(table))
    return table.map((entry: unknown, at) => ({
      name: isRecord(entry) && typeof entry.name === 'string' ? entry.name : `number ${at + 1}`,
      entry,
    }))
  return isRecord(table) ? Object.entries(table).map(([name, entry]) => ({ name, entry })) : []
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

/** A server of this name would be Toolwell in front of itself. */
function nameProblem(name: string): string | undefined {
  if (name === 'toolwell') return 'it is Toolwell itself'
  if (name.trim() === '' || name.length > 200) return 'its name cannot be used'
  return undefined
}

// An entry of another client with the keys of toolwell.json. What only that client writes is brought into the common form first.

export interface Converted extends Translated {
  readonly inputs: Inputs
}

/** `folder`: what relative paths start from; `whole`: the file. A sentence where it is no server. */
export function convertEntry(
  value: unknown,
  { common, variables }: Shape,
  whole: Fields,
  folder: string,
): Converted | string {
  if (!isRecord(value)) return 'it is not an object'
  // No other client has these: there it is a text, and here it would be run.
  if (/\$\{cmd:/.test(JSON.stringify(value)))
    return 'it holds a ${cmd:…}, which that client does not run; write the entry yourself'
  const made = common(value, whole)
  if (typeof made === 'string') return made
  const { entry, left } = translateEntry(withCommonVariables(made, variables) as Fields, folder)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  return { entry, left, inputs: findInputs(made) }
}

// What an editor would ask its user for: here it comes from a variable, and who reads of the variable wants to know which input that is.

/** Ids of inputs, by the variable that stands for each here. */
export type Inputs = ReadonlyMap<string, string>

export function findInputs(entry: unknown): Inputs {
  const found = JSON.stringify(entry ?? null).matchAll(/\$\{input:([\w.-]+)\}/g)
  return new Map(
    [...found].map(([whole, id = '']) => {
      const [, name = ''] = /^\$\{env:(\w+)\}$/.exec(String(withCommonVariables(whole, 'common'))) ?? []
      return [name, id] as const
    }),
  )
}

/** A message of the config in the words of the client's own file. */
export function nameInput(message: string, inputs: Inputs): string {
  const [, name = ''] = /the environment variable (\w+) is not set/.exec(message) ?? []
  const id = inputs.get(name)
  return id === undefined
    ? message
    : message.replace(
        `the environment variable ${name}`,
        `the client asks for \${input:${id}}, which comes from the environment variable ${name} here, and ${name}`,
      )
}

// The text of a client's config as plain data, in whichever format it is.

export interface ClientProblem {
  readonly message: string
  readonly line?: number
}

export type ParsedClient = { readonly value: Fields } | { readonly problem: ClientProblem }

/** Claude Code keeps what was said in its file, too. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** Messages of the parsers show the line, which may hold a secret: only its number is given. */
export function parseClient(text: string, format: Shape['format'], file: string): ParsedClient {
  if (text.replace(/^\uFEFF/, '').trim() === '') return { value: {} }
  if (format === 'toml') return readToml(text.replace(/^\uFEFF/, ''))
  if (format === 'yaml') return readYaml(text.replace(/^\uFEFF/, ''))
  const { value, problems } = readDocument(text, file, { most: MOST_CHARACTERS })
  if (value) return { value }
  const [{ message, line } = { message: 'it cannot be read', line: undefined }] = problems
  return { problem: line === undefined ? { message } : { message, line } }
}

function readToml(text: string): ParsedClient {
  try {
    return { value: withNumbers(parseToml(text, { integersAsBigInt: 'asNeeded' })) as Fields }
  } catch (error) {
    const { line } = error as { line?: number }
    const message = 'this is not TOML'
    return { problem: line === undefined ? { message } : { message, line } }
  }
}

/** Whole numbers of TOML may be larger than JavaScript's. What is written back is the text, so nearly is enough. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withNumbers)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]))
}

function readYaml(text: string): ParsedClient {
  const document = parseDocument(text)
  const [error] = document.errors
  const line = error?.linePos?.[0].line
  const message =
    error?.code === 'MULTIPLE_DOCS' ? 'this file holds several YAML documents' : 'this is not YAML'
  if (error) return { problem: line === undefined ? { message } : { message, line } }
  let value: unknown
  try {
    value = document.toJS()
  } catch {
    // An alias without its anchor, or so many that they stand for more than any config holds.
    return { problem: { message: 'its aliases cannot be followed' } }
  }
  if (value === null || value === undefined) return { value: {} }
  return typeof value === 'object' && !Array.isArray(value)
    ? { value: value as Fields }
    : { problem: { message: 'the file does not hold an object', line: 1 } }
}
