/**
 * Prepares a tool's result for sending, as parts and as text. Content that is too large is stored, and a handle is
 * sent.
 */

import { shortHash } from '../base/hash.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { KeptResult } from '../ledger/event.js'
import { isMedia, type ResultPart } from '../result/part.js'
import { measureText, type ReadResult, readResult, takeHead, takeLines } from '../result/read.js'
import { estimateBytes, headLength, isTooLong, type KeptContent, readLength } from '../result/store.js'
import { countImageTokens, createWithheld, MOST_MEDIA } from '../result/wire-media.js'
import type { Context } from '../surface/context.js'
import type { Prompts } from '../surface/prompts.js'
import { describePart, describeWithheld } from './describe-part.js'

export interface PreparedResult {
  /** The whole result as text. Parts that are not text are described. */
  readonly text: string
  /** Present if the result is more than text. */
  readonly parts?: readonly ResultPart[]
  readonly isError: boolean
  readonly kept: readonly KeptResult[]
  /** True if the model can read stored text later. */
  readonly readable: boolean
  /** Tokens of the images on this wire. */
  readonly media: number
}

/** The call that a result belongs to. */
export interface ResultOrigin {
  readonly entry: Entry
  readonly anchor: string
  readonly ledger: string
  readonly bridge: string | undefined
  readonly reader: string
}

export async function prepareResult(
  value: unknown,
  call: ResultOrigin,
  context: Context,
): Promise<PreparedResult | { readonly problem: string }> {
  const read = readResult(value)
  if ('problem' in read) return read
  const kept: KeptResult[] = []
  let readable = false
  const keep = async (content: KeptContent): Promise<string | undefined> => {
    // The handle depends on the content, because a host may go back and a server may use a call id again.
    const end = 'text' in content ? content.text.slice(-200) : content.data.slice(-200)
    const named = [call.ledger, call.anchor, kept.length, estimateBytes(content), end]
    const handle = `r_${shortHash(JSON.stringify(named), 12)}`
    const isKept = await storeResult(call.ledger, handle, content, context)
    if (isKept) kept.push({ handle, ledger: call.ledger })
    readable ||= isKept && 'text' in content
    return isKept ? handle : undefined
  }
  const parts = await shortenText(await describeLargeMedia(read.parts, keep, context), call, keep, context)
  const media = parts.reduce(
    (sum, part) => sum + (isMedia(part) ? countImageTokens(context.wire, part) : 0),
    0,
  )
  const { prompts } = context.settings
  return {
    text: parts.map((part) => describePart(part, prompts)).join('\n'),
    ...(parts.some(isMedia) ? { parts } : {}),
    isError: read.isError,
    kept,
    readable,
    media,
  }
}

/** Stores content. False if the store fails: the result is then lost, but the call still counts as run. */
async function storeResult(
  ledger: string,
  handle: string,
  content: KeptContent,
  { settings, notify }: Context,
): Promise<boolean> {
  try {
    return (await settings.results.write(ledger, handle, content)) === true
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'results.write', detail: String(error) })
    return false
  }
}

type Keep = (content: KeptContent) => Promise<string | undefined>

/** Replaces links, and media that is too large or unreadable, by descriptions. */
async function describeLargeMedia(
  parts: Extract<ReadResult, { parts: unknown }>['parts'],
  keep: Keep,
  { settings: { prompts } }: Context,
): Promise<ResultPart[]> {
  const made: ResultPart[] = []
  for (const part of parts) {
    if (part.type === 'withheld') made.push(createTextPart(describeWithheld(part.media, prompts)))
    else if (part.type === 'link') made.push(createTextPart(describePart(part, prompts)))
    else if (isMedia(part) && part.data.length > MOST_MEDIA) {
      const { data, mediaType, name } = part
      await keep({ data, mediaType, ...(name === undefined ? {} : { name }) })
      made.push(createTextPart(describeWithheld(createWithheld(part, 'too-large'), prompts)))
    } else made.push(part)
  }
  return made
}

/** If the text is too long, sends its head and a handle to the rest, then the media. */
async function shortenText(
  parts: readonly ResultPart[],
  { entry, bridge, reader }: ResultOrigin,
  keep: Keep,
  { settings }: Context,
): Promise<readonly ResultPart[]> {
  const { maxResultTokens: own } = entry.tool
  const { maxResultTokens, tokenizer, prompts } = settings
  const given = own === false ? Number.POSITIVE_INFINITY : own
  const limit =
    given ?? maxResultTokens.get(entry.source) ?? maxResultTokens.get('') ?? Number.POSITIVE_INFINITY
  const whole = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (!isTooLong(whole, limit, tokenizer)) return parts
  const head = takeHead(whole, headLength(limit))
  const handle = await keep({ text: whole })
  const most = readLength(maxResultTokens.get(''))
  const shortened = describeKept(whole, head, { handle, reader, bridge, most }, prompts)
  return [createTextPart(shortened), ...parts.filter(isMedia)]
}

/** Writes the head of a kept text, and how to read the rest. `most`: characters of one answer of the reader. */
export function describeKept(
  whole: string,
  head: string,
  {
    most,
    ...kept
  }: {
    readonly handle: string | undefined
    readonly reader: string
    readonly bridge: string | undefined
    readonly most: number
  },
  prompts: Prompts,
): string {
  const next = findNextRange(whole, head, most)
  const said = prompts.resultKept({ ...measureText(whole), shown: head.length, next, ...kept })
  return head === '' ? said : `${head}\n${said}`
}

/** Finds the range to read after the head: lines, or characters if the next line does not fit into one answer. */
function findNextRange(whole: string, head: string, most: number) {
  const isWhole = whole[head.length] === '\n'
  const line = measureText(head).lines + (isWhole ? 1 : 0)
  if (takeLines(whole, line, line, most)) return { unit: 'lines', from: line, to: line + 199 } as const
  return { unit: 'characters', from: head.length + 1, to: head.length + most } as const
}

function createTextPart(words: string): ResultPart {
  return { type: 'text', text: words }
}
