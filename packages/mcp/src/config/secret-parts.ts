/**
 * What is inside a value, by the structure it has: the password of an address, the texts of JSON, the fields of a connection
 * string, what is behind `NAME=`, `user:` or `Bearer`, the lines of a key. A server may say any of these alone.
 */
import { isRecord } from '@toolwell/core/internal'
import { isCommon } from './is-common.js'
import { isOpaque } from './is-opaque.js'
import { isSecretName, namedWord } from './named-word.js'
import { showPath, showUrl } from './show-word.js'

/** By text: whether its place says that it is secret, as that of a password does. */
export type SecretParts = ReadonlyMap<string, boolean>

/** Parts of one value that are looked at, and how deep one may be in another. */
const MOST_PARTS = 1000
const DEEPEST = 6

export const isPlace = (text: string) => /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/])/.test(text)

type Take = (text: string, isNamed: boolean) => void

/** The value itself is one of them. Paths start at `cwd`; as far as one exists, nothing of it is a part. */
export function partsOf(value: string, isNamed: boolean, cwd: string): SecretParts {
  const found = new Map<string, boolean>()
  const visit = (text: string, isSecret: boolean, depth: number): void => {
    const known = found.get(text)
    if (text === '' || known === true || known === isSecret || found.size >= MOST_PARTS) return
    found.set(text, isSecret)
    if (depth >= DEEPEST) return
    const take: Take = (part, isPartNamed) => visit(part, isPartNamed, depth + 1)
    if (readJson(text, isSecret, take) || readAddress(text, take) || readPlaces(text, cwd, take)) return
    for (const read of READERS) read(text, isSecret, take)
  }
  visit(value, isNamed, 0)
  return found
}

type Reader = (text: string, isNamed: boolean, take: Take) => void

/** Each for one structure; a text may have several. */
const READERS: readonly Reader[] = [
  readQuoted,
  readLines,
  readCredentials,
  readBase64,
  readFields,
  readPair,
  readLine,
  readWords,
  readAddresses,
]

function readQuoted(text: string, isNamed: boolean, take: Take): void {
  take(text.trim(), isNamed)
  const [, , quoted, braced] = /^(?:(["'`])(.*)\1|\{(.*)\})$/s.exec(text) ?? []
  take(quoted ?? braced ?? '', isNamed)
}

function readJson(text: string, isNamed: boolean, take: Take): boolean {
  if (!/^\s*[[{"]/.test(text)) return false
  const texts: { readonly named: string[]; readonly others: string[] } = { named: [], others: [] }
  const walk = (inner: unknown, isInnerNamed: boolean): void => {
    if (typeof inner === 'string' || typeof inner === 'number')
      texts[isInnerNamed ? 'named' : 'others'].push(String(inner))
    else if (Array.isArray(inner)) for (const each of inner) walk(each, isInnerNamed)
    else if (isRecord(inner))
      for (const [key, each] of Object.entries(inner)) walk(each, isInnerNamed || isSecretName(key))
  }
  try {
    walk(JSON.parse(text), isNamed)
  } catch {
    return false
  }
  // In this order: there may be more than are looked at.
  for (const each of texts.named) take(each, true)
  for (const each of texts.others) take(each, false)
  return true
}

/** User, password, and whatever of it is not shown. */
function readAddress(text: string, take: Take): boolean {
  if (!/^[a-z][a-z0-9+.-]{1,30}:\/\/\S+$/is.test(text)) return false
  const [, user = ''] = /^[^/]*\/\/([^/?#]*)@/.exec(text) ?? []
  if (user !== '') {
    const [name = ''] = user.split(':', 1)
    const password = user.slice(user.indexOf(':') + 1)
    for (const part of [password, decoded(password), user, decoded(user)]) take(part, true)
    // A token may stand before the colon too.
    for (const part of [name, decoded(name)]) take(part, !isCommon(part))
    // As a client sends it.
    take(Buffer.from(decoded(user)).toString('base64'), true)
  }
  const [, query = ''] = /\?([^#]*)/.exec(text) ?? []
  for (const pair of query.split('&')) {
    const [name = '', ...given] = pair.split('=')
    for (const part of [given.join('='), decoded(given.join('='))]) take(part, isSecretName(name))
  }
  for (const part of showUrl(text).hidden) take(part, false)
  return true
}

function readAddresses(text: string, _: boolean, take: Take): void {
  for (const [url] of text.matchAll(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi)) readAddress(url, take)
}

/** A path, or several as `PATH` and a container's volumes have them: what of it does not exist. */
function readPlaces(text: string, cwd: string, take: Take): boolean {
  if (!isPlace(text)) return false
  const places = text.split(/[:;,](?=~?[\\/]|\.{1,2}[\\/]|[\w-]+=)/)
  if (places.length > 1) for (const place of places) take(place, false)
  else for (const part of showPath(text, cwd).hidden) take(part, false)
  return true
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A key is often told line by line. */
function readLines(text: string, isNamed: boolean, take: Take): void {
  const lines = text.split(/\r?\n|\\n/)
  if (lines.length > 1) for (const line of lines) take(line, isNamed)
}

/** `Bearer …`, `Basic …`. */
function readCredentials(text: string, _: boolean, take: Take): void {
  take(/^\s*(?:bearer|basic|token|apikey|key|digest)\s+(.+)$/is.exec(text)?.[1] ?? '', true)
}

/** What a text is the base64 of, where that is a text too. */
function readBase64(text: string, isNamed: boolean, take: Take): void {
  if (!/^[A-Za-z\d+/_-]{8,}={0,2}$/.test(text)) return
  const plain = Buffer.from(text, 'base64').toString('utf8')
  if (!/[\x00-\x08\x0e-\x1f\x7f\ufffd]/.test(plain)) take(plain, isNamed)
}

/** `Server=db;Password=…`, `user=ada&key=…`, `host=db password=…`, `NAME=value`. A password may hold what ends a field elsewhere. */
function readFields(text: string, isNamed: boolean, take: Take): void {
  if (!text.includes('=')) return
  const field = (each: string) => {
    const [, name, given = ''] = /^\s*(?:export\s+)?(-{0,2}[\w.+/@ -]{1,80}?)\s*=(.+)$/s.exec(each) ?? []
    if (name !== undefined) take(given, isNamed || isSecretName(name))
  }
  for (const each of [text, ...text.split(';'), ...text.split('&')]) field(each)
  for (const [each] of text.matchAll(/[A-Za-z][\w.-]{0,40}\s?=(?:\s?"[^"]*"|\s?'[^']*'|\{[^}]*\}|[^;&\s]+)/g))
    field(each)
}

/** `ada:password`, `Name: value`, `ada/password@//host`. Not a port, nor the path of Windows, nor words such as `read:issues`. */
function readPair(text: string, isNamed: boolean, take: Take): void {
  const [, name = '', given = ''] = /^([A-Za-z][^\s:/\\="'`{[<]{1,80}):(?!\/\/)\s*(.+)$/s.exec(text) ?? []
  const isSecret = isNamed || isSecretName(name) || !(isCommon(given) || isPlace(given))
  if (!/^\d{1,5}$/.test(given)) take(given, isSecret)
  // Before a host.
  take(/^(.+)@[\w.(]+[:/]/s.exec(given)?.[1] ?? '', isSecret)
  take(/^[A-Za-z][\w.-]*\/([^\s/]+)@(?:\/\/|[\w.-]+[:/])/.exec(text)?.[1] ?? '', true)
}

/** A command line: what follows a switch is called like it. */
function readLine(text: string, _: boolean, take: Take): void {
  if (!/\s-/.test(text)) return
  const words = (text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replace(/^(["'])(.*)\1$/s, '$2'),
  )
  for (const [at, word] of words.entries()) {
    const [name, value] = namedWord(word, words[at - 1])
    if (isSecretName(name) && !word.startsWith('--')) take(value, true)
  }
}

/** As projects and their folders are called. */
const NAME = /^[A-Za-z]?[a-z]*(?:[-_.][A-Za-z]?[a-z]+)*$/

/** Items of a list, and words: of a longer text only those that look like keys. Pieces between `/` where it is no path. */
function readWords(text: string, isNamed: boolean, take: Take): void {
  const items = text.split(/[,;|\s]+/)
  const words = text.split(/\s+/).length
  for (const item of items) if (words <= 3 || isOpaque(item)) take(item, isNamed && words === 1)
  if (items.length === 1 && !/=[^=]/.test(text))
    for (const piece of text.split('/')) if (isOpaque(piece) || !NAME.test(piece)) take(piece, isNamed)
}
