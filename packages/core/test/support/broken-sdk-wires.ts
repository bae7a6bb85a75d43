/** The AI SDK's way of writing a broken history down, with the real providers: what they would send is what is checked. */
import { createAnthropic as createAnthropic3 } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { aiSdk } from '@toolwell/core/ai-sdk'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type Violation,
} from '@toolwell/testing'
import * as ai6 from 'ai'
import * as ai7 from 'ai-7'
import { createAnthropic as createAnthropic4 } from 'ai-sdk-7-anthropic'
import { createOpenAI as createOpenAI4 } from 'ai-sdk-7-openai'
import type { Element } from './broken-histories.js'
import type { BrokenWire } from './broken-wires.js'

// Nobody reads them here.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

interface Message {
  readonly role: string
  readonly content: unknown
}

interface Body {
  readonly messages?: readonly unknown[]
  readonly input?: readonly unknown[]
  readonly contents?: readonly unknown[]
}

const reasoning = { type: 'reasoning', text: 'Hm.' }
/** As OpenAI's provider and Anthropic's leave it. */
const signed = (itemId: string) => ({
  ...reasoning,
  providerOptions: {
    openai: { itemId, reasoningEncryptedContent: 'sealed' },
    anthropic: { signature: 'signed' },
  },
})
const read = (input: unknown, toolCallId = 'call_1') => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'read_file',
  input,
})

/** A search that the provider ran itself. */
const ran = (toolCallId: string) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'web_search',
  input: { query: 'x' },
  providerExecuted: true,
})
const found = (toolCallId: string) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'web_search',
  output: { type: 'json', value: [] },
})

/** Messages the SDK accepts: it checks the form of messages, not their meaning. */
const odd: readonly (() => Message)[] = [
  () => ({ role: 'user', content: '' }),
  () => ({ role: 'user', content: ' ' }),
  () => ({ role: 'user', content: [] }),
  () => ({ role: 'user', content: [{ type: 'text', text: '' }] }),
  () => ({
    role: 'user',
    content: [
      { type: 'text', text: '\n' },
      { type: 'text', text: 'And?' },
    ],
  }),
  () => ({ role: 'assistant', content: '' }),
  () => ({ role: 'assistant', content: ' ' }),
  () => ({ role: 'assistant', content: [] }),
  () => ({ role: 'assistant', content: [{ type: 'text', text: '\n' }] }),
  () => ({ role: 'assistant', content: [reasoning] }),
  () => ({ role: 'assistant', content: [reasoning, { type: 'text', text: 'So.' }] }),
  () => ({ role: 'assistant', content: [signed('rs_1')] }),
  () => ({ role: 'assistant', content: [signed('rs_2'), { type: 'text', text: 'So.' }] }),
  () => ({ role: 'assistant', content: [signed('rs_3'), read({ value: 'x' })] }),
  () => ({ role: 'assistant', content: 'Well.' }),
  () => ({ role: 'assistant', content: [{ type: 'text', text: '' }, read({ value: 'x' })] }),
  () => ({ role: 'assistant', content: [read('text'), read([1], 'call_2'), read(null, 'call_3')] }),
  () => ({ role: 'assistant', content: [read({}), read({ value: 'x' })] }),
  () => ({ role: 'assistant', content: [reasoning, ran('srvtoolu_1'), { type: 'text', text: 'So.' }] }),
  () => ({
    role: 'assistant',
    content: [ran('srvtoolu_2'), found('srvtoolu_2'), { type: 'text', text: 'So.' }],
  }),
  () => ({ role: 'assistant', content: [found('srvtoolu_3'), { type: 'text', text: 'So.' }] }),
  () => ({ role: 'assistant', content: [ran('srvtoolu_4')] }),
  () => ({ role: 'tool', content: [] }),
  () => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'call_1',
        toolName: 'read_file',
        output: { type: 'content', value: [] },
      },
    ],
  }),
  () => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'call_1',
        toolName: 'read_file',
        output: { type: 'error-text', value: '' },
      },
    ],
  }),
]

function messageOf(element: Element): Message {
  if (element.kind === 'odd') return (odd[element.which % odd.length] as () => Message)()
  if (element.kind === 'user') return { role: 'user', content: element.text }
  if (element.kind === 'answer') {
    const { id: toolCallId, name: toolName, text } = element
    const output = { type: 'text', value: text }
    return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }
  }
  const { text, calls } = element
  const made = calls.map(({ id: toolCallId, name: toolName, input }) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
  }))
  return { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...made] }
}

type Fetch = typeof globalThis.fetch
interface Provider {
  readonly name: string
  model(major: 6 | 7, fetch: Fetch): unknown
  violationOf(body: object): Violation | undefined
}

const key = { apiKey: 'none' }
const providers: readonly Provider[] = [
  {
    name: 'chat',
    model: (major, fetch) =>
      major === 7
        ? createOpenAI4({ ...key, fetch }).chat('gpt-scripted')
        : createOpenAICompatible({ name: 'scripted', baseURL: 'http://localhost', fetch }).chatModel('m'),
    violationOf: (body) => chatProtocol().violationOf(body as never),
  },
  {
    name: 'anthropic',
    model: (major, fetch) =>
      (major === 7 ? createAnthropic4 : createAnthropic3)({ ...key, fetch })('claude-scripted'),
    violationOf: (body) => anthropicProtocol().violationOf(body as never),
  },
  {
    name: 'responses',
    model: (major, fetch) =>
      (major === 7 ? createOpenAI4 : createOpenAI3)({ ...key, fetch }).responses('gpt-scripted'),
    violationOf: (body) => responsesProtocol().violationOf(body as never),
  },
  {
    name: 'google',
    model: (_major, fetch) => createGoogleGenerativeAI({ ...key, fetch })('gemini-3-scripted'),
    violationOf: (body) => googleProtocol({ thoughtSignatures: true }).violationOf(body as never),
  },
]

function sdkWire(major: 6 | 7, { name, model, violationOf }: Provider): BrokenWire {
  const { generateText } = (major === 6 ? ai6 : ai7) as unknown as {
    generateText(options: object): Promise<unknown>
  }
  return {
    name: `AI SDK ${major} with ${name}`,
    // Its warnings are the SDK's, with a reply; here there is none.
    tells: false,
    runs: 16,
    render: (elements) => elements.map(messageOf),
    exchange: () => [
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: 'More.' },
    ],
    async begin(conversation, history) {
      let body: Body | undefined
      // The request is all that is wanted: nobody answers it.
      const fetch: Fetch = async (_url, init) => {
        body = JSON.parse(String(init?.body)) as Body
        throw new Error('not sent')
      }
      const lazy = aiSdk(conversation)
      const failure = await generateText({
        model: model(major, fetch),
        maxRetries: 0,
        maxOutputTokens: 100,
        providerOptions: { openai: { store: false } },
        ...lazy.settings,
        messages: history,
      }).catch((error: unknown) => error)
      if (!body) throw failure
      const sent = body.messages ?? body.input ?? body.contents ?? []
      return { parts: body, mode: lazy.view?.mode ?? 'on', sent, warnings: [] }
    },
    importHistory: (conversation, history) => aiSdk(conversation).importHistory(history as Message[]),
    violationOf,
  }
}

export const brokenSdkWires: readonly BrokenWire[] = ([6, 7] as const).flatMap((major) =>
  providers.map((provider) => sdkWire(major, provider)),
)
