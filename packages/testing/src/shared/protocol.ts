/** The seam of the scripted endpoint: what differs between providers' wires. The HTTP server around it is the same for all. */

/** Why a strict server answers 400 before any model runs. */
export interface Violation {
  readonly message: string
  /** The JSON path of what is wrong, where there is one. */
  readonly param: string | null
  readonly code: string
}

/** One call in a scripted answer. */
export interface ScriptedCall {
  readonly name: string
  /** A string is sent as it is, broken JSON included, where the wire carries arguments as text; anything else as its JSON. */
  readonly arguments: unknown
  /** A default that counts over the server's life when absent. */
  readonly id?: string
}

export interface ScriptedAnswer {
  /** What the model thinks before it speaks, where the wire carries that signed. Only Anthropic's does here; others leave it out. */
  readonly thinking?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** The wire's own reason for the end; by default what a server says after calls or after text. */
  readonly finish?: string
}

/** What a protocol needs to know about the request it answers. */
export interface AnswerContext {
  /** Counts accepted requests from 0. */
  readonly index: number
  /** This request in render order, and all earlier accepted ones: what an automatic prefix cache has seen. */
  readonly rendered: string
  readonly earlier: readonly string[]
  /** A fresh id for a call, with the wire's own prefix. */
  nextCallId(prefix: string): string
}

/** An answer in its two forms. */
export interface RenderedAnswer {
  readonly object: object
  /** Pieces of the event stream, each written as it is. The last piece is the whole ending; a cut stream lacks it. */
  stream(): Iterable<string>
}

export interface Protocol<Body extends object> {
  readonly name: string
  /** What `url` of the endpoint ends in: the base URL the official client wants. */
  readonly basePath: string
  /** Whether this is the path of a model request, and whether the path itself asks for a stream. */
  match(path: string): { readonly stream?: boolean } | undefined
  /** The header that carries the key, as the official client sends it. */
  authorised(headers: Readonly<Record<string, string | string[] | undefined>>, apiKey: string): boolean
  violationOf(body: unknown): Violation | undefined
  wantsStream(body: Body): boolean
  /** The request as the provider lays it before the model; its common prefix with an earlier one is what a cache keeps. */
  renderOrder(body: Body): string
  answer(answer: ScriptedAnswer, body: Body, context: AnswerContext): RenderedAnswer
  /** The wire's error object. */
  errorObject(status: number, message: string, code: string | null, param: string | null): object
}
