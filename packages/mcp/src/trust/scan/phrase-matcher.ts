/**
 * Finds phrases in a text, in one pass. A phrase is a list of slots; each slot is a set of words; at most a few other words
 * may stand between two of them. Time is linear in the text, whatever the text is.
 */

import { fold } from './fold.js'
import { type Family, families } from './phrase-families.js'
import { type Language, SPACELESS, words } from './phrase-words.js'

/** Other words between two slots of a phrase; characters where a language has no spaces. */
const GAP = 4
const SPACELESS_GAP = 10

interface Phrase {
  readonly family: Family
  /** Marked with `?`: never more than soft. */
  readonly isWeak: boolean
  /** Begins with a negation: that is part of the phrase, and does not take it back. */
  readonly opensWithNot: boolean
  readonly length: number
  /** Where its places begin among those of all phrases. */
  readonly offset: number
  readonly gap: number
}

export interface PhraseMatch extends Pick<Phrase, 'family' | 'isWeak' | 'opensWithNot'> {
  /** Tokens from `start` to `end`, both included. */
  readonly start: number
  readonly end: number
}

/** A word, or several in a row, that fill a slot. Kept by the last word. */
interface Filler {
  readonly before: readonly string[]
  readonly slots: number[]
}

interface Index {
  readonly phrases: readonly Phrase[]
  /** By slot: the phrases that have it, with its place. */
  readonly uses: readonly (readonly (readonly [phrase: number, place: number])[])[]
  readonly exact: ReadonlyMap<string, readonly Filler[]>
  /** Beginnings of words: `instruction*`. */
  readonly stems: ReadonlyMap<string, readonly Filler[]>
  /** By phrase and place: where the slots up to this place were last filled, from which token to which. Of all texts one after the other. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** The number of tokens so far: what was filled in an earlier text is before every sentence of this one. */
  read: number
}

const SHORTEST_STEM = 2
const LONGEST_STEM = 16

export function matchPhrases(tokens: readonly Token[]): PhraseMatch[] {
  const all = index()
  const { phrases, uses, exact, stems, starts, ends } = all
  const matches: PhraseMatch[] = []
  const base = all.read
  all.read += tokens.length + 1
  let sentence = 0
  const fill = (slot: number, first: number, last: number) => {
    for (const [number, place] of uses[slot] ?? []) {
      const phrase = phrases[number] as Phrase
      const own = phrase.offset + place
      let from = first
      if (place > 0) {
        const before = (ends[own - 1] as number) - base
        if (before < sentence || first <= before || first - before - 1 > phrase.gap) continue
        from = (starts[own - 1] as number) - base
        if (from < sentence) continue
      }
      starts[own] = base + from
      ends[own] = base + last
      if (place === phrase.length - 1) {
        const { family, isWeak, opensWithNot } = phrase
        matches.push({ family, isWeak, opensWithNot, start: from, end: last })
      }
    }
  }
  const fillAll = (fillers: readonly Filler[] | undefined, at: number) => {
    for (const { before, slots } of fillers ?? []) {
      const first = at - before.length
      if (first < sentence || !before.every((word, offset) => tokens[first + offset]?.word === word)) continue
      for (const slot of slots) fill(slot, first, at)
    }
  }
  for (const [at, { word, opens }] of tokens.entries()) {
    if (opens) sentence = at
    fillAll(exact.get(word), at)
    const longest = Math.min(word.length, LONGEST_STEM)
    for (let length = SHORTEST_STEM; length <= longest; length++)
      fillAll(stems.get(word.slice(0, length)), at)
  }
  return matches
}

let known: Index | undefined

/** Made when the first text is read: an import costs nothing. */
function index(): Index {
  known ??= compile()
  return known
}

function compile(): Index {
  const phrases: Phrase[] = []
  const uses: [number, number][][] = []
  const slots = new Map<string, number>()
  const exact = new Map<string, Filler[]>()
  const stems = new Map<string, Filler[]>()
  let places = 0

  const slotOf = (alternatives: readonly string[]): number => {
    const key = alternatives.join('|')
    const old = slots.get(key)
    if (old !== undefined) return old
    const slot = slots.size
    slots.set(key, slot)
    uses.push([])
    for (const alternative of alternatives) addFiller(alternative, slot)
    return slot
  }
  const addFiller = (alternative: string, slot: number) => {
    const isStem = alternative.endsWith('*')
    const row = tokenise(alternative.replace(/\*$/, '').replaceAll('_', ' ')).map(({ word }) => word)
    const last = /^<\w+>$/.test(alternative) ? alternative : (row.at(-1) ?? '')
    const before = /^<\w+>$/.test(alternative) ? [] : row.slice(0, -1)
    const map = isStem ? stems : exact
    const fillers = map.get(last) ?? []
    const same = fillers.find((filler) => filler.before.join(' ') === before.join(' '))
    if (same) same.slots.push(slot)
    else fillers.push({ before, slots: [slot] })
    map.set(last, fillers)
  }
  const add = (family: Family, text: string, language: Language) => {
    const isWeak = text.startsWith('? ')
    const parts = text.replace(/^\? /, '').split(' ')
    const filled = parts.map((part) => alternativesOf(part, language))
    // A language that has no words for a group has no such phrase.
    if (filled.some((alternatives) => alternatives.length === 0)) return
    const gap = SPACELESS.includes(language) ? SPACELESS_GAP : GAP
    const opensWithNot = parts[0]?.includes('@not') ?? false
    const offset = places
    places += parts.length
    const number = phrases.push({ family, isWeak, opensWithNot, length: parts.length, offset, gap }) - 1
    // The last place first: one word does not fill two slots of a phrase.
    for (const [place, alternatives] of [...filled.entries()].reverse())
      uses[slotOf(alternatives)]?.push([number, place])
  }
  for (const family of families)
    for (const [language, list] of Object.entries(family.phrases))
      for (const text of list)
        if (language === 'every') for (const each of LANGUAGES) add(family, text, each)
        else add(family, text, language as Language)
  const nowhere = () => new Float64Array(places).fill(-1)
  return { phrases, uses, exact, stems, starts: nowhere(), ends: nowhere(), read: 0 }
}

const LANGUAGES = [...new Set(Object.values(words).flatMap((group) => Object.keys(group)))] as Language[]

/** `a|b_c|@group|<path>` as words of one language. */
function alternativesOf(slot: string, language: Language): string[] {
  return slot.split('|').flatMap((part) => {
    if (!part.startsWith('@')) return [part.startsWith('<') ? part : fold(part)]
    const group = words[part.slice(1) as keyof typeof words] as Readonly<Partial<Record<Language, string>>>
    return (group[language] ?? '').split(/\s+/).filter(Boolean).map(fold)
  })
}

// A text as words to be compared: folded, one character each where a script has no spaces, paths and addresses by kind.

export interface Token {
  readonly word: string
  /** First of its sentence. */
  readonly opens: boolean
  /** Where it stands in the text. */
  readonly from: number
  readonly to: number
}

/** A character of a script without spaces; anything else between blanks and brackets; a new paragraph or item. */
const PIECE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー,;()[\]"“”„«»`<>|。！？…、，：；「」]+|[。！？…]|\n\s{0,6}(?:\n|[-*•#]|\d{1,3}[.)])/gu
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu

/** Files that hold nothing but secrets. */
const PRIVATE =
  /(?:^|[/\\~])\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|pgpass|git-credentials|bash_history|zsh_history|vault-token|password-store|kube|cursor[/\\]mcp|config[/\\](?:gcloud|gh))(?![\w.]*\.(?:com|io))|id_(?:rsa|ed25519|ecdsa|dsa)\b|[/\\]etc[/\\](?:passwd|shadow|sudoers)\b|[/\\]proc[/\\]self[/\\]environ|\bwallet\.dat\b|\.kdbx\b|\baws[/\\]credentials\b/i
/** Files that often hold some. */
const SENSITIVE =
  /(?:^|[/\\])\.env(?:\.\w+)?$|^(?:\S*[/\\])?(?:credentials|secrets?)\.(?:json|ya?ml|toml|csv)$|\.(?:pem|p12|pfx)$|\bmcp\.json$|^process\.env|^\$?\{?(?:process\.env\.)?[A-Z][A-Z0-9]+_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|PASSWORD)\}?$/
const ADDRESS =
  /^(?:https?|ftp|s3|wss?):\/\/\S|^git@[\w.-]+:|^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+$|^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\S*)?$|^[\w-]+\.(?:example|com|net|org|io|dev|xyz)(?:\/\S*)?$/i
/** An IBAN or the address of a wallet. */
const ACCOUNT = /^(?:[A-Z]{2}\d{2}[A-Z0-9]{11,30}|0x[0-9a-fA-F]{40}|bc1[a-z0-9]{20,60}|\d{16,19})$/
/** No path or address is longer. */
const LONGEST = 200

export function tokenise(text: string): Token[] {
  const tokens: Token[] = []
  let opens = true
  const add = (word: string, from: number, to: number) => {
    tokens.push({ word, opens, from, to })
    opens = false
  }
  for (const { 0: piece, index: from } of text.matchAll(PIECE)) {
    const kind = kindOf(piece)
    if (kind !== undefined) add(kind, from, from + piece.length)
    // `l'utilisateur` is two words, `don't` is one.
    else
      for (const { 0: word, index } of piece.matchAll(WORD))
        for (const part of fold(word).split(/(?<=^[a-z]{1,2})'/))
          add(part, from + index, from + index + word.length)
    if (kind !== 'example' && /[.!?。！？…]$|^\n/.test(piece)) opens = true
  }
  return tokens
}

function kindOf(piece: string): string | undefined {
  if (piece.length > LONGEST) return undefined
  if (/^(?:e\.g|i\.e)\.?:?$/i.test(piece)) return 'example'
  const bare = piece.replace(/^'|[.:?!']{1,3}$/g, '')
  if (ACCOUNT.test(bare)) return '<account>'
  if (!/[/\\@:.~_$]/.test(bare)) return undefined
  if (PRIVATE.test(bare)) return '<path>'
  if (SENSITIVE.test(bare)) return '<file>'
  return ADDRESS.test(bare) ? '<address>' : undefined
}
