/** Keeps results that are too long for a client. The client gets the beginning, and reads the rest with `read_result`. */
import { randomBytes } from 'node:crypto'
import { estimate } from '@toolwell/core'
import {
  describeKept,
  isRecord,
  isTooLong,
  quote,
  readKeptText,
  readLength,
  takeHead,
} from '@toolwell/core/internal'
import type { ResultStore } from '@toolwell/core/result'
import type { CallToolResult } from '../servers/server-set.js'
import type { View } from '../servers/view.js'
import { chooseResultLimit, type OwnTools } from './own-tools.js'

export interface Results {
  readonly store: ResultStore
  /** The principal that may read the kept result. */
  readonly principal: string
  /** The name that the client sent. */
  readonly client: string
}

/** The tool that gave a result. */
export interface Giver {
  readonly source: string
  readonly name: string
}

/** The head of a kept result: characters, and tokens for text that has many of them. */
const HEAD = { characters: 4000, tokens: 1500 }

/** Returns the result itself if its text fits. `limit` is that of the config, in tokens; 0 for none. */
export async function shortenResult(
  result: CallToolResult,
  { source, name }: Giver,
  limit: number | undefined,
  { store, principal, client }: Results,
  { direct: { prompts }, reader }: OwnTools,
): Promise<CallToolResult> {
  const most = limit === 0 ? Number.POSITIVE_INFINITY : Math.max(100, limit ?? chooseResultLimit(client))
  const { structuredContent, content, ...rest } = result
  const text = writeText(content, structuredContent)
  if (!isTooLong(text, most, estimate)) return result
  const handle = `r_${randomBytes(16).toString('base64url')}`
  const isKept = await store
    .write(principal, handle, { text: `${JSON.stringify([source, name])}\n${text}` })
    .catch(() => false)
  const kept = { handle: isKept ? handle : undefined, reader, bridge: undefined, most: readLength(most) }
  const shown = describeKept(text, takeShortHead(text, most), kept, prompts)
  const others = content.filter((part) => readTextOf(part) === undefined)
  const shortened: CallToolResult = { ...rest, content: [{ type: 'text', text: shown }, ...others] }
  if (isKept) handles.set(shortened, handle)
  return shortened
}

const handles = new WeakMap<CallToolResult, string>()

/** The handle of a shortened result. */
export function handleOf(result: CallToolResult): string | undefined {
  return handles.get(result)
}

/** Answers `read_result`. A result goes with its tool: if the caller may no longer see the tool, the result is gone. */
export async function readResult(
  input: Readonly<Record<string, unknown>>,
  view: Pick<View, 'isVisible' | 'settled'>,
  { store, principal, client }: Results,
  { direct: { prompts } }: OwnTools,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const handle = typeof input.handle === 'string' ? input.handle.slice(0, 1000).trim() : ''
  const kept = await store.read(principal, handle).catch(() => undefined)
  const { giver, text } = splitKept(kept && 'text' in kept ? kept.text : '')
  const isVisible = () => giver !== undefined && view.isVisible(giver.source, giver.name)
  // After a restart, the server may be about to list its tools.
  if (giver && !isVisible()) await view.settled()
  if (!isVisible()) return { text: prompts.resultGone({ handle: quote(handle, 60) }), isError: true }
  const most = readLength(chooseResultLimit(client))
  return { text: readKeptText(text, input, most, prompts), isError: false }
}

/** The first line of a kept result names its tool. */
function splitKept(kept: string): { readonly giver?: Giver; readonly text: string } {
  const end = kept.indexOf('\n')
  if (end < 0) return { text: '' }
  const [source = '', name = ''] = JSON.parse(kept.slice(0, end)) as string[]
  return { giver: { source, name }, text: kept.slice(end + 1) }
}

type Part = CallToolResult['content'][number]

/** The text of a part that a model reads as text. */
function readTextOf(part: Part): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'resource' && 'text' in part.resource ? part.resource.text : undefined
}

/** All text of a result. Structured content is added unless the text is the same JSON. */
function writeText(content: readonly Part[], structured: unknown): string {
  const texts = content.flatMap((part) => readTextOf(part) ?? [])
  const text = texts.join('\n')
  if (!isRecord(structured)) return text
  const json = JSON.stringify(structured)
  return texts.some((each) => isSameJson(each, json)) ? text : [...texts, json].join('\n')
}

function isSameJson(text: string, json: string): boolean {
  if (text === json) return true
  // Indented JSON is longer than its compact form.
  if (text.length < json.length) return false
  try {
    return JSON.stringify(JSON.parse(text)) === json
  } catch {
    return false
  }
}

function takeShortHead(text: string, limit: number): string {
  const tokens = Math.min(HEAD.tokens, limit / 4)
  let head = takeHead(text, HEAD.characters)
  while (estimate.count(head) > tokens) head = takeHead(head, Math.floor(head.length / 2))
  return head
}
