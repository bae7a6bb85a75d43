/**
 * Calls of clients of the newer protocol that wait for answers. A server of the older protocol asks during a call; the client gets
 * the question as the result of its request, and sends the answer with the repeated request. The call stays open until then. With a
 * shared storage, the answer may arrive at another replica, which passes it on.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server'
import { canonicalJson } from '@toolwell/core/internal'
import type { CallerHandlers } from '@toolwell/mcp'
import { prompts } from '../prompts.js'
import type { QuestionStore } from '../storage/storage.js'
import type { Request } from './relay.js'

/** Milliseconds for which a question waits for its answer. */
const PATIENCE = 10 * 60_000
/** Calls that wait at the same time. The oldest is given up. */
const MOST_SUSPENDED = 1000
/** Questions of one call. */
const MOST_QUESTIONS = 100

/** Milliseconds between looks for answers that other replicas received, and for outcomes of other replicas. */
const INTERVAL = 500

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
  /** Sets whether an answer may continue the call. Default: always. */
  readonly allowIf: (isAllowed: () => boolean) => void
}

interface Call {
  /** Owner and content of the request. */
  readonly key: () => string
  request: Request
  readonly end: AbortController
  readonly questions: Map<string, Question>
  /** The tool of the call may have been denied meanwhile. */
  isAllowed: () => boolean
  result: Promise<Result>
  /** Number of questions so far. */
  asked: number
  onAsked: () => void
}

export class SuspendedCalls {
  readonly #calls = new Map<string, { readonly call: Call; readonly expiry: NodeJS.Timeout }>()
  readonly #store: QuestionStore | undefined
  /** The name of this process in the store. */
  readonly #replica = randomUUID()
  #listening: NodeJS.Timeout | undefined
  /** Calls that run for other replicas. */
  #continued = 0

  constructor(store?: QuestionStore) {
    this.#store = store
  }

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
      isAllowed: () => true,
      result: Promise.resolve({}),
      asked: 0,
      onAsked: () => undefined,
    }
    const ask = (method: string) => (sent: object, signal?: AbortSignal) =>
      addQuestion(call, method, sent, signal)
    call.result = work({
      request: () => call.request,
      signal: call.end.signal,
      allowIf: (isAllowed) => {
        call.isAllowed = isAllowed
      },
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
    clearInterval(this.#listening)
    for (const handle of [...this.#calls.keys()]) this.#giveUp(handle)
  }

  #resume(handle: string, key: string, request: Request): Promise<Result> {
    const found = this.#calls.get(handle)
    if (!found && this.#store) return this.#passOn(this.#store, handle, key, request)
    // A handle of another client or call counts as unknown.
    if (found?.call.key() !== key)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, prompts.unknownState)
    this.#forget(handle)
    return this.#continue(found.call, request)
  }

  async #continue(call: Call, request: Request): Promise<Result> {
    if (!call.isAllowed()) {
      endCall(call, 'The call is no longer allowed.')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, prompts.unknownState)
    }
    call.request = request
    const given = request.inputResponses ?? {}
    for (const [id, question] of call.questions)
      if (Object.hasOwn(given, id)) {
        call.questions.delete(id)
        question.answer(given[id])
      }
    return this.#wait(call)
  }

  /** Gives the answer to the replica that runs the call, and waits for what the call gives. */
  async #passOn(store: QuestionStore, handle: string, key: string, request: Request): Promise<Result> {
    const unknown = () => new ProtocolError(ProtocolErrorCode.InvalidParams, prompts.unknownState)
    if (!(await store.answer(handle, hash(key), request.inputResponses ?? {}))) throw unknown()
    for (;;) {
      const { outcome, isLost } = await store.read(handle)
      const { result, error } = (outcome ?? {}) as Outcome
      if (result) return result
      if (error) throw new ProtocolError(error.code, error.message, error.data)
      if (isLost) throw unknown()
      await wait(INTERVAL, undefined, { signal: request.signal })
    }
  }

  /** Continues calls whose answers other replicas received. */
  async #listen(store: QuestionStore): Promise<void> {
    for (const { handle, answer } of await store.listen(this.#replica)) {
      const found = this.#calls.get(handle)
      if (!found) continue
      this.#drop(handle)
      const { call } = found
      const request = {
        ...call.request,
        inputResponses: answer as NonNullable<Request['inputResponses']>,
        signal: new AbortController().signal,
        // Its client is connected to another replica.
        notify: async () => undefined,
      }
      const outcome = this.#continue(call, request).then(
        (result): Outcome => ({ result }),
        (error: ProtocolError): Outcome => ({
          error: {
            code: error.code ?? ProtocolErrorCode.InternalError,
            message: error.message,
            data: error.data,
          },
        }),
      )
      this.#continued++
      void outcome
        .then((ended) => store.end(handle, ended))
        .catch(() => undefined)
        .finally(() => this.#continued--)
    }
  }

  #drop(handle: string): void {
    clearTimeout(this.#calls.get(handle)?.expiry)
    this.#calls.delete(handle)
  }

  #forget(handle: string): void {
    this.#drop(handle)
    this.#store?.forget(handle).catch(() => undefined)
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
      return result ?? (await this.#suspend(call))
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #suspend(call: Call): Promise<Result> {
    const handle = PREFIX + randomBytes(24).toString('base64url')
    const expiry = setTimeout(() => this.#giveUp(handle), PATIENCE)
    expiry.unref()
    this.#calls.set(handle, { call, expiry })
    // Nobody may come back for the result.
    call.result.catch(() => undefined)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MOST_SUSPENDED && oldest !== undefined) this.#giveUp(oldest)
    const store = this.#store
    if (store) {
      // Without the database, the answer must reach this process.
      await store.open(this.#replica, handle, hash(call.key())).catch(() => undefined)
      this.#listening ??= setInterval(() => {
        if (this.#calls.size + this.#continued > 0) this.#listen(store).catch(() => undefined)
      }, INTERVAL).unref()
    }
    const inputRequests = Object.fromEntries([...call.questions].map(([id, { request }]) => [id, request]))
    return { resultType: 'input_required', inputRequests, requestState: handle }
  }

  #giveUp(handle: string): void {
    const found = this.#calls.get(handle)
    if (!found) return
    this.#forget(handle)
    endCall(found.call, 'The client did not answer in time.')
  }
}

function endCall({ questions, end }: Call, reason: string): void {
  for (const { fail } of questions.values()) fail(new ProtocolError(ProtocolErrorCode.InternalError, reason))
  end.abort(new Error(reason))
}

interface Outcome {
  readonly result?: Result
  readonly error?: { readonly code: number; readonly message: string; readonly data: unknown }
}

/** The key contains the arguments of the call. */
const hash = (key: string) => createHash('sha256').update(key).digest('hex')

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
