/** Reads the servers in the config file of another client. */
import { isRecord } from '@toolwell/core/internal'
import {
  describeReadError,
  findEntryFolder,
  MOST_BYTES_OF_DATA,
  readDocument,
  readSmallFile,
  type Translated,
  translateEntry,
  withCommonVariables,
} from '@toolwell/mcp/internal'
import { parse as parseToml } from 'smol-toml'
import { parseDocument } from 'yaml'
import type { ClientFile } from './clients.js'
import type { IsOff } from './disabled-servers.js'
import { isDeepYaml } from './rule-source.js'
import { type Fields, findShape, type Shape } from './shapes.js'
import type { IsGateway } from './toolwell-entry.js'

export interface ClientServers {
  readonly from: ClientFile
  readonly servers: ReadonlyMap<string, Converted>
  /** Entries that cannot be imported, with the reason. */
  readonly refused: ReadonlyMap<string, string>
  /** Why the file could not be read. */
  readonly problem?: string
}

/** Checks that need more than the entry itself. */
export interface EntryChecks {
  readonly isOff: IsOff
  readonly isGateway: IsGateway
}

/** Its parser takes quadratic time. */
const MOST_BYTES_OF_YAML = 64 * 1024

/** Clients store more than settings in the user's files. A file of the folder may come from a stranger, so it must be small. */
export function readClientFile(from: ClientFile): string {
  const most = findShape(from.shape).format === 'yaml' ? MOST_BYTES_OF_YAML : undefined
  return readSmallFile(from.file, 'marker' in from ? MOST_BYTES_OF_DATA : most).toString('utf8')
}

/** Returns undefined if the file does not exist or has no servers. */
export function readClient(from: ClientFile, folder: string, known: EntryChecks): ClientServers | undefined {
  const nothing = { from, servers: new Map(), refused: new Map() }
  let text: string
  try {
    text = readClientFile(from)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? undefined
      : { ...nothing, problem: describeReadError(error).reason }
  }
  const shape = findShape(from.shape)
  const parsed = parseClient(text, shape.format, from.file)
  if ('problem' in parsed) {
    const { message, line } = parsed.problem
    return { ...nothing, problem: `${message}${line === undefined ? '' : ` (line ${line})`}` }
  }
  const beside = findEntryFolder(from.file)
  const { value } = parsed
  const projects =
    from.shape === 'claude-code' ? valueAt(value, ['projects', folder, 'mcpServers']) : undefined
  const entries = [
    // Servers added for this folder take precedence.
    ...listEntries(projects).map((each) => ({ ...each, beside: folder })),
    ...shape.tables.flatMap((path) => listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))),
  ]
  if (entries.length > MOST_SERVERS)
    return { ...nothing, problem: `the file has more than ${MOST_SERVERS} servers` }
  return convertEntries(from, known, value, entries)
}

/** Each is compared with the others, and the file may come from a stranger. */
const MOST_SERVERS = 500

/** Reads the servers of one table, for `connect`. */
export function readTable(
  from: ClientFile,
  value: Fields,
  path: readonly string[],
  known: EntryChecks,
): ClientServers {
  const beside = findEntryFolder(from.file)
  const entries = listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))
  return convertEntries(from, known, value, entries) ?? { from, servers: new Map(), refused: new Map() }
}

/** `beside`: the base folder for relative paths in an entry. */
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
    else if (isGateway(made.entry)) refused.set(name, 'it is Toolwell itself; one entry is enough')
    else if (!servers.has(name))
      servers.set(name, isOff(from, name) ? { ...made, entry: { ...made.entry, enabled: false } } : made)
  }
  return servers.size + refused.size === 0 ? undefined : { from, servers, refused }
}

/** Lists entries of an object by key, or of an array by their `name`. */
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

function nameProblem(name: string): string | undefined {
  if (name === 'toolwell') return 'it is Toolwell itself'
  if (name.trim() === '' || name.length > 200) return 'its name is empty or too long'
  return undefined
}

export interface Converted extends Translated {
  readonly inputs: Inputs
}

/**
 * Converts an entry to the keys of toolwell.json, or returns the reason why it is not a server. `whole` is the parsed file,
 * `folder` the base of relative paths.
 */
export function convertEntry(
  value: unknown,
  { common, variables }: Shape,
  whole: Fields,
  folder: string,
): Converted | string {
  if (!isRecord(value)) return 'it is not an object'
  // Other clients treat ${cmd:…} as plain text. Toolwell would run it.
  if (/\$\{cmd:/.test(JSON.stringify(value)))
    return 'it contains ${cmd:…}, which that client does not run; write the entry yourself'
  const made = common(value, whole)
  if (typeof made === 'string') return made
  const { entry, skipped } = translateEntry(withCommonVariables(made, variables) as Fields, folder)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  return { entry, skipped, inputs: findInputs(made) }
}

/** Inputs that an editor asks its user for. Toolwell reads them from variables: variable name to input id. */
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

/** Adds the input that the client asks for to a message about a missing variable. */
export function nameInput(message: string, inputs: Inputs): string {
  const [, name = ''] = /the environment variable (\w+) is not set/.exec(message) ?? []
  const id = inputs.get(name)
  return id === undefined
    ? message
    : message.replace(
        `the environment variable ${name}`,
        `the client asks for \${input:${id}}, which Toolwell reads from the environment variable ${name}, and ${name}`,
      )
}

export interface ClientProblem {
  readonly message: string
  readonly line?: number
}

export type ParsedClient = { readonly value: Fields } | { readonly problem: ClientProblem }

/** Large, because Claude Code also stores conversations in its file. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** Parses JSON, TOML or YAML. Problems name only the line number, because parser messages quote the line and it may contain a secret. */
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
    const message = 'the file is not valid TOML'
    return { problem: line === undefined ? { message } : { message, line } }
  }
}

/** Converts large TOML integers to numbers. The lost precision does not matter: files are edited as text. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withNumbers)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]))
}

function readYaml(text: string): ParsedClient {
  if (isDeepYaml(text)) return { problem: { message: 'the file is nested too deeply' } }
  const document = parseDocument(text)
  const [error] = document.errors
  const line = error?.linePos?.[0].line
  const message =
    error?.code === 'MULTIPLE_DOCS'
      ? 'the file contains several YAML documents'
      : 'the file is not valid YAML'
  if (error) return { problem: line === undefined ? { message } : { message, line } }
  let value: unknown
  try {
    value = document.toJS()
  } catch {
    // An alias without an anchor, or too many aliases.
    return { problem: { message: 'its YAML aliases cannot be resolved' } }
  }
  if (value === null || value === undefined) return { value: {} }
  return typeof value === 'object' && !Array.isArray(value)
    ? { value: value as Fields }
    : { problem: { message: 'the file does not contain an object', line: 1 } }
}
