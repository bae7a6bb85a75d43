/**
 * `@toolwell/core/lint`: finds texts in every request (system prompt, descriptions of eager tools) that name a deferred tool.
 *
 * Models usually give up on a tool that they cannot see instead of searching for it.
 */

import { foldName } from '../base/names.js'
import { firstLine } from '../base/text.js'
import type { Catalogue, Entry } from '../catalogue/catalogue.js'
import type { Exposure } from '../catalogue/exposure.js'
import { listNames, type Resolution } from '../catalogue/name-index.js'
import { findProhibitions } from './find-prohibitions.js'

/** A deferred tool that is named by a text of every request. */
export interface PromptFinding {
  /** Ids of the deferred tools with this name: one, or several that share it. */
  readonly tools: readonly string[]
  /** The name as written in the text. */
  readonly named: string
  readonly where:
    | { readonly kind: 'system' }
    /** The id of an eager tool. */
    | { readonly kind: 'description'; readonly tool: string }
  /** Position of the first mention in the text, and number of mentions. */
  readonly index: number
  readonly times: number
  readonly excerpt: string
  readonly fix: string
}

interface PromptText {
  readonly where: PromptFinding['where']
  /** Source of the text; empty for texts of the host. */
  readonly source: string
  readonly text: string
}

/**
 * Finds deferred tools that the system prompt or the description of an eager tool names. Needs no conversation: the findings apply to
 * every conversation with these rules.
 */
export function lintPrompt(
  well: {
    readonly catalogue: Catalogue
    explain(name: string, agent?: string): Exposure | undefined
  },
  { system = '', agent }: { readonly system?: string; readonly agent?: string } = {},
): PromptFinding[] {
  const { catalogue } = well
  const isDeferred = (entry: Entry) => well.explain(entry.id, agent)?.deferred === true
  const eager = [...catalogue.entries()].filter((entry) => !isDeferred(entry))
  const texts = listPromptTexts(system, eager, (entry) => entry.tool.description ?? '')
  return findNamed(texts, (name) => catalogue.resolve(name, () => true), isDeferred)
}

function listPromptTexts(
  system: string,
  eager: readonly Entry[],
  describe: (entry: Entry) => string,
): PromptText[] {
  return [
    { where: { kind: 'system' }, source: '', text: system },
    ...eager.map(
      (entry): PromptText => ({
        where: { kind: 'description', tool: entry.id },
        source: entry.source,
        text: [describe(entry), ...(entry.tool.guidelines ?? [])].join('\n'),
      }),
    ),
  ]
}

/** Reports each tool once per text, at its first mention. If a visible tool has the name, the text means that tool. */
function findNamed(
  texts: readonly PromptText[],
  resolve: (name: string) => Resolution,
  isHidden: (entry: Entry) => boolean,
): PromptFinding[] {
  const createLookup = (source: string): Lookup =>
    memoise((name) => {
      const resolution = resolve(name)
      if (resolution.kind === 'none' || resolution.kind === 'group') return []
      const entries = resolution.kind === 'found' ? [resolution.entry] : resolution.entries
      // A text of a server means the server's own tools, unless it writes the full name of another tool.
      const near = entries.filter(
        (entry) => source === '' || entry.source === source || isFullName(name, entry),
      )
      return near.every(isHidden) ? near : []
    })
  return texts.flatMap(({ where, source, text }) => {
    const found = new Map<string, PromptFinding>()
    const isForbidden = findProhibitions(text)
    for (const { named, index, end, entries } of findMentions(text, createLookup(source))) {
      if (isForbidden(index, end)) continue
      const tools = entries.map(({ id }) => id)
      const key = tools.join('\n')
      const known = found.get(key)
      const around = text.slice(Math.max(0, index - 40), end + 40)
      found.set(key, {
        ...(known ?? {
          tools,
          named,
          where,
          index,
          excerpt: firstLine(around.replace(/\s+/g, ' ')),
          fix: describeFix(entries, named, where),
        }),
        times: (known?.times ?? 0) + 1,
      })
    }
    return [...found.values()]
  })
}

/** Caches lookups, because prompts repeat words. */
function memoise(lookup: Lookup): Lookup {
  const known = new Map<string, readonly Entry[]>()
  return (name) => {
    const entries = known.get(name) ?? lookup(name)
    known.set(name, entries)
    return entries
  }
}

interface Word {
  readonly text: string
  readonly index: number
}

interface Mention {
  readonly named: string
  readonly index: number
  readonly end: number
  readonly entries: readonly Entry[]
}

type Lookup = (name: string) => readonly Entry[]

/** Words of one script, with the characters that join names. Scripts are separated, because some write no spaces between words. */
const TOKEN =
  /[\p{Script=Latin}\p{N}]+(?:[_\-./:]+[\p{Script=Latin}\p{N}]+)*|(?:(?!\p{Script=Latin})\p{L})[\p{M}]*(?:(?!\p{Script=Latin})[\p{L}\p{M}\p{N}_-])*/gu
/** Words that make `read` in «the read tool» a name, and the words required before it. */
const TOOL_WORD = /^(?:tool$|function$|工具|ツール|도구)/iu
const LEAD_WORD =
  /^(?:the|your|use|uses|using|call|calls|calling|invoke|invoking|via|with|run|running|through)$/i
const MOST_WORDS = 4
/** «Use monitor to watch»: an everyday word is a name if it is the object of one of these verbs and nothing more follows it. */
const USE_WORD = /^(?:use|uses|using|call|calls|calling|invoke|invokes|invoking|run|runs|running)$/i
/** «Call the tool deploy». */
const USE_TOOL = /(?:^|\s)(?:use|using|call|calling|invoke|run)\s+(?:the\s+)?(?:tool|function)$/i
const ALONE =
  /^["'”’*]*(?:\s*(?:$|[.,;:!?\n])|\s+(?:to|for|when|before|after|first|instead|whenever|once|if|on)\b)/i
/** «The use case», «a call list» are not orders. */
const ARTICLE = /^(?:a|an|the|this|that|these|those|each|every|any|no|of|in|at|your|its)$/i

function* findMentions(text: string, lookup: Lookup): Generator<Mention> {
  /** The words before this one, separated only by spaces and quotes. */
  let row: Word[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const word = { text: match[0], index: match.index }
    if (!/^[\s"'“”‘’`*]*$/.test(text.slice(end, word.index))) row = []
    end = word.index + word.text.length
    const phrase = TOOL_WORD.test(word.text) ? findNameBefore(row, word, text, lookup) : undefined
    if (phrase) yield phrase
    const isUsed = isOrder(row.slice(-3).map((each) => each.text))
    row = [...row.slice(-MOST_WORDS), word]
    if (isLatin(word.text))
      yield* findNames(word, text, lookup, isUsed && ALONE.test(text.slice(end, end + 24)))
    else yield* findUnspacedNames(word, text, lookup)
  }
}

/** Checks whether the words before a word order its use. */
function isOrder(words: readonly string[]): boolean {
  const order = words.at(-1) ?? ''
  return (USE_WORD.test(order) && !ARTICLE.test(words.at(-2) ?? '')) || USE_TOOL.test(words.join(' '))
}

/** «the web search tool»: finds the longest row of words that is a name, after a word that makes it one. */
function findNameBefore(
  row: readonly Word[],
  { text: tool }: Word,
  text: string,
  lookup: Lookup,
): Mention | undefined {
  for (let length = Math.min(MOST_WORDS, row.length); length > 0; length--) {
    const words = row.slice(-length)
    const [first] = words
    if (!first || (isLatin(tool) && !LEAD_WORD.test(row.at(-length - 1)?.text ?? ''))) continue
    // Words that look like names or code are found as names anyway.
    if (words.every((word) => looksLikeName(word.text) || isCoded(text, word))) return undefined
    const named = words.map((word) => word.text).join(' ')
    const entries = lookup(named).filter((entry) => hasWords(entry, named))
    if (entries.length > 0) return { named, index: first.index, end: findEnd(words.at(-1) ?? first), entries }
  }
  return undefined
}

function* findNames(word: Word, text: string, lookup: Lookup, isUsed = false): Generator<Mention> {
  if (!isAddress(text, word)) yield* findWholeOrParts(word, text, lookup, isUsed)
}

function* findWholeOrParts(word: Word, text: string, lookup: Lookup, isUsed = false): Generator<Mention> {
  const { text: named, index } = word
  if (isValue(text, word)) return
  const coded = isUsed || isCoded(text, word)
  const joined = /[./:]/.test(named)
  const entries = lookup(named).filter((entry) => {
    if (coded) return true
    if (joined) return isSpelt(entry, named)
    return looksLikeName(named) || named.includes('-')
      ? hasWords(entry, named) || isRunTogether(entry, named)
      : isRunTogether(entry, named)
  })
  if (entries.length > 0) {
    yield { named, index, end: findEnd(word), entries }
    return
  }
  if (!joined) return
  // `close_issue/label_issue`, `tracker.close_issue`: the parts may be names. In a path of folders they are not.
  const parts = [...named.matchAll(/[^./:]+/g)]
  if (named.includes('/') && parts.some(([part]) => !looksLikeName(part) && lookup(part).length === 0)) return
  for (const part of parts)
    if (looksLikeName(part[0]))
      yield* findWholeOrParts({ text: part[0], index: index + part.index }, text, lookup)
}

/** Finds names in scripts without spaces, before the word for a tool or after a verb of use: 请使用发送工具. */
function* findUnspacedNames(word: Word, text: string, lookup: Lookup): Generator<Mention> {
  const whole = [...findNames(word, text, lookup)]
  yield* whole
  if (whole.length > 0) return
  const found = (from: number, to: number): Mention | undefined => {
    const named = word.text.slice(from, to)
    const entries = lookup(named).filter((entry) => isSpelt(entry, named))
    return entries.length > 0 ? { named, index: word.index + from, end: word.index + to, entries } : undefined
  }
  const findFirst = (spans: readonly [number, number][]) => {
    for (const [from, to] of spans) {
      const mention = found(from, to)
      if (mention) return mention
    }
    return undefined
  }
  const seen = new Set<number>()
  for (const { index, 0: mark } of word.text.matchAll(
    /工具|ツール|도구|使用|调用|調用|运行|運行|执行|執行|呼叫/gu,
  )) {
    const isTool = /^(?:工具|ツール|도구)$/u.test(mark)
    const edge = isTool ? index : index + mark.length
    const lengths = Array.from({ length: LONGEST_RUN - 1 }, (_, at) => LONGEST_RUN - at)
    const spans = lengths
      .map((length): [number, number] => (isTool ? [edge - length, edge] : [edge, edge + length]))
      .filter(([from, to]) => from >= 0 && to <= word.text.length)
    const mention = findFirst(spans)
    if (mention && !seen.has(mention.index)) {
      seen.add(mention.index)
      yield mention
    }
  }
}

/** Longest name that is looked for inside a run of letters. */
const LONGEST_RUN = 16

function findEnd({ text, index }: Word): number {
  return index + text.length
}

/** Checks whether a word joins several words. Product names do so too (GitHub), so all words must match the name of the tool. */
function looksLikeName(word: string): boolean {
  return word.includes('_') || /\p{Ll}\p{Lu}/u.test(word)
}

function isLatin(word: string): boolean {
  return /\p{Script=Latin}/u.test(word)
}

/** Checks for backticks, quotes, tags or a call: `read`, "read", <tool>read</tool>, read(path). Not «file(s)», not quoted speech. */
function isCoded(text: string, word: Word): boolean {
  const { index } = word
  const end = findEnd(word)
  const behind = text.slice(end, end + 5)
  const before = text.slice(Math.max(0, index - 40), index)
  if (before.endsWith('`') && /^(?:`|\s?[({])/.test(behind)) return true
  if (/<[\w-]*(?:tool|function|call|invoke|name)[\w-]*>\s*$/i.test(before) && /^\s*</.test(behind))
    return true
  if (isNamedTag(before)) return true
  if (/(?:^|[\s([,])(["'“‘「])$/.test(before) && /^["'”’」](?!\s*:)/.test(behind))
    return !/(?::|\b(?:say|says|said|answers?|reply|replies|word|words|titled?|labell?ed|called|type|write|text))\s*["'“‘「]$/i.test(
      before,
    )
  return behind.startsWith('(') && !/^\((?:e?s|ies|ing|ed)?\)/.test(behind)
}

/** `<invoke name="read">`. */
function isNamedTag(before: string): boolean {
  return /<(?:\w+:)?(?:tool|function|invoke|call|tool_call|function_call)\s(?:[^<>]*\s)?name=["']?$/i.test(
    before,
  )
}

/** «action=list_files», «the `search` parameter»: the name of something else. */
function isValue(text: string, word: Word): boolean {
  const behind = text.slice(findEnd(word), findEnd(word) + 24)
  const before = text.slice(Math.max(0, word.index - 40), word.index)
  return (
    (/=\s*["'`]?$/.test(before) && !isNamedTag(before)) ||
    /^["'`*]*\s+(?:parameter|argument|field|option|action|property|key)\b(?!=)/i.test(behind)
  )
}

/** `src/send_letter.ts`, `https://example.com/send_letter`: a file or a page. */
function isAddress(text: string, word: Word): boolean {
  const start = text.slice(Math.max(0, word.index - 200), word.index)
  const run = /[^\s"'`<>()]*$/.exec(start)?.[0] ?? ''
  return /:\/\/|[/\\]$/.test(run) || word.text.includes('://') || FILE.test(word.text)
}

const FILE =
  /\.(?:[cm]?[jt]sx?|py|rs|go|rb|java|kts?|swift|c|h|cc|cpp|hpp|cs|php|sh|ps1|sql|mdx?|txt|rst|jsonl?|ya?ml|toml|ini|cfg|env|lock|xml|html?|s?css|csv|log|svg|png|jpe?g|pdf)$/i

function isFullName(name: string, entry: Entry): boolean {
  return [entry.id, entry.wireName].some((full) => full.toLowerCase() === name.toLowerCase())
}

function isSpelt(entry: Entry, named: string): boolean {
  return listNames(entry).some((name) => name.toLowerCase() === named.toLowerCase())
}

function hasWords(entry: Entry, named: string): boolean {
  const words = splitName(named)
  return listNames(entry).some((name) => splitName(name) === words)
}

/** `webfetch` and `WEBFETCH` for `WebFetch`. Not a word that is always written as one: `login`. */
function isRunTogether(entry: Entry, named: string): boolean {
  if (named.length < 6 || COMPOUND.test(named.replaceAll('-', ''))) return false
  const plain = foldName(named)
  const isOne = named === named.toLowerCase() || named === named.toUpperCase()
  return isOne && listNames(entry).some((name) => splitName(name).includes(' ') && foldName(name) === plain)
}

const COMPOUND =
  /^(?:(?:log|sign|check|plug|opt)(?:in|out|up|on)|(?:set|back|clean|start|look|follow|pop|mark|line|group|make)up|(?:down|up|re)loads?|(?:time|lay|print|roll|work)out|(?:shut|break|drop|count|slow)down|(?:work|over)flow|(?:data|code)base|(?:file|user|host|nick)name|(?:web|home)(?:site|page)|feedback|rollback|callback|notebook|dashboard|keyboard|timestamp|screenshot|bookmark|checklist|spreadsheet|webhook|update|upgrade|input|output|overview|preview|review|offline|online|today|todo)$/i

/** `todo write` for `todo_write`, `TodoWrite` and `TODO-WRITE`. */
function splitName(name: string): string {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim()
}

function describeFix(entries: readonly Entry[], named: string, where: PromptFinding['where']): string {
  const place = where.kind === 'system' ? 'the system prompt' : `the description of ${where.tool}`
  const [first] = entries
  if (!first || entries.length > 1)
    return `${entries.length} deferred tools are called ${named}: say in ${place} which one you mean, and set alwaysLoad: true on it.`
  const list = first.source === '' ? '' : `, or add ${JSON.stringify(first.wireName)} to eager`
  return `${first.id} is deferred, and ${place} names it: set alwaysLoad: true on it${list}, or reword ${place}.`
}
