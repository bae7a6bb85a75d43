/** Cuts text into sentences and says of each word which ideas it stands for. Linear in the length of the text. */
import { bit, createLexicon, type Lexicon, type Meaning } from './concepts.js'
import { fold, isMixedScript, latinised, squeezed, unleeted, unveil } from './fold.js'
import { theme } from './themes.js'
import { english } from './words-english.js'
import { otherLanguages, pieces } from './words-languages.js'
import { englishThemes, otherThemes, themePieces } from './words-themes.js'
import { wide } from './words-wide.js'

export interface Token {
  readonly word: string
  readonly bits: number
  /** The form of a verb that gives an order. */
  readonly isBare: boolean
  /** `send_email`, `sendEmail`, or a word in backticks: the name of something. */
  readonly identifier?: string
  readonly isQuoted: boolean
  /** Stands at the start of a sentence, or after a comma, colon or dash. */
  readonly opens: boolean
  /** A path that holds nothing but secrets. */
  readonly isPrivatePath: boolean
  /** Written so that a plain search would miss it. */
  readonly isDisguised: boolean
  /** `bits`, and what the word may mean beside the right object. */
  readonly wide: number
  /** The themes it stands for. */
  readonly themes: number
}

export interface Sentence {
  readonly text: string
  /** Lower case, without accents, one space between words. */
  readonly folded: string
  readonly tokens: readonly Token[]
  /** All concepts of the sentence. */
  readonly bits: number
  /** All themes of the sentence. */
  readonly themes: number
  /** All concepts, with every word in its widest sense. */
  readonly wide: number
  /** The first sentence of its text. */
  readonly isFirst: boolean
  readonly isEnglish: boolean
}

const NOTHING: Meaning = { bits: 0, isBare: false }
const MOST_TOKENS = 120
const OVERLAP = 20

const englishWords = createLexicon(bit, [english], [])
const wideWords = createLexicon(bit, [wide], [])
const otherWords = createLexicon(bit, otherLanguages, pieces)
const themeWords = createLexicon(theme, [englishThemes], [])
const otherThemeWords = createLexicon(theme, otherThemes, themePieces)

const FUNCTION_WORDS = {
  english: new Set(
    'the of to and is for a an in this that with on or be it as by from are if will use can you your any not all'.split(
      ' ',
    ),
  ),
  other: new Set(
    'el la los las de que y en un una por para con al del se lo su es der die das und den dem ein eine zu mit von ist im des auf le les et une pour vous ne du au aux ce cette il gli di che per con dalla della os as um uma para com ao het een van te met voor op bir ve bu icin i w na z do tej nie va cua cho dan yang untuk dengan di ini nicht dass wird werden sich auch alle uns muss kein oder bei aus pas toute depuis ici qui dans sur est avec sont cada mas esta este sus sin sono nel non nao foi diese dieser damit dieses sie wir solo questo questa alla'.split(
      ' ',
    ),
  ),
}

const PRIVATE_PATH =
  /(?:^|[/\\~"'`(=])\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|pgpass|git-credentials|bash_history|zsh_history|vault-token|password-store|azure|docker[/\\]config|cursor[/\\]mcp|config[/\\](?:gcloud|gh|solana))\b|id_(?:rsa|ed25519|ecdsa|dsa)\b|[/\\]etc[/\\](?:passwd|shadow|sudoers|ssh)\b|\bauthorized_keys\b|[/\\]proc[/\\]self[/\\]environ|\bclaude_desktop_config|\blogin\.keychain|\bwallet\.dat\b|\bcookies\.sqlite\b|\.kdbx\b|\baws[/\\]credentials\b/i
const SENSITIVE_PATH =
  /(?:^|[/\\~"'`(=\w])\.env(?:\.\w+)?(?![\w(])|\bcredentials\.(?:json|csv|ya?ml|db|ini)\b|\bsecrets?\.(?:json|ya?ml|toml|env)\b|\.(?:pem|p12|pfx|tfvars|tfstate|jks)\b|\bservice[-_]account[\w-]{0,40}\.json|[/\\~]\.(?:bashrc|zshrc|profile|bash_profile|config|claude|cursor|docker|gitconfig|mozilla|bitcoin|ethereum)\b|\bcrontab\b|\bkubeconfig\b|\bmcp\.json\b|\bknown_hosts\b|\bsettings\.json\b|\bhistory\.jsonl?\b|\bprocess\.env\b|\bos\.environ\b/i
const URL =
  /^(?:https?|s?ftp|wss?|ssh|git|s3|gs|smb|tcp|ldap):\/\/\S|^git@[\w.-]+:\S|^www\.[\w-]+\.\w|^hxxps?:/i
const MAIL = /^(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+$/
const IP_OR_PHONE = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\+\d{8,15})(?:\/\S*)?$/
const DOMAIN = /^[\w-]{2,40}(?:\.[\w-]{2,40}){1,4}(?::\d{2,5})?(?:\/\S*)?$/
const TOP_LEVEL =
  /\.(?:com|net|org|io|dev|xyz|ru|cn|app|site|online|top|info|co|me|cc|tk|example|invalid|test|sh|gg|link|click|ngrok|workers)(?::\d+)?(?:\/|$)/i

/** Sentences of at most 120 words each; longer ones overlap. */
export function readSentences(text: string): Sentence[] {
  const plain = rejoinLetters(squeezed(unveil(text))).replace(/[ \t\u00a0\u3000]+/g, ' ')
  const parts = plain.split(
    /(?<=[.!?…])(?<!\b(?:e\.g|i\.e|etc|vs|cf|No)\.)["')\]]? |(?<=[。！？；])|;\s|\n\s*\n|\n(?=\s*(?:[-*•#>]|\d+[.)]|\p{Lu}))/u,
  )
  const isEnglishText = speaksEnglish(fold(plain.slice(0, 4000)).split(/\s+/)) ?? false
  const sentences: Sentence[] = []
  let quoteOpen = false
  for (const part of parts) {
    if (part === undefined) continue
    const whole = part.trim()
    if (whole === '') continue
    const { tokens, isEnglish } = tokenise(whole, quoteOpen, isEnglishText)
    const quotes = whole.match(/["“”„«»]/g)?.length ?? 0
    if (quotes % 2 === 1) quoteOpen = !quoteOpen
    for (let start = 0; start < Math.max(1, tokens.length); start += MOST_TOKENS - OVERLAP) {
      const slice = tokens.slice(start, start + MOST_TOKENS)
      // A sentence with one giant word is shown by its other words.
      const isWhole = tokens.length <= MOST_TOKENS && whole.length <= 8000
      const shown = isWhole ? whole : slice.map(({ word }) => word).join(' ')
      sentences.push(sentenceOf(shown, slice, sentences.length === 0, isEnglish))
      if (start + MOST_TOKENS >= tokens.length) break
    }
  }
  return sentences
}

export function sentenceOf(
  text: string,
  tokens: readonly Token[],
  isFirst: boolean,
  isEnglish: boolean,
  folded = fold(text).replace(/\s+/g, ' '),
): Sentence {
  let bits = 0
  let wide = 0
  let themes = 0
  for (const token of tokens) {
    bits |= token.bits
    wide |= token.wide
    themes |= token.themes
  }
  return { text, tokens, bits, wide, themes, isFirst, isEnglish, folded }
}

/** The same sentence with every word in its widest sense. */
export function widened(sentence: Sentence): Sentence {
  const tokens = sentence.tokens.map((token) =>
    token.wide === token.bits ? token : { ...token, bits: token.wide },
  )
  return sentenceOf(sentence.text, tokens, sentence.isFirst, sentence.isEnglish, sentence.folded)
}

/** Two sentences read as one. */
export function joinSentences(first: Sentence, second: Sentence): Sentence {
  return sentenceOf(
    `${first.text} ${second.text}`,
    [...first.tokens, ...second.tokens],
    first.isFirst,
    first.isEnglish,
    `${first.folded} ${second.folded}`,
  )
}

function tokenise(
  text: string,
  startsQuoted: boolean,
  isEnglishText: boolean,
): { tokens: readonly Token[]; isEnglish: boolean } {
  const chunks = text.split(/\s+/)
  const lower = chunks.map((chunk) => fold(chunk))
  // Latin words between Chinese or Japanese ones are English, if anything.
  const isLatinEnglish = CJK.test(text) || (speaksEnglish(lower) ?? isEnglishText)
  const isEnglish = isLatinEnglish && !CJK.test(text)
  const drafts: Draft[] = []
  let isQuoted = startsQuoted
  let opens = true
  for (const [index, chunk] of chunks.entries()) {
    if (/^["'“”„«`‘([{]*["“„«`‘]/.test(chunk)) isQuoted = true
    const folded = lower[index] as string
    for (const draft of readChunk(chunk, folded)) {
      draft.opens ||= opens
      draft.isQuoted = isQuoted
      drafts.push(draft)
      opens = false
    }
    if (/["”»`’][.,;:!?)\]}]*$/.test(chunk)) isQuoted = false
    opens = /[,;:—–)\]>-]$/.test(chunk)
  }
  return { tokens: applyMeanings(drafts, isLatinEnglish), isEnglish }
}

/** A token in the making. */
interface Draft extends Token {
  bits: number
  wide: number
  themes: number
  isBare: boolean
  opens: boolean
  isQuoted: boolean
  /** What it stands for is known from its form. */
  readonly isFixed: boolean
}

const draft = (word: string, more: Partial<Draft> = {}): Draft => ({
  word,
  bits: 0,
  wide: 0,
  themes: 0,
  isBare: false,
  opens: false,
  isQuoted: false,
  isPrivatePath: false,
  isDisguised: false,
  isFixed: false,
  ...more,
})

/** What stands between two spaces: an address, a path, a name, or words. */
function readChunk(chunk: string, folded: string): Draft[] {
  const bare = trimmed(chunk, EDGES).slice(0, 2000)
  if (URL.test(bare)) {
    const isPrivate = PRIVATE_PATH.test(bare)
    return [draft(bare.slice(0, 200), { bits: bit.address | (isPrivate ? bit.path : 0), isFixed: true })]
  }
  if (MAIL.test(bare) || IP_OR_PHONE.test(bare)) return [draft(bare, { bits: bit.address, isFixed: true })]
  if (PRIVATE_PATH.test(bare))
    return [draft(bare.slice(0, 200), { bits: bit.path, isPrivatePath: true, isFixed: true })]
  if (SENSITIVE_PATH.test(bare)) return [draft(bare.slice(0, 200), { bits: bit.path, isFixed: true })]
  if (DOMAIN.test(bare) && TOP_LEVEL.test(bare)) return [draft(bare, { bits: bit.address, isFixed: true })]
  if (isIdentifier(bare, chunk)) {
    const parts = bare.split(/[_\-.\s]+|(?<=[a-z])(?=[A-Z])/).filter(Boolean)
    if (parts.length < 4) return [draft(fold(bare), { identifier: bare, isFixed: true })]
    return parts.map((part) => draft(fold(part)))
  }
  return wordsOf(folded)
}

function isIdentifier(bare: string, chunk: string): boolean {
  if (bare.length < 3 || bare.length > 80) return false
  if (!/^[A-Za-z][\w-]*(?:[._/:][\w-]+)*(?:\(\))?$/.test(bare)) return false
  return /_|[a-z][A-Z]|\(\)$/.test(bare) || (/^[("]*`/.test(chunk) && chunk.includes('`', 1))
}

const EDGES = '()"\'“”„«»`‘’[]{}<>*_.,;:!?'

/** A loop, because an expression for the end of a text takes quadratic time on text that is all edge. */
function trimmed(text: string, edges: string): string {
  let start = 0
  let end = text.length
  while (start < end && edges.includes(text[start] as string)) start++
  while (end > start && edges.includes(text[end - 1] as string)) end--
  // `.env`, `_meta`: what belongs to a name stays.
  if (
    start > 0 &&
    (text[start - 1] === '.' || text[start - 1] === '_') &&
    text[start - 2] !== text[start - 1]
  )
    start--
  return text.slice(start, end)
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

function wordsOf(folded: string): Draft[] {
  const found: Draft[] = []
  if (CJK.test(folded)) return cjkWords(folded)
  const disguised = unleeted(trimmed(folded, EDGES))
  if (disguised !== undefined && disguised.length > 2 && meaningOf(disguised, englishWords) !== NOTHING)
    return [draft(disguised, { isDisguised: true })]
  for (const match of folded.matchAll(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu)) {
    const word = match[0]
    if (word.length > 64) continue
    // French: "n'informe" is two words.
    const elided = /^(n|l|d|qu|s|c|j|m|all|dell|nell|dall|sull|un)'(\p{L}{3,}.*)$/u.exec(word)
    if (elided) {
      found.push(draft(elided[1] === 'n' ? 'ne' : `${elided[1]}'`), draft(elided[2] ?? ''))
      continue
    }
    const isFirstInChunk =
      match.index === 0 || !/[\p{L}\p{N}]/u.test(folded.slice(Math.max(0, match.index - 1), match.index))
    const opens = match.index > 0 && isFirstInChunk && /[,;:.!?—–>)\]]$/.test(folded.slice(0, match.index))
    if (isMixedScript(word)) {
      const latin = latinised(word)
      if (latin !== undefined) {
        found.push(draft(latin, { isDisguised: true, opens }))
        continue
      }
    }
    found.push(draft(word, { opens }))
  }
  return found
}

const isPiece = (text: string) => otherWords.pieces.has(text) || otherThemeWords.pieces.has(text)

/** The longest known piece at each place; what is not known is skipped. */
function cjkWords(text: string): Draft[] {
  const found: Draft[] = []
  const characters = text.slice(0, 20_000)
  let other = ''
  for (let index = 0; index < characters.length; ) {
    let length = Math.min(8, characters.length - index)
    while (length > 0 && !isPiece(characters.slice(index, index + length))) length--
    if (length > 0) {
      if (other !== '') found.push(...latinWords(other))
      other = ''
      found.push(
        draft(characters.slice(index, index + length), {
          opens: /[，、：]/.test(characters[index - 1] ?? ''),
        }),
      )
      index += length
    } else {
      other += characters[index]
      index++
    }
  }
  if (other !== '') found.push(...latinWords(other))
  return found
}

function latinWords(text: string): Draft[] {
  return text
    .split(/[^\w.~/@:-]+/)
    .filter(Boolean)
    .flatMap((chunk) => (CJK.test(chunk) ? [] : readChunk(chunk, chunk)))
}

function meaningOf(word: string, lexicon: Lexicon): Meaning {
  const whole =
    lexicon.words.get(word) ?? (word.includes('-') ? lexicon.words.get(word.replaceAll('-', '')) : undefined)
  // English lists whole words only.
  if (lexicon.stems.size === 0) return whole ?? NOTHING
  const piece = lexicon.pieces.get(word)
  let bits = (whole?.bits ?? 0) | (piece?.bits ?? 0)
  let isBare = (whole?.isBare ?? false) || piece !== undefined
  // Most words begin like none that is listed.
  const longest = lexicon.reach.get(word.slice(0, 2)) ?? 0
  for (let length = Math.min(word.length, longest); length > 1; length--) {
    const stem = lexicon.stems.get(word.slice(0, length))
    if (stem) {
      bits |= stem.bits
      isBare = true
      break
    }
  }
  return bits === 0 ? NOTHING : { bits, isBare }
}

const isLatinLetter = (word: string) => word >= 'a' && word < '{'

function applyMeanings(drafts: readonly Draft[], isEnglish: boolean): readonly Token[] {
  const extra = new Array<number>(drafts.length).fill(0)
  const lexicons = isEnglish ? [englishWords] : [englishWords, otherWords]
  for (const lexicon of lexicons) markPhrases(drafts, lexicon, extra)
  const wideExtra = new Array<number>(drafts.length).fill(0)
  markPhrases(drafts, wideWords, wideExtra)
  const themeExtra = new Array<number>(drafts.length).fill(0)
  markPhrases(drafts, themeWords, themeExtra)
  if (!isEnglish) markPhrases(drafts, otherThemeWords, themeExtra)
  for (const [index, token] of drafts.entries()) {
    const more = extra[index] ?? 0
    token.bits |= more
    token.wide = token.bits
    token.themes = themeExtra[index] ?? 0
    if (token.isFixed) continue
    const own = meaningOf(token.word, englishWords)
    const foreign = isEnglish && isLatinLetter(token.word) ? NOTHING : meaningOf(token.word, otherWords)
    token.bits |= own.bits | foreign.bits
    const also = meaningOf(token.word, wideWords)
    token.wide = token.bits | also.bits | (wideExtra[index] ?? 0)
    const theme = themeWords.words.get(token.word) ?? NOTHING
    const other = isEnglish && isLatinLetter(token.word) ? NOTHING : meaningOf(token.word, otherThemeWords)
    token.themes |= theme.bits | other.bits
    token.isBare = own.isBare || foreign.isBare || more !== 0 || also.isBare || theme.isBare || other.isBare
  }
  return drafts
}

function markPhrases(drafts: readonly Draft[], { phrases }: Lexicon, extra: number[]): void {
  for (let index = 0; index < drafts.length; index++) {
    const group = phrases.get(drafts[index]?.word ?? '')
    if (group === undefined) continue
    for (const { rest, meaning } of group)
      if (rest.every((part, offset) => matches(drafts[index + 1 + offset]?.word, part)))
        for (let offset = 0; offset <= rest.length; offset++)
          extra[index + offset] = (extra[index + offset] ?? 0) | meaning.bits
  }
}

function matches(word: string | undefined, part: string): boolean {
  if (word === undefined) return false
  if (part === '*') return true
  return part.endsWith('*') ? word.startsWith(part.slice(0, -1)) : word === part
}

const PLAIN_WORD = /^[a-z']*$/

/** Foreign beginnings of words would find much in English text that is not there. */
function speaksEnglish(chunks: readonly string[]): boolean | undefined {
  let englishCount = 0
  let otherCount = 0
  let known = 0
  for (const chunk of chunks) {
    const word = PLAIN_WORD.test(chunk) ? chunk : chunk.replace(/[^a-z']/g, '')
    if (englishWords.words.has(word)) known++
    if (FUNCTION_WORDS.english.has(word)) englishCount++
    if (FUNCTION_WORDS.other.has(word)) otherCount++
  }
  if (englishCount + otherCount === 0) return known > 0 ? true : undefined
  return englishCount > otherCount || (englishCount === otherCount && known > 1)
}

/** `i g n o r e` and `i-g-n-o-r-e` as words. */
function rejoinLetters(text: string): string {
  return text
    .replace(/(?<![\p{L}\p{N}])\p{L}(?:[.\-_*·•|/]\p{L}){3,}(?![\p{L}\p{N}])/gu, (run) =>
      run.replace(/[^\p{L}]/gu, ''),
    )
    .replace(/(?<![\p{L}\p{N}])\p{L}(?: {1,4}\p{L}){5,}(?![\p{L}\p{N}])/gu, (run) => {
      const words = run.split(/ {2,}/)
      return (
        words.length > 1 ? words.map((word) => word.replaceAll(' ', '')) : [segment(run.replaceAll(' ', ''))]
      ).join(' ')
    })
}

const SMALL_WORDS = new Set(
  'the to of and all this that is it in on a for with from as be do us at by or'.split(' '),
)

/** Words run together, taken apart by what the lexicon knows. */
export function segment(glued: string): string {
  const text = fold(glued).slice(0, 4000)
  const found: string[] = []
  let unknown = ''
  for (let index = 0; index < text.length; ) {
    let length = Math.min(18, text.length - index)
    while (length > 1) {
      const part = text.slice(index, index + length)
      if ((length > 2 && englishWords.words.has(part)) || (length > 1 && SMALL_WORDS.has(part))) break
      length--
    }
    if (length > 1) {
      if (unknown) found.push(unknown)
      unknown = ''
      found.push(text.slice(index, index + length))
      index += length
    } else unknown += text[index++]
  }
  if (unknown) found.push(unknown)
  return found.join(' ')
}
