/**
 * A complete host in one file: the loop, resume, fork, retry, compaction, permissions, a sub-agent and a move to another
 * provider, on Toolwell and any of four wires. Read it from top to bottom; what is Toolwell's is marked ①…⑧.
 */
import { type Conversation, defineTool, type TargetCall, type Toolwell } from '@toolwell/core'
import { readEvents } from '@toolwell/core/openai-chat'
import { type History, openHistory } from './history.ts'
import { type Answer, type Line, type Server, type Turn, type Wire, type WireName, wires } from './wires.ts'

export interface HostOptions {
  readonly well: Toolwell
  /** The servers this host can talk to, one for each wire that a session may live on. */
  readonly servers: { readonly [Name in WireName]?: Server }
  /** Where new sessions begin; Chat Completions when absent. A known session goes on where it was. */
  readonly wire?: WireName
  /** Where histories live; the ledgers lie beside them. */
  readonly folder: string
  readonly system: string
  /** The approval prompt. It sees the tool that will really run and its arguments, never a wrapper. */
  readonly approve?: (call: TargetCall) => boolean | Promise<boolean>
  /** Counts the tokens of what was sent, for the accounts. */
  readonly countTokens: (text: string) => number
  readonly onRequest?: (request: {
    readonly session: string
    readonly wire: WireName
    readonly turn: Turn
    readonly answer: Answer
  }) => void
}

export interface Session {
  readonly id: string
  readonly conversation: Conversation
  readonly wire: WireName
  /** The history as the wire of the moment writes it. */
  readonly messages: readonly object[]
  /** Says something (or, without text, goes on where a crash left off) and works until the model has answered. */
  ask(text?: string): Promise<string>
  /** Goes on at another provider: what was said and what was loaded comes along. */
  moveTo(wire: WireName): Promise<void>
  compact(): Promise<void>
  /** A second session that has seen the first `length` messages and knows only the tools loaded by then. */
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
  const history = await openHistory(options.folder, id, options.wire ?? 'openai-chat')
  const conversation = await options.well.open({ id }) // ① a known id resumes
  return createSession(options, conversation, history)
}

function createSession(options: HostOptions, conversation: Conversation, history: History): Session {
  const { id } = conversation
  const lineOf = (name: WireName) => wires[name].open(conversation, options.system) // ② the wires
  const arrive = () => {
    const wire = wires[history.last.wire]
    const line = lineOf(wire.name)
    // ③ What was said elsewhere, converted; what was said on this wire comes back as it was.
    const thread = history.earlier.flatMap((part) => lineOf(part.wire).thread(part.messages))
    return { wire, line, earlier: line.adopt(thread) }
  }
  let here = arrive()
  const messages = () => [...here.earlier, ...history.last.messages]

  const execute = async (call: TargetCall) => {
    if (options.approve && !(await options.approve(call))) throw new Error('the user did not allow it')
    if (call.name === delegate.name) return runHelper(options, conversation, here.wire.name, call)
    if (!call.tool.execute) throw new Error('this host cannot run it')
    return call.tool.execute(call.input, call.context)
  }

  const step = async (): Promise<boolean> => {
    // ④ What to send. The same history gives the same bytes: a request that died is repeated as it was, in any process.
    const turn = await here.line.begin(messages())
    const answer = await send(options, here.wire, turn.parts)
    const sent = JSON.stringify((turn.parts as Record<string, unknown>)[here.wire.field])
    const messageTokens = options.countTokens(sent)
    await conversation.recordRequest({ requestId: turn.view.requestId, messageTokens, ...answer.usage }) // ⑤ the accounts
    options.onRequest?.({ session: id, wire: here.wire.name, turn, answer })
    const { messages: results } = await turn.run(answer.reply, { execute }) // ⑥ search, check, run
    await history.append(...answer.messages, ...results)
    return results.length > 0
  }

  return {
    id,
    conversation,
    get wire() {
      return here.wire.name
    },
    get messages() {
      return messages()
    },
    async ask(text) {
      if (text !== undefined) await history.append(here.wire.user(text))
      while (await step());
      return lastText(here.line, messages())
    },
    async moveTo(name) {
      serverOf(options, name)
      await history.moveTo(name)
      here = arrive()
    },
    async compact() {
      const { wire, line } = here
      const before = messages()
      const kept = lastTurns(line, before, 2)
      const summary = await summarise(options, wire, line, before.slice(0, before.length - kept.length))
      const after = [wire.user(`Summary of the work so far: ${summary}`), ...kept]
      await line.compact(before, after) // ⑦ tell the ledger; loaded tools stay
      await history.replace({ wire: wire.name, messages: after })
      here = arrive()
    },
    async fork(forkId, length) {
      const { wire, line } = here
      const part = messages().slice(0, length)
      const copy = await openHistory(options.folder, forkId, wire.name)
      await copy.replace({ wire: wire.name, messages: part })
      return createSession(options, await line.fork(part, { id: forkId }), copy) // ⑧ the ledger up to there
    },
  }
}

/** A sub-agent: a child conversation with its own history and ledger, and no more rights than its parent. */
async function runHelper(options: HostOptions, parent: Conversation, wire: WireName, call: TargetCall) {
  const { task, tools } = call.input as { task: string; tools: string[] }
  const id = `${parent.id}.${call.callId}`
  const child = await parent.child({ id, allow: tools, agent: 'helper' })
  return createSession(options, child, await openHistory(options.folder, id, wire)).ask(task)
}

/** One request, repeated with the same bytes while the server is busy or the stream breaks. */
async function send(options: HostOptions, wire: Wire, parts: object): Promise<Answer> {
  const { url, headers, body } = wire.request(serverOf(options, wire.name), parts)
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, request)
    if (response.ok && response.body) {
      const answer = await wire.read(readEvents(response.body))
      if (answer.complete) return answer
    }
    const final =
      attempt === 3 || (response.status !== 429 && response.status >= 400 && response.status < 500)
    if (final)
      throw new Error(
        `The model's server answered ${response.status}: ${response.bodyUsed ? 'the stream broke' : await response.text()}`,
      )
  }
}

function serverOf({ servers }: HostOptions, wire: WireName): Server {
  const server = servers[wire]
  if (!server) throw new Error(`This host has no server for ${wire}.`)
  return server
}

/** A summary by the model itself, of the history as plain text: no tools are needed, so none are sent. */
async function summarise(options: HostOptions, wire: Wire, line: Line, messages: readonly object[]) {
  const transcript = messages.map((message) => JSON.stringify(message)).join('\n')
  const question = wire.user(`Summarise in three sentences:\n${transcript}`)
  return lastText(line, (await send(options, wire, { [wire.field]: [question] })).messages)
}

/** What was said last. */
function lastText(line: Line, messages: readonly object[]): string {
  return line.thread(messages).at(-1)?.text ?? ''
}

/** The end of the history from the n-th last user message on: a cut there never parts a call from its answer. */
function lastTurns(line: Line, messages: readonly object[], count: number): readonly object[] {
  const isUser = (message: object) => line.thread([message]).every(({ kind }) => kind === 'user')
  const starts = messages.flatMap((message, index) => (isUser(message) ? [index] : []))
  return messages.slice(starts.at(-count) ?? 0)
}
