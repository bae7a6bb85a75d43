/** Results of tools, on every wire and delivery: images in the wire's own form, text if it takes none, long results stored. */
import { createToolwell, type LimitOptions, type Tool, type ToolwellOptions } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type GoogleContent, google } from '@toolwell/core/google'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { memoryResults, toolResult } from '@toolwell/core/result'
import { chatProtocol, googleProtocol, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { GIF, JPEG, PDF, PNG, pngOf } from './support/media.js'
import { mixed, tool } from './support/tools.js'
import type { WireHarness, WireHost } from './support/wire-harness.js'
import { anthropicChangesHarness, anthropicHarness } from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { mistralChatHarness, openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  anthropicChangesHarness,
  openaiResponsesHarness,
  openaiChatHarness,
  mistralChatHarness,
  googleHarness,
]
const cases = harnesses.flatMap((harness) => [
  ...harness.deliveries.map((delivery) => ({ harness, delivery, title: `${harness.name}, ${delivery}` })),
  { harness, delivery: undefined, title: `${harness.name}, off` },
])

const done: ScriptedReply = { text: 'done' }
const call = (name: string, input: object = {}, bridge = false): ScriptedReply => ({
  calls: [bridge ? { name: 'tool_call', arguments: { name, arguments: input } } : { name, arguments: input }],
})
const giving = (execute: Tool['execute'], more: Partial<Tool> = {}): ToolwellOptions['tools'] => [
  ...mixed(),
  tool('look', { ...(execute ? { execute } : {}), ...more }),
]
const settings = (delivery: WireHarness['deliveries'][number] | undefined): ToolwellOptions =>
  delivery === undefined ? { mode: 'off' } : { mode: 'on', delivery }
const raw = (host: WireHost, index = -1) => host.requests.at(index)?.raw ?? ''
const body = (host: WireHost, index = -1) => JSON.parse(raw(host, index))

/** Whether the wire takes images, by its name. */
const hasImages = ({ name }: WireHarness) => !name.includes('chat')

describe.each(cases)('$title', ({ harness, delivery }) => {
  const open = (
    tools: ToolwellOptions['tools'],
    script: readonly ScriptedReply[],
    more: ToolwellOptions = {},
  ) => harness.open({ ...settings(delivery), ...more, tools: tools ?? [] }, script)

  it('an image reaches the model, or words say that there is one', async () => {
    const host = await open(
      giving(() =>
        toolResult([
          { type: 'text', text: 'The page:' },
          { type: 'image', data: PNG, mediaType: 'image/png' },
        ]),
      ),
      [call('look'), done],
    )
    expect(await host.ask('look')).toBe('done')
    expect(raw(host)).toContain('The page:')
    expect(raw(host).includes(PNG)).toBe(hasImages(harness))
    if (!hasImages(harness))
      expect(raw(host)).toContain(
        '[image image/png, 1x1, 1 kB, not shown: this API does not accept it in tool results]',
      )
  })

  it('a retry and a resumed host send the same bytes', async () => {
    const host = await open(
      giving(() => toolResult([{ type: 'image', data: PNG, mediaType: 'image/png' }])),
      [call('look'), done, done, done],
    )
    host.say('look')
    await host.step()
    const resumed = await host.resume()
    await host.step('again')
    await resumed.step('again')
    expect(raw(host, -1)).toBe(raw(host, -2))
  })

  it('what no wire takes is described', async () => {
    const host = await open(
      giving(() =>
        toolResult([
          { type: 'audio', data: 'UklGRg==', mediaType: 'audio/wav' },
          { type: 'file', data: 'UEsDBA==', mediaType: 'application/zip', name: 'all "files".zip' },
          { type: 'image', data: 'AAAA', mediaType: 'image/png' },
          { type: 'image', data: '?', mediaType: 'image/png' },
          { type: 'link', uri: 'file:///a.txt', name: 'a', description: 'A file' },
          { type: 'structured', value: { rows: [1, 2] } },
        ]),
      ),
      [call('look'), done],
    )
    expect(await host.ask('look')).toBe('done')
    const said = raw(host).replaceAll('\\', '')
    for (const words of [
      '[audio audio/wav, 1 kB, not shown',
      '[file application/zip, "all "files".zip", 1 kB, not shown',
      '[image image/png, 1 kB, not shown: this API does not accept it',
      'not shown: its data cannot be read]',
      '[link "a" "file:///a.txt": "A file"]',
      '{"rows":[1,2]}',
    ])
      expect(said).toContain(words)
  })

  it('a tool that fails says so, with what it showed', async () => {
    const host = await open(
      giving(() =>
        toolResult(
          [
            { type: 'text', text: 'no such page' },
            { type: 'image', data: PNG, mediaType: 'image/png' },
          ],
          {
            isError: true,
          },
        ),
      ),
      [call('look'), done],
    )
    expect(await host.ask('look')).toBe('done')
    expect(raw(host)).toContain('look failed: no such page')
    // Anthropic takes nothing but text in an error.
    expect(raw(host).includes(PNG)).toBe(hasImages(harness) && !harness.name.includes('anthropic'))
    expect(host.events.some((event) => event.kind === 'call-failed' && event.reason === 'error')).toBe(true)
  })

  it('a value that only looks like parts is data', async () => {
    const value = { parts: [{ type: 'image', data: PNG, mediaType: 'image/png' }] }
    const host = await open(
      giving(() => value),
      [call('look'), done],
    )
    expect(await host.ask('look')).toBe('done')
    expect(raw(host)).toContain(JSON.stringify(JSON.stringify(value)).slice(1, -1))
  })

  it.each<[string, () => unknown]>([
    [
      'a circle',
      () => {
        const circle: Record<string, unknown> = {}
        circle.self = circle
        return circle
      },
    ],
    ['a big integer', () => ({ count: 1n })],
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('x')],
    [
      'what throws',
      () => ({
        toJSON() {
          throw new Error('not today')
        },
      }),
    ],
    ['a part of no known kind', () => toolResult([{ type: 'hologram' } as never])],
  ])('%s is an error that says so', async (_, execute) => {
    const host = await open(giving(execute), [call('look'), done])
    expect(await host.ask('look')).toBe('done')
    expect(raw(host)).toContain('look ran, but its result cannot be shown: ')
  })

  it('a long result is kept; its rest is read by name, by lines, by characters and by words', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `row ${index + 1} of the table`)
    lines[3332] = 'row 3333 holds the Needle'
    const bridge = delivery === 'bridge'
    let handle = ''
    const host = await harness.open(
      {
        ...settings(delivery),
        tools: giving(() => lines.join('\n')) ?? [],
        limits: { maxResultTokens: 1000 },
      },
      (index) =>
        [
          () => call('look'),
          () => call('read_result', { handle, lines: '4000-4002' }, bridge),
          () => call('read_result', { handle, find: 'needle' }, bridge),
          () => call('read_result', { handle, characters: '1-9' }, bridge),
          () => done,
        ][index]?.() ?? done,
    )
    host.say('look')
    const [shown = ''] = await host.step()
    expect(shown.startsWith('row 1 of the table\nrow 2')).toBe(true)
    expect(shown.length).toBeLessThan(2000)
    expect(shown).toContain(`${lines.join('\n').length} characters in 5000 lines`)
    handle = /"handle": "(r_[0-9a-f]+)"/.exec(shown)?.[1] ?? ''
    expect(handle).not.toBe('')
    expect(await host.step()).toEqual([
      '[lines 4000-4002 of 5000; the next begin at 4003]\nrow 4000 of the table\nrow 4001 of the table\nrow 4002 of the table',
    ])
    expect((await host.step())[0]).toMatch(
      /^\["needle" occurs in 1 place\]\nline 3333, character \d+: row 3333 holds the Needle$/,
    )
    expect((await host.step())[0]).toMatch(/^\[characters 1-9 of \d+; the next begin at 10\]\nrow 1 of $/)
    await host.step()
    expect(raw(host)).not.toContain('row 4999')
    // Found and declared like any other tool.
    if (delivery === 'append' || delivery === undefined) expect(host.toolNames()).toContain('read_result')
  })

  it('below the limit nothing changes', async () => {
    const words = 'word '.repeat(2000)
    const [plain, limited] = await Promise.all(
      [false, 3000].map(async (maxResultTokens) => {
        const host = await open(
          giving(() => words),
          [call('look'), done],
          { limits: { maxResultTokens } } as ToolwellOptions,
        )
        await host.ask('look')
        return raw(host)
      }),
    )
    expect(limited).toBe(plain)
    expect(plain).toContain(words)
  })
})

describe('each wire has its own form of', () => {
  const look = (data: string, mediaType: string, type: 'image' | 'file' = 'image') =>
    giving(() =>
      toolResult([
        { type: 'text', text: 'Here.' },
        { type, data, mediaType, name: 'a' },
      ]),
    )
  const asked = async (harness: WireHarness, tools: ToolwellOptions['tools']) => {
    const host = await harness.open({ mode: 'on', tools: tools ?? [] }, [call('look'), done])
    expect(await host.ask('look')).toBe('done')
    return body(host)
  }

  it('an image: Anthropic', async () => {
    const { messages } = await asked(anthropicHarness, look(JPEG, 'image/png'))
    expect(messages.at(-1).content[0].content).toEqual([
      { type: 'text', text: 'Here.' },
      // The bytes say what it is: the server would refuse the wrong name.
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: JPEG } },
    ])
  })
  it('an image: Responses', async () => {
    const { input } = await asked(openaiResponsesHarness, look(GIF, 'image/gif'))
    expect(input.at(-1).output).toEqual([
      { type: 'input_text', text: 'Here.' },
      { type: 'input_image', image_url: `data:image/gif;base64,${GIF}`, detail: 'auto' },
    ])
  })
  it('an image: Gemini', async () => {
    const { contents } = await asked(googleHarness, look(PNG, 'image/png'))
    expect(contents.at(-1).parts[0].functionResponse).toMatchObject({
      response: { result: 'Here.' },
      parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }],
    })
  })
  it('an image: Gemini does not take a GIF', async () => {
    const { contents } = await asked(googleHarness, look(GIF, 'image/gif'))
    const { response, parts } = contents.at(-1).parts[0].functionResponse
    expect(parts).toBeUndefined()
    expect(response.result).toMatch(/^Here\.\n\[image image\/gif, "a", 1x1, .* not shown/)
  })
  it('a PDF', async () => {
    const anthropic = await asked(anthropicHarness, look(PDF, 'application/pdf', 'file'))
    expect(anthropic.messages.at(-1).content[0].content[1]).toEqual({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
      title: 'a',
    })
    const responses = await asked(openaiResponsesHarness, look(PDF, 'application/pdf', 'file'))
    expect(responses.input.at(-1).output[1]).toEqual({
      type: 'input_file',
      filename: 'a',
      file_data: `data:application/pdf;base64,${PDF}`,
    })
    const google = await asked(googleHarness, look(PDF, 'application/pdf', 'file'))
    expect(google.contents.at(-1).parts[0].functionResponse.parts).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: PDF } },
    ])
  })
  it('text in bytes: text', async () => {
    const { messages } = await asked(anthropicHarness, look(btoa('a,b'), 'text/csv', 'file'))
    expect(messages.at(-1).content[0].content).toBe('Here.\na,b')
  })
})

describe('what is kept', () => {
  const long = 'row\n'.repeat(5000)
  const options = { tools: giving(() => long) ?? [], mode: 'on', limits: { maxResultTokens: 1000 } } as const
  const handleIn = (host: WireHost) => /\\"handle\\": \\"(r_[0-9a-f]+)/.exec(raw(host))?.[1] ?? ''

  it('is read by a fork and a child of the conversation, and by no other', async () => {
    const host = await openaiChatHarness.open(options, () => call('look'))
    host.say('look')
    await host.step()
    await host.step()
    const handle = handleIn(host)
    const read = async (conversation: WireHost['conversation']) => {
      await conversation.begin({ requestId: `r${Math.random()}`, anchor: 'm', wire: 'openai-chat' })
      const [answer] = await conversation.run([
        { callId: 'c', anchor: 'c', name: 'read_result', input: { value: { handle, lines: '1-1' } } },
      ])
      return answer?.text
    }
    const piece = '[lines 1-1 of 5001; the next begin at 2]\nrow'
    expect(await read(await host.conversation.fork({ id: 'fork' }))).toBe(piece)
    expect(await read(await host.conversation.child({ id: 'child' }))).toBe(piece)
    expect(await read(await host.conversation.child({ id: 'bare', inherit: 'none' }))).toBe(piece)
    const other = await host.well.open({ id: 'other' })
    expect(await read(other)).toMatch(/^Found no tool named "read_result"/)
    await host.conversation.clear()
    expect(await read(host.conversation)).toMatch(/is no longer kept/)
  })

  it('is found by a search for what reads it', async () => {
    const find = { calls: [{ name: 'tool_search', arguments: { query: 'read more of a long result' } }] }
    const host = await openaiChatHarness.open({ ...options, delivery: 'append' }, [call('look'), find, done])
    host.say('look')
    await host.step()
    expect((await host.conversation.unload(['read_result'])).unloaded).toEqual(['read_result'])
    expect((await host.step())[0]).toContain('read_result')
    await host.step()
    expect(host.toolNames()).toContain('read_result')
  })

  it('is not seen by a fork from before', async () => {
    const host = await openaiChatHarness.open(options, () => call('look'))
    host.say('look')
    const early = host.length
    await host.step()
    const fork = await host.fork('early', early)
    await fork.conversation.begin({ requestId: 'x', anchor: 'm', wire: 'openai-chat' })
    const [answer] = await fork.conversation.run([
      { callId: 'c', anchor: 'c', name: 'read_result', input: { value: { handle: 'r_000' } } },
    ])
    expect(answer?.text).toMatch(/^Found no tool named/)
  })

  it('is gone when it expires, or if there was no room', async () => {
    const script: ScriptedReply[] = [call('look'), call('read_result', { handle: 'r_0', lines: '1-2' }), done]
    const tiny = await openaiChatHarness.open(
      { ...options, results: memoryResults({ maxBytes: 10 }) },
      script,
    )
    tiny.say('look')
    expect((await tiny.step())[0]).toContain('The rest was not kept; request less.')
    const expired = await openaiChatHarness.open(
      { ...options, results: memoryResults({ maxAge: -1 }) },
      (index) => (index === 0 ? call('look') : index === 1 ? call('read_result', { handle }) : done),
    )
    expired.say('look')
    const [shown = ''] = await expired.step()
    const handle = /"(r_[0-9a-f]+)"/.exec(shown)?.[1] ?? ''
    expect(await expired.step()).toEqual([
      `The result "${handle}" is no longer kept, or belongs to another conversation. Call the tool again if you need it.`,
    ])
  })

  it('is decided by the tool, then its source, then all', async () => {
    const words = 'word '.repeat(2000)
    const run = async (own: Tool['maxResultTokens'], limit: LimitOptions['maxResultTokens']) => {
      const more = { source: 'web', defer: false, ...(own === undefined ? {} : { maxResultTokens: own }) }
      const host = await openaiChatHarness.open(
        {
          tools: giving(() => words, more) ?? [],
          mode: 'on',
          ...(limit === undefined ? {} : { limits: { maxResultTokens: limit } }),
        },
        [call('web__look'), done],
      )
      host.say('look')
      return (await host.step())[0]?.includes('too long')
    }
    expect(await run(undefined, undefined)).toBe(false)
    expect(await run(undefined, 500)).toBe(true)
    expect(await run(undefined, { default: 500, sources: { web: false } })).toBe(false)
    expect(await run(undefined, { sources: { web: 500 } })).toBe(true)
    expect(await run(500, false)).toBe(true)
    expect(await run(false, 500)).toBe(false)
  })

  it('may be an image that is too large to send', async () => {
    const large = pngOf(3000, 2000, 6_000_000)
    const results = memoryResults()
    const host = await anthropicHarness.open(
      {
        tools: giving(() => toolResult([{ type: 'image', data: large, mediaType: 'image/png' }])) ?? [],
        mode: 'on',
        results,
      },
      [call('look'), done],
    )
    expect(await host.ask('look')).toBe('done')
    expect(raw(host)).toContain('[image image/png, 3000x2000, 4395 kB, not shown: too large to send]')
    const kept = host.events.flatMap((event) => (event.kind === 'call-succeeded' ? (event.kept ?? []) : []))
    expect(kept).toHaveLength(1)
    expect(await results.read(kept[0]?.ledger ?? '', kept[0]?.handle ?? '')).toEqual({
      data: large,
      mediaType: 'image/png',
    })
  })
})

describe('a thread that moves', () => {
  const open = async () => {
    const look = tool('look', {
      execute: () =>
        toolResult([
          { type: 'text', text: 'Here.' },
          { type: 'image', data: PNG, mediaType: 'image/png' },
        ]),
    })
    const conversation = await createToolwell({ tools: [look], mode: 'on' }).open({ id: 'a' })
    const claude = anthropic(conversation)
    const messages: AnthropicMessage[] = [{ role: 'user', content: 'look' }]
    const turn = await claude.begin(messages)
    const reply = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] }
    const { messages: results } = await turn.run(reply)
    return { conversation, thread: claude.thread([...messages, reply, ...results]) }
  }

  it('takes its images along, from wire to wire', async () => {
    const { conversation, thread } = await open()
    const responses = openaiResponses(conversation)
    const items = responses.adopt(thread)
    expect(items.at(-1)?.output).toEqual([
      { type: 'input_text', text: 'Here.' },
      { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
    ])
    const gemini = google(conversation)
    const contents = gemini.adopt(responses.thread(items))
    expect(contents.at(-1)?.parts?.[0]?.functionResponse).toMatchObject({
      response: { result: 'Here.' },
      parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }],
    })
    const sdk = aiSdk(conversation)
    const messages = sdk.adopt(gemini.thread(contents))
    expect(JSON.stringify(messages.at(-1))).toContain(`"type":"image-data","data":"${PNG}"`)
    expect(anthropic(conversation).adopt(sdk.thread(messages)).at(-1)?.content).toMatchObject([
      {
        type: 'tool_result',
        content: [
          { type: 'text', text: 'Here.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
    ])
  })

  it('leaves words where the next one takes none', async () => {
    const { conversation, thread } = await open()
    expect(openaiChat(conversation).adopt(thread).at(-1)?.content).toMatch(/^Here\.\n\[.*image.*\]$/)
    const old = google(conversation, { mediaResponses: false }).adopt(thread)
    expect(JSON.stringify(old.at(-1))).toContain('Here.')
    expect(JSON.stringify(old.at(-1))).not.toContain(PNG)
  })
})

describe('a server that takes other results than most', () => {
  const images = () => toolResult([{ type: 'image', data: PNG, mediaType: 'image/png' }])
  const options = { tools: giving(images) ?? [], mode: 'on' } as const

  it('of the Chat family gets images', async () => {
    const chat = openaiChat(await createToolwell(options).open({ id: 'a' }), { imageResults: true })
    const messages: ChatMessage[] = [{ role: 'user', content: 'look' }]
    const reply = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    const { messages: results } = await (await chat.begin(messages)).run(reply)
    messages.push(reply, ...results)
    expect(results[0]?.content).toEqual([
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
    ])
    const { parts } = await chat.begin(messages)
    expect(chatProtocol({ imageResults: true }).violationOf({ model: 'm', ...parts })).toBeUndefined()
    expect(chatProtocol().violationOf({ model: 'm', ...parts })).toMatchObject({ code: 'invalid_value' })
  })

  it('of Gemini before version 3 gets words', async () => {
    const gemini = google(await createToolwell(options).open({ id: 'a' }), { mediaResponses: false })
    const contents: GoogleContent[] = [{ role: 'user', parts: [{ text: 'look' }] }]
    const reply = { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] }
    const { messages } = await (await gemini.begin(contents)).run(reply)
    contents.push(reply, ...messages)
    const { parts } = await gemini.begin(contents)
    expect(googleProtocol({ mediaResponses: false }).violationOf(parts)).toBeUndefined()
    expect(JSON.stringify(parts)).toContain('not shown')
  })
})

describe('an image costs', () => {
  it.each([
    [anthropicHarness, 1229],
    [openaiResponsesHarness, 85 + 170 * 6],
    [googleHarness, 258 * 6],
    [openaiChatHarness, 0],
  ] as const)('what the provider says: %#', async (harness, tokens) => {
    const host = await harness.open(
      {
        tools:
          giving(() => toolResult([{ type: 'image', data: pngOf(1280, 720), mediaType: 'image/png' }])) ?? [],
        mode: 'on',
      },
      [call('look'), done],
    )
    host.say('look')
    await host.step('one')
    await host.step('two')
    await host.conversation.recordRequest({ requestId: 'two', messageTokens: 2000 })
    expect(host.conversation.inspect().accounting.tokens.media).toBe(tokens)
  })
})

describe('the note behind a result that is too long', () => {
  const rows = Array.from({ length: 30_000 }, (_, index) => ({ index, value: `value ${index}` }))

  it.each<[string, unknown, string]>([
    ['one line of JSON', { rows }, '"characters": "8001-33000"'],
    ['lines', rows.map((row) => JSON.stringify(row)).join('\n'), '"lines": "'],
    ['a long line behind short ones', `a\nb\n${JSON.stringify(rows)}`, '"characters": "8001-33000"'],
  ])('names a range that can be read: %s', async (_, value, range) => {
    const well = createToolwell({ mode: 'off', tools: [tool('look', { execute: () => value })] })
    const chat = openaiChat(await well.open({ id: 'a' }))
    const history: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
    const step = async (name: string, given: string) => {
      const turn = await chat.begin(history)
      const called = {
        id: `c${history.length}`,
        type: 'function' as const,
        function: { name, arguments: given },
      }
      const message = { role: 'assistant' as const, content: null, tool_calls: [called] }
      const { messages } = await turn.run(message)
      history.push(message, ...messages)
      return String(messages[0]?.content)
    }
    const shown = await step('look', '{"value":"x"}')
    const note = shown.slice(shown.lastIndexOf('[The result is too long'))
    expect(note).toContain(range)
    const [advised = ''] = /\{"handle".*?\}/.exec(note) ?? []
    const whole = typeof value === 'string' ? value : JSON.stringify(value)
    const [first = '', ...rest] = (await step('read_result', advised)).split('\n')
    expect(first).toMatch(/^\[(lines|characters) \d+-\d+ of /)
    expect(rest.join('\n').length).toBeGreaterThan(1000)
    expect(whole).toContain(rest.join('\n'))
  })
})

describe('a result that JSON would leave empty', () => {
  /** The text the model reads, and the lines `debug` prints. */
  async function given(execute: () => unknown) {
    const lines: string[] = []
    const well = createToolwell({
      tools: [tool('look', { execute })],
      debug: (line) => void lines.push(line),
    })
    const turn = await openaiChat(await well.open({ id: 'a' })).begin([{ role: 'user', content: 'Go.' }])
    const { messages, answers } = await turn.run({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"value":"x"}' } }],
    })
    const failed = lines.find((line) => line.includes('failed'))
    return { content: messages[0]?.content, kind: answers[0]?.outcome.kind, failed }
  }
  class Handle {
    readonly #secret = 1
    read() {
      return this.#secret
    }
  }

  it.each<[string, () => unknown, string]>([
    ['a response', () => new Response('x'), 'it is a Response: return await response.text()'],
    [
      'a generator',
      function* () {
        yield 1
      },
      'it is a Generator: read it to its end, and return that',
    ],
    [
      'an asynchronous generator',
      async function* () {
        yield 1
      },
      'it is an AsyncGenerator: read it to its end, and return that',
    ],
    ['a stream', () => new ReadableStream(), 'it is a ReadableStream: read it to its end, and return that'],
    ['a list with a promise', () => [Promise.resolve(1)], 'it holds a Promise: await it'],
    [
      'an object with nothing to show',
      () => new Handle(),
      'it is a Handle, of which JSON shows nothing: return what is in it',
    ],
  ])('says what it is, to the model and in debug: %s', async (_, execute, problem) => {
    const { content, kind, failed } = await given(execute)
    expect(kind).toBe('error')
    expect(content).toBe(
      `look ran, but its result cannot be shown: ${problem}. Do not call it again for the same result.`,
    )
    expect(failed).toBe(`"a" · call of look failed (error): its result cannot be shown: ${problem}`)
  })

  it.each<[string, () => unknown, string]>([
    ['a map', () => new Map([[1, 2]]), '[[1,2]]'],
    ['a set', () => ({ tags: new Set(['a', 'b']) }), '{"tags":["a","b"]}'],
    ['a number that is none', () => Number.NaN, 'NaN'],
    [
      'such numbers within',
      () => ({ mean: Number.NaN, most: Number.POSITIVE_INFINITY, none: null }),
      '{"mean":"NaN","most":"Infinity","none":null}',
    ],
    [
      'an error within',
      () => ({ error: new TypeError('no such row') }),
      '{"error":"TypeError: no such row"}',
    ],
    ['what says itself as text', () => ({ query: new URLSearchParams({ a: '1' }) }), '{"query":"a=1"}'],
    [
      'a value that cannot be shown next to a value that can',
      () => ({ ok: true, headers: new Headers() }),
      '{"ok":true,"headers":"[Headers, not shown]"}',
    ],
    ['objects that are empty', () => ({ made: {}, bare: Object.create(null) }), '{"made":{},"bare":{}}'],
  ])('is shown if possible: %s', async (_, execute, text) => {
    expect(await given(execute)).toEqual({ content: text, kind: 'result', failed: undefined })
  })

  it('treats a returned error like a thrown error', async () => {
    const { content, kind } = await given(() => new Error('db down'))
    expect([content, kind]).toEqual(['look failed: db down', 'error'])
  })

  it('says in debug why a result cannot be written', async () => {
    const { failed } = await given(() => ({ count: 1n }))
    expect(failed).toBe(
      '"a" · call of look failed (error): its result cannot be shown: Do not know how to serialize a BigInt',
    )
  })
})
