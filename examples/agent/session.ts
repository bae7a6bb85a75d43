/**
 * One session: the loop, resume, fork, retry, compaction, permissions, sub-agents and a move to another provider, on any of four wires.
 * Read it from top to bottom; what is Toolwell's is marked ①…⑦.
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
  /** The servers this host can talk to, one for each wire that a session may live on. */
  readonly servers: { readonly [Name in WireName]?: Server }
  /** Where new sessions begin; Chat Completions when absent. A known session goes on where it was. */
  readonly wire?: WireName
  /** Where transcripts live; the ledgers lie beside them. */
  readonly folder: string
  readonly system: string
  /** Asked on every path, with the session's mode as it is then. */
  readonly policy?: (mode: () => Mode) => Policy
  /** Asked about every call that is about to run, and never about a wrapper. False, or a reason, refuses it. */
  readonly approve?: (call: TargetCall, mode: Mode) => boolean | string | Promise<boolean | string>
  /** A request above this is compacted before the next one. Default: never. */
  readonly contextTokens?: number
  readonly agents?: readonly AgentKind[]
  /** What a sub-agent starts with. Default: what its parent has loaded. */
  readonly childOf?: (kind: AgentKind) => ChildChoice
  readonly onEvent?: (event: AgentEvent, session: string) => void
  /** Sees every answer before its calls run. */
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
  /** The history as the wire of the moment writes it. */
  readonly messages: readonly object[]
  /** Whether the model has had the last word. */
  readonly isAnswered: boolean
  /** Says something (or, without text, goes on where a crash left off) and works until the model has answered. */
  ask(text?: string): Promise<string>
  setMode(mode: Mode): Promise<void>
  /** Goes on at another provider: what was said and what was loaded comes along. */
  moveTo(wire: WireName): Promise<void>
  /** Replaces all but the last turns by a summary; nothing where there are no more. */
  compact(keptTurns?: number): Promise<void>
  /** A second session that has seen the first `length` messages and knows only the tools loaded by then. */
  fork(id: string, length: number): Promise<Session>
}

/** A model that is still calling tools after so many replies to one question will not stop by itself. */
const MOST_STEPS = 100
/** Turns that a compaction leaves as they were. */
const KEPT_TURNS = 2

/** Opens a session, new or known: transcript and ledger are both read from the folder. */
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
    // ③ What was said elsewhere, converted; what was said on this wire comes back as it was.
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
    // ④ What to send. The same history gives the same bytes: a request that died is repeated as it was, in any process.
    const turn = await here.line.begin(messages())
    try {
      return { turn, answer: await post(turn.parts) }
    } catch (error) {
      // A server that knows no deferred tools is asked in another way.
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
    // A summary alone is not summarised again.
    if (gone.length <= 1) return
    const question = wire.user(
      `Summarise in three sentences:\n${gone.map((each) => JSON.stringify(each)).join('\n')}`,
    )
    // A question of its own, about plain text: no tools are needed, so none are sent.
    const { messages: reply } = await post({ [wire.field]: [question] })
    const todos = transcript.todos.map(({ state, text }) => `\n- ${state}: ${text}`).join('')
    const summary = `Summary of the work so far: ${lastText(line, reply)}${todos === '' ? '' : `\nTo do:${todos}`}`
    const after = [wire.user(summary), ...kept]
    await line.compact(before, after) // ⑥ tell the ledger; loaded tools stay
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

/** What was said last; empty where the last message says nothing. */
function lastText(line: Line, messages: readonly object[]): string {
  return line.thread(messages).at(-1)?.text ?? ''
}

/** The end of the history from the n-th last user message on: a cut there never parts a call from its answer. */
function lastTurns(line: Line, messages: readonly object[], count: number): readonly object[] {
  const isUser = (message: object) => line.thread([message]).every(({ kind }) => kind === 'user')
  const starts = messages.flatMap((message, index) => (isUser(message) ? [index] : []))
  return count === 0 ? [] : messages.slice(starts.at(-count) ?? 0)
}
