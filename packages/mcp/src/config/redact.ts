/** Keeps secrets out of every message, event and listing: the only place that decides what of a server is shown. */
import { isOpaque } from './is-opaque.js'
import { partsOf } from './secret-parts.js'
import type { ServerConfig } from './server-config.js'
import { HIDDEN, SECRET_NAME, showLine, showPath, showUrl, USUAL } from './show-word.js'

/** Shorter values are words (`true`, `1`, `en`) whose removal would make a message unreadable and hide nothing. */
const SHORTEST_SECRET = 6

/** As tools are called: `create_issue`, `github.create-issue`, `issues/create`. */
const ORDINARY_NAME = /^[\w.-]+(?:\/[\w.-]+)*$/

type Secretive = Pick<ServerConfig, 'secrets' | 'endpoint'>

/** A function that takes the server's secrets out of a text. Call it before a text is cut: half a secret is one too. */
export function redactor(server: Secretive): (text: string) => string {
  const replace = replacer(secretsOf(server))
  // In this order: an address that is half hidden no longer holds the whole secret.
  return (text) => redactUrls(replace(text))
}

/** An endpoint as it may be shown: names of variables and headers, no value. */
export function showEndpoint(endpoint: ServerConfig['endpoint'], secrets: readonly string[] = []): string {
  return replacer([...secrets, ...valuesOf(endpoint)])(showWhole(endpoint).text)
}

export interface DefinitionRedactor {
  /** Takes secrets out of what a server says of itself. `names`: of its tools, which are shown anyway. */
  hide(text: string, names?: ReadonlySet<string>): string
  /** A name cannot be changed: whether it holds what only a secret looks like. */
  isTold(name: string): boolean
}

/**
 * A word of the config may be a word of a description too, so only values that cannot be a word are taken out, and those
 * that are called a key, a password or the like.
 */
export function definitionRedactor(server: Secretive): DefinitionRedactor {
  // The password of the database called postgres is often postgres.
  const shown = showWhole(server.endpoint).text
  const named = namedSecrets(server.endpoint).filter(
    (value) => value.length >= SHORTEST_SECRET && !USUAL.has(value) && !shown.includes(value),
  )
  const others = secretsOf(server).filter((value) => !isWord(value) && (isOpaque(value) || !isPlace(value)))
  // `--tools create_issue,listPullRequestComments`
  const mayBeName = (value: string) =>
    /^[A-Za-z_-]+$/.test(value) || (/^[A-Za-z][\w-]*$/.test(value) && !isOpaque(value))
  const sure = others.filter((value) => (isOpaque(value) || value.length >= 8) && !mayBeName(value))
  const longNames = others.filter((value) => value.length >= 8 && mayBeName(value))
  const replaceAll = replacer([...named, ...sure, ...longNames])
  const replaceSure = replacer([...sure, ...named.filter((value) => !isWord(value))])
  return {
    hide(text, names) {
      const unnamed = names && longNames.filter((value) => !names.has(value))
      if (!unnamed || unnamed.length === longNames.length) return replaceAll(text)
      return replacer([...named, ...sure, ...unnamed])(text)
    },
    isTold: (name) =>
      named.includes(name) ||
      replaceSure(name) !== name ||
      // An address, a header, a setting: no tool that a config asks for is called like that.
      (!ORDINARY_NAME.test(name) && replaceAll(name) !== name),
  }
}

/** What of a server's start is remembered or pinned must not hold what came out of a variable. */
export function startRedactor({ secrets }: Pick<ServerConfig, 'secrets'>): (text: string) => string {
  return replacer(secrets.filter((value) => !isWord(value)))
}

function secretsOf({ secrets, endpoint }: Secretive): string[] {
  const whole = [...secrets, ...valuesOf(endpoint), ...showWhole(endpoint).hidden]
  return [...new Set(whole.flatMap((value) => [value, ...partsOf(value).named, ...partsOf(value).opaque]))]
}

/** Also a word of a sentence, or a number. */
const isWord = (value: string) => /^[A-Za-z]{1,14}$/.test(value) || /^[\d.]{1,7}$/.test(value)

const isPlace = (value: string) => /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/])/.test(value)

function showWhole(endpoint: ServerConfig['endpoint']) {
  if (endpoint.type !== 'stdio') return showUrl(endpoint.url)
  const line = showLine(endpoint.command, endpoint.args, endpoint.cwd)
  return { text: line.text, hidden: [...line.hidden, ...showPath(endpoint.cwd, endpoint.cwd).hidden] }
}

function valuesOf(endpoint: ServerConfig['endpoint']): string[] {
  return Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers)
}

/** Values whose name says that they are secret, with what is in them. */
function namedSecrets(endpoint: ServerConfig['endpoint']): string[] {
  const pairs =
    endpoint.type === 'stdio'
      ? [
          ...Object.entries(endpoint.env),
          ...endpoint.args.map((word, at) => namedWord(word, endpoint.args[at - 1])),
        ]
      : Object.entries(endpoint.headers)
  const isNamed = (name: string) => SECRET_NAME.test(name) || /^(?:proxy-)?authorization$/i.test(name)
  return pairs.flatMap(([name, value]) => [...(isNamed(name) ? [value] : []), ...partsOf(value).named])
}

/** `--name value`, `--name=value`, `NAME=value`. */
function namedWord(word: string, before = ''): [name: string, value: string] {
  const [, name, value = ''] = /^-{0,2}([A-Za-z][\w.-]*)=(.*)$/s.exec(word) ?? []
  return name === undefined ? [before, word] : [name, value]
}

function replacer(secrets: readonly string[]): (text: string) => string {
  const found = new Set<string>()
  for (const secret of secrets) {
    // `Bearer abc`: the second word is the secret. Ordinary words of a longer text, a script say, are not.
    const all = secret.split(/\s+/)
    const words = all.filter((word) => (all.length <= 3 ? !isWord(word) : isOpaque(word)))
    for (const part of [secret, secret.trim(), secret.replace(/\s+/g, ' '), ...words])
      for (const form of formsOf(part)) found.add(form)
  }
  const longest = [...found]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  // Short ones that are neither words nor numbers: only where they stand alone.
  const short = [...found].filter((secret) => /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z\d]{4,5}$/.test(secret))
  const alone = new RegExp(`(?<![A-Za-z\\d])(?:${short.join('|')})(?![A-Za-z\\d])`, 'g')
  return (text) => {
    const rest = longest.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
    return short.length === 0 ? rest : rest.replace(alone, HIDDEN)
  }
}

/** As addresses and JSON write it; clients differ in what they escape. */
function formsOf(text: string): string[] {
  const encoded = encodeURIComponent(text.toWellFormed())
  const strict = encoded.replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
  const small = strict.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase())
  return [text, encoded, strict, small, encodeURI(text.toWellFormed()), JSON.stringify(text).slice(1, -1)]
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
