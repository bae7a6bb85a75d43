/** Reads the tools of `--catalog`: a file, a folder of files, or standard input. Yields them one by one; keeps none. */

import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import type { Tool } from '@toolwell/core'
import { defined, explainBadJson, isRecord } from '@toolwell/core/internal'
import { Problem } from './problem.js'
import { fileProblem, type Line, readBytes, readLines } from './read-lines.js'
import type { Terminal } from './terminal.js'

const FILES = /\.(?:json|jsonl|ndjson)$/i

/** A tool with where it stands, or what cannot be used and why, or something the user should know. */
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
    // The lines of one file are tools of any servers; the answer of one server is named after its file.
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
      `${path} holds no .json, .jsonl or .ndjson file.`,
      'Give a folder with files of tools; folders inside it are not read.',
    )
  for (const name of names.sort()) {
    const place = join(path, name)
    const server = serverName(name)
    const bytes = readBytes(join(full, name), place, '--catalog')
    yield* readTools(bytes, place, { list: server, line: server, besideOthers: true })
  }
}

interface Naming {
  /** The server of tools that name none: in an answer to tools/list, and on lines of their own. */
  readonly list: string
  readonly line: string
  /** In a folder other data may lie beside the tools; it is left out. */
  readonly besideOthers?: boolean
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
    } else if (isFirst && naming.besideOthers && isOtherData(value)) {
      yield { kind: 'remark', text: `${place} holds no tools and is left out.` }
      return
    } else {
      const listing = readListing(value)
      if (typeof listing === 'string') {
        yield { kind: 'broken', place: at, problem: listing }
      } else {
        yield* listTools(listing, at, naming)
        // The pages of a long list may stand below each other.
        hasMore = listing.hasMore
      }
    }
    isFirst = false
  }
  if (hasMore)
    yield {
      kind: 'remark',
      text: `${place} ends with a nextCursor: further pages of that server are missing.`,
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
 * The JSON values of a text: one on each line, or a single one over many lines. Where the first line is no value, all of the text is
 * read before that is decided; else a line is forgotten once it is read.
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
  // A broken first line before good ones, rather than one broken document.
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

/** In a box, because null is a value too. */
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

// What one JSON value of a catalogue file holds: a tool, or the answer of a server to tools/list in any of its wrappings.

/** One tool as it is indexed and shown. */
export interface ListedTool {
  /** As the file has it; missing where it has none. */
  readonly id?: string | number
  readonly tool: Tool
  readonly server: string
  readonly serverDescription: string
}

interface Listing {
  /** Not yet looked at. */
  readonly tools: readonly unknown[]
  /** It was a list: its tools belong to one server. */
  readonly isList: boolean
  readonly server?: string
  readonly serverDescription?: string
  /** The server had more to say than is here. */
  readonly hasMore: boolean
}

/** The tools of one value, or a sentence that says what is wrong with it. */
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
      ...defined({
        server: isText(server) ? server : undefined,
        serverDescription: isText(serverDescription) ? serverDescription : undefined,
      }),
      hasMore: isText(list.nextCursor),
    }
  }
  if (isRecord(value.error)) return 'the answer of a server that failed. Ask it for tools/list again.'
  if (value.tools !== undefined || list !== value)
    return '"tools" is not a list. Give the result of tools/list.'
  return { tools: [value], isList: false, hasMore: false }
}

/** One tool, or a sentence that says what is wrong with it. A schema is taken as it is: the index reads what it can of it. */
function readListedTool(value: unknown, from: Listing, otherServer: string): ListedTool | string {
  if (!isRecord(value))
    return `${describeKind(value)} instead of a tool. Write { "name": …, "description": … }.`
  const { id, name, description, server, serverDescription, inputSchema } = value
  if (name === undefined || name === null || name === '') return 'a tool without a name. Give it a "name".'
  for (const [key, field] of Object.entries({ name, description, server, serverDescription }))
    if (field !== undefined && field !== null && typeof field !== 'string')
      return `"${key}" is ${describeKind(field)}. Write a string.`
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number')
    return `"id" is ${describeKind(id)}. Write a string or a number, or leave it out.`
  return {
    ...defined({ id: id === null || id === '' ? undefined : id }),
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
