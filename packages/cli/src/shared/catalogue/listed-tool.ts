/** What one JSON value of a catalogue file holds: a tool, or the answer of a server to tools/list in any of its wrappings. */

import type { Tool } from '@toolwell/core'
import { defined, isRecord } from '@toolwell/core/internal'

/** One tool as it is indexed and shown. */
export interface ListedTool {
  /** As the file has it; missing where it has none. */
  readonly id?: string | number
  readonly tool: Tool
  readonly server: string
  readonly serverDescription: string
}

export interface Listing {
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
export function readListing(value: unknown): Listing | string {
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
export function readListedTool(value: unknown, from: Listing, otherServer: string): ListedTool | string {
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
