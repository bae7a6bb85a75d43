/** The scenario harness for the Gemini API, and the host behind it for tests of this wire alone. */
import {
  type Conversation,
  createToolwell,
  memoryStore,
  type Toolwell,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import {
  assemble,
  type GoogleContent,
  type GoogleFunctionDeclaration,
  type GooglePrompt,
  google,
  readEvents,
} from '@toolwell/core/google'
import { onTestFinished } from 'vitest'
import { googleRenderOrder } from '../../../src/testing/google-answer.js'
import { googleProtocol } from '../../../src/testing/google-protocol.js'
import type { GoogleRequestBody, GoogleRuleOptions } from '../../../src/testing/google-request.js'
import { type RecordedRequest, startScriptedEndpoint } from '../../../src/testing/scripted-endpoint.js'
import type { Script, WireHarness, WireHost } from '../wire-harness.js'

type Setup = Parameters<WireHarness['open']>[2] & {
  readonly systemInstruction?: GooglePrompt['systemInstruction']
  readonly endpoint?: GoogleRuleOptions
  readonly stream?: boolean
  /** Changes what the model answers, for what no script can write. */
  readonly reply?: (content: GoogleContent) => GoogleContent
}

export interface GoogleHost extends WireHost {
  readonly requests: readonly RecordedRequest<GoogleRequestBody>[]
  /** The native history. */
  readonly contents: GoogleContent[]
  /** What had to be mended for the last request. */
  readonly warnings: readonly string[]
  body(index?: number): GoogleRequestBody
  compactTo(contents: readonly GoogleContent[]): Promise<void>
  fork(id: string, length: number): Promise<GoogleHost>
  resume(options?: Partial<ToolwellOptions>): Promise<GoogleHost>
  with(conversation: Conversation, contents?: readonly GoogleContent[]): GoogleHost
}

export const googleHarness: WireHarness = {
  name: 'google',
  order: 'system-first',
  open: (options, script, setup) =>
    startGoogleHost(options, script, { systemInstruction: 'You are a careful assistant.', ...setup }),
}

export async function startGoogleHost(
  options: ToolwellOptions,
  script: Script,
  setup: Setup = {},
): Promise<GoogleHost> {
  const { systemInstruction, stream = false, reply: changed = (content) => content } = setup
  const model = typeof script === 'function' ? (_: unknown, index: number) => script(index) : script
  const endpoint = await startScriptedEndpoint(googleProtocol(setup.endpoint), { model })
  onTestFinished(() => endpoint.close())
  const store = options.store ?? memoryStore()
  const events: ToolwellEvent[] = []
  let count = 0

  const start = (other: Partial<ToolwellOptions>): Toolwell => {
    const well = createToolwell({ ...options, ...other, store, onEvent: (event) => events.push(event) })
    setup.prepare?.(well)
    return well
  }

  /** The content of the reply, or undefined where there was none. */
  const send = async (body: object): Promise<GoogleContent | undefined> => {
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const response = await fetch(`${endpoint.url}/v1beta/models/scripted:${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (stream && response.status === 200 && response.body) {
      const { content, complete } = await assemble(readEvents(response.body))
      return complete ? content : undefined
    }
    const answer = (await response.json()) as {
      candidates?: { content?: GoogleContent }[]
      error?: { message: string }
    }
    if (response.status === 400) throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
    return answer.candidates?.[0]?.content
  }

  const create = (well: Toolwell, conversation: Conversation, history: GoogleContent[]): GoogleHost => {
    const adapter = google(conversation)
    let contents = history
    let warnings: readonly string[] = []
    const at = (index = -1) => {
      const request = endpoint.requests.at(index)
      if (!request) throw new Error(`There is no request ${index}.`)
      return request
    }
    const declared = (index?: number): readonly GoogleFunctionDeclaration[] =>
      (at(index).body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [])
    const host: GoogleHost = {
      well,
      conversation,
      events,
      get requests() {
        return endpoint.requests
      },
      get contents() {
        return contents
      },
      get length() {
        return contents.length
      },
      get warnings() {
        return warnings
      },
      body: (index) => at(index).body,
      say: (text) => void contents.push({ role: 'user', parts: [{ text }] }),
      async step(requestId = `request-${++count}`) {
        const turn = await adapter.begin(contents, { requestId, systemInstruction })
        warnings = turn.warnings
        const received = await send(turn.parts)
        if (!received) return []
        const content = changed(received)
        const { messages, answers } = await turn.run(content, setup.run)
        contents.push(content, ...messages)
        return answers.map(({ text }) => text)
      },
      async ask(text) {
        host.say(text)
        while ((await host.step()).length > 0);
        return (contents.at(-1)?.parts ?? []).map((part) => part.text ?? '').join('')
      },
      toolNames: (index) => declared(index).map(({ name = '' }) => name),
      toolsJson: (index) => JSON.stringify(declared(index)),
      rendered: (index) => googleRenderOrder(at(index).body),
      compact: (summary, keep) =>
        host.compactTo([
          { role: 'user', parts: [{ text: summary }] },
          ...(keep > 0 ? contents.slice(-keep) : []),
        ]),
      async compactTo(next) {
        await adapter.compact(contents, next)
        contents = [...next]
      },
      async fork(id, length) {
        const part = contents.slice(0, length)
        return create(well, await adapter.fork(part, { id }), part)
      },
      async resume(other = {}) {
        const next = start(other)
        return create(next, await next.open({ id: conversation.id }), structuredClone(contents))
      },
      with: (other, given = []) => create(well, other, [...given]),
    }
    return host
  }
  const well = start({})
  return create(well, await well.open({ id: 'scenario' }), [])
}
