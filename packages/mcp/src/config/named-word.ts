/** A word of a command line with the name that its place gives it: `--token abc`, `TOKEN=abc`, `--header "Token: abc"`. */
import { SECRET_NAME } from './show-word.js'

/** Names a header, a field, a variable or a switch of a secret. */
export const isSecretName = (name: string) =>
  SECRET_NAME.test(name) || /^(?:proxy-)?authorization$/i.test(name)

/** `before`: the word before it. The name is empty where it has none. */
export function namedWord(word: string, before = ''): readonly [name: string, value: string] {
  const line = /^(?:-H|--header)$/i.test(before) ? word : (/^--header=(.*)$/is.exec(word)?.[1] ?? '')
  const [, header, rest = ''] = /^([A-Za-z][A-Za-z-]*):\s*(.+)$/s.exec(line) ?? []
  if (header !== undefined) return [header, rest]
  const [, name, value = ''] = /^-{0,2}([A-Za-z][\w.-]*)=(.*)$/s.exec(word) ?? []
  return name === undefined ? [before.startsWith('-') ? before : '', word] : [name, value]
}
