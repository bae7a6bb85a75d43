/** The journeys with `@google/genai`. */
import * as genai2 from '@google/genai'
import {
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import { createToolwell } from '@toolwell/core'
import { assemble, type GoogleParts, type GooglePrompt, google } from '@toolwell/core/google'
import { googleProtocol, startScriptedEndpoint } from '@toolwell/testing'
import * as genai3 from 'google-genai-3'
import { expect, it, onTestFinished } from 'vitest'
import { googleRenderOrder } from '../../../testing/src/google/answer.js'
import type { GoogleRequestBody } from '../../../testing/src/google/request.js'
import { mixed } from '../support/tools.js'
import { startWireHost, type WireDriver } from '../support/wire-host.js'
import { googleHarness } from '../support/wires/google.js'
import { type Mode, runJourneys, type Session } from './journey.js'

type Driver = WireDriver<
  Content,
  Content,
  GoogleParts<Content>,
  GooglePrompt,
  GoogleRequestBody,
  { readonly session: Session }
>

/** The majors that people have. Version 3 declares Node 22 and runs on 20. */
const majors = [genai2, genai3 as unknown as typeof genai2] as const

const driver = (session: Session, genai: typeof genai2): Driver => ({
  protocol: googleProtocol({ thoughtSignatures: true }),
  prompt: { systemInstruction: 'You are careful.' },
  adapter: (conversation) => google<Content>(conversation),
  user: (text) => ({ role: 'user', parts: [{ text }] }),
  async send({ url }, { contents, ...config }) {
    const { choice, retries } = session
    const client = new genai.GoogleGenAI({
      apiKey: 'none',
      httpOptions: { baseUrl: url, retryOptions: { attempts: retries + 1, initialDelay: 0.001 } },
    })
    const allowed = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [choice ?? ''] }
    const { content, complete } = await ask(
      client,
      {
        model: 'gemini-2.5-flash',
        contents,
        config: {
          ...config,
          ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: allowed } }),
        },
      },
      session.mode,
    )
    session.seen.push({ text: textOf(content), calls: callsOf(content), complete })
    return complete ? content : undefined
  },
  kept: (content) => [content],
  lastText: (contents) => textOf(contents.at(-1) ?? {}),
  tools: ({ tools = [] }) =>
    tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map((declaration) => ({ name: declaration.name ?? '', native: declaration })),
  rendered: googleRenderOrder,
  more: () => ({ session }),
})

/** This client does not assemble a stream: its chats keep one content per piece. They have a separate test below. */
async function ask(
  client: GoogleGenAI,
  request: GenerateContentParameters,
  mode: Mode,
): Promise<{ readonly content: Content; readonly complete: boolean }> {
  if (mode === 'assembled') {
    const { reply, complete } = await assemble<Content>(await client.models.generateContentStream(request))
    return { content: reply, complete }
  }
  const { candidates } = await client.models.generateContent(request)
  if (!candidates?.[0]?.content) throw new Error('The response has no candidate.')
  return { content: candidates[0].content, complete: true }
}

function textOf({ parts = [] }: Content): string {
  return parts.map(({ text = '' }) => text).join('')
}

function callsOf({ parts = [] }: Content): Session['seen'][number]['calls'] {
  return parts.flatMap(({ functionCall }) =>
    functionCall ? [{ name: functionCall.name ?? '', input: functionCall.args }] : [],
  )
}

for (const [index, genai] of majors.entries())
  runJourneys({
    name: `the Google client ${2 + index}`,
    deliveries: googleHarness.deliveries,
    modes: ['whole', 'assembled'],
    open: (session, options, script) => startWireHost(driver(session, genai), options, script),
    isStatus: (error, status) => error instanceof genai.ApiError && error.status === status,
    failure: '"error":',
    broken: 'no call',
  })

it("continues from the history that the client's chats keep of a stream", async () => {
  const read = (value: string) => ({ name: 'read_file', arguments: { value } })
  const endpoint = await startScriptedEndpoint(googleProtocol({ thoughtSignatures: true }), {
    model: [{ text: 'Let me look at both.', calls: [read('a'), read('b')] }, { text: 'Done.' }],
  })
  onTestFinished(() => endpoint.close())
  const models = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: endpoint.url } })
  const adapter = google<Content>(await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' }))
  const question: Content = { role: 'user', parts: [{ text: 'Read them.' }] }
  const model = 'gemini-2.5-flash'
  const turn = await adapter.begin([question])
  const { contents: _, ...config } = turn.parts
  const chat = models.chats.create({ model, config })
  const parts: Part[] = []
  for await (const chunk of await chat.sendMessageStream({ message: 'Read them.' }))
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
  const { messages } = await turn.run({ role: 'model', parts })
  const history = chat.getHistory()
  expect(history.filter(({ role }) => role === 'model').length).toBeGreaterThan(3)
  const next = await adapter.begin([...history, ...messages])
  const { contents, ...again } = next.parts
  const reply = await models.models.generateContent({ model, contents, config: again })
  expect(reply.text).toBe('Done.')
  expect(contents).toHaveLength(3)
  expect(contents[1]?.parts?.slice(-2)).toEqual(parts.slice(-2))
  expect(contents[2]).toEqual(messages[0])
})
