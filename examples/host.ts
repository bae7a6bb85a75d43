/**
 * A complete host in one file: the loop, resume, fork, retry, compaction, permissions and a sub-agent, on Toolwell and
 * Chat Completions. Read it from top to bottom; what is Toolwell's is marked ①…⑦.
 */
import { type Conversation, defineTool, type TargetCall, type Toolwell } from '@toolwell/core'
import {
  assemble,
  type ChatMessage,
  type ChatTurn,
  openaiChat,
  readEvents,
  type StreamedReply,
} from '@toolwell/core/openai-chat'
import { type History, openHistory } from './history.ts'

export interface HostOptions {
  readonly well: Toolwell
  /** A Chat Completions server, ending in /v1. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string
  /** Where histories live; the ledgers lie beside them. */
  readonly folder: string
  readonly system: string
  /** The approval prompt. It sees the tool that will really run and its arguments, never a wrapper. */
  readonly approve?: (call: TargetCall) => boolean | Promise<boolean>
  /** Counts the tokens of what was sent, for the accounts. */
  readonly countTokens: (text: string) => number
  readonly onRequest?: (request: {
    readonly session: string
    readonly turn: ChatTurn
    readonly reply: StreamedReply
  }) => void
}

export interface Session {
  readonly id: string
  readonly conversation: Conversation
  readonly messages: readonly ChatMessage[]
  /** Says something (or, without text, goes on where a crash left off) and works until the model has answered. */
  ask(text?: string): Promise<string>
  compact(): Promise<void>
  /** A second session that has seen the first `length` messages and knows only the tools raised by then. */
  fork(id: string, length: number): Promise<Session>
}

/** The host's own tool for sub-agents. It has no `execute`: the loop below runs it. */
export const delegate = defineTool({
  name: 'delegate',
  description: 'Hands a task to a helper with its own context. It can use only the tools named in `tools`.',
  inputSchema: {
    type: 'object',
    properties: {
      task: { type: 'string', description: 'What the helper has to do, with everything it needs to know' },
      tools: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of tools, or patterns such as tracker/*',
      },
    },
    required: ['task', 'tools'],
    additionalProperties: false,
  },
})

/** Opens a session, new or known: history and ledger are both read from the folder. */
export async function openSession(options: HostOptions, id: string): Promise<Session> {
  const history = await openHistory(options.folder, id, options.system)
  const conversation = await options.well.open({ id }) // ① a known id resumes
  return createSession(options, conversation, history)
}

function createSession(options: HostOptions, conversation: Conversation, history: History): Session {
  const chat = openaiChat(conversation) // ② the wire
  const { id } = conversation
  const execute = async (call: TargetCall) => {
    if (options.approve && !(await options.approve(call))) throw new Error('the user did not allow it')
    if (call.name === delegate.name) return runHelper(options, conversation, call)
    if (!call.tool.execute) throw new Error('this host cannot run it')
    return call.tool.execute(call.input, { callId: call.callId })
  }

  const step = async (): Promise<boolean> => {
    // ③ What to send. The same history gives the same bytes: a request that died is repeated as it was, in any process.
    const turn = await chat.begin(history.messages)
    const reply = await send(options, turn)
    await conversation.recordRequest(measure(options, turn, reply)) // ④ the accounts
    options.onRequest?.({ session: id, turn, reply })
    const { messages: results } = await turn.run(reply.message, { execute }) // ⑤ search, check, run
    await history.append(reply.message, ...results)
    return results.length > 0
  }

  return {
    id,
    conversation,
    get messages() {
      return history.messages
    },
    async ask(text) {
      if (text !== undefined) await history.append({ role: 'user', content: text })
      while (await step());
      return String(history.messages.at(-1)?.content ?? '')
    },
    async compact() {
      const kept = lastTurns(history.messages, 2)
      const summary = await summarise(options, history.messages.slice(1, -kept.length))
      const next = [
        history.messages[0] as ChatMessage,
        { role: 'user', content: `Summary of the work so far: ${summary}` },
        ...kept,
      ]
      await chat.compact(history.messages, next) // ⑥ tell the ledger; raised tools stay
      await history.replace(next)
    },
    async fork(forkId, length) {
      const part = history.messages.slice(0, length)
      const copy = await openHistory(options.folder, forkId, options.system)
      await copy.replace(part)
      return createSession(options, await chat.fork(part, { id: forkId }), copy) // ⑦ the ledger up to there
    },
  }
}

/** A sub-agent: a child conversation with its own history and ledger, and no more rights than its parent. */
async function runHelper(options: HostOptions, parent: Conversation, call: TargetCall): Promise<string> {
  const { task, tools } = call.input as { task: string; tools: string[] }
  const id = `${parent.id}.${call.callId}`
  const child = await parent.child({ id, allow: tools, agent: 'helper' })
  return createSession(options, child, await openHistory(options.folder, id, options.system)).ask(task)
}

/** One request, repeated with the same bytes while the server is busy or the stream breaks. */
async function send(options: HostOptions, turn: ChatTurn): Promise<StreamedReply> {
  const body = JSON.stringify({
    model: options.model,
    stream: true,
    stream_options: { include_usage: true },
    ...turn.parts,
  })
  for (let attempt = 1; ; attempt++) {
    const response = await post(options, body)
    if (response.ok && response.body) {
      const reply = await assemble(readEvents(response.body))
      if (reply.complete) return reply
    }
    const final =
      attempt === 3 || (response.status !== 429 && response.status >= 400 && response.status < 500)
    if (final)
      throw new Error(
        `The model's server answered ${response.status}: ${response.bodyUsed ? 'the stream broke' : await response.text()}`,
      )
  }
}

function post({ url, apiKey }: HostOptions, body: string): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }
  return fetch(`${url}/chat/completions`, { method: 'POST', headers, body })
}

function measure({ countTokens }: HostOptions, turn: ChatTurn, reply: StreamedReply) {
  const usage = (reply.usage ?? {}) as {
    prompt_tokens?: number
    completion_tokens?: number
    prompt_tokens_details?: { cached_tokens?: number }
  }
  return {
    requestId: turn.view.requestId,
    messageTokens: countTokens(JSON.stringify(turn.parts.messages)),
    inputTokens: usage.prompt_tokens ?? 0,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
  }
}

/** A summary by the model itself, of the history as plain text: no tools are needed, so none are sent. */
async function summarise(options: HostOptions, messages: readonly ChatMessage[]): Promise<string> {
  const transcript = messages
    .map((message) => `${message.role}: ${JSON.stringify(message.content ?? message.tool_calls)}`)
    .join('\n')
  const body = {
    model: options.model,
    messages: [{ role: 'user', content: `Summarise in three sentences:\n${transcript}` }],
  }
  const answer = (await (await post(options, JSON.stringify(body))).json()) as {
    choices: { message: ChatMessage }[]
  }
  return String(answer.choices[0]?.message.content ?? '')
}

/** The end of the history from the n-th last user message on: a cut there never parts a call from its answer. */
function lastTurns(messages: readonly ChatMessage[], count: number): ChatMessage[] {
  const starts = messages.flatMap((message, index) => (message.role === 'user' ? [index] : []))
  return messages.slice(starts.at(-count) ?? 1)
}
