/**
 * Reads the words behind a verb. citty takes every flag it does not know, lets a flag swallow the next one as its value, and takes
 * unexpected arguments; all that is refused here, before it parses.
 */
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
      if (value !== undefined) throw usageProblem(`${name} takes no value.`, `Write ${name} alone.`)
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

/** Words that mean nothing to a verb: a flag without its dashes, most likely. */
export function unexpectedWords({ name, flags, insteadOfWords }: Verb, words: readonly string[]) {
  const known = Object.entries(flags).flatMap(([key, flag]) => flagSpellings(key, flag))
  const [meant] = nearest(`--${words[0]}`, known, 1)
  return usageProblem(
    `Unexpected argument ${JSON.stringify(words.join(' '))}.`,
    insteadOfWords ?? (meant ? `Did you mean ${meant}?` : `${name} takes flags only.`),
  )
}

/** citty keeps the last value of a flag that is given several times. */
const EVERY = Symbol('every value')

/** All values of a flag that may be repeated, in order. */
export function everyValue(flags: object, name: string): readonly string[] {
  return (flags as { [EVERY]?: ReadonlyMap<string, string[]> })[EVERY]?.get(name) ?? []
}

/** `-` alone is a value: standard input. */
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

/** How a flag may be written. One that is on by default is only ever turned off. */
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
    `There is no flag ${name}.`,
    meant ? `Did you mean ${meant}?` : 'Put text that begins with "-" after "--".',
  )
}
