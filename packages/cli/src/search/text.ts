/** Answers as text. Control characters in texts of a catalogue are removed. */
import type { Explanation, SearchMiss } from '@toolwell/core'
import { firstLine, quote } from '@toolwell/core/internal'
import type { Output, Paint } from '../shared/terminal.js'
import type { Answer, Match, Miss } from './ask.js'
import type { Catalogue, Entry } from './catalogue.js'
import type { ExcludedTool } from './servers.js'

const LABEL = 48
const LINE = 120
/** Terms shown in an explanation. */
const TERMS = 12

export function answerText(
  { matches, unclear, others = [] }: Answer,
  { columns = LINE }: Output,
  paint: Paint,
  explained: (match: Match) => Explanation | undefined,
): string {
  const labels = matches.map(({ entry }) => toolLabel(entry))
  const width = Math.min(LABEL, Math.max(0, ...labels.map((label) => label.length)))
  const lines = matches.flatMap((match, index) => {
    const label = labels[index] ?? ''
    const state =
      match.loaded === undefined ? match.relevance.toFixed(2) : match.loaded ? 'loaded ' : 'offered'
    const head = `${String(index + 1).padStart(2)}  ${paint(label.padEnd(width), 'name')}  ${paint(state, 'dim')}`
    const room = columns - 4 - Math.max(width, label.length) - 14
    const about = room < 20 ? '' : firstLine(match.entry.description, room)
    const explanation = explained(match)
    return [
      `${head}${about === '' ? '' : `  ${about}`}`,
      ...(explanation ? explanationLines(explanation, paint) : []),
    ]
  })
  const first = unclear ? ['No tool clearly fits. The nearest:'] : []
  const last = others.length > 0 ? [firstLine(`More names: ${others.join(', ')}`, columns)] : []
  return [...first, ...lines, ...last].map((line) => `${line}\n`).join('')
}

export function missText({ query, below }: Answer, miss: Miss, catalogue: Catalogue, cutOff: number): string {
  const lines = [
    `No tool matches ${quote(query)}. Searched ${catalogue.size.toLocaleString('en')} ${catalogue.size === 1 ? 'tool' : 'tools'}.`,
  ]
  if (miss.reason === 'no-words')
    lines.push('The query has no significant words. Say what the tool should do.')
  if (miss.unknownWords.length > 0) lines.push(`Words that no tool has: ${truncated(miss.unknownWords)}.`)
  if (below.length > 0) {
    const named = below.map(({ entry, relevance }) => `${toolLabel(entry)} (${relevance.toFixed(2)})`)
    lines.push(`Below the cut-off of ${cutOff}: ${named.join(', ')}. To show them, add --no-cutoff.`)
  }
  return `${lines.join('\n')}\n`
}

/** Explains why a tool is not in an answer. */
export function whyText(why: SearchMiss, name: string, catalogue: Catalogue): string {
  const label = (key: string) => {
    const entry = catalogue.get(key)
    return entry ? toolLabel(entry) : firstLine(key)
  }
  switch (why.outcome) {
    case 'found':
      return `${label(why.id)} is found: number ${why.rank}, relevance ${why.relevance.toFixed(2)}.`
    case 'unknown-name':
      return `Unknown tool ${quote(name)}.${why.nearest.length > 0 ? ` Nearest: ${truncated(why.nearest)}.` : ''}`
    case 'ambiguous-name':
      return `${why.ids.length} tools are called ${quote(name)}. Give the id of one: ${truncated(why.ids)}.`
    case 'empty-query':
      return `${label(why.id)} is not found: the query has no significant words.`
    case 'must-missing':
      return `${label(why.id)} is excluded: its name, server and domain do not contain ${truncated(why.words.map((word) => `+${word}`))}.`
    case 'no-shared-word':
      return `${label(why.id)} is not found: it has none of the words ${truncated(why.asked)}, and no synonym of them.`
    case 'below-cut-off':
      return `${label(why.id)} is not found: its relevance is ${why.relevance.toFixed(2)}, below the cut-off of ${why.cutOff}. By score it is number ${why.rank}.${shares(why)}`
    case 'beyond-limit':
      return `${label(why.id)} is number ${why.rank}, beyond the limit of ${why.limit}; the last match shown is ${label(why.last)}. To show it, add --limit ${why.rank}.${shares(why)}`
  }
}

export function excludedText({ server, name, reason }: ExcludedTool): string {
  return `${firstLine(`${server}/${name}`, 100)} is not searched: ${reason}.`
}

export function explanationLines(
  { name, terms, words, use = 0, effect = 1, server = 1, fit, score }: Explanation,
  paint: Paint,
): string[] {
  const shown = terms.filter((term) => term.score > 0 || term.kind === 'word').slice(0, TERMS)
  const width = Math.max(0, ...shown.map(({ term }) => firstLine(term, 40).length))
  const lines = shown.map((term) => {
    const parts = Object.entries(term.fields).map(([field, part]) => `${field} ${part.toFixed(2)}`)
    const kind = term.kind === 'word' ? '' : `${term.kind}; `
    const held = `${kind}in ${term.tools.toLocaleString('en')} ${term.tools === 1 ? 'tool' : 'tools'}`
    const amount = term.score > 0 ? term.score.toFixed(2) : '-'
    return `${firstLine(term.term, 40).padEnd(width)}  ${amount.padStart(6)}  ${parts.join(', ') || 'not in this tool'} ${paint(`(${held})`, 'dim')}`
  })
  const left = terms.filter((term) => term.score > 0).length - shown.filter((term) => term.score > 0).length
  if (left > 0) lines.push(`and ${left} more`)
  if (name) lines.unshift(`the query contains its name (${name}), which outranks all words`)
  if (effect < 1) lines.push(`its action is unknown or differs from the query: multiplied by ${effect}`)
  if (server < 1) lines.push(`the query names another server: multiplied by ${server}`)
  if (use > 0) lines.push(`its examples and uses add ${use.toFixed(2)}`)
  const sum = words * effect * server + use
  const whole = score / fit
  const clauses = Math.abs(whole - sum) > 0.05 * Math.max(1, sum)
  lines.push(
    `sum ${sum.toFixed(2)}${clauses ? `; ${whole.toFixed(2)} with the share of its best clause` : ''}`,
  )
  if (fit < 1)
    lines.push(
      `${score.toFixed(2)} after the fit: raised for covering the query, lowered for other words in the name`,
    )
  return lines.map((line) => `      ${line}`)
}

/** server/name of a tool, with its id if that differs. */
export function toolLabel({ id, name, server }: Entry): string {
  const called = server === '' ? name : `${server}/${name}`
  const own = String(id)
  return firstLine(own === name || letters(own) === letters(called) ? called : `${called} [${own}]`, 100)
}

function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}

function shares({
  held,
  missing,
}: {
  readonly held: readonly string[]
  readonly missing: readonly string[]
}): string {
  const has = held.length > 0 ? ` It has: ${truncated(held)}.` : ''
  return missing.length > 0 ? `${has} It lacks: ${truncated(missing)}.` : has
}

function truncated(words: readonly string[]): string {
  const shown = words.slice(0, 12).map((word) => firstLine(word, 60))
  return `${shown.join(', ')}${words.length > shown.length ? ` and ${words.length - shown.length} more` : ''}`
}
