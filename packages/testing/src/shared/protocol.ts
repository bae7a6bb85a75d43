/** Interface between the scripted endpoint and a provider's wire. */

/** Why a strict server answers 400 before running a model. */
export interface Violation {
  readonly message: string
  /** JSON path of the fault, if any. */
  readonly param: string | null
  readonly code: string
}

/** A call in a scripted answer. */
export interface ScriptedCall {
  readonly name: string
  /** A string is sent unchanged, even broken JSON, if the wire carries arguments as text. Other values are sent as JSON. */
  readonly arguments: unknown
  /** Default: an id that counts up over the server's lifetime. */
  readonly id?: string
}

export interface ScriptedAnswer {
  /** Thinking before the answer. Anthropic and Responses send it; other wires ignore it. */
  readonly thinking?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** Finish reason of the wire. Default: the usual one after calls or text. */
  readonly finish?: string
}

/** Facts about the request being answered. */
export interface AnswerContext {
  /** Counts accepted requests from 0. */
  readonly index: number
  /** This request in render order, and all earlier accepted ones, for the prefix cache. */
  readonly rendered: string
  readonly earlier: readonly string[]
  /** Returns a new call id with the wire's prefix. */
  nextCallId(prefix: string): string
}

/** An answer as an object and as a stream. */
export interface RenderedAnswer {
  readonly object: object
  /** Pieces of the event stream. The last piece is the whole ending, which a cut stream lacks. */
  stream(): Iterable<string>
}

export interface Protocol<Body extends object> {
  readonly name: string
  /** Path part of `url`, as the official client expects it. */
  readonly basePath: string
  /** Undefined if this is not the path of a model request. `stream` is set if the path asks for a stream. */
  match(path: string): { readonly stream?: boolean } | undefined
  /** Checks the header that carries the API key. */
  authorised(headers: Readonly<Record<string, string | string[] | undefined>>, apiKey: string): boolean
  violationOf(body: unknown): Violation | undefined
  wantsStream(body: Body): boolean
  /** The request in the order in which the provider shows it to the model. A cache keeps the common prefix. */
  renderOrder(body: Body): string
  answer(answer: ScriptedAnswer, body: Body, context: AnswerContext): RenderedAnswer
  /** Error object of the wire. */
  errorObject(status: number, message: string, code: string | null, param: string | null): object
}
