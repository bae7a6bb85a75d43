/** Reads the tools of `--catalog` from a file, a folder of files or standard input, and yields them one by one. */
import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import type { Tool } from '@toolwell/core'
import { dropUndefined, explainBadJson, isRecord } from '@toolwell/core/internal'
import { Problem } from './problem.js'
import { fileProblem, type Line, readBytes, readLines } from './read-lines.js'
import type { Terminal } from './terminal.js'

const FILES = /\.(?:json|jsonl|ndjson)$/i

/** A tool with its place in the file, a broken entry with the reason, or a remark for the user. */
export type Found =
  | { readonly kind: 'tool'; readonly place: string; readonly listed: ListedTool }
  | { readonly kind: 'broken'; readonly place: string; readonly problem: string }
  | { readonly kind: 'remark'; readonly text: string }

export async function* readCatalogue(path: string, { folder, input }: Terminal): AsyncGenerator<Found> {
  if (path === '-') {
    yield* readTools(input, 'standard input', { list: '', line: '' })
    return
  }
  const full = resolve(folder, path)
  const found = await stat(full).catch((error) => {
    throw fileProblem(error, path, '--catalog')
  })
  if (!found.isDirectory()) {
    // Lines of a JSONL file may belong to any server. A tools/list result belongs to the server that the file is named after.
    yield* readTools(readBytes(full, path, '--catalog'), path, { list: serverName(path), line: '' })
    return
  }
  const entries = await readdir(full, { withFileTypes: true }).catch((error) => {
    throw fileProblem(error, path, '--catalog')
  })
  const names = entries
    .filter((entry) => !entry.isDirectory() && FILES.test(entry.name))
    .map(({ name }) => name)
  if (names.length === 0)
    throw new Problem(
      `${path} contains no .json, .jsonl or .ndjson file.`,
      'Give a folder with such files. Subfolders are not read.',
    )
  for (const name of names.sort()) {
    const place = join(path, name)
    const server = serverName(name)
    const bytes = readBytes(join(full, name), place, '--catalog')
    yield* readTools(bytes, place, { list: server, line: server, mayBeOther: true })
  }
}

interface Naming {
  /** Server of the tools in a tools/list result that do not name one. */
  readonly list: string
  /** Server of the tools on single lines that do not name one. */
  readonly line: string
  /** The file is in a folder that may contain other data, which is skipped. */
  readonly mayBeOther?: boolean
}

async function* readTools(
  bytes: AsyncIterable<Uint8Array>,
  place: string,
  naming: Naming,
): AsyncGenerator<Found> {
  let isFirst = true
  let hasMore = false
  for await (const { at, value, problem } of readValues(readLines(bytes, place), place)) {
    if (problem !== undefined) {
      yield { kind: 'broken', place: at, problem }
    } else if (isFirst && naming.mayBeOther && isOtherData(value)) {
      yield { kind: 'remark', text: `${place} contains no tools and was skipped.` }
      return
    } else {
      const listing = readListing(value)
      if (typeof listing === 'string') {
        yield { kind: 'broken', place: at, problem: listing }
      } else {
        yield* listTools(listing, at, naming)
        // A file may contain several pages of one list.
        hasMore = listing.hasMore
      }
    }
    isFirst = false
  }
  if (hasMore)
    yield {
      kind: 'remark',
      text: `${place} ends with a nextCursor: the following pages of that server are missing.`,
    }
}

function* listTools(listing: Listing, place: string, naming: Naming): Generator<Found> {
  const server = listing.isList ? naming.list : naming.line
  for (const [index, each] of listing.tools.entries()) {
    const where = listing.isList ? `${place}, tool ${index + 1}` : place
    const listed = readListedTool(each, listing, server)
    yield typeof listed === 'string'
      ? { kind: 'broken', place: where, problem: listed }
      : { kind: 'tool', place: where, listed }
  }
}

interface Value {
  readonly at: string
  readonly value?: unknown
  readonly problem?: string
}

/**
 * Yields the JSON values of a text: one on each line, or one value over many lines. If the first line is not a JSON value, the
 * whole text is kept in memory to decide; otherwise only one line is.
 */
async function* readValues(lines: AsyncIterable<Line>, place: string): AsyncGenerator<Value> {
  let isByLine = false
  const kept: Line[] = []
  for await (const line of lines) {
    if (line.text.trim() === '' && isByLine) continue
    if (!isByLine && kept.every(isBlank) && !isBlank(line)) isByLine = parse(line.text) !== undefined
    if (isByLine) yield valueOn(line, place)
    else kept.push(line)
  }
  const filled = kept.filter((line) => !isBlank(line))
  if (isByLine || filled.length === 0) return
  const text = kept.map((line) => line.text).join('\n')
  const whole = parse(text)
  // If the second line is valid, the file is JSONL with a broken first line.
  if (!whole && filled[1] && isRecord(parse(filled[1].text)?.value))
    for (const line of filled) yield valueOn(line, place)
  else yield whole ? { at: place, value: whole.value } : broken(text, place, 1)
}

function valueOn({ number, text }: Line, place: string): Value {
  const parsed = parse(text)
  return parsed ? { at: `${place}:${number}`, value: parsed.value } : broken(text, place, number)
}

function broken(text: string, place: string, first: number): Value {
  const { line, column, message, fix } = explainBadJson(text)
  return { at: `${place}:${first + line - 1}:${column}`, problem: `${message}. ${fix}.` }
}

/** Wraps the value, because null is valid JSON. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isBlank({ text }: Line): boolean {
  return text.trim() === ''
}

function isOtherData(value: unknown): boolean {
  const keys = ['name', 'description', 'inputSchema', 'tools', 'result', 'error']
  return !Array.isArray(value) && !(isRecord(value) && keys.some((key) => Object.hasOwn(value, key)))
}

function serverName(path: string): string {
  return basename(path, extname(path))
}

/** One tool with its server. */
export interface ListedTool {
  /** The id in the file, if it has one. */
  readonly id?: string | number
  readonly tool: Tool
  readonly server: string
  readonly serverDescription: string
}

interface Listing {
  /** Unchecked values. */
  readonly tools: readonly unknown[]
  /** The value was a tools/list result, so its tools belong to one server. */
  readonly isList: boolean
  readonly server?: string
  readonly serverDescription?: string
  /** The list has a nextCursor. */
  readonly hasMore: boolean
}

/** Returns the tools of one JSON value (a tool, a list, or a tools/list result), or the reason why it has none. */
function readListing(value: unknown): Listing | string {
  if (Array.isArray(value)) return { tools: value, isList: true, hasMore: false }
  if (!isRecord(value))
    return `${describeKind(value)} instead of a tool. Write { "name": …, "description": … }.`
  const list = isRecord(value.result) ? value.result : value
  if (Array.isArray(list.tools)) {
    const server = value.server ?? list.server
    const serverDescription = value.serverDescription ?? list.serverDescription
    return {
      tools: list.tools,
      isList: true,
      ...dropUndefined({
        server: isText(server) ? server : undefined,
        serverDescription: isText(serverDescription) ? serverDescription : undefined,
      }),
      hasMore: isText(list.nextCursor),
    }
  }
  if (isRecord(value.error)) return 'an error response of a server. Request tools/list again.'
  if (value.tools !== undefined || list !== value)
    return '"tools" is not a list. Give the result of tools/list.'
  return { tools: [value], isList: false, hasMore: false }
}

/** Returns one tool, or the reason why the value is not one. The schema is not checked: the index reads the parts it knows. */
function readListedTool(value: unknown, from: Listing, otherServer: string): ListedTool | string {
  if (!isRecord(value))
    return `${describeKind(value)} instead of a tool. Write { "name": …, "description": … }.`
  const { id, name, description, server, serverDescription, inputSchema } = value
  if (name === undefined || name === null || name === '') return 'a tool without a name. Give it a "name".'
  for (const [key, field] of Object.entries({ name, description, server, serverDescription }))
    if (field !== undefined && field !== null && typeof field !== 'string')
      return `"${key}" is ${describeKind(field)}. Write a string.`
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number')
    return `"id" is ${describeKind(id)}. Write a string or a number, or remove it.`
  return {
    ...dropUndefined({ id: id === null || id === '' ? undefined : id }),
    tool: { ...value, name, description: description ?? '', inputSchema: inputSchema ?? {} } as Tool,
    server: (server as string | null) ?? from.server ?? otherServer,
    serverDescription: (serverDescription as string | null) ?? from.serverDescription ?? '',
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function describeKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
