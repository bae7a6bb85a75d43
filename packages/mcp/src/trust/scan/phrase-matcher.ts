/** Finds phrases in a text in one pass, in linear time. */

import { fold } from './fold.js'
import { type Family, families } from './phrase-families.js'
import { type Language, SPACELESS, words } from './phrase-words.js'

/** Maximum number of other words between two slots; characters in languages without spaces. */
const GAP = 4
const SPACELESS_GAP = 10

interface Phrase {
  readonly family: Family
  /** Marked with `?`: always soft. */
  readonly isWeak: boolean
  /** Begins with a negation, which is part of the phrase and does not cancel it. */
  readonly opensWithNot: boolean
  readonly length: number
  /** Start of its slots in the arrays of all phrases. */
  readonly offset: number
  readonly gap: number
}

export interface PhraseMatch extends Pick<Phrase, 'family' | 'isWeak' | 'opensWithNot'> {
  /** Tokens from `start` to `end`, both included. */
  readonly start: number
  readonly end: number
}

/** One or more consecutive words that fill a slot, stored by the last word. */
interface Filler {
  readonly before: readonly string[]
  readonly slots: number[]
}

interface Index {
  readonly phrases: readonly Phrase[]
  /** By slot: the phrases that contain it, with its position. */
  readonly uses: readonly (readonly (readonly [phrase: number, place: number])[])[]
  readonly exact: ReadonlyMap<string, readonly Filler[]>
  /** Beginnings of words: `instruction*`. */
  readonly stems: ReadonlyMap<string, readonly Filler[]>
  /** By phrase and position: first and last token of the latest match up to this slot. Token numbers run on over all texts. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** Number of tokens so far, so that matches of earlier texts are out of reach. */
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

/** Compiled on first use, so that an import costs nothing. */
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
    // Skip languages without words for a group.
    if (filled.some((alternatives) => alternatives.length === 0)) return
    const gap = SPACELESS.includes(language) ? SPACELESS_GAP : GAP
    const opensWithNot = parts[0]?.includes('@not') ?? false
    const offset = places
    places += parts.length
    const number = phrases.push({ family, isWeak, opensWithNot, length: parts.length, offset, gap }) - 1
    // Last position first, so that one word does not fill two slots of a phrase.
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

/** Expands `a|b_c|@group|<path>` to words of one language. */
function alternativesOf(slot: string, language: Language): string[] {
  return slot.split('|').flatMap((part) => {
    if (!part.startsWith('@')) return [part.startsWith('<') ? part : fold(part)]
    const group = words[part.slice(1) as keyof typeof words] as Readonly<Partial<Record<Language, string>>>
    return (group[language] ?? '').split(/\s+/).filter(Boolean).map(fold)
  })
}

export interface Token {
  readonly word: string
  /** First of its sentence. */
  readonly opens: boolean
  /** Position in the text. */
  readonly from: number
  readonly to: number
}

/** A character of a script without spaces; other text between blanks and brackets; a new paragraph or list item. */
const PIECE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー,;()[\]"“”„«»`<>|。！？…、，：；「」]+|[。！？…]|\n\s{0,6}(?:\n|[-*•#]|\d{1,3}[.)])/gu
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu

/** Files that contain only secrets. */
const PRIVATE =
  /(?:^|[/\\~])\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|pgpass|git-credentials|bash_history|zsh_history|vault-token|password-store|kube|cursor[/\\]mcp|config[/\\](?:gcloud|gh))(?![\w.]*\.(?:com|io))|id_(?:rsa|ed25519|ecdsa|dsa)\b|[/\\]etc[/\\](?:passwd|shadow|sudoers)\b|[/\\]proc[/\\]self[/\\]environ|\bwallet\.dat\b|\.kdbx\b|\baws[/\\]credentials\b/i
/** Files that often contain secrets. */
const SENSITIVE =
  /(?:^|[/\\])\.env(?:\.\w+)?$|^(?:\S*[/\\])?(?:credentials|secrets?)\.(?:json|ya?ml|toml|csv)$|\.(?:pem|p12|pfx)$|\bmcp\.json$|^process\.env|^\$?\{?(?:process\.env\.)?[A-Z][A-Z0-9]+_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|PASSWORD)\}?$/
const ADDRESS =
  /^(?:https?|ftp|s3|wss?):\/\/\S|^git@[\w.-]+:|^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+$|^\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\S*)?$|^[\w-]+\.(?:example|com|net|org|io|dev|xyz)(?:\/\S*)?$/i
/** An IBAN or the address of a wallet. */
const ACCOUNT = /^(?:[A-Z]{2}\d{2}[A-Z0-9]{11,30}|0x[0-9a-fA-F]{40}|bc1[a-z0-9]{20,60}|\d{16,19})$/
/** Maximum length of a path or address. */
const LONGEST = 200

/** Splits a text into folded words. In scripts without spaces, each character is a word. Paths and addresses become their kind. */
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
