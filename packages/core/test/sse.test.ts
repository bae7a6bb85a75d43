/** Server-sent events: what the standard allows, at every place where a network may cut it. */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readEvents } from '../src/adapters/shared/stream.js'

const encoder = new TextEncoder()

/** The bytes of a text, cut at these places. */
async function* chunks(text: string, ...cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = encoder.encode(text)
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  for (const [index, place] of places.slice(1).entries()) yield bytes.slice(places[index], place)
}

async function eventsOf(body: AsyncIterable<Uint8Array>): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const event of readEvents(body)) events.push(event)
  return events
}

const streams: Record<string, readonly [text: string, events: readonly unknown[]]> = {
  'one event per data line': ['data: {"a":1}\n\ndata: {"a":2}\n\n', [{ a: 1 }, { a: 2 }]],
  'an event spread over several data lines': ['data: {"a":\ndata: 1,\ndata: "b":2}\n\n', [{ a: 1, b: 2 }]],
  'an event whose lines are not neighbours': ['data: [1,\nid: 7\n: note\ndata: 2]\n\n', [[1, 2]]],
  'no space behind the colon': ['data:{"a":1}\n\n', [{ a: 1 }]],
  'lines that end in CRLF': ['data: {"a":1}\r\n\r\ndata: [2,\r\ndata: 3]\r\n\r\n', [{ a: 1 }, [2, 3]]],
  'lines that end in CR': ['data: {"a":1}\r\rdata: {"a":2}\r\r', [{ a: 1 }, { a: 2 }]],
  'all three ends in one stream': ['data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n', [1, 2, 3]],
  comments: [': hello\n\n:\n\ndata: 1\n: still here\n\n', [1]],
  'a comment that looks like data': [': data: 1\n\ndata: 2\n\n', [2]],
  'a byte order mark': ['\uFEFFdata: {"a":1}\n\n', [{ a: 1 }]],
  'names, ids and times to wait': [
    'event: ping\nid: 1\nretry: 10\ndata: {"type":"ping"}\n\n',
    [{ type: 'ping' }],
  ],
  'events without data': ['event: ping\n\ndata\n\ndata:\n\ndata: 1\n\n', [1]],
  'fields that only begin like data': ['database: 1\n\ndata : 2\n\n data: 3\n\ndata: 4\n\n', [4]],
  'empty lines between events': ['\n\n\ndata: 1\n\n\n\ndata: 2\n\n', [1, 2]],
  'a last event without an empty line': ['data: 1\n\ndata: {"a":\ndata: 2}\n', [1, { a: 2 }]],
  'a last line without an end': ['data: 1\n\ndata: {"a":2}', [1, { a: 2 }]],
  'nothing behind the mark of the end': ['data: 1\n\ndata: [DONE]\n\ndata: 2\n\n', [1]],
  'the mark of the end with spaces': ['data: 1\n\ndata:  [DONE] \n\ndata: 2\n\n', [1]],
  'the mark of the end without an empty line': ['data: 1\n\ndata: [DONE]', [1]],
  'characters of several bytes': ['data: {"a":"é 日本 🙂"}\n\n', [{ a: 'é 日本 🙂' }]],
  'line ends that JSON knows and the standard does not': ['data: "a\u2028b\u0085c"\n\n', ['a\u2028b\u0085c']],
  'nothing at all': ['', []],
}

describe('reads', () => {
  it.each(Object.entries(streams))('%s', async (_, [text, events]) => {
    expect(await eventsOf(chunks(text))).toEqual(events)
  })

  it.each(Object.entries(streams))('%s, cut anywhere', async (_, [text, events]) => {
    const { length } = encoder.encode(text)
    for (let cut = 0; cut <= length; cut++) expect(await eventsOf(chunks(text, cut))).toEqual(events)
    const bytes = Array.from({ length }, (_, index) => index)
    expect(await eventsOf(chunks(text, ...bytes))).toEqual(events)
    // Twice each: with empty chunks in between.
    expect(await eventsOf(chunks(text, ...bytes, ...bytes))).toEqual(events)
  })

  it('any JSON in any number of lines, with any line ends and any cuts', async () => {
    const events = fc.array(fc.tuple(fc.json(), fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(events, fc.array(fc.nat(), { maxLength: 8 }), async (given, places) => {
        const text = given
          .map(([json, end]) => {
            const lines = JSON.stringify(JSON.parse(json), null, 1).split('\n')
            return `${lines.map((line) => `data: ${line}`).join(end)}${end}${end}`
          })
          .join('')
        const { length } = encoder.encode(text)
        const cuts = places.map((place) => place % (length + 1))
        expect(await eventsOf(chunks(text, ...cuts))).toEqual(given.map(([json]) => JSON.parse(json)))
      }),
    )
  })
})

it('gives an event as soon as its empty line has come', async () => {
  let sent = 0
  async function* body() {
    for (const text of ['data: 1\n\n', 'data: 2\r\r', 'data: 3\r\n\r\n']) {
      sent++
      yield encoder.encode(text)
    }
  }
  for await (const event of readEvents(body())) expect(event).toBe(sent)
  expect(sent).toBe(3)
})

it('lets go of the body at the mark of the end', async () => {
  let isReleased = false
  async function* body() {
    try {
      yield encoder.encode('data: 1\n\ndata: [DONE]\n\n')
      yield encoder.encode('data: 2\n\n')
    } finally {
      isReleased = true
    }
  }
  expect(await eventsOf(body())).toEqual([1])
  expect(isReleased).toBe(true)
})

it('throws at invalid JSON, after the events before it', async () => {
  const events: unknown[] = []
  const read = async () => {
    for await (const event of readEvents(chunks('data: 1\n\ndata: {"a":\n\n'))) events.push(event)
  }
  await expect(read()).rejects.toThrow(SyntaxError)
  expect(events).toEqual([1])
})

it('throws where a body ends within a character', async () => {
  async function* body() {
    yield Uint8Array.of(...encoder.encode('data: 1'), 0xc3)
  }
  await expect(eventsOf(body())).rejects.toThrow(SyntaxError)
})

it('reads a long event in many pieces without rescanning it for each', async () => {
  const text = 'x'.repeat(4_000_000)
  const size = 1000
  async function* body() {
    const bytes = encoder.encode(`data: "${text}"\n\n`)
    for (let place = 0; place < bytes.length; place += size) yield bytes.slice(place, place + size)
  }
  // Line ends are found by splitting: each character is read once, not once for every later piece.
  const split = vi.spyOn(String.prototype, 'split')
  onTestFinished(() => split.mockRestore())
  expect(await eventsOf(body())).toEqual([text])
  const characters = split.mock.contexts.reduce<number>((sum, given) => sum + String(given).length, 0)
  expect(characters).toBeGreaterThanOrEqual(text.length)
  expect(characters).toBeLessThan(1.1 * text.length)
})
