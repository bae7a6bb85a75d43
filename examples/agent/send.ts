/** Sends one request with plain `fetch`. Repeats it with the same bytes while the server is busy or the stream breaks. */
import { readEvents } from '@toolwell/core/openai-chat'
import type { AgentEvent } from './events.ts'
import type { Answer, Server, Wire } from './wires.ts'

export interface Sending {
  readonly emit?: (event: AgentEvent) => void
  readonly signal?: AbortSignal
  /** Waits between attempts. */
  readonly pause?: (milliseconds: number) => Promise<void>
}

/** The server refused the request: not a network failure, and not temporary. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(`The model's server answered ${status}: ${text}`)
    this.status = status
  }
}

export const ATTEMPTS = 5
const FIRST_WAIT = 500
const LONGEST_WAIT = 60_000

/** Temporary: too many requests, overloaded (529 is Anthropic's), or a server error. */
const passes = (status: number) => status === 408 || status === 429 || status >= 500

export async function send(
  wire: Wire,
  server: Server,
  parts: object,
  sending: Sending = {},
): Promise<Answer> {
  const { emit, signal, pause = sleep } = sending
  const { url, headers, body } = wire.request(server, parts)
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  }
  for (let attempt = 1; ; attempt++) {
    const failure = await attemptOnce(wire, url, request)
    if ('answer' in failure) return failure.answer
    signal?.throwIfAborted()
    if (attempt === ATTEMPTS || !failure.passes) throw failure.error
    const wait = Math.min(failure.wait ?? FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
    emit?.({ kind: 'retry', attempt: attempt + 1, because: failure.error.message, wait })
    await pause(wait)
  }
}

type Attempt =
  | { readonly answer: Answer }
  | { readonly error: Error; readonly passes: boolean; readonly wait?: number }

async function attemptOnce(wire: Wire, url: string, request: RequestInit): Promise<Attempt> {
  let response: Response
  try {
    response = await fetch(url, request)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { error: new Error(`${new URL(url).host} cannot be reached: ${String(cause)}`), passes: true }
  }
  if (!response.ok || !response.body) {
    const error = new Refusal(response.status, (await response.text().catch(() => '')).slice(0, 2000))
    const seconds = Number(response.headers.get('retry-after'))
    return { error, passes: passes(response.status), ...(seconds > 0 ? { wait: seconds * 1000 } : {}) }
  }
  const answer = await wire.read(readEvents(response.body))
  if (answer.complete) return { answer }
  return { error: new Error('The stream of the answer broke off.'), passes: true }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
