/** Text that is written into the history once and replayed at its anchor: how it is framed, and what may stand in it. */

import { safeJson, stripInvisible, wholeStart } from '../base/text.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { Context } from './context.js'
import type { Prompts } from './prompts.js'

/** Characters of one guideline that reach the model. */
const GUIDANCE_LIMIT = 2000

/** What stands inside the frame, or the text itself. */
export function unframed(text: string, prompts: Prompts): string {
  const [before = ''] = prompts.frame({ body: PLACE }).split(PLACE)
  return text.startsWith(before) ? text.slice(before.length) : text
}

/** Whether all of it is ours: one frame, or several. */
export function isFramed(text: string, prompts: Prompts): boolean {
  const [before = '', after = ''] = prompts.frame({ body: PLACE }).split(PLACE)
  return before !== '' && text.startsWith(before) && text.endsWith(after)
}

/** Stands for a body to see what a frame puts before it. */
const PLACE = '\u0000'

/** A whole definition on one line, exactly as the wire would carry it. */
export function definitionLine(entry: Entry, context: Context): string {
  return `- ${safeJson(context.definition(entry))}`
}

/** The same with the token by which a call through the bridge says what it has read. */
export function schemaLine(entry: Entry, context: Context): string {
  return `- ${safeJson({ ...context.definition(entry), load: context.loadToken(entry) })}`
}

export function announce(
  context: Context,
  topic: Extract<LedgerFact, { kind: 'announced' }>['topic'],
  body: string,
  about: readonly string[],
  also: {
    readonly sources?: Readonly<Record<string, string>>
    /** Put before the model by the provider itself, at this place. */
    readonly adds?: readonly Entry[]
    readonly removes?: readonly string[]
  } = {},
): LedgerFact {
  const { sources = {}, adds = [], removes = [] } = also
  const text = body === '' ? '' : context.settings.prompts.frame({ body })
  const definitions = adds.map((entry) => context.definition(entry))
  const added = definitions.reduce((sum, definition) => sum + context.tokens(definition), 0)
  return {
    kind: 'announced',
    topic,
    text,
    about,
    tokens: text === '' ? 0 : context.settings.tokenizer.count(text),
    ...(adds.length > 0 ? { adds: adds.map((entry) => sourced(entry, context)), revealed: added } : {}),
    ...(removes.length > 0 ? { removes } : {}),
    ...(Object.keys(sources).length > 0 ? { sources } : {}),
  }
}

function sourced(entry: Entry, context: Context): WireTool {
  const definition = context.definition(entry)
  return entry.source === '' ? definition : { ...definition, source: entry.source }
}

/** What an owner wrote for the model to follow, as lines: no tags, nothing invisible, and an end of it. */
export function guidance(text: string): string[] {
  const lines = stripInvisible(text.slice(0, GUIDANCE_LIMIT * 2))
    .replace(/[<>]/g, '')
    .split(/[\r\n]+/)
  const kept: string[] = []
  let left = GUIDANCE_LIMIT
  for (const line of lines.map((each) => each.trim()).filter((each) => each !== '')) {
    if (left <= 0) break
    kept.push(line.length > left ? `${wholeStart(line, left)}…` : line)
    left -= line.length
  }
  return kept
}

/** Those of the ids that may be spoken of now. */
export function speakable(ids: Iterable<string>, context: Context): Entry[] {
  return [...ids].flatMap((id) => {
    const entry = context.catalogue.get(id)
    return entry && context.gate.visible(entry) ? [entry] : []
  })
}
