/** Keeps secrets out of every message, event and listing: the only place that decides what of a server is shown. */
import type { ServerConfig } from './server-config.js'
import { HIDDEN, isOpaque, showLine, showPath, showUrl } from './show-word.js'

/** Shorter values are words (`true`, `1`, `en`) whose removal would make a message unreadable and hide nothing. */
const SHORTEST_SECRET = 6

type Secretive = Pick<ServerConfig, 'secrets' | 'endpoint'>

/** A function that takes the server's secrets out of a text. Call it before a text is cut: half a secret is one too. */
export function redactor(server: Secretive): (text: string) => string {
  const secrets = [...server.secrets, ...valuesOf(server.endpoint), ...showWhole(server.endpoint).hidden]
  const replace = replacer(secrets)
  return (text) => replace(redactUrls(text))
}

/** An endpoint as it may be shown: names of variables and headers, no value. */
export function showEndpoint(endpoint: ServerConfig['endpoint'], secrets: readonly string[] = []): string {
  return replacer([...secrets, ...valuesOf(endpoint)])(showWhole(endpoint).text)
}

/**
 * Takes secrets out of what a server says of itself. A word of the config may be a word of a description too, so only
 * values that cannot be a word are taken out.
 */
export function definitionRedactor({ secrets, endpoint }: Secretive): (text: string) => string {
  const all = [...secrets, ...valuesOf(endpoint), ...showWhole(endpoint).hidden]
  return replacer(
    all.filter((value) => value.length >= 8 && !isWord(value) && (isOpaque(value) || !isPlace(value))),
  )
}

/** Also a word of a sentence, or a number. */
const isWord = (value: string) => /^[A-Za-z]{1,14}$/.test(value) || /^[\d.]+$/.test(value)

const isPlace = (value: string) => /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/])/.test(value)

function showWhole(endpoint: ServerConfig['endpoint']) {
  if (endpoint.type !== 'stdio') return showUrl(endpoint.url)
  const line = showLine(endpoint.command, endpoint.args, endpoint.cwd)
  return { text: line.text, hidden: [...line.hidden, ...showPath(endpoint.cwd, endpoint.cwd).hidden] }
}

function valuesOf(endpoint: ServerConfig['endpoint']): string[] {
  return Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers)
}

function replacer(secrets: readonly string[]): (text: string) => string {
  const found = new Set<string>()
  for (const secret of secrets) {
    // `Bearer abc`: the second word is the secret. Ordinary words of a longer text, a script say, are not.
    const all = secret.split(/\s+/)
    const words = all.filter((word) => (all.length <= 3 ? !isWord(word) : isOpaque(word)))
    for (const part of [secret, secret.trim(), secret.replace(/\s+/g, ' '), ...words])
      for (const form of [part, encodeURIComponent(part.toWellFormed()), JSON.stringify(part).slice(1, -1)])
        found.add(form)
  }
  const longest = [...found]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  return (text) => longest.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
}

/** User, password and the values of the query, in whatever address a text holds. */
function redactUrls(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi, (url) =>
    url
      .replace(/^([a-z][\w+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`)
      .replace(/([?&][^=&#\s]+)=[^&#\s]*/g, `$1=${HIDDEN}`),
  )
}
