/** Reads the arguments of a verb. Rejects unknown flags, missing values and unexpected arguments, which citty accepts. */
import { nearest } from '@toolwell/core/internal'
import { type ArgDef, type ArgsDef, type ParsedArgs, parseArgs } from 'citty'
import { usageProblem } from './problem.js'
import type { Verb } from './verb.js'

export function readFlags(words: readonly string[], flags: ArgsDef): ParsedArgs {
  const every = new Map<string, string[]>()
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--') break
    if (!isFlag(word)) continue
    const { name, value } = splitFlag(word)
    const flag = findFlag(name, flags)
    if (!flag) throw unknownFlag(word, flags)
    if (flag.type === 'boolean') {
      if (value !== undefined) throw usageProblem(`${name} takes no value.`, `Write only ${name}.`)
      continue
    }
    const next = value ?? words[at + 1]
    if (next === undefined || next === '' || (value === undefined && isFlag(next)))
      throw usageProblem(`${name} needs a value.`, `Write ${name} ${flag.valueHint ?? 'VALUE'}.`)
    if (value === undefined) at += 1
    const key = name.replace(/^--?/, '')
    every.set(key, [...(every.get(key) ?? []), next])
  }
  return Object.assign(parseArgs([...words], flags), { [EVERY]: every })
}

/** Rejects positional arguments. Most likely the user forgot the dashes of a flag. */
export function unexpectedWords({ name, flags, insteadOfWords }: Verb, words: readonly string[]) {
  const known = Object.entries(flags).flatMap(([key, flag]) => flagSpellings(key, flag))
  const [meant] = nearest(`--${words[0]}`, known, 1)
  return usageProblem(
    `Unexpected argument ${JSON.stringify(words.join(' '))}.`,
    insteadOfWords ?? (meant ? `Did you mean ${meant}?` : `${name} takes flags only.`),
  )
}

/** citty keeps only the last value of a repeated flag. */
const EVERY = Symbol('every value')

/** All values of a repeated flag, in order. */
export function everyValue(flags: object, name: string): readonly string[] {
  return (flags as { [EVERY]?: ReadonlyMap<string, string[]> })[EVERY]?.get(name) ?? []
}

/** `-` alone is a value that means standard input. */
function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-' && word !== '--'
}

function splitFlag(word: string): { name: string; value: string | undefined } {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1
  return equals < 0
    ? { name: word, value: undefined }
    : { name: word.slice(0, equals), value: word.slice(equals + 1) }
}

function findFlag(name: string, flags: ArgsDef): ArgDef | undefined {
  return Object.entries(flags).find(([key, flag]) => flagSpellings(key, flag).includes(name))?.[1]
}

/** The spellings of a flag. A flag that is on by default has only its `--no-` form. */
export function flagSpellings(name: string, flag: ArgDef): string[] {
  if (flag.type === 'positional') return []
  if (flag.type === 'boolean' && flag.default === true) return [`--no-${name}`]
  const aliases = 'alias' in flag && flag.alias !== undefined ? [flag.alias].flat() : []
  return [`--${name}`, ...aliases.map((alias) => `-${alias}`)]
}

function unknownFlag(word: string, flags: ArgsDef) {
  const { name } = splitFlag(word)
  const known = Object.entries(flags).flatMap(([key, flag]) => flagSpellings(key, flag))
  const [meant] = nearest(name, [...known, '--help'], 1)
  return usageProblem(
    `Unknown flag ${name}.`,
    meant ? `Did you mean ${meant}?` : 'Put text that begins with "-" after "--".',
  )
}
