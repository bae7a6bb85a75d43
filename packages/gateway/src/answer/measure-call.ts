/** Measures a call of a tool for the audit log: time, sizes, and a digest of its arguments. */
import { createHash } from 'node:crypto'
import { estimate } from '@toolwell/core'
import type { CallToolResult } from '../servers/server-set.js'
import type { AuditRecord } from '../storage/storage.js'
import { handleOf } from './long-results.js'

type Part = CallToolResult['content'][number]

export type InnerCall = Pick<
  AuditRecord,
  'server' | 'tool' | 'milliseconds' | 'bytesIn' | 'bytesOut' | 'tokensIn' | 'tokensOut' | 'arguments'
>

/** The arguments and the result of a call, for the dashboard. Kept in memory only. */
export interface CallDetail {
  readonly arguments: CutText
  readonly result: CutText
  /** Names the whole result for `read_result`. */
  readonly handle?: string
}

export interface CutText {
  readonly text: string
  /** Of the whole text. */
  readonly characters: number
}

export interface MeasuredCall {
  /** Contains no arguments and no text of a result. */
  readonly inner: InnerCall
  readonly detail: CallDetail
}

/** `given` came from the server, `shown` goes to the client. */
export function measureCall(facts: {
  readonly server: string
  readonly tool: string
  /** From `performance.now()`. */
  readonly started: number
  readonly input: unknown
  readonly given?: CallToolResult | undefined
  readonly shown?: CallToolResult | undefined
}): MeasuredCall {
  const { server, tool, started, input, given, shown } = facts
  const json = JSON.stringify(input ?? {})
  const inner = {
    server,
    tool: tool.slice(0, 200),
    milliseconds: Math.round(performance.now() - started),
    bytesIn: Buffer.byteLength(json),
    bytesOut: given ? countBytes(given) : 0,
    tokensIn: estimate.count(json),
    tokensOut: shown ? countTokens(shown) : 0,
    arguments: createHash('sha256').update(json).digest('hex').slice(0, 16),
  }
  const handle = shown && handleOf(shown)
  const result = cut((shown?.content ?? []).map(describePart).join('\n'))
  return { inner, detail: { arguments: cut(json), result, ...(handle === undefined ? {} : { handle }) } }
}

/** Characters of the arguments or the result of one call that the dashboard shows. */
export const LONGEST_SHOWN = 20_000
/** More is kept, because half a secret at the cut would not be recognised. */
const LONGEST_KEPT = LONGEST_SHOWN + 4000

function cut(text: string): CutText {
  const { length: characters } = text
  // A slice would keep the whole text in memory.
  return {
    text: characters > LONGEST_KEPT ? Buffer.from(text.slice(0, LONGEST_KEPT)).toString() : text,
    characters,
  }
}

function describePart(part: Part): string {
  if ('data' in part) return `[${part.type}, ${part.mimeType}, ${part.data.length} characters of base64]`
  return readPart(part)
}

/** A question of a server has no content. */
function countBytes({ content = [], structuredContent }: CallToolResult): number {
  const structured =
    structuredContent === undefined ? 0 : Buffer.byteLength(JSON.stringify(structuredContent))
  return content.reduce((sum, part) => sum + Buffer.byteLength(readPart(part)), structured)
}

/** Images and audio have no tokens that the gateway could know. */
function countTokens({ content = [] }: CallToolResult): number {
  return content.reduce((sum, part) => sum + ('data' in part ? 0 : estimate.count(readPart(part))), 0)
}

/** Text, or base64 of other data. */
function readPart(part: Part): string {
  if (part.type === 'text') return part.text
  if (part.type === 'image' || part.type === 'audio') return part.data
  if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : part.resource.blob
  return part.uri
}
