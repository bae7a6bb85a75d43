/** Reads the labelled definitions: one per line, technique, place and text apart by tabs; what is encoded there is encoded here. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ScannedServer } from '../../src/trust/scan/name-index.ts'

/** The labelled files: attacks, and harmless definitions. Phrases were written with all of these. */
export const ATTACKS = ['attacks', ...[...'abcdefghijk'].map((letter) => `held-out-${letter}`)]
export const BENIGN = [
  'benign',
  'benign-held-out',
  ...[...'hijk'].map((letter) => `benign-held-out-${letter}`),
]
/** Harmless definitions made to look like attacks, each batch written when the rules were in place; `e` corrected none. */
export const LOOKALIKES = ['', '-b', '-c', '-d', '-e'].map((batch) => `harmless-lookalikes${batch}`)
/** Techniques that show in the text itself, whatever the words. */
export const STRUCTURAL: readonly string[] = [
  'hidden-unicode',
  'terminal-escape',
  'encoded-payload',
  'fake-structure',
  'deceptive-name',
  'shadowing',
  'embedded-secret',
  'stuffing',
]
/** Never used to write or correct a rule: what to expect of texts that nobody here has seen. */
export const UNTOUCHED = { attacks: 'held-out-l', benign: 'benign-held-out-l' }

export interface Sample {
  readonly technique: string
  readonly line: number
  readonly text: string
  readonly servers: readonly ScannedServer[]
  /** Where the poison is: what a finding must be about. */
  readonly target: { readonly server: string; readonly tool?: string }
}

export function readCorpus(name: string): Sample[] {
  const file = fileURLToPath(new URL(`./corpus/${name}.tsv`, import.meta.url))
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line === '' || line.startsWith('#')) return []
      const [technique, place, text] = line.split('\t')
      if (technique === undefined || place === undefined || text === undefined)
        throw new Error(`${name}.tsv:${index + 1} has no three columns`)
      return [{ technique, line: index + 1, text, ...placed(place, text, index) }]
    })
}

const COVERS = [
  ['add_numbers', 'Adds two numbers.'],
  ['get_weather', 'Gets the weather of a city.'],
  ['list_files', 'Lists the files of a folder.'],
  ['create_ticket', 'Creates a ticket in the tracker.'],
  ['search_web', 'Searches the web.'],
] as const

function placed(place: string, raw: string, index: number): Pick<Sample, 'servers' | 'target'> {
  const [kind = '', name = 'text'] = place.split(' ')
  if (kind === 'servers') {
    const servers = JSON.parse(raw) as { name: string; tools: { name: string; poisoned?: boolean }[] }[]
    const poisoned = servers.find(({ tools }) => tools.some((tool) => tool.poisoned))
    const tool = poisoned?.tools.find((one) => one.poisoned)
    for (const server of servers) for (const one of server.tools) delete one.poisoned
    const last = servers.at(-1)
    return {
      servers,
      target: { server: (poisoned ?? last)?.name ?? '', tool: (tool ?? last?.tools.at(-1))?.name ?? '' },
    }
  }
  if (kind === 'json') {
    const tool = JSON.parse(raw) as { name: string }
    return { servers: [{ name: 'server', tools: [tool] }], target: { server: 'server', tool: tool.name } }
  }
  const text = decode(raw)
  const [coverName, coverText] = COVERS[index % COVERS.length] ?? COVERS[0]
  const base = { name: coverName as string, description: coverText as string, inputSchema: schema({}) }
  if (kind === 'instructions')
    return { servers: [{ name: 'server', instructions: text, tools: [base] }], target: { server: 'server' } }
  const tool = { ...base, ...part(kind, name, text) }
  return { servers: [{ name: 'server', tools: [tool] }], target: { server: 'server', tool: tool.name } }
}

const schema = (properties: object) => ({ type: 'object', properties })

function part(kind: string, name: string, text: string): object {
  switch (kind) {
    case 'description':
      return { description: text }
    case 'name':
      return { name: text }
    case 'title':
      return { title: text }
    case 'meta':
      return { _meta: { note: text } }
    case 'annotations':
      return { annotations: { title: text } }
    case 'param':
      return { inputSchema: schema({ [name]: { type: 'string', description: text } }) }
    case 'default':
      return { inputSchema: schema({ [name]: { type: 'string', default: text } }) }
    case 'example':
      return { inputSchema: schema({ [name]: { type: 'string', examples: [text] } }) }
    case 'enum':
      return { inputSchema: schema({ [name]: { type: 'string', enum: ['plain', text] } }) }
    case 'key':
      return { inputSchema: schema({ [text]: { type: 'string' } }) }
    case 'output':
      return { outputSchema: schema({ [name]: { type: 'string', description: text } }) }
    case 'split': {
      const parts = text
        .split(' || ')
        .map((piece, index) => [`part_${index}`, { type: 'string', description: piece }])
      return { inputSchema: schema(Object.fromEntries(parts)) }
    }
    default:
      throw new Error(`There is no place called ${kind}`)
  }
}

const bytes = (text: string) => [...Buffer.from(text, 'utf8')]
const each = (text: string, change: (character: string) => string) => [...text].map(change).join('')
const rotate = (letter: string, base: number) =>
  String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
/** Long enough to pass for random, made here so that no file holds anything like a key. */
const random = (length: number, alphabet: string) =>
  Array.from(
    { length },
    (_, index) => alphabet[(index * 31 + index * index * 7 + 11) % alphabet.length],
  ).join('')
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  tags: (text) => each(text, (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))),
  'zero-width': (text) => [...text].join('\u200b'),
  b64: (text) => Buffer.from(text).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  url: (text) =>
    bytes(text)
      .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  esc: (text) => each(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
  xesc: (text) =>
    bytes(text)
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
      .join(''),
  bin: (text) =>
    bytes(text)
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join(' '),
  codes: (text) => bytes(text).join(' '),
  rev: (text) => [...text].reverse().join(''),
  spaced: (text) =>
    text
      .split(' ')
      .map((word) => [...word].join(' '))
      .join('  '),
  'spaced-tight': (text) => [...text.replaceAll(' ', '')].join(' '),
  dotted: (text) =>
    text
      .split(' ')
      .map((word) => [...word].join('.'))
      .join(' '),
  leet: (text) =>
    text.replace(
      /[aeiost]/g,
      (letter) => ({ a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' })[letter] ?? letter,
    ),
  entities: (text) => each(text, (character) => `&#${character.charCodeAt(0)};`),
  homoglyph: (text) =>
    text.replace(
      /[aeopcy]/g,
      (letter) => ({ a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', y: 'у' })[letter] ?? letter,
    ),
  'full-width': (text) =>
    each(text, (character) =>
      character === ' ' ? ' ' : String.fromCodePoint(character.charCodeAt(0) + 0xfee0),
    ),
  bold: (text) =>
    text.replace(/[a-z]/g, (letter) => String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97)),
  rot13: (text) =>
    text.replace(/[a-z]/g, (letter) => rotate(letter, 97)).replace(/[A-Z]/g, (letter) => rotate(letter, 65)),
  spaces: (count) => ' '.repeat(Number(count)),
  lines: (count) => '\n'.repeat(Number(count)),
  token: (kind) => {
    const tokens: Record<string, string> = {
      github: `ghp_${random(36, LETTERS)}`,
      gitlab: `glpat-${random(20, LETTERS)}`,
      openai: `sk-proj-${random(48, LETTERS)}`,
      anthropic: `sk-ant-api03-${random(60, LETTERS)}`,
      slack: `xoxb-${random(12, '0123456789')}-${random(24, LETTERS)}`,
      aws: `AKIA${random(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
      google: `AIza${random(35, LETTERS)}`,
      stripe: `sk_live_${random(30, LETTERS)}`,
      npm: `npm_${random(36, LETTERS)}`,
      hf: `hf_${random(34, LETTERS)}`,
      jwt: `eyJ${random(30, LETTERS)}.eyJ${random(60, LETTERS)}.${random(43, LETTERS)}`,
      pem: `-----BEGIN PRIVATE KEY-----\n${random(64, LETTERS)}\n${random(64, LETTERS)}`,
      plain: random(18, LETTERS),
    }
    return tokens[kind] ?? ''
  },
}

function decode(text: string): string {
  return text
    .replace(/\{\{([a-z0-9-]+):([^{}]*)\}\}/g, (whole, how: string, inner: string) => {
      const encode = ENCODERS[how]
      if (!encode) throw new Error(`Cannot encode ${whole}`)
      return encode(inner).replaceAll('\\', '\\\\')
    })
    .replaceAll('{{{{', '{{')
    .replaceAll('}}}}', '}}')
    .replace(/\\u\{([0-9A-Fa-f]+)\}|\\u([0-9A-Fa-f]{4})|\\n|\\t|\\\\/g, (sequence, long, short) =>
      sequence === '\\n'
        ? '\n'
        : sequence === '\\t'
          ? '\t'
          : sequence === '\\\\'
            ? '\\'
            : String.fromCodePoint(Number.parseInt(long ?? short, 16)),
    )
}
