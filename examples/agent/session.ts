/**
 * One session: the loop, resume, fork, retry, compaction, permissions, sub-agents and moves between providers, on any of four
 * wires. Read it from top to bottom; calls of Toolwell are marked ①…⑦.
 */
import type { Conversation, Policy, TargetCall, Toolwell } from '@toolwell/core'
import type { AgentEvent } from './events.ts'
import type { AgentKind } from './extensions.ts'
import type { Mode } from './permissions.ts'
import { Refusal, type Sending, send } from './send.ts'
import { type ChildChoice, sessionTools } from './session-tools.ts'
import { lastOf, openTranscript, type Transcript } from './transcript.ts'
import { type Answer, type Line, type Server, type Turn, type WireName, wires } from './wires.ts'

export interface SessionOptions extends Pick<Sending, 'signal' | 'pause'> {
  readonly well: Toolwell
  /** The servers of this host, one per wire. */
  readonly servers: { readonly [Name in WireName]?: Server }
  /** Wire of new sessions. Default: Chat Completions. A known session keeps its wire. */
  readonly wire?: WireName
  /** Folder of transcripts and ledgers. */
  readonly folder: string
  readonly system: string
  /** Used on every path, with the current mode of the session. */
  readonly policy?: (mode: () => Mode) => Policy
  /** Called for every call about to run, never for a wrapper. False or a reason refuses it. */
  readonly approve?: (call: TargetCall, mode: Mode) => boolean | string | Promise<boolean | string>
  /** Compacts before the next request if the last one was larger. Default: never. */
  readonly contextTokens?: number
  readonly agents?: readonly AgentKind[]
  /** Start of a sub-agent. Default: the tools its parent has loaded. */
  readonly childOf?: (kind: AgentKind) => ChildChoice
  readonly onEvent?: (event: AgentEvent, session: string) => void
  /** Called with every answer before its calls run. */
  readonly onRequest?: (request: {
    readonly conversation: Conversation
    readonly wire: WireName
    readonly turn: Turn
    readonly answer: Answer
  }) => unknown
}

export interface Session {
  readonly id: string
  readonly conversation: Conversation
  readonly wire: WireName
  readonly mode: Mode
  /** The history in the form of the current wire. */
  readonly messages: readonly object[]
  /** True if the last message is an answer of the model. */
  readonly isAnswered: boolean
  /** Sends a message, or continues after a crash without `text`, and works until the model has answered. */
  ask(text?: string): Promise<string>
  setMode(mode: Mode): Promise<void>
  /** Continues at another provider, with history and loaded tools. */
  moveTo(wire: WireName): Promise<void>
  /** Replaces all but the last turns with a summary. Does nothing if there are no more. */
  compact(keptTurns?: number): Promise<void>
  /** Forks a session with the first `length` messages and the tools loaded by then. */
  fork(id: string, length: number): Promise<Session>
}

/** Most replies to one question. A model that still calls tools then will not stop. */
const MOST_STEPS = 100
/** Turns that a compaction keeps. */
const KEPT_TURNS = 2

/** Opens a new or known session: reads transcript and ledger from the folder. */
export async function openSession(options: SessionOptions, id: string): Promise<Session> {
  const transcript = await openTranscript(options.folder, id, options.wire ?? 'openai-chat')
  const policy = options.policy?.(() => transcript.mode)
  const conversation = await options.well.open({ id, ...(policy ? { policy } : {}) }) // ① a known id resumes
  return createSession(options, conversation, transcript)
}

export function createSession(
  options: SessionOptions,
  conversation: Conversation,
  transcript: Transcript,
): Session {
  const { id } = conversation
  const emit = (event: AgentEvent) => options.onEvent?.(event, id)
  const lineOf = (name: WireName) => wires[name].open(conversation, options.system) // ② the wires
  const arrive = () => {
    const wire = wires[lastOf(transcript).wire]
    const line = lineOf(wire.name)
    // ③ Converts messages of other wires. Messages of this wire are unchanged.
    const thread = transcript.parts.slice(0, -1).flatMap((part) => lineOf(part.wire).thread(part.messages))
    return { wire, line, earlier: line.adopt(thread) }
  }
  let here = arrive()
  /** Tokens of the last request. */
  let size = 0
  const messages = () => [...here.earlier, ...lastOf(transcript).messages]
  const setMode = async (mode: Mode) => {
    await transcript.setMode(mode)
    emit({ kind: 'mode', mode })
  }
  const own = sessionTools({ options, conversation, transcript, emit, setMode })

  const execute = async (call: TargetCall) => {
    const { callId, wireName: tool, input } = call
    const verdict = (await options.approve?.(call, transcript.mode)) ?? true
    const because = verdict === false ? 'the user did not allow it' : verdict === true ? '' : verdict
    emit({ kind: 'approval', callId, tool, because })
    if (because !== '') throw new Error(because)
    emit({ kind: 'tool-call', callId, tool, input })
    const run = own.get(call.id) ?? call.tool.execute
    if (!run) throw new Error('this host cannot run it')
    return run(input, call.context)
  }

  const post = (parts: object) =>
    send(here.wire, serverOf(options, here.wire.name), parts, { ...options, emit })

  const request = async (): Promise<{ readonly turn: Turn; readonly answer: Answer }> => {
    // ④ What to send. The same history gives the same bytes, so any process can repeat a failed request.
    const turn = await here.line.begin(messages())
    try {
      return { turn, answer: await post(turn.parts) }
    } catch (error) {
      // Falls back if the server does not support deferred tools.
      if (error instanceof Refusal && error.status < 500 && (await turn.refused(error))) return request()
      throw error
    }
  }

  const step = async (): Promise<boolean> => {
    const { turn, answer } = await request()
    size = answer.usage.inputTokens ?? 0
    await options.onRequest?.({ conversation, wire: here.wire.name, turn, answer })
    const text = lastText(here.line, answer.messages)
    if (text !== '') emit({ kind: 'text', text })
    const running = { execute, ...(options.signal ? { signal: options.signal } : {}) }
    const { messages: results, answers } = await turn.run(answer, running) // ⑤ search, check, run, keep the accounts
    for (const { callId, outcome } of answers) {
      const { kind, text } = outcome
      if (kind === 'search') continue
      emit({ kind: 'tool-result', callId, tool: 'tool' in outcome ? outcome.tool : '', outcome: kind, text })
    }
    await transcript.append(...answer.messages, ...results)
    return results.length > 0
  }

  const compact = async (keptTurns = KEPT_TURNS) => {
    const { wire, line } = here
    const before = messages()
    const kept = lastTurns(line, before, keptTurns)
    const gone = before.slice(0, before.length - kept.length)
    // Does not summarise a lone summary again.
    if (gone.length <= 1) return
    const question = wire.user(
      `Summarise in three sentences:\n${gone.map((each) => JSON.stringify(each)).join('\n')}`,
    )
    // A separate request about plain text, without tools.
    const { messages: reply } = await post({ [wire.field]: [question] })
    const todos = transcript.todos.map(({ state, text }) => `\n- ${state}: ${text}`).join('')
    const summary = `Summary of the work so far: ${lastText(line, reply)}${todos === '' ? '' : `\nTo do:${todos}`}`
    const after = [wire.user(summary), ...kept]
    await line.compact(before, after) // ⑥ record it in the ledger; loaded tools stay
    await transcript.replace({ wire: wire.name, messages: after })
    here = arrive()
    size = 0
    emit({ kind: 'compaction', before: before.length, after: after.length })
  }

  return {
    id,
    conversation,
    get wire() {
      return here.wire.name
    },
    get mode() {
      return transcript.mode
    },
    get messages() {
      return messages()
    },
    get isAnswered() {
      return here.line.thread(messages()).at(-1)?.kind === 'assistant'
    },
    async ask(text) {
      if (text !== undefined) await transcript.append(here.wire.user(text))
      for (let steps = 1; ; steps++) {
        if (size > (options.contextTokens ?? Number.POSITIVE_INFINITY)) await compact()
        if (!(await step())) break
        if (steps === MOST_STEPS)
          throw new Error(`The model was still calling tools after ${MOST_STEPS} replies.`)
      }
      const said = lastText(here.line, messages())
      emit({ kind: 'done', text: said, context: conversation.inspect().line })
      return said
    },
    setMode,
    async moveTo(name) {
      serverOf(options, name)
      await transcript.moveTo(name)
      here = arrive()
      emit({ kind: 'move', wire: name })
    },
    compact,
    async fork(forkId, length) {
      const { wire, line } = here
      const part = messages().slice(0, length)
      await line.fork(part, { id: forkId }) // ⑦ the ledger up to there
      const copy = await openTranscript(options.folder, forkId, wire.name)
      await copy.append(...part)
      await copy.setMode(transcript.mode)
      return openSession(options, forkId)
    },
  }
}

function serverOf({ servers }: SessionOptions, wire: WireName): Server {
  const server = servers[wire]
  if (!server) throw new Error(`This host has no server for ${wire}.`)
  return server
}

/** Text of the last message, if any. */
function lastText(line: Line, messages: readonly object[]): string {
  return line.thread(messages).at(-1)?.text ?? ''
}

/** The history from the n-th last user message on. A cut there never separates a call from its answer. */
function lastTurns(line: Line, messages: readonly object[], count: number): readonly object[] {
  const isUser = (message: object) => line.thread([message]).every(({ kind }) => kind === 'user')
  const starts = messages.flatMap((message, index) => (isUser(message) ? [index] : []))
  return count === 0 ? [] : messages.slice(starts.at(-count) ?? 0)
}
