/** Manual pages, built from the descriptions of the commands. The pages of citty have no examples, and colours even in a pipe. */
import type { ArgDef } from 'citty'
import { flagSpellings } from './flags.js'
import type { Paint } from './terminal.js'
import type { Verb } from './verb.js'

export function overview(verbs: readonly Verb[], version: string, paint: Paint): string {
  return [
    `toolwell ${version}: one gateway in front of all your MCP servers. Search their tools, measure their tokens and check their health.`,
    '',
    paint('Usage', 'bold'),
    '  toolwell COMMAND [flags]',
    '',
    paint('Commands', 'bold'),
    ...columns(verbs.map(({ name, summary }) => [paint(name, 'name'), summary])),
    '',
    'toolwell COMMAND --help shows flags and examples. toolwell --version prints the version.',
    '',
  ].join('\n')
}

export function manualPage(verb: Verb, paint: Paint): string {
  const { name, summary, usage, flags, notes = [], examples, exits } = verb
  const all = { ...flags, help: { type: 'boolean', alias: 'h', description: 'Show this page.' } as const }
  return [
    summary,
    '',
    paint('Usage', 'bold'),
    ...usage.map((line) => `  toolwell ${name} ${line}`.trimEnd()),
    '',
    paint('Flags', 'bold'),
    ...columns(Object.entries(all).flatMap(([key, flag]) => flagLine(key, flag, paint))),
    ...notes.flatMap((note) => ['', note]),
    '',
    paint('Examples', 'bold'),
    ...examples.flatMap(({ line, about }) => [`  ${paint(`# ${about}`, 'dim')}`, `  ${line}`]),
    '',
    paint('Exit codes', 'bold'),
    ...Object.entries(exits).map(([code, meaning]) => `  ${code}  ${meaning}`),
    '',
  ].join('\n')
}

function flagLine(key: string, flag: ArgDef, paint: Paint): [string, string][] {
  const spellings = flagSpellings(key, flag)
  // Flags for internal use have no description.
  if (spellings.length === 0 || flag.description === undefined) return []
  const hint = flag.type === 'boolean' ? '' : ` ${flag.valueHint ?? 'VALUE'}`
  return [[`${spellings.map((spelling) => paint(spelling, 'name')).join(', ')}${hint}`, flag.description]]
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => visible(left).length))
  return rows.map(([left, right]) => `  ${left}${' '.repeat(width - visible(left).length)}  ${right}`)
}

function visible(text: string): string {
  return text.replace(/\u001b\[\d+m/g, '')
}
