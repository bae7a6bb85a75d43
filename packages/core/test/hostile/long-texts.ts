/** Text that may come from anybody, at any length, and what is done with it. */
import { createToolwell } from '@toolwell/core'
import { readManifest } from '@toolwell/core/manifest'
import { openaiChat, readEvents } from '@toolwell/core/openai-chat'
import { host, tool } from './boundaries.js'
import { WIRES, type Wire } from './wires.js'

export interface LongText {
  readonly name: string
  /** The smallest size to measure, and the most anyone would send. */
  readonly sizes: readonly [least: number, most: number]
  prepare(): Promise<(size: number) => Promise<unknown>>
}

const wire = WIRES[0] as Wire
const TEXTS: Readonly<Record<string, string>> = {
  letters: 'a',
  words: 'create issue ',
  quotes: '"',
  backslashes: '\\',
  'open quotes': '+"',
  directives: 'select:a,',
  'open tags': '<tool-update>',
  'zero-width characters': '\u200b\u202e',
  'lone surrogates': '\ud800',
  'combining marks': 'e\u0301',
  'line ends': '\r\n',
  braces: '{"a":[',
  commas: ',',
}

const filled = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length))

const perText = (name: string, piece: string): LongText[] => [
  {
    name: `a query of ${name}`,
    sizes: [500, 200_000],
    async prepare() {
      const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
      return (size) => run({ name: 'tool_search', arguments: { query: filled(piece, size) } })
    },
  },
  {
    name: `a description, a guideline and a name of ${name}`,
    sizes: [500, 200_000],
    prepare: async () => async (size) => {
      const text = filled(piece, size)
      const wild = tool(`x${text}`, {
        description: text,
        card: text,
        guidelines: [text],
        insteadOf: text,
        aliases: [text],
      })
      const { run } = await host(wire, { tools: [tool('read_file')], delivery: 'bridge' }, ({ catalogue }) =>
        catalogue.setSource('wild', { tools: [wild], description: text }),
      )
      await run({ name: 'tool_search', arguments: { query: 'server:wild' } })
    },
  },
  {
    name: `the name and the arguments of a call of ${name}`,
    sizes: [500, 100_000],
    async prepare() {
      const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
      return (size) => {
        const text = filled(piece, size)
        return run(
          { name: `x${text}`.slice(0, 64), arguments: text },
          { name: 'tool_call', arguments: { name: text, arguments: { [text]: text } } },
        )
      }
    },
  },
  {
    name: `a manifest of ${name}`,
    sizes: [500, 200_000],
    prepare: async () => async (size) => {
      const text = filled(piece, size)
      for (const json of [
        text,
        JSON.stringify({ provides: { tools: [text, { name: text, [text]: text }] } }),
      ])
        try {
          readManifest(json)
        } catch {
          // It is refused: how fast is what counts.
        }
    },
  },
  {
    name: `a stream of ${name}`,
    sizes: [500, 200_000],
    prepare: async () => async (size) => {
      const bytes = new TextEncoder().encode(
        `data: ${JSON.stringify(filled(piece, size))}\n\n${filled(piece, size)}`,
      )
      async function* body() {
        for (let at = 0; at < bytes.length; at += 97) yield bytes.subarray(at, at + 97)
      }
      try {
        for await (const _event of readEvents(body()));
      } catch {
        // It is not JSON: the test measures how fast that is found.
      }
    },
  },
]

export const LONG_TEXTS: readonly LongText[] = [
  ...Object.entries(TEXTS).flatMap(([name, piece]) => perText(name, piece)),
  {
    name: 'a history of many messages',
    sizes: [100, 20_000],
    prepare: async () => async (size) => {
      const conversation = await createToolwell({ tools: [tool('read_file')], mode: 'on' }).open({ id: 'x' })
      const messages = Array.from({ length: size }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `same ${index % 3}`,
      }))
      await openaiChat(conversation).begin(messages)
    },
  },
  {
    name: 'arguments nested ever deeper',
    sizes: [500, 60_000],
    async prepare() {
      const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
      return (size) =>
        run({
          name: 'tracker__create_issue',
          arguments: `{"value":${'['.repeat(size)}${']'.repeat(size)}}`,
        })
    },
  },
]
