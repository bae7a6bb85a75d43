/** Finds invisible characters and terminal control sequences. */
import { createFinding, type Finding } from './rules.js'

/** Emoji and other characters next to which joiners are normal. */
const EMOJI = /\p{Extended_Pictographic}|[\u{1F1E6}-\u{1F1FF}\u{1F3FB}-\u{1F3FF}\uFE0F\u20E3#*0-9©®]/u
const JOINING =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Thai}\p{Script=Mongolian}\p{Script=Syriac}]/u
const LETTER = /\p{L}/u
const SUSPECT =
  /\p{Default_Ignorable_Code_Point}|\p{Co}|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u2800\uFFF0-\uFFFB]/u
const SUSPECTS = new RegExp(SUSPECT.source, 'gu')
/** Flags of England, Scotland and Wales: the only regular use of tag characters. */
const FLAG = /\u{1F3F4}[\u{E0061}-\u{E007A}]{3,6}\u{E007F}/gu
const ANSI = /(?:\u001B|\u009B)[[\]()#;?PX^_]?/
const SPELLED_ANSI = /\\(?:x1b|u001b|u\{1b\}|033|e)\[[\d;]*[A-Za-z]/i

type Kind = 'tag' | 'zero-width' | 'direction' | 'selector' | 'private' | 'filler' | 'control' | 'hyphen'

const WORDS: Readonly<Record<Kind, string>> = {
  tag: 'tag characters, which spell invisible text',
  'zero-width': 'zero-width characters',
  direction: 'characters that reverse or reorder what is shown',
  selector: 'variation selectors without effect, which can carry hidden bytes',
  private: 'private-use characters, whose meaning is not known',
  filler: 'characters that are displayed as nothing',
  control: 'control characters',
  hyphen: 'soft hyphens inside words',
}

/** Number of characters of each kind for a hard finding. */
const MANY: Readonly<Record<Kind, number>> = {
  tag: 1,
  'zero-width': 3,
  direction: 1,
  selector: 1,
  private: 6,
  filler: 2,
  control: 4,
  hyphen: 4,
}

export function findHidden(where: string, text: string): Finding[] {
  const findings: Finding[] = []
  if (ANSI.test(text))
    findings.push(
      createFinding(
        'terminal-escape',
        'hard',
        where,
        around(text, text.search(ANSI)),
        'contains a terminal escape sequence, which can hide or rewrite terminal output',
      ),
    )
  else if (SPELLED_ANSI.test(text))
    findings.push(
      createFinding(
        'terminal-escape',
        'soft',
        where,
        around(text, text.search(SPELLED_ANSI)),
        'spells out a terminal escape sequence',
      ),
    )
  if (!SUSPECT.test(text)) return findings
  const plain = text.replace(FLAG, '')
  const counts = new Map<Kind, { count: number; first: number; inWord: number }>()
  for (const match of plain.matchAll(SUSPECTS)) {
    const kind = kindAt(plain, match.index, match[0])
    if (kind === undefined) continue
    const known = counts.get(kind) ?? { count: 0, first: match.index, inWord: 0 }
    const after = plain[match.index + match[0].length] ?? ''
    if (LETTER.test(plain[match.index - 1] ?? '') && LETTER.test(after)) known.inWord++
    known.count++
    counts.set(kind, known)
  }
  for (const [kind, { count, first, inWord }] of counts) {
    const isHard = count >= MANY[kind] || (inWord > 0 && (kind === 'zero-width' || kind === 'filler'))
    if (kind === 'control' && ANSI.test(text)) continue
    findings.push(
      createFinding(
        'hidden-unicode',
        isHard ? 'hard' : 'soft',
        where,
        around(plain, first),
        `contains ${count} ${WORDS[kind]}`,
      ),
    )
  }
  return findings
}

function kindAt(text: string, index: number, character: string): Kind | undefined {
  const code = character.codePointAt(0) ?? 0
  const before = previous(text, index)
  const after = next(text, index + character.length)
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag'
  if (code === 0xfeff && index === 0) return undefined
  if (code === 0xfe0f || code === 0xfe0e)
    return EMOJI.test(before) || isSymbol(before) ? undefined : 'selector'
  if ((code >= 0xfe00 && code <= 0xfe0d) || (code >= 0x180b && code <= 0x180f))
    return /[\p{Script=Han}\p{Script=Mongolian}\p{S}]/u.test(before) ? undefined : 'selector'
  if (code >= 0xe0100 && code <= 0xe01ef) return /\p{Script=Han}/u.test(before) ? undefined : 'selector'
  if (code >= 0xe0080) return code >= 0xf0000 ? 'private' : 'tag'
  if (code === 0x200c || code === 0x200d) {
    if (EMOJI.test(before) && EMOJI.test(after)) return undefined
    return JOINING.test(before) || JOINING.test(after) ? undefined : 'zero-width'
  }
  if (code === 0x200e || code === 0x200f || code === 0x061c)
    return JOINING.test(text.slice(Math.max(0, index - 40), index + 40)) ? undefined : 'zero-width'
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return 'direction'
  if (code === 0x200b || code === 0xfeff || (code >= 0x2060 && code <= 0x206f)) return 'zero-width'
  if (code === 0x00ad) return 'hyphen'
  if (code >= 0xe000 && code <= 0xf8ff) return 'private'
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return 'control'
  return 'filler'
}

const isSymbol = (character: string) => /[\p{S}\p{P}\p{N}]/u.test(character)

function previous(text: string, index: number): string {
  const unit = text[index - 1] ?? ''
  return unit >= '\udc00' && unit <= '\udfff' ? text.slice(index - 2, index) : unit
}

function next(text: string, index: number): string {
  const code = text.codePointAt(index)
  return code === undefined ? '' : String.fromCodePoint(code)
}

const around = (text: string, index: number) => text.slice(Math.max(0, index - 20), index + 60)
