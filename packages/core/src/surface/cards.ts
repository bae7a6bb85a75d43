/**
 * Lists the deferred tools for the loader's description: cards, else names, else one line per server, whichever fits
 * the budget.
 */

import { findPurposeLine, quote, safeJson } from '../base/text.js'
import type { Tokenizer } from '../base/tokens.js'
import type { Catalogue, Entry, Source } from '../catalogue/catalogue.js'
import type { Prompts } from './prompts.js'

export interface CardList {
  readonly text: string
  /** Ids of the tools whose wire name appears in the text. */
  readonly shown: readonly string[]
  readonly tokens: number
}

/** Tokens reserved in a digest for the line that counts the rest. */
const RESERVE = 20

/** The description as sent on this wire. */
type Describe = (entry: Entry) => string

/** A deferred tool, or a group of them, as one card. */
interface Row {
  readonly source: string
  /** The heading of the card: the server, or the domain of a host tool. */
  readonly heading: string
  /** The name shown on the card. */
  readonly label: string
  line(): string
  readonly name: string
  readonly ids: readonly string[]
}

/**
 * The one line shown for a deferred tool, quoted as data. `shared`: first lines that several tools of this source have
 * in common.
 */
function cardLine(entry: Entry, describe: Describe, shared: ReadonlySet<string>): string {
  const { card, title, annotations } = entry.tool
  const lines = [card, describe(entry), title, annotations?.title].map((text, index) =>
    findPurposeLine(text ?? '', 160, index === 1 ? shared : undefined),
  )
  return safeJson(lines.find((text) => text !== '') ?? '')
}

/** If this many tools of one source share their first line, the line describes none of them. */
const ALIKE = 3

/** First lines that several tools of a source share, by source. */
function createShared(catalogue: Catalogue, describe: Describe): (source: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>()
  return (source) => {
    const made = known.get(source) ?? sharedLines(catalogue, source, describe)
    known.set(source, made)
    return made
  }
}

function sharedLines(catalogue: Catalogue, source: string, describe: Describe): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const id of catalogue.sources.get(source)?.ids ?? []) {
    const entry = catalogue.get(id)
    const line = entry ? findPurposeLine(describe(entry), 160) : ''
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count >= ALIKE).map(([line]) => line))
}

/** The name of a source is written by its owner, so it is quoted too. */
function sourceName(name: string): string {
  return quote(name, 80)
}

/** A domain is shown as the filter that finds it, so that it cannot be mistaken for a server. */
function headingOf({ source, tool }: Entry): string {
  if (source !== '') return sourceName(source)
  return tool.domain ? `domain:${quote(tool.domain, 80)}` : ''
}

/**
 * Lists deferred tools by source and name; a group is one card. The first form that fits is used: all cards; all names
 * (both with the source's own description if that fits too); one line per server, as many as fit, plus "and N more".
 * Returns nothing if even that does not fit.
 */
export function listCards(
  deferred: readonly Entry[],
  options: {
    readonly catalogue: Catalogue
    readonly prompts: Prompts
    readonly tokenizer: Tokenizer
    readonly budget: number
    readonly describe: Describe
  },
): CardList {
  const { catalogue, prompts, tokenizer, budget, describe } = options
  if (deferred.length === 0) return { text: '', shown: [], tokens: 0 }
  const count = deferred.length
  const cards = countOfRows(deferred)
  let rows: readonly Row[] | undefined
  const made = () => {
    rows ??= toRows(deferred, catalogue, describe)
    return rows
  }
  const finish = (text: string, shown: readonly string[]): CardList => ({
    text,
    shown,
    tokens: tokenizer.count(text),
  })

  // A card takes at least six tokens and a name at least two. Forms that cannot fit are not written at all.
  const forms = [
    { form: 'cards', least: 6, joint: '\n', show: (row: Row) => `- ${row.label}: ${row.line()}` },
    { form: 'names', least: 2, joint: ', ', show: (row: Row) => row.name },
  ] as const
  const abouts = [(source: string) => aboutSource(catalogue, source), () => '']
  for (const { form, least, joint, show } of forms) {
    if (cards * least > budget) continue
    for (const about of abouts) {
      const text = `${prompts.cardsHeading({ deferred: count, form })}\n${bySource(made(), { show, joint, about })}`
      if (text.length <= budget * 8 && tokenizer.count(text) <= budget)
        return finish(
          text,
          made().flatMap((row) => row.ids),
        )
    }
  }
  return finish(...digest(deferred, catalogue, prompts, tokenizer, budget))
}

/** The number of cards for these tools. */
function countOfRows(deferred: readonly Entry[]): number {
  const groups = new Set<string>()
  let single = 0
  for (const { source, tool } of deferred)
    if (tool.group === undefined) single++
    else groups.add(`${source}\n${tool.group}`)
  return single + groups.size
}

export function toRows(deferred: readonly Entry[], catalogue: Catalogue, describe: Describe): Row[] {
  const rows: Row[] = []
  const shared = createShared(catalogue, describe)
  const groups = new Map<string, Entry[]>()
  for (const entry of [...deferred].sort((a, b) => compare(a.wireName, b.wireName))) {
    const { group } = entry.tool
    if (group === undefined) {
      rows.push({
        source: entry.source,
        heading: headingOf(entry),
        label: entry.wireName,
        line: () => cardLine(entry, describe, shared(entry.source)),
        name: entry.wireName,
        ids: [entry.id],
      })
      continue
    }
    const key = `${entry.source}\n${group}`
    const members = groups.get(key)
    if (members) members.push(entry)
    else groups.set(key, [entry])
  }
  for (const members of groups.values()) {
    const [first] = members
    if (!first) continue
    const names = members.map((member) => member.wireName).join(', ')
    rows.push({
      source: first.source,
      heading: headingOf(first),
      label: `group ${quote(first.tool.group ?? '', 80)} (${names})`,
      line: () => cardLine(first, describe, shared(first.source)),
      name: names,
      ids: members.map((member) => member.id),
    })
  }
  return rows.sort(
    (a, b) => compare(a.source, b.source) || compare(a.heading, b.heading) || compare(a.name, b.name),
  )
}

/** Rows under their headings. `about`: text after the name of a source. */
function bySource(
  rows: readonly Row[],
  {
    show,
    joint,
    about,
  }: {
    readonly show: (row: Row) => string
    readonly joint: string
    readonly about: (source: string) => string
  },
): string {
  const parts = new Map<string, string[]>()
  for (const row of rows) {
    const head =
      row.heading === '' ? '' : `[${row.heading}]${about(row.source)}${joint === '\n' ? '\n' : ' '}`
    const part = parts.get(head)
    if (part) part.push(show(row))
    else parts.set(head, [show(row)])
  }
  return [...parts].map(([head, shown]) => `${head}${shown.join(joint)}`).join('\n')
}

function aboutSource(catalogue: Catalogue, source: string): string {
  const about = ownWords(catalogue.sources.get(source))
  return about === '' ? '' : `: ${about}`
}

/** The source's description, quoted. */
export function ownWords(source: Source | undefined): string {
  const about = findPurposeLine(source?.description ?? '', 100)
  return about === '' ? '' : safeJson(about)
}

function digest(
  deferred: readonly Entry[],
  catalogue: Catalogue,
  prompts: Prompts,
  tokenizer: Tokenizer,
  budget: number,
): [string, string[]] {
  const sources = new Map<string, number>()
  for (const { source } of deferred) sources.set(source, (sources.get(source) ?? 0) + 1)
  const count = deferred.length
  const heading = prompts.cardsHeading({ deferred: count, form: 'digest' })
  const lines = [heading]
  let spent = tokenizer.count(heading)
  let listed = 0
  // Largest servers first if not all fit: the model most likely needs to know about those.
  const order = [...sources].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]))
  for (const [name, size] of order) {
    const line = `- ${sourceName(name)} (${size})${aboutSource(catalogue, name)}`
    const cost = tokenizer.count(line) + 1
    if (spent + cost > budget - RESERVE) continue
    lines.push(line)
    spent += cost
    listed += size
  }
  if (listed < count) lines.push(prompts.cardsMore({ more: count - listed }))
  const text = lines.join('\n')
  return [tokenizer.count(text) <= budget ? text : '', []]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
