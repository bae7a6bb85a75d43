/** Numbers with units, times, and text of servers with its hidden characters shown. */
const plain = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

export const count = (value: number): string => plain.format(value)

/** Three digits: `812`, `4.07k`, `1.2M`. */
export const short = (value: number): string => compact.format(value).replace('K', 'k').replace('-', '−')

export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : /(?:s|ch|sh|x)$/.test(noun) ? 'es' : 's'}`

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %'
  const share = (100 * part) / whole
  // Never round a difference to "100 %" or "0 %".
  const shown =
    Math.abs(share) < 10 || (Math.abs(share) > 99 && Math.abs(share) < 100)
      ? Math.trunc(share * 10) / 10
      : Math.round(share)
  return `${String(shown).replace('-', '−')} %`
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
  const hours = Math.floor(seconds / 3600)
  return hours < 48 ? `${hours} h ${Math.floor((seconds % 3600) / 60)} min` : `${Math.floor(hours / 24)} days`
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  const [amount, unit] =
    value < 1e6 ? [value / 1e3, 'kB'] : value < 1e9 ? [value / 1e6, 'MB'] : [value / 1e9, 'GB']
  return `${amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${unit}`
}

export function ago(time: number, now: number): string {
  const seconds = Math.max(0, (now - time) / 1000)
  if (seconds < 10) return 'now'
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return seconds < 2 * 86_400 ? 'yesterday' : `${Math.floor(seconds / 86_400)} days ago`
}

export const exactTime = (time: Date | number): string => exact.format(time)

/** The last two parts of a path, which tell most projects apart. */
export function shortFolder(folder: string): string {
  const parts = folder.split(/[\\/]/).filter(Boolean)
  return parts.length <= 2 ? folder : `…/${parts.slice(-2).join('/')}`
}

export const lastFolder = (folder: string): string => folder.split(/[\\/]/).findLast(Boolean) ?? folder

export const withoutVersion = (client: string): string => client.replace(/ v?\d[\w.+-]*$/, '')

const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\u2028\u2029\uFFF9-\uFFFB]|[\u202A-\u202E\u2066-\u2069]/gu

/** Shows characters that a reader would not see but a model reads, and those that change the direction of text. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character, at: number) =>
    // The variation selector of an emoji, and Windows line ends.
    character === '\uFE0F' || (character === '\r' && text[at + 1] === '\n')
      ? ''
      : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

/** Indents JSON. Returns other text unchanged. */
export function indentJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Adds up some fields of records. */
export const addUp = <Key extends string>(rows: readonly Readonly<Record<Key, number>>[], ...keys: Key[]) =>
  Object.fromEntries(keys.map((key) => [key, rows.reduce((sum, row) => sum + row[key], 0)])) as Record<
    Key,
    number
  >
