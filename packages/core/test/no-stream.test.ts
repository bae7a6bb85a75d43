/** A response that is not a stream: how the adapter reads it, and what `run` says about it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createToolwell } from '@toolwell/core'
import * as messagesApi from '@toolwell/core/anthropic'
import * as geminiApi from '@toolwell/core/google'
import * as chatApi from '@toolwell/core/openai-chat'
import * as responsesApi from '@toolwell/core/openai-responses'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Door {
  assemble(events: AsyncIterable<unknown>): Promise<{ readonly error: unknown; readonly complete: boolean }>
  run(reply: unknown): Promise<unknown>
  /** A reply that is not a stream. */
  readonly whole: object
  /** One event of a stream; Gemini's looks like a reply. */
  readonly event?: object
}

const open = () => createToolwell({ tools: [], mode: 'on' }).open({ id: 'a' })
const user = { role: 'user', content: 'Go.' }
const said = { role: 'assistant', content: 'Hi.' }
const doors: Readonly<Record<string, Door>> = {
  'openai-chat': {
    assemble: chatApi.assemble,
    run: async (reply) => (await chatApi.openaiChat(await open()).begin([user])).run(reply as never),
    whole: { object: 'chat.completion', choices: [{ message: said, finish_reason: 'stop' }] },
    event: { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'H' } }] },
  },
  'openai-responses': {
    assemble: responsesApi.assemble,
    run: async (reply) =>
      (await responsesApi.openaiResponses(await open()).begin([user])).run(reply as never),
    whole: { object: 'response', error: null, output: [{ type: 'message', ...said }] },
    event: { type: 'response.output_text.delta', delta: 'H' },
  },
  anthropic: {
    assemble: messagesApi.assemble,
    run: async (reply) => (await messagesApi.anthropic(await open()).begin([user])).run(reply as never),
    whole: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'H' } },
  },
  google: {
    assemble: geminiApi.assemble,
    run: async (reply) =>
      (await geminiApi.google(await open()).begin([{ role: 'user', parts: [{ text: 'Go.' }] }])).run(
        reply as never,
      ),
    whole: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] } }] },
  },
}

async function answering(status: number, body: string): Promise<() => Promise<Response>> {
  const server: Server = createServer((_, response) => response.writeHead(status).end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

const { readEvents } = chatApi
const bodyOf = ({ body }: Response) => body as unknown as AsyncIterable<Uint8Array>
const messageOf = (error: unknown) => (error as Error | undefined)?.message

describe.each(Object.entries(doors))('%s', (name, door) => {
  const key = { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } }
  it.each([
    ['an error of the API', 401, JSON.stringify(key), 'an error: "Incorrect API key provided"'],
    ['one in many lines', 401, JSON.stringify(key, null, 2), 'an error: "Incorrect API key provided"'],
    ['one in a list', 400, JSON.stringify([key]), 'an error: "Incorrect API key provided"'],
    ['one in a word', 404, '{"error":"model not found"}', 'an error: "model not found"'],
    ['one without its name', 401, '{"message":"Unauthorized"}', 'an error: "Unauthorized"'],
    [
      'a page',
      502,
      '<html><body>\n<h1>Bad gateway</h1></body></html>',
      'not an event stream. It contains "Bad gateway"',
    ],
    ['words', 503, 'upstream connect error', 'not an event stream. It contains "upstream connect error"'],
  ])('reports %s, and run reports it again', async (_, status, body, says) => {
    const post = await answering(status, body)
    const streamed = await door.assemble(readEvents(bodyOf(await post())))
    expect(streamed.complete).toBe(false)
    expect(messageOf(streamed.error)).toContain(says)
    expect(messageOf(streamed.error)).toContain('response.ok')
    const refused = expect(door.run(streamed)).rejects
    await refused.toThrow(`No reply to run. ${messageOf(streamed.error)}`)
    await refused.not.toThrow('Begin again')
  })

  it('reports a whole reply, with the fix', async () => {
    const post = await answering(200, JSON.stringify(door.whole, null, 2))
    const { error } = await door.assemble(readEvents(bodyOf(await post())))
    expect(messageOf(error)).toMatch(/^This is not an event stream, but a whole/)
    expect(messageOf(error)).toContain(name === 'google' ? 'alt=sse' : '"stream": true')
  })

  it('an error among the events is the error', async () => {
    const post = await answering(200, `data: ${JSON.stringify(key)}\n\n`)
    expect(await door.assemble(readEvents(bodyOf(await post())))).toMatchObject({ complete: false, ...key })
  })

  it('assemble says what it takes in place of what nobody has read', async () => {
    const post = await answering(200, 'data: {}\n\n')
    const text = (await post()).body?.pipeThrough(new TextDecoderStream())
    for (const given of [await post(), bodyOf(await post()), text, post(), undefined, door.whole]) {
      const { error, complete } = await door.assemble(given as never)
      expect(complete).toBe(false)
      expect(messageOf(error)).toContain('pass readEvents(response.body), or the stream of an SDK')
    }
    const { error } = await door.assemble(readEvents((await post()) as never))
    expect(messageOf(error)).toContain('response.body')
  })

  it('a broken connection is not reported as an API answer', async () => {
    async function* broken() {
      yield {}
      throw new TypeError('terminated')
    }
    const streamed = await door.assemble(broken())
    const refused = expect(door.run(streamed)).rejects
    await refused.toThrow(/^This stream ended early \("terminated"\).*Begin again with the same history/)
    await refused.not.toThrow('status')
  })

  it('run names assemble if it gets a stream or a part of one', async () => {
    const post = await answering(200, 'data: {}\n\n')
    const events = readEvents(bodyOf(await post()))
    for (const given of [(await post()).body, events, await post(), ...(door.event ? [door.event] : [])])
      await expect(door.run(given)).rejects.toThrow('await assemble(readEvents(response.body))')
  })

  it("run says that a message of the user's is no reply", async () => {
    const message = name === 'google' ? { role: 'user', parts: [{ text: 'Go.' }] } : user
    await expect(door.run(message)).rejects.toThrow('the role "user", not a reply of a model')
  })
})

it('a stream of comments alone is a stream', async () => {
  const post = await answering(200, ': ping\n\n: ping\n\n')
  expect(await chatApi.assemble(readEvents(bodyOf(await post())))).toMatchObject({ error: undefined })
})

it('the answer of the API is the cause of the error', async () => {
  const post = await answering(429, '{"error":{"message":"Slow down","code":"rate_limit"}}')
  const { error } = await chatApi.assemble(readEvents(bodyOf(await post())))
  expect(error).toMatchObject({ cause: { error: { code: 'rate_limit' } } })
})
