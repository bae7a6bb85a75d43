/**
 * The ambient lint: what stands before a model in every request (the host's system prompt, the descriptions of eager
 * tools) must not send it to a tool that it cannot see. Models do without such a tool rather than search for it.
 */
import type { Catalogue, Entry } from './catalogue.js'
import type { AmbientFinding } from './events.js'
import { namesOf, type Resolution } from './name-index.js'
import type { Exposure } from './rules.js'
import { firstLine } from './text.js'

export interface AmbientText {
  readonly where: AmbientFinding['where']
  /** Whose text it is; empty for the host's own. */
  readonly source: string
  readonly text: string
}

/**
 * Which deferred tools the system prompt or the description of an eager tool names. Needs no conversation: what it says
 * holds for every one that defers by these rules.
 */
export function lintAmbient(
  well: {
    readonly catalogue: Catalogue
    explain(name: string, agent?: string): Exposure | undefined
  },
  { system = '', agent }: { readonly system?: string; readonly agent?: string } = {},
): AmbientFinding[] {
  const { catalogue } = well
  const isDeferred = (entry: Entry) => well.explain(entry.id, agent)?.deferred === true
  const eager = [...catalogue.entries()].filter((entry) => !isDeferred(entry))
  const texts = ambientTexts(system, eager, (entry) => entry.tool.description ?? '')
  return findNamed(texts, (name) => catalogue.resolve(name, () => true), isDeferred)
}

export function ambientTexts(
  system: string,
  eager: readonly Entry[],
  describe: (entry: Entry) => string,
): AmbientText[] {
  return [
    { where: { kind: 'system' }, source: '', text: system },
    ...eager.map(
      (entry): AmbientText => ({
        where: { kind: 'description', tool: entry.id },
        source: entry.source,
        text: [describe(entry), ...(entry.tool.guidelines ?? [])].join('\n'),
      }),
    ),
  ]
}

/** One finding for each tool and text, at its first place. A name that a tool in sight answers to means that tool. */
export function findNamed(
  texts: readonly AmbientText[],
  resolve: (name: string) => Resolution,
  isHidden: (entry: Entry) => boolean,
): AmbientFinding[] {
  const lookupFrom =
    (source: string): Lookup =>
    (name) => {
      const resolution = resolve(name)
      if (resolution.kind === 'none' || resolution.kind === 'group') return []
      const entries = resolution.kind === 'found' ? [resolution.entry] : resolution.entries
      // A server's text means the server's own tools, unless it says the other's name in full.
      const near = entries.filter(
        (entry) => source === '' || entry.source === source || isFullName(name, entry),
      )
      return near.every(isHidden) ? near : []
    }
  return texts.flatMap(({ where, source, text }) => {
    const found = new Map<string, AmbientFinding>()
    for (const { named, index, entries } of mentions(text, lookupFrom(source))) {
      if (isForbidden(text.slice(Math.max(0, index - CLAUSE), index))) continue
      const tools = entries.map(({ id }) => id)
      const key = tools.join('\n')
      const known = found.get(key)
      const around = text.slice(Math.max(0, index - 40), index + named.length + 40)
      found.set(key, {
        ...(known ?? {
          tools,
          named,
          where,
          index,
          excerpt: firstLine(around.replace(/\s+/g, ' ')),
          fix: fixOf(entries, named, where),
        }),
        times: (known?.times ?? 0) + 1,
      })
    }
    return [...found.values()]
  })
}

interface Word {
  readonly text: string
  readonly index: number
}

interface Mention {
  readonly named: string
  readonly index: number
  readonly entries: readonly Entry[]
}

type Lookup = (name: string) => readonly Entry[]

/** Words of one script, joined by what joins names. Scripts are kept apart: some write no blanks between words. */
const TOKEN =
  /[\p{Script=Latin}\p{N}]+(?:[_\-./:]+[\p{Script=Latin}\p{N}]+)*|(?:(?!\p{Script=Latin})\p{L})[\p{M}]*(?:(?!\p{Script=Latin})[\p{L}\p{M}\p{N}_-])*/gu
/** What makes `read` in «the read tool» a name, and what has to stand before it. */
const TOOL_WORD = /^(?:tools?$|functions?$|工具|ツール|도구)/iu
const LEAD_WORD =
  /^(?:the|your|use|uses|using|call|calls|calling|invoke|invoking|via|with|run|running|through)$/i
const MOST_WORDS = 4

function* mentions(text: string, lookup: Lookup): Generator<Mention> {
  /** The words before this one that only blanks and quotes part from it. */
  let row: Word[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const word = { text: match[0], index: match.index }
    if (!/^[\s"'“”‘’`*]*$/.test(text.slice(end, word.index))) row = []
    end = word.index + word.text.length
    const phrase = TOOL_WORD.test(word.text) ? nameBefore(row, word, text, lookup) : undefined
    if (phrase) yield phrase
    row = [...row.slice(-MOST_WORDS), word]
    yield* namesIn(word, text, lookup)
  }
}

/** «the web search tool»: the longest row of words that is a name, behind a word that makes it one. */
function nameBefore(
  row: readonly Word[],
  { text: tool }: Word,
  text: string,
  lookup: Lookup,
): Mention | undefined {
  for (let length = Math.min(MOST_WORDS, row.length); length > 0; length--) {
    const words = row.slice(-length)
    const [first] = words
    if (!first || (isLatin(tool) && !LEAD_WORD.test(row.at(-length - 1)?.text ?? ''))) continue
    // What looks like a name, or is written as code, is found as one wherever it stands.
    if (words.every((word) => looksLikeName(word.text) || isCoded(text, word))) return undefined
    const named = words.map((word) => word.text).join(' ')
    const entries = lookup(named).filter((entry) => hasWords(entry, named))
    if (entries.length > 0) return { named, index: first.index, entries }
  }
  return undefined
}

function* namesIn(word: Word, text: string, lookup: Lookup): Generator<Mention> {
  const { text: named, index } = word
  if (isValue(text, word)) return
  const coded = isCoded(text, word)
  const joined = /[-./:]/.test(named)
  if (coded || joined || looksLikeName(named)) {
    const entries = lookup(named).filter(
      (entry) => coded || (joined ? isSpelt(entry, named) : hasWords(entry, named)),
    )
    if (entries.length > 0) {
      yield { named, index, entries }
      return
    }
  }
  // `close_issue/label_issue`, `tracker.close_issue`: the parts may be names.
  if (/[./:]/.test(named))
    for (const part of named.matchAll(/[^./:]+/g))
      if (looksLikeName(part[0])) yield* namesIn({ text: part[0], index: index + part.index }, text, lookup)
}

/** Several words in one. A product may look so too (GitHub), so that all its words have to be the name's. */
function looksLikeName(word: string): boolean {
  return word.includes('_') || /\p{Ll}\p{Lu}/u.test(word)
}

function isLatin(word: string): boolean {
  return /\p{Script=Latin}/u.test(word)
}

/** Between backticks, or called: `read`, read(path). Not «file(s)». */
function isCoded(text: string, { text: word, index }: Word): boolean {
  const behind = text.slice(index + word.length, index + word.length + 5)
  if (text[index - 1] === '`' && /^(?:`|\s?[({])/.test(behind)) return true
  return behind.startsWith('(') && !/^\((?:e?s|ies|ing|ed)?\)/.test(behind)
}

/** «action=list_files», «the `search` parameter»: the name of something else. */
function isValue(text: string, { text: word, index }: Word): boolean {
  const behind = text.slice(index + word.length, index + word.length + 24)
  return (
    /=\s*["'`]?$/.test(text.slice(Math.max(0, index - 3), index)) ||
    /^["'`*]*\s+(?:parameter|argument|field|option|action|property|key)\b(?!=)/i.test(behind)
  )
}

function isFullName(name: string, entry: Entry): boolean {
  return [entry.id, entry.wireName].some((full) => full.toLowerCase() === name.toLowerCase())
}

function isSpelt(entry: Entry, named: string): boolean {
  return namesOf(entry).some((name) => name.toLowerCase() === named.toLowerCase())
}

function hasWords(entry: Entry, named: string): boolean {
  const words = wordsOf(named)
  return namesOf(entry).some((name) => wordsOf(name) === words)
}

/** `todo write` for `todo_write`, `TodoWrite` and `TODO-WRITE`. */
function wordsOf(name: string): string {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim()
}

/** As much as one looks at before a name to tell an order from a prohibition. */
const CLAUSE = 120
/** A second turn («never … without», «not that, but use») makes an order of it again. */
const FORBIDS =
  /(?:\bnot|n['’]t|\bnever|\bavoid|\bcannot)\b(?!.*\b(?:without|before|until|unless|but|except|only)\b)(?!.*[,:(–—→-]\s*(?:\w+\s+){0,2}(?:use|call|invoke|run|ask|try|prefer|see|with)\b)/i
const CONDITION = /\b(?:if|when|where|while)\b[^,]*,/gi
const COMPARES =
  /\b(?:instead of|rather than|unlike|than|over|without|replaces|similar to)\s+(?:\w+\s+){0,3}[`"'“‘*]*$/i

/** «Never call X», «prefer Y over X»: nothing is lost where X is out of sight. */
function isForbidden(before: string): boolean {
  const ends = [...before.matchAll(/[.!?;\n](?=\s|$)/g)].at(-1)
  const clause = before.slice(ends ? ends.index + 1 : 0).replace(CONDITION, '')
  return FORBIDS.test(clause) || (COMPARES.test(clause) && !/\b(?:not|never)\b|n['’]t\b/i.test(clause))
}

function fixOf(entries: readonly Entry[], named: string, where: AmbientFinding['where']): string {
  const place = where.kind === 'system' ? 'the system prompt' : `the description of ${where.tool}`
  const [first] = entries
  if (!first || entries.length > 1)
    return `${entries.length} deferred tools answer to ${named}: let ${place} say which one is meant, and set alwaysLoad: true on it.`
  const list = first.source === '' ? '' : `, or add ${JSON.stringify(first.wireName)} to eager`
  return `${first.id} is deferred, and ${place} names it: set alwaysLoad: true on it${list}, or reword ${place}.`
}
