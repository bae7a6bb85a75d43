/** Keeps secrets out of every message, event and listing: the only place that decides what of a server is shown. */

import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { createTextHider, SHORTEST_SECRET } from './hide-texts.js'
import { hasReference } from './references.js'
import { findSecretParts, isCommon, isPlace, isSecretName, isSentence, namedWord } from './secret-parts.js'
import type { ServerConfig } from './server-config.js'
import { HIDDEN, isHarmless, isOpaque, isPath, SCHEME, showPath, showUrl, showWords } from './show-word.js'
import { isAbsolutePath } from './translate-entry.js'

/** As tools are called: `create_issue`, `github.create-issue`, `issues/create`. */
const ORDINARY_NAME = /^[\w.-]+(?:\/[\w.-]+)*$/

type Secretive = Pick<ServerConfig, 'secrets' | 'endpoint'> & Partial<Pick<ServerConfig, 'name'>>

/** A function that takes the server's secrets out of a text. Call it before a text is cut: half a secret is one too. */
export function createRedactor(server: Secretive): (text: string) => string {
  const { whole, named, others } = secretsOf(server)
  const hide = createTextHider([
    ...whole,
    ...named,
    ...others.filter((part) => !isWord(part) || isOpaque(part)),
  ])
  // In this order: an address that is half hidden no longer holds the whole secret.
  return (text) => redactUrls(hide(text))
}

/** An endpoint as it may be shown: names of variables and headers, no value. */
export function showEndpoint(endpoint: ServerConfig['endpoint'], secrets: readonly string[] = []): string {
  return createTextHider([...secrets, ...valuesOf(endpoint)].flatMap(wordsOf))(shownOf(endpoint))
}

export interface DefinitionRedactor {
  /** Takes secrets out of what a server says of itself. `names`: of its tools, which are shown anyway. */
  hide(text: string, names?: ReadonlySet<string>): string
  /** A name cannot be changed: whether it holds what only a secret looks like. */
  holdsSecret(name: string): boolean
}

/**
 * A word of the config may be a word of a description too, so only values that cannot be a word are taken out, and those
 * that are called a key, a password or the like.
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
  const hideSure = createTextHider([...sure, ...named.filter((value) => !isWord(value))])
  /** For the tools of a list, whose names stay. */
  const besides = new WeakMap<ReadonlySet<string>, (text: string) => string>()
  const hideBeside = (names: ReadonlySet<string>) => {
    const known = besides.get(names)
    if (known) return known
    const unnamed = longNames.filter((value) => !names.has(value))
    const made =
      unnamed.length === longNames.length ? hideAll : createTextHider([...named, ...sure, ...unnamed])
    besides.set(names, made)
    return made
  }
  return {
    hide: (text, names) => (names ? hideBeside(names) : hideAll)(text),
    holdsSecret: (name) =>
      named.includes(name) ||
      hideSure(name) !== name ||
      // An address, a header, a setting: no tool that a config asks for is called like that.
      (!ORDINARY_NAME.test(name) && hideAll(name) !== name),
  }
}

/** What of a server's start is remembered or pinned must not hold what came out of a variable. */
function createStartRedactor({ secrets }: Pick<ServerConfig, 'secrets'>): (text: string) => string {
  return createTextHider(secrets.filter((value) => !isWord(value)).flatMap(wordsOf))
}

interface Secrets {
  /** Values of the config that are not known to be harmless. */
  readonly whole: ReadonlySet<string>
  /** Values and parts of them whose place says that they are secret. */
  readonly named: ReadonlySet<string>
  /** Other parts. */
  readonly others: readonly string[]
}

function secretsOf({ name: shown, secrets, endpoint }: Secretive): Secrets {
  const cwd = endpoint.type === 'stdio' ? endpoint.cwd : ''
  const known = new Map<string, boolean>()
  const isKnown = (text: string) => {
    // Every message begins with the name of the server, which may stand in its command line too.
    const is = known.get(text) ?? (text === shown || isKnownText(text, cwd))
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
    // Where it leads is no secret, whatever it is called.
    if (isHarmless(value, cwd)) continue
    // What a reference stands for is known when the server is started.
    const inner = hasReference(value) ? [] : findSecretParts(value, isNamed, cwd)
    const isPlain = (part: string) =>
      part.length < SHORTEST_SECRET || isKnown(part) || (part !== value && isSentence(part))
    const parts = [...inner].filter(([part, isSecret]) => !(isSecret ? isHarmless(part, cwd) : isPlain(part)))
    for (const [part, isSecret] of parts) (isSecret ? named : others).add(part)
    if (!isKnown(value) || parts.some(([, isSecret]) => isSecret)) whole.add(value)
  }
  return { whole, named, others: [...others].filter((part) => !named.has(part)) }
}

/** Nobody's secret: a path as far as it exists, common words, an address that is shown whole; and lists of these. */
function isKnownText(text: string, cwd: string): boolean {
  const isKnown = (item: string) =>
    isHarmless(item, cwd) ||
    isCommon(item) ||
    (SCHEME.test(item) && showUrl(item).hidden.length === 0) ||
    (isPath(item) && showPath(item, cwd).hidden.every(isCommon))
  return isKnown(text) || text.split(/[,;]|:(?=[/~])/).every((item) => isKnown(item.replace(/^[\w-]+=/, '')))
}

/** Also a word of a sentence, with the capitals that words have, or a number. */
const isWord = (value: string) =>
  (value.length <= 14 && /^(?:[A-Za-z]?[a-z]+(?:[A-Z][a-z]{2,})*(?:[A-Z]{2,3})?|[A-Z]+)$/.test(value)) ||
  /^[\d.]{1,7}$/.test(value)

/** `Bearer abc`: the second word is the secret. Ordinary words of a longer text, a script say, are not. */
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

/** All of an endpoint that may be secret, with what it is called; empty where it has no name. */
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
      // Of a path, what does not exist is found with its parts.
      const shown = hidden.length === 0 ? [] : isPlace(pair[1]) ? [word] : [word, ...hidden]
      return [...(hidden.length === 0 ? [] : [pair]), ...shown.map((part) => ['', part] as const)]
    }),
  ]
}

/** User, password, opaque parts of the path and the values of the query, in whatever address a text holds. */
function redactUrls(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi, (url) =>
    url
      .replace(/^([a-z][\w+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`)
      .replace(/([?&][^=&#\s]+)=[^&#\s]*/g, `$1=${HIDDEN}`)
      .replace(/(?<=[^:/]\/)[^/?#]+/g, (part) => (isOpaque(part) ? HIDDEN : part)),
  )
}

// How a server is started or reached, as it is remembered and pinned: program, package and version, switches, address. No secret, and the same in another folder or on another machine.

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
  /** A path inside the project is the same for everybody who has it; others differ from machine to machine. */
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
