/** Ways in which people write secrets, and what finds a piece of one in a text. */

/** Random texts that say which secret they are of, wherever a piece of them turns up. Always the same ones. */
function createRandom(seed: number) {
  let state = seed
  const pieces: string[] = []
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const of = (letters: string) => (length: number) => {
    let text = ''
    while (text.length < length) text += letters[below(letters.length)]
    pieces.push(text)
    return text
  }
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  const syllable = () => `${'bdfglmnprstv'[below(12)]}${'aeiou'[below(5)]}`
  return {
    pieces,
    mixed: of(`${lower}${lower.toUpperCase()}0123456789`),
    letters: of(`${lower}${lower.toUpperCase()}`),
    lower: of(lower),
    upper: of(lower.toUpperCase()),
    capitals: of(`${lower.toUpperCase()}234567`),
    digits: of('0123456789'),
    hex: of('0123456789abcdef'),
    HEX: of('0123456789ABCDEF'),
    base64: of(`${lower}${lower.toUpperCase()}0123456789+/`),
    url: of(`${lower}${lower.toUpperCase()}0123456789-_`),
    /** Can be spoken, and means nothing. */
    word() {
      const text = Array.from({ length: 5 }, syllable).join('')
      pieces.push(text)
      return text
    },
  }
}
type Random = ReturnType<typeof createRandom>

/** Ways in which a secret is written. */
const FORMS: Readonly<Record<string, (random: Random) => string>> = {
  'sk-proj': (r) => `sk-proj-${r.mixed(32)}`,
  'sk-ant': (r) => `sk-ant-api03-${r.url(24)}`,
  sk_live: (r) => `sk_live_${r.mixed(24)}`,
  ghp: (r) => `ghp_${r.mixed(36)}`,
  github_pat: (r) => `github_pat_${r.mixed(22)}_${r.mixed(20)}`,
  glpat: (r) => `glpat-${r.mixed(20)}`,
  xoxb: (r) => `xoxb-${r.digits(11)}-${r.digits(12)}-${r.mixed(24)}`,
  hook: (r) => `T0${r.capitals(8)}/B0${r.capitals(8)}/${r.mixed(24)}`,
  AKIA: (r) => `AKIA${r.capitals(16)}`,
  'aws secret': (r) => r.base64(40),
  AIza: (r) => `AIza${r.url(35)}`,
  npm: (r) => `npm_${r.mixed(36)}`,
  jwt: (r) => `eyJhbGciOiJIUzI1NiJ9.${r.url(30)}.${r.url(20)}`,
  hex: (r) => r.hex(32),
  HEX: (r) => r.HEX(40),
  uuid: (r) => `${r.hex(8)}-4c1e-4b7a-9f10-${r.hex(12)}`,
  base64: (r) => `${r.base64(22)}==`,
  base64url: (r) => r.url(43),
  key: (r) => `-----BEGIN PRIVATE KEY-----\n${r.base64(40)}\n${r.base64(20)}==\n-----END PRIVATE KEY-----`,
  long: (r) => r.mixed(720),
  lower: (r) => r.lower(16),
  letters: (r) => r.letters(20),
  upper: (r) => r.upper(16),
  digits: (r) => r.digits(14),
  password: (r) => `Tr0ub4dor&${r.mixed(8)}!`,
  phrase: (r) => `${r.word()} ${r.word()} ${r.word()} ${r.word()}`,
  'two words': (r) => `${r.word()} ${r.word()}`,
  dashes: (r) => `${r.word()}-${r.word()}-${r.word()}`,
  underscores: (r) => `${r.word()}_${r.word()}`,
  word: (r) => r.word(),
  'word and year': (r) => `${r.word()}2024`,
  quotes: (r) => `pa"ss\\wo'rd${r.mixed(8)}x`,
  accents: (r) => `geheimnis-${r.mixed(9)}-für-öl`,
  'other script': (r) => `秘密${r.mixed(9)}の鍵`,
  dollars: (r) => `$ecr$${r.mixed(9)}$$`,
  braces: (r) => `[${r.mixed(9)}]{x}`,
  percent: (r) => `100%${r.mixed(9)}%zz`,
  assigned: (r) => `${r.mixed(9)}=${r.mixed(9)}==`,
  'user and password': (r) => `ada:${r.mixed(10)}`,
  'at and slash': (r) => `p@${r.mixed(9)}/${r.mixed(9)}`,
  markup: (r) => `<${r.mixed(9)}>&amp;`,
  six: (r) => `${r.mixed(4)}${r.digits(1)}${r.lower(1)}`.slice(0, 6),
}

/** May be names: they are shown in the path of an address. */
const LIKE_NAMES: readonly string[] = ['word', 'underscores']
export const forms = Object.keys(FORMS)
export const formsFor = (place: string) =>
  /path/.test(place) && !/missing/.test(place) ? forms.filter((form) => !LIKE_NAMES.includes(form)) : forms

export interface Planted {
  readonly place: string
  readonly form: string
  readonly pieces: readonly string[]
}

export function createPlanter(first = 0) {
  const planted: Planted[] = []
  return {
    planted,
    plant(place: string, form: string): string {
      const random = createRandom(7919 * (first + planted.length + 1))
      const secret = FORMS[form]?.(random) ?? ''
      const { pieces } = random
      // A short one is looked for as a whole.
      planted.push({ place, form, pieces: pieces.some(({ length }) => length >= WINDOW) ? pieces : [secret] })
      return secret
    },
  }
}

/** So many characters of a secret in a row are a leak: cut off is not hidden. */
const WINDOW = 7

/** Every window of every secret, in the forms that outputs have, with whose it is. */
export function windowsOf(planted: readonly Planted[]): Map<string, Planted> {
  const found = new Map<string, Planted>()
  for (const each of planted)
    for (const piece of each.pieces) {
      const text = piece.length < WINDOW ? piece.padEnd(WINDOW, ' ') : piece
      for (const form of [text, encodeURIComponent(text)])
        for (let at = 0; at + WINDOW <= form.length; at++) found.set(form.slice(at, at + WINDOW), each)
    }
  return found
}

export function leaksIn(whole: string, windows: ReadonlyMap<string, Planted>): string[] {
  // Among thousands of digests one has seven digits of a secret by chance.
  const text = whole.replace(/sha256-[0-9a-f]{64}/g, '')
  const found = new Map<Planted, string>()
  for (let at = 0; at + WINDOW <= text.length; at++) {
    const owner = windows.get(text.slice(at, at + WINDOW))
    if (owner && !found.has(owner))
      found.set(owner, `${owner.form} in ${owner.place}: …${text.slice(Math.max(0, at - 60), at + 30)}…`)
  }
  return [...found.values()]
}
