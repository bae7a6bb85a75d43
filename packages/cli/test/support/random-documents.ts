/** Random configs in every format: values, comments and blanks in every place that takes them. */
import fc from 'fast-check'
import { stringify as stringifyToml } from 'smol-toml'
import type { Table } from '../../src/connect/edit/change.js'
import { parseClient } from '../../src/shared/clients/read-client.js'
import type { Fields, Shape } from '../../src/shared/clients/shapes.js'

export type Kind = 'strict' | 'json' | 'toml' | 'yaml' | 'list'

type Entry = Record<string, unknown>
/** A number below the length. */
type Pick = (length: number) => number

const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,7}$/)
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('#', '"', "'", '//', '[x]', '{', ': ', '- '),
)
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constantFrom('', ' ', 'é✓', '\\', '\n', '\t'))

export const randomEntry: fc.Arbitrary<Entry> = fc.dictionary(
  word,
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(word, leaf, { maxKeys: 3 })),
  { minKeys: 1, maxKeys: 4 },
)

export interface RandomDocument {
  readonly kind: Kind
  readonly format: Shape['format']
  readonly table: Table
  readonly source: string
  readonly names: readonly string[]
}

export interface RandomOptions {
  /** The key above the servers. */
  readonly keyOf: (kind: Kind) => string
  readonly entryOf: (kind: Kind) => fc.Arbitrary<Entry>
}

export function randomDocuments({ keyOf, entryOf }: RandomOptions): fc.Arbitrary<RandomDocument> {
  return fc
    .constantFrom<Kind[]>('strict', 'json', 'toml', 'yaml', 'list')
    .chain((kind) => {
      const key = keyOf(kind)
      const others = word.filter((each) => each !== key)
      return fc.record({
        kind: fc.constant(kind),
        before: fc.dictionary(others, randomEntry, { maxKeys: 3 }),
        servers: fc.dictionary(word, entryOf(kind), { maxKeys: 4 }),
        after: fc.dictionary(others, leaf, { maxKeys: 2 }),
        hasTable: fc.boolean(),
        crlf: fc.boolean(),
        seed: fc.array(fc.nat(59), { minLength: 40, maxLength: 40 }),
      })
    })
    .map(({ kind, before, servers, after, hasTable, crlf, seed }) => {
      let at = 0
      const pick: Pick = (length) => (seed[at++ % 40] ?? 0) % length
      const key = keyOf(kind)
      const whole: Fields = {
        ...before,
        ...(hasTable ? { [key]: servers } : {}),
        ...Object.fromEntries(Object.entries(after).filter(([each]) => !(each in before))),
      }
      const format: Shape['format'] = kind === 'strict' ? 'json' : kind === 'list' ? 'yaml' : kind
      const plain =
        format === 'json'
          ? jsonText(whole, pick, kind === 'strict')
          : format === 'toml'
            ? remarked(stringifyToml(whole), pick)
            : yamlText(whole, key, pick, kind === 'list')
      const source = crlf && !plain.includes('\r') ? plain.replaceAll('\n', '\r\n') : plain
      const table = { path: [key], isList: kind === 'list' }
      return { kind, format, table, source, names: hasTable ? Object.keys(servers) : [] }
    })
    .filter(({ format, source }) => 'value' in parseClient(source, format, ''))
}

/** A JSON text of this value; with comments and commas at the end unless it is to be strict. */
function jsonText(value: unknown, pick: Pick, strict: boolean): string {
  const gaps = strict ? ['', ' ', '\n', '\n\t'] : ['', ' ', '\n  ', ' // c "x": {\n', '/* , } */', '\n\n\t']
  const gap = () => gaps[pick(gaps.length)] ?? ''
  if (Array.isArray(value))
    return `[${gap()}${value.map((each) => jsonText(each, pick, strict)).join(`${gap()},${gap()}`)}${gap()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}${gap()}:${gap()}${jsonText(each, pick, strict)}`,
  )
  const tail = !strict && members.length > 0 && pick(3) === 0 ? `${gap()},` : ''
  return `{${gap()}${members.join(`${gap()},${gap()}`)}${tail}${gap()}}`
}

/** With lines of comments and blanks between those of a text. */
function remarked(source: string, pick: Pick): string {
  return source
    .split('\n')
    .flatMap((line) =>
      pick(4) === 0 ? [['', '# a remark: [x]', '   # another'][pick(3)] ?? '', line] : [line],
    )
    .join('\n')
}

function yamlText(whole: Fields, table: string, pick: Pick, isList: boolean): string {
  const indent = ['  ', '    '][pick(2)] ?? '  '
  const value = (each: unknown) => JSON.stringify(each)
  const lines = Object.entries(whole).flatMap(([key, each]) => {
    if (key !== table) return [`${key}: ${value(each)}`]
    const servers = Object.entries(each as Record<string, Entry>)
    if (servers.length === 0) return [`${table}:${[' {}', '', ' # none'][isList ? 1 : pick(3)]}`]
    return [
      `${table}:`,
      ...servers.flatMap(([name, fields]) => [
        isList ? `${indent}- name: ${value(name)}` : `${indent}${value(name)}:`,
        ...Object.entries(fields)
          .filter(([field]) => !isList || field !== 'name')
          .map(
            ([field, inner]) => `${indent}  ${value(field)}: ${value(inner)}${pick(3) === 0 ? ' # c' : ''}`,
          ),
      ]),
    ]
  })
  return remarked(`${lines.join('\n')}${pick(2) === 0 ? '\n' : ''}`, pick)
}
