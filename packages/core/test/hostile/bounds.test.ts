/** How long hostile text may take: eight times the text takes about eight times as long, never sixty-four times. */
import { createToolwell } from '@toolwell/core'
import { readManifest } from '@toolwell/core/manifest'
import { openaiChat, readEvents } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { host, tool } from './boundaries.js'
import { WIRES, type Wire } from './wires.js'

const GROWTH = 8
/** Between linear and quadratic, with room for a busy machine. */
const MOST = 30
/** Milliseconds of the processor below which a figure says nothing. */
const LEAST = 4

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

/** Time of the processor, not of the clock: a busy machine takes longer, and does not do more. */
async function least(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 3; turn++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** Grows the text until it takes long enough to be measured, or is as long as anyone would send. */
async function expectLinear(
  work: (size: number) => Promise<unknown>,
  start = 500,
  end = 200_000,
): Promise<void> {
  let size = start
  await work(size)
  let small = await least(() => work(size))
  while (small < LEAST && size * GROWTH < end) {
    size *= 2
    small = await least(() => work(size))
  }
  const large = await least(() => work(size * GROWTH))
  // What looks bent is looked at again: rubbish that was collected meanwhile is not to blame.
  if (large / Math.max(small, LEAST) >= MOST) small = Math.max(small, await least(() => work(size)))
  const again = large / Math.max(small, LEAST) >= MOST ? await least(() => work(size * GROWTH)) : large
  expect(
    again / Math.max(small, LEAST),
    `${size} took ${small} ms, ${size * GROWTH} took ${again} ms`,
  ).toBeLessThan(MOST)
}

const filled = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length))

describe.each(Object.entries(TEXTS))('of %s', (_, piece) => {
  it('a query', async () => {
    const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
    await expectLinear((size) => run({ name: 'tool_search', arguments: { query: filled(piece, size) } }))
  })

  it('a description, a guideline and a name', () =>
    expectLinear(async (size) => {
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
    }))

  it('the name and the arguments of a call', async () => {
    const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
    await expectLinear(
      (size) => {
        const text = filled(piece, size)
        return run(
          { name: `x${text}`.slice(0, 64), arguments: text },
          { name: 'tool_call', arguments: { name: text, arguments: { [text]: text } } },
        )
      },
      500,
      100_000,
    )
  })

  it('a manifest', () =>
    expectLinear(async (size) => {
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
    }))

  it('a stream', () =>
    expectLinear(async (size) => {
      const bytes = new TextEncoder().encode(
        `data: ${JSON.stringify(filled(piece, size))}\n\n${filled(piece, size)}`,
      )
      async function* body() {
        for (let at = 0; at < bytes.length; at += 97) yield bytes.subarray(at, at + 97)
      }
      try {
        for await (const _event of readEvents(body()));
      } catch {
        // It is no JSON: how fast that is found out is what counts.
      }
    }))
})

it('a history of many messages', () =>
  expectLinear(
    async (size) => {
      const conversation = await createToolwell({ tools: [tool('read_file')], mode: 'on' }).open({ id: 'x' })
      const messages = Array.from({ length: size }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `same ${index % 3}`,
      }))
      await openaiChat(conversation).begin(messages)
    },
    100,
    20_000,
  ))

it('arguments nested ever deeper', async () => {
  const { run } = await host(wire, { tools: [tool('create_issue', { source: 'tracker' })] })
  await expectLinear(
    (size) =>
      run({ name: 'tracker__create_issue', arguments: `{"value":${'['.repeat(size)}${']'.repeat(size)}}` }),
    500,
    60_000,
  )
})
