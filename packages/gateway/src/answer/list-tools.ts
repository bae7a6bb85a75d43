/** Lists tools: those of the gateway and the pinned ones, or every tool. Both lists depend only on config and definitions. */
import { ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server'
import type { Entry } from '@toolwell/core'
import { createReaderTool } from '@toolwell/core/internal'
import { CALL_NAME, SEARCH_NAME } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import type { View } from '../servers/view.js'
import { nameServer } from './name-server.js'
import { nameOwnTools, READ_NAME } from './own-tools.js'

/** Makes clients that defer tools keep these visible. */
const ALWAYS = { 'anthropic/alwaysLoad': true } as const

/** The gateway's own tools, then the pinned tools by name. Descriptions name the former as `client` shows them. */
export function listDispatchTools(view: View, client = ''): Tool[] {
  const own = nameOwnTools(view.direct, client)
  const { metaTools, eager } = own.direct.digest()
  const [search, call] = metaTools
  if (!search || !call) throw new Error('the search tool or the bridge is missing')
  const pins = eager.flatMap(({ id }) => {
    const entry = view.catalogue.get(id)
    const tool = entry && forwardTool(entry, view)
    return tool ? [{ ...tool, _meta: { ...tool._meta, ...ALWAYS } }] : []
  })
  const read = { ...call, name: READ_NAME, description: prompts.read(own) }
  return [
    ownTool(
      { ...search, name: SEARCH_NAME },
      { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    ),
    ownTool(read, { readOnlyHint: true }),
    ownTool(
      { ...call, name: CALL_NAME },
      { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    ),
    listReader(view),
    ...pins,
  ]
}

/** The tool that reads kept results. Every list has it, because every client may get one. */
function listReader({ direct }: View): Tool {
  const { name, description, inputSchema } = createReaderTool(direct.prompts)
  return ownTool(
    { name, description, inputSchema },
    { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  )
}

function ownTool(
  { name, description, inputSchema }: { name: string; description: string; inputSchema: object },
  annotations: NonNullable<Tool['annotations']>,
): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    annotations,
    _meta: ALWAYS,
  }
}

/** The tool as its server lists it, under its name in the gateway. */
export function forwardTool(entry: Entry, view: View): Tool | undefined {
  const listed = view.listedTool(entry)
  return listed && ({ ...listed, name: entry.wireName } as Tool)
}

/** Limits of a page. Some clients read only the first page, so it is large. */
const PAGE = { tools: 500, characters: 2_000_000 }

export interface Page {
  readonly tools: readonly Tool[]
  readonly nextCursor?: string
}

/** Takes entries until the page is full. They are sorted by name, and the cursor is the last name of a page. */
export function takePage<Entry, T extends object>(
  entries: Iterable<Entry>,
  nameOf: (entry: Entry) => string,
  write: (entry: Entry) => T | undefined,
  after: string,
): { readonly items: T[]; readonly nextCursor?: string } {
  const items: T[] = []
  let characters = 0
  let last = after
  for (const entry of entries) {
    const name = nameOf(entry)
    if (name <= after) continue
    if (items.length >= PAGE.tools || characters >= PAGE.characters)
      return { items, nextCursor: writeCursor(last) }
    const item = write(entry)
    if (!item) continue
    items.push(item)
    characters += JSON.stringify(item).length
    last = name
  }
  return { items }
}

/** One page of every tool, after `read_result`. Changes between pages do not shift the list. */
export function listEveryTool(view: View, cursor: string | undefined): Page {
  const write = (entry: Entry) => {
    const listed = forwardTool(entry, view)
    const purpose = view.catalogue.sources.get(entry.source)?.description ?? ''
    return listed && nameServer(listed, entry.source, purpose)
  }
  const { items, ...page } = takePage(
    view.direct.tools(),
    ({ wireName }) => wireName,
    write,
    readCursorOrThrow(cursor),
  )
  return { ...page, tools: cursor === undefined ? [listReader(view), ...items] : items }
}

const CURSOR = 'after '

function writeCursor(name: string): string {
  return Buffer.from(CURSOR + name).toString('base64url')
}

/** The name after which the page begins; empty without a cursor. */
export function readCursorOrThrow(cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const text = Buffer.from(cursor, 'base64url').toString()
  if (text.startsWith(CURSOR) && writeCursor(text.slice(CURSOR.length)) === cursor)
    return text.slice(CURSOR.length)
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The cursor is invalid. Request the first page without a cursor.',
  )
}
