/** The ideas that orders to a model are made of. Rules speak of these, never of words, so a word more is a line in a list. */
import { fold } from './fold.js'

const NAMES = [
  /** not, never, without */
  'negation',
  /** tell, mention, notify */
  'tell',
  /** show, display, print */
  'show',
  /** secretly, hide, confidential */
  'hide',
  /** know, notice, aware */
  'know',
  /** the user */
  'user',
  /** ignore, override, bypass */
  'ignore',
  /** instructions, guidelines, system prompt: what a model was told */
  'instruction',
  /** rules, policies, limits: may also be a tool's own subject */
  'rule',
  /** previous, above, your: says whose instructions */
  'prior',
  /** read, collect, look up */
  'read',
  /** include, pass, append */
  'put',
  /** send, upload, forward */
  'send',
  /** run, call, use */
  'run',
  /** passwords, keys, tokens */
  'secret',
  /** a path where secrets lie */
  'path',
  /** this conversation, its history, the model's reasoning */
  'conversation',
  /** you, the assistant */
  'model',
  /** must, always, mandatory */
  'force',
  /** before, whenever, every time */
  'when',
  /** tool, function, server */
  'tool',
  /** any other, all others */
  'other',
  /** confirmation, approval, permission; to ask */
  'consent',
  /** change, replace, redirect */
  'change',
  /** recipient, amount, address, argument */
  'argument',
  /** contents, everything, full, verbatim */
  'content',
  /** an address: URL, mail, phone, IP */
  'address',
  /** also, additionally, a copy */
  'also',
  /** broken, insecure, deprecated */
  'bad',
  /** answer, reply, response */
  'answer',
  /** detect, prevent, reject: speaks about an attack instead of making one */
  'about',
] as const

export type Concept = (typeof NAMES)[number]

/** One bit per concept; a word may stand for several. */
export const bit: Readonly<Record<Concept, number>> = bitsOf(NAMES)

export function bitsOf<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, 1 << index])) as Record<Name, number>
}

export interface Meaning {
  bits: number
  /** What it may also mean, beside the right object. */
  wide?: number
  /** The form that gives an order: "send", not "sends" or "sending". */
  readonly isBare: boolean
}

export interface Lexicon {
  /** Whole words, folded. */
  readonly words: ReadonlyMap<string, Meaning>
  /** Beginnings of words, folded, for languages with many endings. */
  readonly stems: ReadonlyMap<string, Meaning>
  /** By the first two letters: how long the longest such beginning is. */
  readonly reach: ReadonlyMap<string, number>
  /** Several words that mean one thing, by their first word. */
  readonly phrases: ReadonlyMap<
    string,
    readonly { readonly rest: readonly string[]; readonly meaning: Meaning }[]
  >
  /** For scripts without spaces. */
  readonly pieces: ReadonlyMap<string, Meaning>
}

/** Word lists: separated by spaces; `abc*` is a beginning, `abc_def` are two words, `+abc` a verb with its English endings. */
export type WordList<Name extends string = Concept> = Readonly<Partial<Record<Name, string>>>

/** Lists are folded here like the texts they are compared with, so they may be written as people write. */
export function createLexicon<Name extends string>(
  names: Readonly<Record<Name, number>>,
  lists: readonly WordList<Name>[],
  pieceLists: readonly WordList<Name>[],
): Lexicon {
  const words = new Map<string, Meaning>()
  const stems = new Map<string, Meaning>()
  const pieces = new Map<string, Meaning>()
  const phrases = new Map<string, { rest: readonly string[]; meaning: Meaning }[]>()
  const put = (map: Map<string, Meaning>, key: string, bits: number, isBare: boolean) => {
    const known = map.get(key)
    map.set(key, { bits: bits | (known?.bits ?? 0), isBare: isBare || (known?.isBare ?? false) })
  }
  for (const list of lists)
    for (const [name, text] of entriesOf(list))
      for (const entry of fold(text).split(/\s+/).filter(Boolean)) {
        const bits = names[name]
        if (entry.includes('_')) {
          const [first = '', ...rest] = entry.split('_')
          const group = phrases.get(first) ?? []
          group.push({ rest, meaning: { bits, isBare: true } })
          phrases.set(first, group)
        } else if (entry.endsWith('*')) put(stems, entry.slice(0, -1), bits, true)
        else if (entry.startsWith('+')) {
          put(words, entry.slice(1), bits, true)
          for (const form of inflections(entry.slice(1))) put(words, form, bits, false)
        } else put(words, entry, bits, true)
      }
  for (const list of pieceLists)
    for (const [name, text] of entriesOf(list))
      for (const entry of fold(text).split(/\s+/).filter(Boolean)) put(pieces, entry, names[name], true)
  const reach = new Map<string, number>()
  for (const stem of stems.keys())
    reach.set(stem.slice(0, 2), Math.max(stem.length, reach.get(stem.slice(0, 2)) ?? 0))
  return { words, stems, reach, phrases, pieces }
}

const entriesOf = <Name extends string>(list: WordList<Name>) => Object.entries(list) as [Name, string][]

/** The English endings of a regular verb. */
function inflections(verb: string): string[] {
  const stem = verb.endsWith('e') ? verb.slice(0, -1) : verb
  if (verb.endsWith('y') && !/[aeiou]y$/.test(verb))
    return [`${verb.slice(0, -1)}ies`, `${verb.slice(0, -1)}ied`, `${verb}ing`]
  const isHissing = /(?:s|x|z|ch|sh)$/.test(verb)
  const double = /[^aeiou][aeiou][bdgklmnprt]$/.test(verb) ? verb + verb.at(-1) : undefined
  return [
    isHissing ? `${verb}es` : `${verb}s`,
    `${stem}ed`,
    `${stem}ing`,
    ...(double ? [`${double}ed`, `${double}ing`] : []),
  ]
}
