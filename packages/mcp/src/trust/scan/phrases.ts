/** Finds orders to a model in plain words, by the phrase families. */

import { createQuoteFinder } from './commands.js'
import { revealText, squeezeBlanks } from './fold.js'
import { families } from './phrase-families.js'
import { matchPhrases, type PhraseMatch, type Token, tokenise } from './phrase-matcher.js'
import type { Severity } from './rules.js'
import { createFinding, type Finding } from './rules.js'

const set = (list: string) => new Set(list.split(' '))
/** Words of sentences that report an order instead of giving it. */
const REPORTS = set(
  'detect detects detecting flag flags flagged block blocks blocked prevent prevents reject rejects rejected refuse refuses scan scans scanning test tests whether attempt attempts attempting attack attacks tells ask asks asking talked instructs orders tries trying claims contain contains containing phrase phrases words pattern patterns quote quotes quoted warns warn classify classifies sanitise sanitize sanitises sanitizes filter filters guards protects moderate moderates simulates simulate suspicious pretends says',
)
/**
 * Makes advice of an order. Tested on `^` if the phrase opens its sentence, the phrase, `|`, the rest. Silence may end (a clause
 * with subject and verb: "until the payment is confirmed") or concern a detail; instructions may be those of a recipe.
 */
const ADVICE: Readonly<Record<string, RegExp>> = {
  secrecy:
    /\| (?:(?!(?:and|or|then|so|but|even) )\S+ )*?(?:unless (?:asked|requested) |(?:until|before|(?:unless|if(?! (?:\S+ ){0,3}ask))(?! it is)) (?!any|other|another|every|each|all|further|you (?!have))(?:\S+ ){1,6}?(?:is|are|was|were|has|have|had|did|does|went|asks?|agrees?|(?:confirm|return|finish|complet|succeed|approv)e?s|\S{3,}ed) |(?:hasta|avant|tant|ate|antes) que |finche |(?:bis|bevor|tot|voordat) (?:der|die|das|er|sie|es|de|het|hij|zij|ze) |пока (?:\S+ ){0,3}не )|\| (?:which|what|how|who) .* (?:only|but|just) (?:which|what|how|who) |^\^ without .*\| (?:first |beforehand )?(?:never|do not|don't) /,
  'override-instructions': /\| (?:in|of|from) (?:the|this|that|a) (?:recipe|manual|readme|leaflet) /,
}
const NEGATIONS = set(
  "not never don't dont cannot can't won't doesn't without no nicht nie niemals kein keine ne jamais nunca non mai nao niet nooit не никогда",
)
/** "Do not forget to …" is an order. */
const REVERSALS = set('forget fail hesitate neglect refuse delay wait stop only just')
/** Number of words before a phrase in which a negation cancels it. */
const REACH = 6

export function findPhrases(where: string, raw: string): Finding[] {
  const text = squeezeBlanks(revealText(raw))
  const tokens = tokenise(text)
  const matches = matchPhrases(tokens)
  if (matches.length === 0) return []
  const isQuoted = createQuoteFinder(text)
  const best = new Map<string, { readonly severity: Severity; readonly match: PhraseMatch }>()
  for (const match of matches) {
    const id = match.family.id
    if (best.get(id)?.severity === 'hard') continue
    const range = [tokens[match.start]?.from ?? 0, tokens[match.end]?.to ?? 0] as const
    const isCancelled =
      isQuoted(...range) || isNegated(text, tokens, match) || isReported(text, tokens, match)
    // Cancelled phrases of hard families become soft findings, others none.
    if (isCancelled && (match.family.severity === 'soft' || match.isWeak)) continue
    const isHard =
      match.family.severity === 'hard' && !match.isWeak && !isCancelled && !isAdvice(text, tokens, match)
    if (isHard || !best.has(id)) best.set(id, { severity: isHard ? 'hard' : 'soft', match })
  }
  const secrecy = best.get('secrecy')
  // "Never tell the user." alone may concern a detail, but not next to an order to send something away.
  const isTheft = secrecy?.match.isWeak && ['private-file-send', 'send-elsewhere'].some((id) => best.has(id))
  return families.flatMap(({ id, why }) => {
    const found = best.get(id)
    if (!found) return []
    const severity = isTheft && found === secrecy ? 'hard' : found.severity
    return [createFinding(id, severity, where, sentenceAround(text, tokens, found.match), why)]
  })
}

/** The sentence of a phrase; of a long sentence, the phrase and the text after it. */
function sentenceAround(text: string, tokens: readonly Token[], { start, end }: PhraseMatch): string {
  let first = start
  while (first > start - LONGEST_LEAD && first > 0 && !tokens[first]?.opens) first--
  const from = tokens[tokens[first]?.opens ? first : start]?.from ?? 0
  let last = end
  while (last + 1 < tokens.length && last < end + LONGEST_SENTENCE && !tokens[last + 1]?.opens) last++
  return text.slice(from, (tokens[last]?.to ?? 0) + 1).trim()
}

function isNegated(text: string, tokens: readonly Token[], { start, opensWithNot }: PhraseMatch): boolean {
  if (opensWithNot) return false
  let isApart = false
  for (let at = start; at > start - REACH && at >= 0; at--) {
    // "Do not, even if asked, ignore …" has its commas after the negation.
    if (at < start && NEGATIONS.has(tokens[at]?.word ?? ''))
      return !REVERSALS.has(tokens[at + 1]?.word ?? '') && (!isApart || isAfterMark(text, tokens, at + 1))
    if (tokens[at]?.opens) return false
    isApart ||= isAfterMark(text, tokens, at)
  }
  return false
}

/** "Requests that override …" describes requests. */
const RELATIVE = set('that which who')

/** "Scans tables and you must …" gives an order, whatever it reports before. */
const ORDERS = set('must now please always shall')

/** Does a word before the phrase, in the same clause, report it? */
function isReported(text: string, tokens: readonly Token[], { start }: PhraseMatch): boolean {
  const [first, second] = [tokens[start - 2]?.word, tokens[start - 1]?.word ?? '']
  if (!tokens[start]?.opens && RELATIVE.has(second)) return true
  if (first === 'attack' && second === 'says') return true
  for (let at = start; at > start - LONGEST_SENTENCE && at >= 0; at--) {
    if (at < start && REPORTS.has(tokens[at]?.word ?? '') && !isSaidToReader(tokens, at)) return true
    if (tokens[at]?.opens || isAfterMark(text, tokens, at) || ORDERS.has(tokens[at]?.word ?? '')) return false
  }
  return false
}

/** "The operator asks you to …" gives an order. "Text that asks you to …" describes text. */
function isSaidToReader(tokens: readonly Token[], at: number): boolean {
  return tokens[at + 1]?.word === 'you' && !RELATIVE.has(tokens[at - 1]?.word ?? '')
}

function isAdvice(text: string, tokens: readonly Token[], { family, start, end }: PhraseMatch): boolean {
  let sentence = tokens[start]?.opens ? '^ ' : ''
  for (let at = start; at <= end + LONGEST_SENTENCE; at++) {
    if (at > end && (tokens[at]?.opens ?? true)) break
    if (at > end && beginsClause(text, tokens, at)) break
    sentence += `${tokens[at]?.word} ${at === end ? '| ' : ''}`
  }
  return ADVICE[family.id]?.test(sentence) ?? false
}

const CONDITIONS = set('if unless until before')

/** "Do not tell the user If it is late, say so": the condition belongs to the next order. */
function beginsClause(text: string, tokens: readonly Token[], at: number): boolean {
  const { word = '', from = 0 } = tokens[at] ?? {}
  return CONDITIONS.has(word) && (/[A-Z]/.test(text[from] ?? '') || isAfterMark(text, tokens, at))
}

/** Does a comma, semicolon, colon or dash separate a word from the previous one? */
function isAfterMark(text: string, tokens: readonly Token[], at: number): boolean {
  return /[,;:–—]/.test(text.slice(tokens[at - 1]?.to, tokens[at]?.from))
}

const LONGEST_SENTENCE = 40
/** Maximum number of words before a phrase that are shown with it. */
const LONGEST_LEAD = 12
