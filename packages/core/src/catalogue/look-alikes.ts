/**
 * Finds names that look alike: names that differ only in case, letters of other scripts, invisible characters. It only reports
 * them, so that owners can rename tools; the lookup of names does not use it.
 */

import { showInvisible, stripInvisible } from '../base/text.js'
import type { Finding } from '../tool/source.js'
import type { Entry } from './catalogue.js'

export interface LookAlikes {
  put(entry: Entry): void
  remove(entry: Entry): void
  putSource(name: string): void
  removeSource(name: string): void
  /** Computed from the current names. */
  readonly findings: readonly Finding[]
}

/** `reserved`: names of meta-tools, which are compared too; `own` is their source. */
export function createLookAlikes(reserved: ReadonlySet<string>, own: string): LookAlikes {
  const cases = createBuckets((name) => name.toLowerCase())
  const looks = createBuckets(computeSkeleton)
  const rough = createBuckets(computeRoughSkeleton)
  const sources = createBuckets(computeSkeleton)
  const roughSources = createBuckets(computeRoughSkeleton)
  const odd = new Map<string, Finding>()
  /** Not compared yet. Comparing waits until the findings are needed. */
  let pending: (Entry | string)[] = []

  const each = ({ id, source, tool, wireName }: Entry, act: 'put' | 'remove') => {
    const holder = { id, source, tool: tool.name }
    cases[act](wireName, holder)
    for (const name of new Set([tool.name, ...(tool.aliases ?? [])])) {
      looks[act](name, holder)
      rough[act](name, holder)
    }
  }
  const eachSource = (name: string, act: 'put' | 'remove') => {
    for (const buckets of [sources, roughSources]) buckets[act](name, { id: name, source: name, tool: '' })
  }
  for (const name of reserved)
    for (const buckets of [looks, rough]) buckets.put(name, { id: `${own}/${name}`, source: own, tool: name })
  eachSource(own, 'put')

  const about = (kind: Finding['kind'], { holder }: Named, detail: string): Finding => ({
    kind,
    source: holder.source,
    tool: holder.tool,
    detail: showInvisible(detail),
  })
  const isOwn = (name: string) => reserved.has(name) || name === own

  const lookAtSource = (name: string) => {
    eachSource(name, 'put')
    const detail = describeOddity(name)
    const holder = { id: name, source: name, tool: '' }
    // No id of a tool ends in a slash.
    if (detail !== undefined)
      odd.set(`${name}/`, about('homoglyph', { name, holder }, `the source ${name} ${detail}`))
  }

  const settle = () => {
    const entries = pending
    pending = []
    for (const entry of entries) {
      if (typeof entry === 'string') {
        lookAtSource(entry)
        continue
      }
      each(entry, 'put')
      const detail = describeOddity(entry.tool.name)
      const holder = { id: entry.id, source: entry.source, tool: entry.tool.name }
      if (detail !== undefined)
        odd.set(entry.id, about('homoglyph', { name: holder.tool, holder }, `${entry.id} ${detail}`))
    }
  }

  return {
    put(entry) {
      pending.push(entry)
    },
    remove(entry) {
      settle()
      each(entry, 'remove')
      odd.delete(entry.id)
    },
    putSource(name) {
      pending.push(name)
    },
    removeSource(name) {
      settle()
      eachSource(name, 'remove')
      odd.delete(`${name}/`)
    },
    get findings() {
      settle()
      return [
        ...cases
          .pairs()
          .map(([first, second]) =>
            about(
              'case-twin',
              second,
              `${second.name} and ${first.name} differ only in case; a wrong-case call is answered as ambiguous`,
            ),
          ),
        ...findImitations(sources, isOwn).map(([real, copy]) =>
          about(
            'homoglyph',
            copy,
            `the source ${copy.name} (${listOddLetters(copy.name)}) looks like the source ${real.name}; rename one if they are not the same owner's`,
          ),
        ),
        ...findRoughPairs(roughSources, isOwn).map(([first, second]) =>
          about(
            'look-alike',
            second,
            `the sources ${second.name} and ${first.name} look alike in many typefaces; rename one if they are not the same owner's`,
          ),
        ),
        ...findImitations(looks, isOwn).map(([real, copy]) =>
          about(
            'homoglyph',
            copy,
            `${writeFullName(copy)} (${listOddLetters(copy.name)}) looks like ${writeFullName(real)}; a reader may confuse the two`,
          ),
        ),
        ...findRoughPairs(rough, isOwn).map(([first, second]) =>
          about(
            'look-alike',
            second,
            `${second.name} of ${second.holder.id} and ${first.name} of ${first.holder.id} look alike in many typefaces`,
          ),
        ),
        ...odd.values(),
      ]
    },
  }
}

function writeFullName({ name, holder }: Named): string {
  return name === holder.tool ? holder.id : `the alias ${name} of ${holder.id}`
}

/** Pairs of a real name and its imitation. Only a name with a letter that is not plain is an imitation. */
function findImitations(buckets: Buckets, isOwn: (name: string) => boolean): [Named, Named][] {
  return buckets
    .pairs((name) => (isOwn(name) ? 2 : isPlain(name) ? 1 : 0))
    .filter(([, copy]) => !isPlain(copy.name))
}

/** Pairs that look alike only in some typefaces. */
function findRoughPairs(buckets: Buckets, isOwn: (name: string) => boolean): [Named, Named][] {
  return buckets
    .pairs((name) => (isOwn(name) ? 1 : 0))
    .filter(([first, second]) => computeSkeleton(first.name) !== computeSkeleton(second.name))
}

type Buckets = ReturnType<typeof createBuckets>

interface Holder {
  readonly id: string
  readonly source: string
  readonly tool: string
}

interface Named {
  readonly name: string
  readonly holder: Holder
}

/** Groups different names that have the same key. */
function createBuckets(keyOf: (name: string) => string) {
  const buckets = new Map<string, Named[]>()
  const crowded = new Set<string>()
  return {
    put(name: string, holder: Holder) {
      const key = keyOf(name)
      const bucket = buckets.get(key)
      if (!bucket) buckets.set(key, [{ name, holder }])
      else bucket.push({ name, holder })
      if (bucket && bucket[0]?.name !== name) crowded.add(key)
    },
    remove(name: string, { id }: Holder) {
      const key = keyOf(name)
      const left = (buckets.get(key) ?? []).filter((each) => each.name !== name || each.holder.id !== id)
      if (left.length > 0) buckets.set(key, left)
      else buckets.delete(key)
      if (left.every((each) => each.name === left[0]?.name)) crowded.delete(key)
    },
    /** Pairs the highest-ranked name of each group with each other name. Does not depend on the order of arrival. */
    pairs(rank: (name: string) => number = () => 0): [Named, Named][] {
      return [...crowded].sort(byText).flatMap((key) => {
        const byId = [...(buckets.get(key) ?? [])].sort((a, b) => byText(a.holder.id, b.holder.id))
        const all = [...new Set(byId.map(({ name }) => name))].flatMap(
          (name) => byId.find((each) => each.name === name) ?? [],
        )
        const highest = Math.max(...all.map(({ name }) => rank(name)))
        const one = all.find(({ name }) => rank(name) === highest)
        return one ? all.filter((other) => other !== one).map((other): [Named, Named] => [one, other]) : []
      })
    },
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** Letters that look like a plain letter. NFKC covers full-width, mathematical and other forms. */
const DRAWN_LIKE: Readonly<Record<string, string>> = {
  a: 'аɑαᴀ',
  A: 'АΑᎪꓮᗅ',
  b: 'ЬьʙƅᏏ',
  B: 'ВΒᏴꓐᗷ',
  c: 'сϲᴄ',
  C: 'СϹᏟꓚᑕ',
  d: 'ԁᴅᏧ',
  D: 'Ꭰꓓᗪ',
  e: 'еҽᴇ℮',
  E: 'ЕΕᎬꓰ',
  f: 'ƒғſẝք',
  F: 'Ϝꓝᖴ',
  g: 'ɡցɢ',
  G: 'ԌᏀᏳꓖ',
  h: 'һհᏂʜ',
  H: 'НΗᎻꓧᕼ',
  i: 'іιıɪɩᎥ',
  I: 'ІΙӀꓲ',
  j: 'јϳᴊ',
  J: 'ЈᎫͿꓙᒍ',
  k: 'кκᴋ',
  K: 'КΚᏦꓗ',
  l: 'ӏǀʟ',
  L: 'Ꮮꓡᒪ',
  m: 'мᴍ',
  M: 'МΜϺᎷꓟᗰ',
  n: 'ոηɴ',
  N: 'Νꓠ',
  o: 'оοօᴏ',
  O: 'ОΟՕꓳ',
  p: 'рρᴘ',
  P: 'РΡᏢꓑᑭ',
  q: 'ԛզ',
  Q: 'Ԛ',
  r: 'гᴦʀᎱ',
  R: 'ᎡᏒꓣᖇ',
  s: 'ѕꜱ',
  S: 'ЅՏᏚꓢ',
  t: 'тτᴛ𐐻',
  T: 'ТΤᎢꓔ',
  u: 'υսᴜ',
  U: 'Սꓴᑌ',
  v: 'νѵᴠ',
  V: 'ѴᏙꓦᐯ',
  w: 'ԝᴡ',
  W: 'ԜᎳꓪ',
  x: 'хχ×',
  X: 'ХΧꓫ᙭',
  y: 'уγүʏ',
  Y: 'ΥҮꓬ',
  z: 'ᴢ',
  Z: 'ΖᏃꓜ',
  '3': 'Зз',
  '6': 'б',
  '-': '‐‑‒–—−',
  _: 'ˍ‗',
}
const PLAIN = new Map(
  Object.entries(DRAWN_LIKE).flatMap(([plain, drawn]) =>
    [...drawn].map((letter) => [letter, plain] as const),
  ),
)

function toPlainLetter(letter: string): string | undefined {
  // Small Cherokee letters look like the capitals.
  return (
    PLAIN.get(letter) ?? (/\p{Script=Cherokee}/u.test(letter) ? PLAIN.get(letter.toUpperCase()) : undefined)
  )
}

function toPlainLetters(text: string): string {
  return [...text].map((letter) => toPlainLetter(letter) ?? letter).join('')
}

/** Converts look-alike letters to plain ones and removes invisible characters. Before NFKC, because ſ looks like f but becomes s. */
function normaliseDrawing(name: string): string {
  if (isPlain(name)) return name
  return toPlainLetters(stripInvisible(toPlainLetters(name).normalize('NFKC')))
}

function computeSkeleton(name: string): string {
  return normaliseDrawing(name).toLowerCase()
}

const ROUGHLY: Readonly<Record<string, string>> = { rn: 'm', vv: 'w', I: 'l', '1': 'l', '|': 'l', '0': 'o' }

/** Also treats rn and m, l and 1 and I, 0 and O as equal. */
function computeRoughSkeleton(name: string): string {
  return normaliseDrawing(name)
    .replace(/rn|vv|[I1|0]/g, (letters) => ROUGHLY[letters] ?? letters)
    .toLowerCase()
}

/** Lists the letters of a name that look like other letters. */
function listOddLetters(name: string): string {
  const others = [...name].filter((letter) => !isPlain(letter))
  const seeming = others.filter((letter) => normaliseDrawing(letter) !== letter)
  return listCodePoints(seeming.length > 0 ? seeming : others)
}

function listCodePoints(letters: readonly string[]): string {
  return [...new Set(letters)]
    .map((letter) => `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ')
}

/** Describes a deceptive name: mixed scripts within a word, or invisible characters between plain letters. */
function describeOddity(name: string): string | undefined {
  if (isPlain(name)) return undefined
  if (isPlain(stripInvisible(name))) return `contains invisible characters (${listOddLetters(name)})`
  const foreign = name.split(/[^\p{L}\p{N}\p{M}]+/u).flatMap(findForeignLetters)
  if (foreign.length === 0) return undefined
  return isPlain(normaliseDrawing(name))
    ? `can be read as ${normaliseDrawing(name)}, but is written with other letters (${listCodePoints(foreign)})`
    : `mixes letters of several scripts within a word (${listCodePoints(foreign)})`
}

/** Finds letters of another script, or other forms of plain letters, in a word with plain letters. */
function findForeignLetters(word: string): string[] {
  if (!/[A-Za-z]/.test(word)) return []
  const letters = [...word].filter((letter) => /\p{L}/u.test(letter))
  return letters.filter((letter, at) => {
    if (isPlain(letter) || HONEST.test(letter)) return false
    if (/\p{Script=Latin}|\p{Script=Common}/u.test(letter)) return isPlain(normaliseDrawing(letter))
    // Δt, μm, kΩ: a Greek symbol is fine, unless it looks like a plain letter.
    const isSymbol = /\p{Script=Greek}/u.test(letter) && (at === 0 || at === letters.length - 1)
    return !isSymbol || toPlainLetter(letter) !== undefined
  })
}

/** Letters that are normal next to plain ones: scripts without spaces between words, Korean, the Turkish ı, Nº. */
const HONEST =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ıªº]/u
