/**
 * Calls of clients of the newer protocol that wait for answers. A server of the older protocol asks during a call; the client gets
 * the question as the result of its request, and sends the answer with the repeated request. The call stays open until then.
 */
import { randomBytes } from 'node:crypto'
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server'
import { canonicalJson } from '@toolwell/core/internal'
import type { CallerHandlers } from '@toolwell/mcp'
import { prompts } from '../prompts.js'
import type { Request } from './relay.js'

/** Milliseconds for which a question waits for its answer. */
const PATIENCE = 10 * 60_000
/** Calls that wait at the same time. The oldest is given up. */
const MOST_SUSPENDED = 1000
/** Questions of one call. */
const MOST_QUESTIONS = 100

const PREFIX = 'toolwell-call:'

interface Question {
  readonly request: { readonly method: string; readonly params: object }
  readonly answer: (value: unknown) => void
  readonly fail: (error: Error) => void
}

/** One call, over all its requests. */
export interface OpenCall {
  /** The request to which progress and logs belong now. */
  readonly request: () => Request
  readonly signal: AbortSignal
  readonly handlers: Required<Pick<CallerHandlers, 'elicit' | 'sample' | 'roots'>>
}

interface Call {
  /** Owner and content of the request. */
  readonly key: () => string
  request: Request
  readonly end: AbortController
  readonly questions: Map<string, Question>
  result: Promise<Result>
  /** Number of questions so far. */
  asked: number
  onAsked: () => void
}

export class SuspendedCalls {
  readonly #calls = new Map<string, { readonly call: Call; readonly expiry: NodeJS.Timeout }>()

  /** Starts the work, or continues it if the request has answers for it. `owner`: who may answer. */
  run(
    request: Request,
    owner: string,
    params: Readonly<Record<string, unknown>>,
    work: (call: OpenCall) => Promise<Result>,
  ): Promise<Result> {
    // Only needed if the call is suspended.
    const key = () => {
      const { _meta: _, inputResponses: __, requestState: ___, ...asked } = params
      return canonicalJson([owner, request.method, asked])
    }
    const state = request.requestState<unknown>()
    if (typeof state === 'string' && state.startsWith(PREFIX)) return this.#resume(state, key(), request)
    const call: Call = {
      key,
      request,
      end: new AbortController(),
      questions: new Map(),
      result: Promise.resolve({}),
      asked: 0,
      onAsked: () => undefined,
    }
    const ask = (method: string) => (sent: object, signal?: AbortSignal) =>
      addQuestion(call, method, sent, signal)
    call.result = work({
      request: () => call.request,
      signal: call.end.signal,
      handlers: {
        elicit: ask('elicitation/create') as OpenCall['handlers']['elicit'],
        sample: ask('sampling/createMessage') as OpenCall['handlers']['sample'],
        roots: async () => {
          const { roots } = (await addQuestion(call, 'roots/list', {})) as { roots?: [] }
          return roots ?? []
        },
      },
    })
    return this.#wait(call)
  }

  /** Ends every waiting call. */
  close(): void {
    for (const handle of [...this.#calls.keys()]) this.#giveUp(handle)
  }

  #resume(handle: string, key: string, request: Request): Promise<Result> {
    const found = this.#calls.get(handle)
    // A handle of another client or call counts as unknown.
    if (found?.call.key() !== key)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, prompts.unknownState)
    clearTimeout(found.expiry)
    this.#calls.delete(handle)
    const { call } = found
    call.request = request
    const given = request.inputResponses ?? {}
    for (const [id, question] of call.questions)
      if (Object.hasOwn(given, id)) {
        call.questions.delete(id)
        question.answer(given[id])
      }
    return this.#wait(call)
  }

  /** Resolves with the result, or with the questions that were asked before. */
  async #wait(call: Call): Promise<Result> {
    const { signal } = call.request
    const stop = () => call.end.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const asked = new Promise<undefined>((resolve) => {
        // Questions that the server asks together are sent together.
        call.onAsked = () => setImmediate(() => resolve(undefined))
        if (call.questions.size > 0) call.onAsked()
      })
      const result = await Promise.race([call.result, asked])
      return result ?? this.#suspend(call)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #suspend(call: Call): Result {
    const handle = PREFIX + randomBytes(24).toString('base64url')
    const expiry = setTimeout(() => this.#giveUp(handle), PATIENCE)
    expiry.unref()
    this.#calls.set(handle, { call, expiry })
    // Nobody may come back for the result.
    call.result.catch(() => undefined)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MOST_SUSPENDED && oldest !== undefined) this.#giveUp(oldest)
    const inputRequests = Object.fromEntries([...call.questions].map(([id, { request }]) => [id, request]))
    return { resultType: 'input_required', inputRequests, requestState: handle }
  }

  #giveUp(handle: string): void {
    const found = this.#calls.get(handle)
    if (!found) return
    this.#calls.delete(handle)
    clearTimeout(found.expiry)
    for (const { fail } of found.call.questions.values())
      fail(new ProtocolError(ProtocolErrorCode.InternalError, 'The client did not answer in time.'))
    found.call.end.abort(new Error('The client did not answer in time.'))
  }
}

function addQuestion(call: Call, method: string, params: object, signal?: AbortSignal): Promise<unknown> {
  return new Promise((answer, fail) => {
    if (++call.asked > MOST_QUESTIONS)
      return fail(
        new ProtocolError(ProtocolErrorCode.InternalError, `The limit is ${MOST_QUESTIONS} questions.`),
      )
    const id = `question_${call.asked}`
    call.questions.set(id, { request: { method, params }, answer, fail })
    // The server no longer wants the answer.
    signal?.addEventListener('abort', () => call.questions.delete(id) && fail(new Error('cancelled')), {
      once: true,
    })
    call.onAsked()
  })
}
