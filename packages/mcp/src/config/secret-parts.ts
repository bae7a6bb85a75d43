/** Secrets inside a value: the password of an address, the texts of JSON, the fields of a connection string, what is behind `Basic`. */
import { isRecord } from '@toolwell/core/internal'
import { isOpaque } from './is-opaque.js'
import { SECRET_NAME, showUrl } from './show-word.js'

export interface SecretParts {
  /** Their place says that they are secret: a password, the field `token`. */
  readonly named: readonly string[]
  /** They look like it. */
  readonly opaque: readonly string[]
}

/** Texts of one JSON value that are looked at. */
const MOST_TEXTS = 1000

/** A server may say any of these alone. Other words in a value are words: hidden with all of it, and not by themselves. */
export function partsOf(value: string): SecretParts {
  const named = new Set<string>()
  const others = new Set<string>(value.split(/[,;|\s]+/))
  const take = (text: string, isNamed: boolean) => void (isNamed ? named : others).add(text)
  readAddresses(value, take)
  readJson(value, take)
  readFields(value, take)
  readCredentials(value, take)
  const isPart = (text: string) => text !== value && text !== ''
  return {
    named: [...named].filter(isPart),
    opaque: [...others].filter((text) => isPart(text) && !/\s/.test(text) && isOpaque(text)),
  }
}

type Take = (text: string, isNamed: boolean) => void

function readAddresses(value: string, take: Take): void {
  for (const url of value.match(/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi) ?? []) {
    for (const part of showUrl(url).hidden) take(part, false)
    const [, user = ''] = /^[^/]*\/\/([^/?#]*)@/.exec(url) ?? []
    if (user === '') continue
    const password = user.slice(user.indexOf(':') + 1)
    // The last as a client sends it.
    for (const part of [password, decoded(password), user, Buffer.from(decoded(user)).toString('base64')])
      take(part, true)
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function readJson(value: string, take: Take): void {
  if (!/^\s*[[{]/.test(value)) return
  let left = MOST_TEXTS
  const walk = (inner: unknown, isNamed: boolean): void => {
    if (left-- <= 0) return
    if (typeof inner === 'string') {
      take(inner, isNamed)
      for (const word of inner.split(/\s+/)) take(word, false)
      readAddresses(inner, take)
    } else if (Array.isArray(inner)) for (const each of inner) walk(each, isNamed)
    else if (isRecord(inner))
      for (const [key, each] of Object.entries(inner)) walk(each, isNamed || SECRET_NAME.test(key))
  }
  try {
    walk(JSON.parse(value), false)
  } catch {
    // It is no JSON.
  }
}

/** `Server=db;Password=…`, `user=ada&key=…`. */
function readFields(value: string, take: Take): void {
  for (const [, name = '', given = ''] of value.matchAll(
    /([A-Za-z][\w .-]{0,40})=("[^"]*"|'[^']*'|[^;&\s]+)/g,
  )) {
    take(given, SECRET_NAME.test(name))
    take(given.replace(/^(["'])(.*)\1$/, '$2'), SECRET_NAME.test(name))
  }
}

function readCredentials(value: string, take: Take): void {
  const [, encoded = ''] = /^Basic\s+([A-Za-z0-9+/=_-]{4,})$/i.exec(value) ?? []
  const plain = encoded === '' ? value : Buffer.from(encoded, 'base64').toString('utf8')
  // A user's name and password; not an address, nor a path of Windows, nor a port.
  const [, password = ''] = /^[^\s:/\\]{2,80}:([^\s/\\].*)$/s.exec(plain) ?? []
  const isBasic = encoded !== ''
  if (isBasic) for (const part of [encoded, plain]) take(part, true)
  if (!/^\d{1,5}$/.test(password)) take(password, isBasic)
}
