/** Keeps secrets out of messages, events and listings. Only this file decides which parts of a server's config are shown. */

import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { createTextHider, SHORTEST_SECRET } from './hide-texts.js'
import { hasReference } from './references.js'
import { findSecretParts, isCommon, isPlace, isSecretName, isSentence, namedWord } from './secret-parts.js'
import type { ServerConfig } from './server-config.js'
import { HIDDEN, isHarmless, isOpaque, isPath, SCHEME, showPath, showUrl, showWords } from './show-word.js'
import { isAbsolutePath } from './translate-entry.js'

/** Usual tool names: `create_issue`, `github.create-issue`, `issues/create`. */
const ORDINARY_NAME = /^[\w.-]+(?:\/[\w.-]+)*$/

type Secretive = Pick<ServerConfig, 'secrets' | 'endpoint'> & Partial<Pick<ServerConfig, 'name'>>

/** Creates a function that hides the server's secrets in a text. Use it before cutting a text: half a secret is a leak, too. */
export function createRedactor(server: Secretive): (text: string) => string {
  const { whole, named, others } = secretsOf(server)
  const hide = createTextHider([
    ...whole,
    ...named,
    ...others.filter((part) => !isWord(part) || isOpaque(part)),
  ])
  const { name = '' } = server
  return (text) => {
    // Hide secrets first: a half-hidden address no longer contains the whole secret.
    const hidden = redactUrls(hide(text))
    // A password may be equal to the server's name, with which messages begin.
    const isOwn = name !== '' && /^(?:\s|:|$)/.test(text.slice(name.length)) && text.startsWith(name)
    return isOwn && hidden.startsWith(HIDDEN) ? `${name}${hidden.slice(HIDDEN.length)}` : hidden
  }
}

/** Shows an endpoint without values of variables and headers. */
export function showEndpoint(endpoint: ServerConfig['endpoint'], secrets: readonly string[] = []): string {
  return createTextHider([...secrets, ...valuesOf(endpoint)].flatMap(wordsOf))(shownOf(endpoint))
}

export interface DefinitionRedactor {
  /** Hides secrets in a definition. `names`: tool names, which are shown anyway. */
  hide(text: string, names?: ReadonlySet<string>): string
  /** Does this name contain a secret? Names cannot be changed. */
  holdsSecret(name: string): boolean
}

/**
 * A word of the config may also be an ordinary word of a description. Hides only values that cannot be words, and values that
 * are named as a key, a password or the like.
 */
export function createDefinitionRedactor(server: Secretive): DefinitionRedactor {
  const { whole, named: all, others: parts } = secretsOf(server)
  // The password of the database called postgres is often postgres.
  const shown = shownOf(server.endpoint)
  const named = [...all].filter((value) => value.length >= SHORTEST_SECRET && !shown.includes(value))
  const others = [...whole, ...parts].filter((value) => isOpaque(value) || !(isWord(value) || isPlace(value)))
  // `--tools create_issue,listPullRequestComments`
  const mayBeName = (value: string) =>
    /^[A-Za-z_-]+$/.test(value) || (/^[A-Za-z][\w-]*$/.test(value) && !isOpaque(value))
  const sure = others.filter((value) => (isOpaque(value) || value.length >= 8) && !mayBeName(value))
  const longNames = others.filter((value) => value.length >= 8 && mayBeName(value))
  const hideAll = createTextHider([...named, ...sure, ...longNames])
  // The start of a secret, such as `get_user` of `get_user,9f8e7d`, may be an ordinary name.
  const pieces = new Set(
    [...whole, ...all].map((value) => value.split(/[,;|\n]/)).flatMap((items) => items.slice(0, -1)),
  )
  const namedWhole = named.filter((value) => whole.has(value) || !(pieces.has(value) && mayBeName(value)))
  const hideSure = createTextHider([...sure, ...namedWhole.filter((value) => !isWord(value))])
  /** By tool names, which stay visible. */
  const hiders = new WeakMap<ReadonlySet<string>, (text: string) => string>()
  const hiderFor = (names: ReadonlySet<string>) => {
    const known = hiders.get(names)
    if (known) return known
    const unnamed = longNames.filter((value) => !names.has(value))
    const made =
      unnamed.length === longNames.length ? hideAll : createTextHider([...named, ...sure, ...unnamed])
    hiders.set(names, made)
    return made
  }
  return {
    hide: (text, names) => (names ? hiderFor(names) : hideAll)(text),
    holdsSecret: (name) =>
      namedWhole.includes(name) ||
      hideSure(name) !== name ||
      // An address, a header or a setting is not a usual tool name.
      (!ORDINARY_NAME.test(name) && hideAll(name) !== name),
  }
}

/** Creates a function that hides values of variables in the start command that is remembered or pinned. */
function createStartRedactor({ secrets }: Pick<ServerConfig, 'secrets'>): (text: string) => string {
  return createTextHider(secrets.filter((value) => !isWord(value)).flatMap(wordsOf))
}

interface Secrets {
  /** Config values that are not known to be harmless. */
  readonly whole: ReadonlySet<string>
  /** Values, and parts of values, that are named as secrets. */
  readonly named: ReadonlySet<string>
  /** Other parts. */
  readonly others: readonly string[]
}

function secretsOf({ name: shown = '', secrets, endpoint }: Secretive): Secrets {
  const cwd = endpoint.type === 'stdio' ? endpoint.cwd : ''
  const known = new Map<string, boolean>()
  const isKnown = (text: string) => {
    // The server's name may be in its command line. Messages begin with it, so neither it nor a part of it is secret.
    const isShown = shown.toLowerCase().includes(text.toLowerCase())
    const is = known.get(text) ?? (isShown || isKnownText(text, cwd))
    known.set(text, is)
    return is
  }
  const values = new Map<string, boolean>()
  for (const [name, value] of [...secrets.map((each) => ['', each] as const), ...namedValues(endpoint)])
    values.set(value, values.get(value) === true || isSecretName(name))
  const whole = new Set<string>()
  const named = new Set<string>()
  const others = new Set<string>()
  for (const [value, isNamed] of values) {
    // Existing paths and usual words are not secret, whatever their name.
    if (isHarmless(value, cwd)) continue
    // The value of a reference is known only when the server starts.
    const inner = hasReference(value) ? [] : findSecretParts(value, isNamed, cwd)
    const isPlain = (part: string) =>
      part.length < SHORTEST_SECRET || isKnown(part) || (part !== value && isSentence(part))
    const parts = [...inner].filter(([part, isSecret]) => !(isSecret ? isHarmless(part, cwd) : isPlain(part)))
    for (const [part, isSecret] of parts) (isSecret ? named : others).add(part)
    if (!isKnown(value) || parts.some(([, isSecret]) => isSecret)) whole.add(value)
  }
  return { whole, named, others: [...others].filter((part) => !named.has(part)) }
}

/** Not secret: an existing path, common words, an address without hidden parts, and lists of these. */
function isKnownText(text: string, cwd: string): boolean {
  const isKnown = (item: string) =>
    isHarmless(item, cwd) ||
    isCommon(item) ||
    (SCHEME.test(item) && showUrl(item).hidden.length === 0) ||
    (isPath(item) && showPath(item, cwd).hidden.every(isCommon))
  return isKnown(text) || text.split(/[,;]|:(?=[/~])/).every((item) => isKnown(item.replace(/^[\w-]+=/, '')))
}

/** An ordinary word in camel case, upper case or lower case, or a number. */
const isWord = (value: string) =>
  (value.length <= 14 && /^(?:[A-Za-z]?[a-z]+(?:[A-Z][a-z]{2,})*(?:[A-Z]{2,3})?|[A-Z]+)$/.test(value)) ||
  /^[\d.]{1,7}$/.test(value)

/** The value and its secret words: of `Bearer abc`, the second. Ordinary words of a longer text are not secret. */
function wordsOf(value: string): string[] {
  const all = value.split(/\s+/)
  return [value, ...all.filter((word) => (all.length <= 3 ? !isWord(word) : isOpaque(word)))]
}

function shownOf(endpoint: ServerConfig['endpoint']): string {
  if (endpoint.type !== 'stdio') return showUrl(endpoint.url).text
  const { command, args, cwd } = endpoint
  return showWords(command, args, cwd)
    .map(({ text }) => text)
    .join(' ')
}

function valuesOf(endpoint: ServerConfig['endpoint']): string[] {
  return Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers)
}

/** Values of an endpoint that may be secret, with their names; an empty name if there is none. */
function namedValues(endpoint: ServerConfig['endpoint']): (readonly [name: string, value: string])[] {
  if (endpoint.type !== 'stdio')
    return [
      ...Object.entries(endpoint.headers),
      ['', endpoint.url],
      ...showUrl(endpoint.url).hidden.map((part) => ['', part] as const),
    ]
  const { command, args, env, cwd } = endpoint
  const words = [command, ...args]
  return [
    ...Object.entries(env),
    ...showPath(cwd, cwd).hidden.map((part) => ['', part] as const),
    ...showWords(command, args, cwd).flatMap(({ hidden }, at) => {
      const word = words[at] ?? ''
      const pair = namedWord(word, words[at - 1])
      // Missing parts of a path are found by `findSecretParts`.
      const shown = hidden.length === 0 ? [] : isPlace(pair[1]) ? [word] : [word, ...hidden]
      return [...(hidden.length === 0 ? [] : [pair]), ...shown.map((part) => ['', part] as const)]
    }),
  ]
}

/** Hides user, password, opaque path segments and query values in every URL of a text. */
function redactUrls(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi, (url) =>
    url
      .replace(/^([a-z][\w+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`)
      .replace(/([?&][^=&#\s]+)=[^&#\s]*/g, `$1=${HIDDEN}`)
      .replace(/(?<=[^:/]\/)[^/?#]+/g, (part) => (isOpaque(part) ? HIDDEN : part)),
  )
}

/** Describes how a server is started or reached, for records and locks: without secrets, and the same on every machine. */
export function describeStart(server: Pick<ServerConfig, 'endpoint' | 'file' | 'secrets'>): string {
  return createStartRedactor(server)(shownStart(server))
}

function shownStart({ endpoint, file }: Pick<ServerConfig, 'endpoint' | 'file'>): string {
  if (endpoint.type !== 'stdio') return showUrl(endpoint.url).text
  const { command, args, cwd } = endpoint
  const folders = [cwd, ...(file === undefined ? [] : [dirname(file)])]
  const [program = '', ...words] = showWords(command, args, cwd).map(({ text }) => text)
  const inside = (path: string) => {
    const near = folders
      .map((folder) => relative(folder, resolve(cwd, path)))
      .filter((each) => !each.startsWith('..') && !isAbsolutePath(each))
    return near.sort((a, b) => a.length - b.length)[0]
  }
  /** Keeps paths inside the project. Other paths differ from machine to machine. */
  const portable = (word: string): string => {
    const [, name = '', value = word] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(word) ?? []
    const isPlace =
      isAbsolutePath(value) ||
      /^(?:~|\.{1,2})[\\/]/.test(value) ||
      (/[\\/]/.test(value) && existsSync(resolve(cwd, value)))
    if (!isPlace) return word
    const near = inside(value)
    return `${name}${near === undefined ? HIDDEN : `./${near.replaceAll('\\', '/')}`}`
  }
  const own =
    isAbsolutePath(program) || /[\\/]/.test(program) ? (inside(program) ?? basename(program)) : program
  return [own.replace(/\.(?:exe|cmd)$/i, ''), ...words.map(portable)].join(' ')
}
