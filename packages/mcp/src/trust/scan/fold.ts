/** Normalises text for comparison: look-alike letters, accents, digits for letters, entities. */

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ьb кk мm нh тt вb ѵv ґr зz пn гr',
    'αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy',
    'ꞓc ꓲi ꓳo ɑa ɡg ıi ǃi ⅼl ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ᴛt ᴜu ᴠv ᴡw ʏy ᴢz',
    'աw օo սu հh ոn զq',
  ]
    .join(' ')
    .split(' ')
    .map((pair) => [[...pair][0] as string, pair.slice(([...pair][0] as string).length)]),
)

const LEET: Readonly<Record<string, string>> = Object.fromEntries(
  '0o 1i 3e 4a 5s 7t 8b 9g @a $s !i |l €e +t'.split(' ').map((pair) => [pair[0], pair[1]]),
)

const INVISIBLE = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB]/gu

/** Applies NFKC, removes invisible characters and decodes entities. Case and accents stay. */
export function revealText(text: string): string {
  const visible = text.toWellFormed().replace(INVISIBLE, '').normalize('NFKC')
  return visible.includes('&') ? decodeEntities(visible) : visible
}

/** Shortens long runs of blanks, which would make patterns slow. */
export function squeezeBlanks(text: string): string {
  return text.replace(/\s{5,}/g, (run) => {
    const lines = run.split('\n').length - 1
    return `${'\n'.repeat(Math.min(2, lines))}${run.endsWith(' ') || lines === 0 ? '    ' : ''}`
  })
}

/** Lower case without accents. Kana marks and Korean syllables stay. */
export function fold(text: string): string {
  // Fast path for plain ASCII.
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('`', "'")
  const folded = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?![\u3099\u309a])\p{M}/gu, '')
    .replace(/[’‘`´ʼ]/g, "'")
  return KANA_OR_HANGUL.test(folded) ? folded.normalize('NFC') : folded
}

const PLAIN = /^[\x00-\x7f]*$/
const KANA_OR_HANGUL = /[\u1100-\u11ff\u3099\u309a]/

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED[name as string] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
      return code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : whole
    },
  )
}

/** Scripts with letters that look like Latin ones. */
export const FOREIGN_LETTERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u

/** Does the word mix Latin letters with ones of another script that look like them? */
export function isMixedScript(word: string): boolean {
  if (!/\p{Script=Latin}/u.test(word)) return false
  return [...word.toLowerCase()].some((letter) => FOREIGN_LETTERS.test(letter) && letter in LOOKALIKE)
}

/** Replaces look-alike letters by Latin ones. Undefined if a letter has no Latin look-alike. */
export function latinised(word: string): string | undefined {
  let result = ''
  for (const character of word) {
    if (character <= '\u007f') result += character
    else {
      const latin = LOOKALIKE[character]
      if (latin === undefined) return undefined
      result += latin
    }
  }
  return result
}

/** Reads `1gn0r3` as `ignore`. Undefined if no character stands for a letter, or without any letter. */
export function unleeted(word: string): string | undefined {
  if (!/[a-z]/.test(word) || !/[013457@$!|€+89]/.test(word)) return undefined
  return word.replace(/[013457@$!|€+89]/g, (digit) => LEET[digit] ?? digit)
}

/** Key for comparing look-alike names. */
export function skeleton(name: string): string {
  const folded = fold(revealText(name)).replace(/[\s_.\-/]+/g, '')
  const latin = [...folded].map((character) => LOOKALIKE[character] ?? character).join('')
  return latin
    .replace(/[01]/g, (digit) => (digit === '0' ? 'o' : 'l'))
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[i|]/g, 'l')
}

/** Counts characters that only look like plain letters. Of two names with the same skeleton, the odder one is the imitation. */
export function oddness(name: string): number {
  const foreign = [...name.normalize('NFC')].filter((character) => character > '\u007e').length
  // One foreign letter counts more than all digits.
  return foreign * 1000 + (name.match(/[01|]|vv/gi)?.length ?? 0)
}
