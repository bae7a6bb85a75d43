/** Keeps secrets out of every message, event and listing. */
import type { ServerConfig } from './server-config.js'

const HIDDEN = '***'

/** Shorter values are words (`true`, `1`, `en`) whose removal would make a message unreadable and hide nothing. */
const SHORTEST_SECRET = 6

const SECRET_FLAG = /(?:^|[-_])(?:key|token|secret|password|passwd|pwd|auth|credential|bearer|pat)s?$/i

/** A function that takes the server's secrets out of a text. */
export function redactor({ secrets, endpoint }: Pick<ServerConfig, 'secrets' | 'endpoint'>) {
  const found = new Set<string>()
  for (const secret of [...secrets, ...secretsOf(endpoint)]) {
    found.add(secret)
    found.add(secret.trim())
    found.add(encodeURIComponent(secret))
    // `Bearer abc`: the second word is the secret.
    for (const part of secret.split(/\s+/)) found.add(part)
  }
  const longest = [...found]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  return (text: string): string =>
    longest.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), redactUrls(text))
}

/** An endpoint as it may be shown: names of variables and headers, no value. */
export function showEndpoint(endpoint: ServerConfig['endpoint'], secrets: readonly string[] = []): string {
  if (endpoint.type !== 'stdio') return redactor({ secrets, endpoint })(redactUrl(endpoint.url))
  const hide = redactor({ secrets, endpoint })
  return [endpoint.command, ...hideFlags(endpoint.args)].map((part) => hide(part)).join(' ')
}

function secretsOf(endpoint: ServerConfig['endpoint']): string[] {
  if (endpoint.type === 'stdio') {
    const flags = endpoint.args.flatMap((argument, index) => {
      const [, value] = /^-{1,2}[\w-]+=(.*)$/s.exec(argument) ?? []
      if (value !== undefined && isSecretFlag(argument.slice(0, argument.indexOf('=')))) return [value]
      return isSecretFlag(endpoint.args[index - 1]) ? [argument] : []
    })
    return [...Object.values(endpoint.env), ...flags]
  }
  const inUrl: string[] = []
  try {
    const { username, password, searchParams } = new URL(endpoint.url)
    inUrl.push(decodeURIComponent(username), decodeURIComponent(password), ...searchParams.values())
  } catch {
    // Not a URL, or not one that can be decoded; connecting will say so.
  }
  return [...Object.values(endpoint.headers), ...inUrl]
}

function isSecretFlag(argument: string | undefined): boolean {
  return argument?.startsWith('-') === true && !argument.includes('=') && SECRET_FLAG.test(argument)
}

function hideFlags(args: readonly string[]): string[] {
  return args.map((argument, index) => {
    const at = argument.indexOf('=')
    if (at > 0 && isSecretFlag(argument.slice(0, at))) return `${argument.slice(0, at)}=${HIDDEN}`
    return isSecretFlag(args[index - 1]) && !argument.startsWith('-') ? HIDDEN : argument
  })
}

function redactUrls(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/g, redactUrl)
}

/** User, password and the values of the query hidden; everything else as it is written. */
function redactUrl(url: string): string {
  return url
    .replace(/^([a-z][\w+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`)
    .replace(/([?&][^=&#\s]+)=[^&#\s]*/g, `$1=${HIDDEN}`)
}
