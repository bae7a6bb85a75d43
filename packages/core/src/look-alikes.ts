/**
 * Names that a reader takes for one another: twins in case, letters of other scripts, characters that nobody sees. Nothing
 * here is taken for another name on input; this is told, so that an owner can rename what imitates.
 */
import type { Entry } from './catalogue.js'
import type { Finding } from './source.js'
import { stripInvisible } from './text.js'

export interface LookAlikes {
  put(entry: Entry): void
  remove(entry: Entry): void
  /** As of now. */
  readonly findings: readonly Finding[]
}

/** `reserved`: names of Toolwell's own, which nobody may imitate either. */
export function createLookAlikes(reserved: ReadonlySet<string>, own: string): LookAlikes {
  const cases = createBuckets((name) => name.toLowerCase())
  const looks = createBuckets(skeletonOf)
  const rough = createBuckets(roughSkeletonOf)
  const sources = createBuckets(skeletonOf)
  const members = new Map<string, number>()
  const odd = new Map<string, Finding>()
  for (const name of reserved)
    for (const buckets of [looks, rough]) buckets.put(name, { id: `${own}/${name}`, source: own, tool: name })

  const each = ({ id, source, tool, wireName }: Entry, act: 'put' | 'remove') => {
    const holder = { id, source, tool: tool.name }
    cases[act](wireName, holder)
    const before = members.get(source) ?? 0
    members.set(source, act === 'put' ? before + 1 : before - 1)
    // A source is one name, however many tools it has.
    if (source !== '' && before === (act === 'put' ? 0 : 1)) sources[act](source, { ...holder, id: source })
    for (const name of new Set([tool.name, ...(tool.aliases ?? [])])) {
      looks[act](name, holder)
      rough[act](name, holder)
    }
  }

  return {
    put(entry) {
      each(entry, 'put')
      const detail = oddityOf(entry.tool.name)
      if (detail !== undefined)
        odd.set(entry.id, {
          kind: 'homoglyph',
          source: entry.source,
          tool: entry.tool.name,
          detail: `${entry.id} ${detail}`,
        })
    },
    remove(entry) {
      each(entry, 'remove')
      odd.delete(entry.id)
    },
    get findings() {
      return [
        ...cases.pairs().map(
          ([first, second]): Finding => ({
            kind: 'case-twin',
            ...of(second),
            detail: `${second.name} and ${first.name} differ only in case; a wrong-case call is answered as ambiguous`,
          }),
        ),
        ...imitations(sources).map(
          ([real, copy]): Finding => ({
            kind: 'homoglyph',
            source: copy.holder.source,
            tool: '',
            detail: `the source ${copy.name} (${lettersOf(copy.name)}) looks like the source ${real.name}; rename one if they are not the same owner's`,
          }),
        ),
        ...imitations(looks).map(
          ([real, copy]): Finding => ({
            kind: 'homoglyph',
            ...of(copy),
            detail: `${copy.holder.id} (${lettersOf(copy.name)}) looks like ${real.holder.id}; the two are kept apart, but a reader may not do so`,
          }),
        ),
        ...rough
          .pairs((name) => reserved.has(name))
          .filter(([first, second]) => skeletonOf(first.name) !== skeletonOf(second.name))
          .map(
            ([first, second]): Finding => ({
              kind: 'look-alike',
              ...of(second),
              detail: `${second.name} of ${second.holder.id} and ${first.name} of ${first.holder.id} look alike in many typefaces`,
            }),
          ),
        ...odd.values(),
      ]
    },
  }
}

/** The plain one first. Spellings of plain letters are everybody's right: only a letter that is none makes an imitation. */
function imitations(buckets: Buckets): [Named, Named][] {
  return buckets.pairs(isPlain).filter(([, copy]) => !isPlain(copy.name))
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

/** Different names that come to the same key. Looked through only where there are any. */
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
    /** One of each bucket with each of the others; `preferred` is that one where there is such. Arrival plays no part. */
    pairs(preferred: (name: string) => boolean = () => false): [Named, Named][] {
      return [...crowded].sort(byText).flatMap((key) => {
        const byId = [...(buckets.get(key) ?? [])].sort((a, b) => byText(a.holder.id, b.holder.id))
        const all = [...new Set(byId.map(({ name }) => name))].flatMap(
          (name) => byId.find((each) => each.name === name) ?? [],
        )
        const one = all.find(({ name }) => preferred(name)) ?? all[0]
        return one ? all.filter((other) => other !== one).map((other): [Named, Named] => [one, other]) : []
      })
    },
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function of({ holder }: Named): Pick<Finding, 'source' | 'tool'> {
  return { source: holder.source, tool: holder.tool }
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** By plain letter, what is drawn like it. Full-width, mathematical and other forms of the plain letters are folded by NFKC. */
const DRAWN_LIKE: Readonly<Record<string, string>> = {
  a: 'аɑαᴀ',
  A: 'АΑᎪ',
  b: 'Ььʙƅ',
  B: 'ВΒᏴ',
  c: 'сϲᴄ',
  C: 'СϹᏟ',
  d: 'ԁᴅ',
  D: 'Ꭰ',
  e: 'еҽᴇ℮',
  E: 'ЕΕᎬ',
  F: 'Ϝ',
  g: 'ɡցɢ',
  G: 'ԌᏀ',
  h: 'һհᏂʜ',
  H: 'НΗᎻ',
  i: 'іιıɪ',
  I: 'ІΙӀ',
  j: 'јϳᴊ',
  J: 'ЈᎫͿ',
  k: 'кκᴋ',
  K: 'КΚᏦ',
  l: 'ӏǀʟ',
  L: 'Ꮮ',
  m: 'мᴍ',
  M: 'МΜϺᎷ',
  n: 'ոηɴ',
  N: 'Ν',
  o: 'оοօᴏ',
  O: 'ОΟՕ',
  p: 'рρᴘ',
  P: 'РΡᏢ',
  q: 'ԛզ',
  Q: 'Ԛ',
  r: 'гᴦʀ',
  R: 'Ꭱ',
  s: 'ѕꜱ',
  S: 'ЅՏᏚ',
  t: 'тτᴛ',
  T: 'ТΤᎢ',
  u: 'υսᴜ',
  U: 'Ս',
  v: 'νѵᴠ',
  V: 'ѴᏙ',
  w: 'ԝᴡ',
  W: 'ԜᎳ',
  x: 'хχ',
  X: 'ХΧ',
  y: 'уγүʏ',
  Y: 'ΥҮ',
  z: 'ᴢ',
  Z: 'ΖᏃ',
  '3': 'Зз',
  '6': 'б',
  '-': '‐‑‒–—−',
  _: 'ˍ',
}
const PLAIN = new Map(
  Object.entries(DRAWN_LIKE).flatMap(([plain, drawn]) =>
    [...drawn].map((letter) => [letter, plain] as const),
  ),
)

/** In plain letters, with nothing that cannot be seen. */
function drawn(name: string): string {
  if (isPlain(name)) return name
  return [...stripInvisible(name.normalize('NFKC'))].map((letter) => PLAIN.get(letter) ?? letter).join('')
}

function skeletonOf(name: string): string {
  return drawn(name).toLowerCase()
}

const ROUGHLY: Readonly<Record<string, string>> = { rn: 'm', vv: 'w', I: 'l', '1': 'l', '|': 'l', '0': 'o' }

/** What some typefaces draw alike besides: rn and m, l and 1 and I, 0 and O. */
function roughSkeletonOf(name: string): string {
  return drawn(name)
    .replace(/rn|vv|[I1|0]/g, (letters) => ROUGHLY[letters] ?? letters)
    .toLowerCase()
}

/** The letters of a name that are not what they seem. */
function lettersOf(name: string): string {
  const letters = [...new Set(name)].filter((letter) => !isPlain(letter) && drawn(letter) !== letter)
  return letters
    .map((letter) => `U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ')
}

/** A name that deceives by itself: scripts mixed within a word, or plain letters with something unseen between them. */
function oddityOf(name: string): string | undefined {
  if (isPlain(name)) return undefined
  if (isPlain(stripInvisible(name))) return `holds characters that nobody sees (${lettersOf(name)})`
  const mixed = name
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .find(
      (word) =>
        /[A-Za-z]/.test(word) && [...word].some((letter) => PLAIN.has(letter)) && isPlain(drawn(word)),
    )
  return mixed === undefined
    ? undefined
    : `reads as ${drawn(name)}, and is written with other letters (${lettersOf(name)})`
}
