/** The programs on the pages of the adapters, with the official clients: deferral on, off, and crossing the threshold. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { type Conversation, createToolwell, type ToolwellOptions } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mixed, server } from '../support/tools.js'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwell-pages-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Answer = (...given: unknown[]) => Promise<void>

/** The program of a page that takes the official client. */
async function load(page: string): Promise<Answer> {
  const text = readFileSync(join(root, 'docs/guides', `${page}.md`), 'utf8')
  const file = join(folder, `${page}.ts`)
  const programs = text.match(/(?<=^```ts\n)[\s\S]*?(?=^```)/gm) ?? []
  writeFileSync(file, programs.find((program) => program.includes('export async function answer')) ?? '')
  const { answer } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { answer: Answer }
  return answer
}

interface Adapter {
  compact(before: readonly object[], after: readonly object[]): Promise<void>
}
interface Page {
  readonly page: string
  readonly protocol: object
  readonly bridged: boolean
  readonly say: (text: string) => object
  readonly adapter: (conversation: Conversation) => object
  /** The client, and the order of the arguments of `answer`. */
  readonly given: (url: string, conversation: Conversation, messages: object[]) => readonly unknown[]
}

const chat = (text: string) => ({ role: 'user', content: text })
const pages: readonly Page[] = [
  {
    page: 'anthropic',
    protocol: anthropicProtocol({ boundThinking: true }),
    bridged: false,
    say: chat,
    adapter: anthropic,
    given: (baseURL, ...rest) => [new Anthropic({ baseURL, apiKey: 'none' }), ...rest],
  },
  {
    page: 'openai-responses',
    protocol: responsesProtocol(),
    bridged: false,
    say: chat,
    adapter: openaiResponses,
    given: (baseURL, ...rest) => [new OpenAI({ baseURL, apiKey: 'none' }), ...rest],
  },
  {
    page: 'openai-chat',
    protocol: chatProtocol(),
    bridged: true,
    say: chat,
    adapter: openaiChat,
    given: (baseURL, ...rest) => [new OpenAI({ baseURL, apiKey: 'none' }), ...rest],
  },
  {
    page: 'google',
    protocol: googleProtocol({ thoughtSignatures: true }),
    bridged: true,
    say: (text) => ({ role: 'user', parts: [{ text }] }),
    adapter: google,
    given: (baseUrl, ...rest) => [new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), ...rest],
  },
  {
    page: 'streaming',
    protocol: chatProtocol(),
    bridged: true,
    say: chat,
    adapter: openaiChat,
    given: (url, conversation, messages) => [
      conversation,
      messages,
      (body: object) => fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) }),
    ],
  },
]

const name = 'tracker__create_issue'
const input = { value: 'x' }
const direct: ScriptedReply = { thinking: 'One call.', calls: [{ name, arguments: input }] }
const search: ScriptedReply = {
  thinking: 'I search.',
  calls: [{ name: 'tool_search', arguments: { query: `select:${name}` } }],
}
const done: ScriptedReply = { thinking: 'It is done.', text: 'Done.' }

describe.each(pages)('the program of the $page guide', (page) => {
  const found: ScriptedReply = page.bridged
    ? { ...direct, calls: [{ name: 'tool_call', arguments: { name, arguments: input } }] }
    : direct

  const start = async (options: ToolwellOptions, model: readonly ScriptedReply[]) => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    onTestFinished(() => void vi.restoreAllMocks())
    const endpoint = await startScriptedEndpoint(page.protocol as ReturnType<typeof chatProtocol>, {
      model: [...model],
    })
    onTestFinished(() => endpoint.close())
    const well = createToolwell({ tools: mixed(), ...options })
    const conversation = await well.open({ id: 'a' })
    const answer = await load(page.page)
    let messages: object[] = []
    return {
      well,
      conversation,
      async ask(text: string) {
        messages.push(page.say(text))
        await answer(...page.given(endpoint.url, conversation, messages))
        const { raw, body } = endpoint.requests.at(-1) ?? {}
        expect(endpoint.requests.map(({ violation }) => violation)).toEqual(
          endpoint.requests.map(() => undefined),
        )
        expect(raw, JSON.stringify(body)).toContain('create_issue ran with')
      },
      async compact() {
        const after = [page.say('We filed issues.')]
        await (page.adapter(conversation) as Adapter).compact(messages, after)
        messages = after
      },
    }
  }

  it.each([
    ['on', [search, found, done, found, done]],
    ['off', [direct, done, direct, done]],
  ] as const)('runs with deferral %s', async (mode, model) => {
    const host = await start({ mode }, model)
    await host.ask('File it.')
    host.well.catalogue.setSource('late', { tools: server('late', ['send_mail']) })
    await host.ask('File another one.')
  })

  it('runs while deferral turns on', async () => {
    const model = [direct, done, direct, done, search, found, done]
    const host = await start({ mode: 'auto', costs: { threshold: 2000 } }, model)
    await host.ask('File it.')
    const names = Array.from({ length: 40 }, (_, index) => `tool_${index}`)
    host.well.catalogue.setSource('late', {
      tools: server('late', names, { description: 'word '.repeat(60) }),
    })
    await host.ask('File another one.')
    expect(host.conversation.inspect().mode).toBe('off')
    await host.compact()
    await host.ask('And another one.')
    expect(host.conversation.inspect().mode).toBe('on')
  })
})
