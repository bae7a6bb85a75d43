/**
 * Finds parts of a config value that are secret by themselves, because a server may print them alone: the password of an address,
 * strings in JSON, fields of a connection string, values after `NAME=`, `user:` or `Bearer`, lines of a key.
 */

import { isOrdinaryWord, isRecord } from '@toolwell/core/internal'
import { isOpaque, SECRET_NAME, showPath, showUrl, USUAL } from './show-word.js'

/** Part → is it named as a secret, such as a password? */
export type SecretParts = ReadonlyMap<string, boolean>

/** Limits for the number of parts of one value, and for their nesting. */
const MOST_PARTS = 1000
const DEEPEST = 6

export const isPlace = (text: string) => /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/])/.test(text)

type Take = (text: string, isNamed: boolean) => void

/** Includes the value itself. Paths start at `cwd`; existing parts of a path are skipped. */
export function findSecretParts(value: string, isNamed: boolean, cwd: string): SecretParts {
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

/** One reader per structure; a text may have several structures. */
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
  // Named secrets first: the number of parts is limited.
  for (const each of texts.named) take(each, true)
  for (const each of texts.others) take(each, false)
  return true
}

/** User, password, and all hidden parts of the URL. */
function readAddress(text: string, take: Take): boolean {
  if (!/^[a-z][a-z0-9+.-]{1,30}:\/\/\S+$/is.test(text)) return false
  const [, user = ''] = /^[^/]*\/\/([^/?#]*)@/.exec(text) ?? []
  if (user !== '') {
    const [name = ''] = user.split(':', 1)
    const password = user.slice(user.indexOf(':') + 1)
    for (const part of [password, decoded(password), user, decoded(user)]) take(part, true)
    // A token may also be before the colon.
    for (const part of [name, decoded(name)]) take(part, !isCommon(part))
    // As sent in a Basic Authorization header.
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

/** The missing parts of a path, or of several paths as in `PATH` and container volumes. */
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

/** Keys are often printed line by line. */
function readLines(text: string, isNamed: boolean, take: Take): void {
  const lines = text.split(/\r?\n|\\n/)
  if (lines.length > 1) for (const line of lines) take(line, isNamed)
}

/** `Bearer …`, `Basic …`. */
function readCredentials(text: string, _: boolean, take: Take): void {
  take(/^\s*(?:bearer|basic|token|apikey|key|digest)\s+(.+)$/is.exec(text)?.[1] ?? '', true)
}

/** The decoded text of base64. */
function readBase64(text: string, isNamed: boolean, take: Take): void {
  if (!/^[A-Za-z\d+/_-]{8,}={0,2}$/.test(text)) return
  const plain = Buffer.from(text, 'base64').toString('utf8')
  if (!/[\x00-\x08\x0e-\x1f\x7f\ufffd]/.test(plain)) take(plain, isNamed)
}

/** `Server=db;Password=…`, `user=ada&key=…`, `host=db password=…`, `NAME=value`. Tries all separators, because a password may contain some. */
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

/** `ada:password`, `Name: value`, `ada/password@//host`. Not ports, Windows paths, or words such as `read:issues`. */
function readPair(text: string, isNamed: boolean, take: Take): void {
  const [, name = '', given = ''] = /^([A-Za-z][^\s:/\\="'`{[<]{1,80}):(?!\/\/)\s*(.+)$/s.exec(text) ?? []
  const isSecret = isNamed || isSecretName(name) || !(isCommon(given) || isPlace(given))
  if (!/^\d{1,5}$/.test(given)) take(given, isSecret)
  // Before a host.
  take(/^(.+)@[\w.(]+[:/]/s.exec(given)?.[1] ?? '', isSecret)
  take(/^[A-Za-z][\w.-]*\/([^\s/]+)@(?:\/\/|[\w.-]+[:/])/.exec(text)?.[1] ?? '', true)
}

/** A command line: the value after a switch gets the name of the switch. */
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

/** Usual names of projects and folders. */
const NAME = /^[A-Za-z]?[a-z]*(?:[-_.][A-Za-z]?[a-z]+)*$/

/** Items of lists, and words. Of longer texts, only words that look like keys. Also parts between `/` that are not names. */
function readWords(text: string, isNamed: boolean, take: Take): void {
  const items = text.split(/[,;|\s]+/)
  const words = text.split(/\s+/).length
  for (const item of items) if (words <= 3 || isOpaque(item)) take(item, isNamed && words === 1)
  if (items.length === 1 && !/=[^=]/.test(text))
    for (const piece of text.split('/')) if (isOpaque(piece) || !NAME.test(piece)) take(piece, isNamed)
}

/** Common words of settings. */
const SETTINGS: ReadonlySet<string> = new Set(
  `admin address agent align allow app application arg args backend base batch beta binary bind buffer build bundle cache caps cert chrome chromium
  class cluster cmd color command compact component compose conf config connect console container context core cors cpu cwd
  daemon db default demo dir directory disable disabled display dist domain east edge enable enabled encoding endpoint engine entry error
  europe example experimental extension false feature firefox flag format full gateway global group guest handler headed headless
  hidden home hook host hostname id ignore image index inbound info init input inspect instance interval ipv4 ipv6 isolated issue
  java javascript job kernel kind label lang language layer legacy level lib library limit line link linux listen loader local
  locale log logger logs loop machine macos main manager manual markdown master max memory meta method metric min mini mode
  model module mount multi name namespace native net network node none north null number object offline opt option options org
  origin os outbound output package page parser path pipe pixel plain platform plugin pool port postgres prefix preset preview
  primary private process prod profile program prompt protocol provider proxy pub public queue quiet raw readonly redis
  reader ref region registry release remote repo repos request reset resource response resume retry role root route router runtime safe
  sandbox schema scope script secondary section select self service session settings shared shell simple single size skip slow socket
  sonnet south space spec sqlite srv stable stage staging standard state static stats status std stderr stdin stdout storage stream
  strict string sub suite support switch sync sys system tab tag target task temp template tenant terminal theme thread
  timeout tmp toolset toolsets toolwell trace transport tree true type typescript ubuntu unit unix update upstream url usr util utils utf8 value
  var vendor verbose version viewer viewport virtual vision volume watch webkit west width height window windows worker
  workflow write writer xml yaml zone`.split(/\s+/),
)

/** Splits at punctuation, and between lower and upper case. */
const piecesOf = (text: string) =>
  text
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .split(/[^A-Za-z0-9]+/)
    .filter((piece) => piece !== '')

/** Is the text made of common words, such as `pull_requests` or `us-east-1`? Known words must make up more than half of it. */
export function isCommon(text: string): boolean {
  // Three punctuation characters in a row are not part of words.
  if (text.length > 200 || /[^\x20-\x7e]|[^A-Za-z0-9\s]{3}/.test(text)) return false
  let known = 0
  let all = 0
  for (const piece of piecesOf(text)) {
    all += piece.length
    const word = piece.toLowerCase()
    if (piece.length > 2 && (isOrdinaryWord(word) || SETTINGS.has(word) || USUAL.has(word)))
      known += piece.length
    else if (!/^(?:[A-Za-z]{1,3}|\d{1,4}|v\d{1,2})$/.test(piece)) return false
  }
  return known * 2 > all
}

/** Is the text a sentence, mostly of ordinary words? */
export function isSentence(text: string): boolean {
  const words = text.split(/\s+/).map((word) => word.toLowerCase().replace(/[^a-z]+/g, ''))
  return words.length > 2 && words.filter(isOrdinaryWord).length * 2 >= words.length
}

/** Is this the name of a header, field, variable or switch that holds a secret? */
export const isSecretName = (name: string) =>
  SECRET_NAME.test(name) || /^(?:proxy-)?authorization$/i.test(name)

/**
 * Splits a word of a command line into name and value: `--token abc`, `TOKEN=abc`, `--header "Token: abc"`. `before` is the
 * previous word. The name is empty if there is none.
 */
export function namedWord(word: string, before = ''): readonly [name: string, value: string] {
  const line = /^(?:-H|--header)$/i.test(before) ? word : (/^--header=(.*)$/is.exec(word)?.[1] ?? '')
  const [, header, rest = ''] = /^([A-Za-z][A-Za-z-]*):\s*(.+)$/s.exec(line) ?? []
  if (header !== undefined) return [header, rest]
  const [, name, value = ''] = /^-{0,2}([A-Za-z][\w.-]*)=(.*)$/s.exec(word) ?? []
  return name === undefined ? [before.startsWith('-') ? before : '', word] : [name, value]
}
