/** What a tool gave, made fit to be sent: as parts and as text, with what is too large kept aside. */

import { shortHash } from '../base/hash.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { KeptResult } from '../ledger/event.js'
import { isMedia, type ResultPart } from '../result/part.js'
import { measureText, type ReadResult, readResult, takeHead, takeLines } from '../result/read.js'
import { estimateBytes, headLength, isLonger, type KeptContent, readLength } from '../result/store.js'
import { imageTokens, MOST_MEDIA, withheld } from '../result/taken.js'
import type { Context } from '../surface/context.js'
import { describePart, describeWithheld } from './describe.js'

export interface PreparedResult {
  /** All of it as text: what is no text is described. */
  readonly text: string
  /** Where it is more than text. */
  readonly parts?: readonly ResultPart[]
  readonly isError: boolean
  readonly kept: readonly KeptResult[]
  /** A part of it can be read later. */
  readonly readable: boolean
  /** Tokens of its images on this wire. */
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
    // A host may go back, and a server give the same call id again: another result is another handle.
    const end = 'text' in content ? content.text.slice(-200) : content.data.slice(-200)
    const named = [call.ledger, call.anchor, kept.length, estimateBytes(content), end]
    const handle = `r_${shortHash(JSON.stringify(named), 12)}`
    const isKept = await storeResult(call.ledger, handle, content, context)
    if (isKept) kept.push({ handle, ledger: call.ledger })
    readable ||= isKept && 'text' in content
    return isKept ? handle : undefined
  }
  const parts = await shortenText(await describeLargeMedia(read.parts, keep, context), call, keep, context)
  const media = parts.reduce((sum, part) => sum + (isMedia(part) ? imageTokens(context.wire, part) : 0), 0)
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

/** A store is the host's code: where it fails, the result is not kept, and the call has run all the same. */
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

/** Media that is too large to send, or cannot be read, becomes words. Links are words from the start. */
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
      made.push(createTextPart(describeWithheld(withheld(part, 'too-large'), prompts)))
    } else made.push(part)
  }
  return made
}

/** Where all texts together are too long, their head stands first, then the rest of the parts. */
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
  if (!isLonger(whole, limit, tokenizer)) return parts
  const head = takeHead(whole, headLength(limit))
  const handle = await keep({ text: whole })
  const next = findNextRange(whole, head, readLength(maxResultTokens.get('')))
  const said = prompts.resultKept({ ...measureText(whole), handle, shown: head.length, next, reader, bridge })
  return [createTextPart(head === '' ? said : `${head}\n${said}`), ...parts.filter(isMedia)]
}

/** What to read behind the head: lines, unless the first of them is longer than one answer. */
function findNextRange(whole: string, head: string, most: number) {
  const isWhole = whole[head.length] === '\n'
  const line = measureText(head).lines + (isWhole ? 1 : 0)
  if (takeLines(whole, line, line, most)) return { unit: 'lines', from: line, to: line + 199 } as const
  return { unit: 'characters', from: head.length + 1, to: head.length + most } as const
}

function createTextPart(words: string): ResultPart {
  return { type: 'text', text: words }
}
