import { canonicalJson, shortHash } from '../base/hash.js'

/** Names what was called and with what: the same call has the same key. */
export function keyOf(name: string, input: unknown): string {
  return shortHash(`${name}\n${typeof input === 'string' ? input : canonicalJson(input)}`)
}
