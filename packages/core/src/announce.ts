/** Text that is written into the history once and replayed at its anchor: how it is framed, and what may stand in it. */
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import type { LedgerFact } from './ledger-event.js'
import { firstLine, safeJson } from './text.js'

/** A whole definition on one line, exactly as the wire would carry it. */
export function schemaLine(entry: Entry, context: Context): string {
  return `- ${safeJson({ ...context.definition(entry), load: context.loadToken(entry) })}`
}

export function announce(
  context: Context,
  topic: Extract<LedgerFact, { kind: 'announced' }>['topic'],
  body: string,
  about: readonly string[],
  sources: Readonly<Record<string, string>> = {},
): LedgerFact {
  const text = `<tool-update>\n${body}\n</tool-update>`
  return {
    kind: 'announced',
    topic,
    text,
    about,
    tokens: context.settings.tokenizer.count(text),
    ...(Object.keys(sources).length > 0 ? { sources } : {}),
  }
}

/** One line that an owner wrote for the model to follow: no tags, no further lines, and no end of it. */
export function guidance(text: string): string {
  return firstLine(text, 400).replace(/[<>]/g, '')
}

/** Those of the ids that may be spoken of now. */
export function speakable(ids: Iterable<string>, context: Context): Entry[] {
  return [...ids].flatMap((id) => {
    const entry = context.catalogue.get(id)
    return entry && context.gate.standing(entry, 'see') === 'ready' ? [entry] : []
  })
}
