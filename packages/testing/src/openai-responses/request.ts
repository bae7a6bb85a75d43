/** Types of the OpenAI Responses wire, with guards that its rules share. */
import type { Found } from '../shared/guards.js'
import { wrongType } from '../shared/openai.js'

/** A tool definition. Its fields depend on its type. A namespace holds its members in `tools`. */
export interface ResponsesTool {
  readonly type: string
  readonly name?: string
  readonly description?: string | null
  readonly parameters?: { readonly [keyword: string]: unknown } | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean
  readonly execution?: 'server' | 'client'
  readonly tools?: readonly ResponsesTool[]
  readonly [field: string]: unknown
}

/** An input item. Its fields depend on its type; without a type it is a message. */
export interface ResponsesItem {
  readonly type?: string
  readonly id?: string | null
  readonly role?: string
  readonly call_id?: string | null
  readonly name?: string
  readonly namespace?: string | null
  readonly execution?: 'server' | 'client'
  readonly tools?: readonly ResponsesTool[]
  readonly [field: string]: unknown
}

/** Shape of a body without violations. */
export interface ResponsesRequestBody {
  readonly model: string
  readonly input: string | readonly ResponsesItem[]
  readonly instructions?: string | null
  readonly tools?: readonly ResponsesTool[]
  readonly tool_choice?: unknown
  readonly stream?: boolean | null
  readonly [field: string]: unknown
}

export interface ResponsesRuleOptions {
  /**
   * Allows the API's tool search. Default: true. gpt-5.4-nano and older models refuse it. `ignored`: the server drops it without
   * an error and returns the remaining `tools`, as servers do that skip tools of unknown types.
   */
  readonly toolSearch?: boolean | 'ignored'
  /**
   * Allows tools of type `namespace`. Default: true. Some compatible servers and proxies refuse them: xAI answers 422 "unknown
   * variant `namespace`" (maximhq/bifrost#5428), others refuse the whole request (coder/coder#28656).
   */
  readonly namespaces?: boolean
  /**
   * Checks a function without `strict` as if it were true. OpenAI tries strict mode on such a function and silently falls back if
   * the schema does not allow it. A host that means `strict: false` has to send it; this option finds functions without it.
   */
  readonly strictByDefault?: boolean
  /**
   * Refuses a message between the outputs of a batch and the model's next item. OpenAI accepts it, but servers with chat
   * templates drop the reasoning before it (GLM, MiniMax, Qwen) or refuse it (Mistral), as on the Chat wire. Not for hosts whose
   * user speaks while tools run.
   */
  readonly strictOrder?: boolean
}

type Check = (value: unknown, at: string) => Found

/** A string is one user message. */
export function readItems({ input }: Pick<ResponsesRequestBody, 'input'>): readonly ResponsesItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

export function collectTools(
  body: Pick<ResponsesRequestBody, 'input'>,
  type: string,
): readonly ResponsesTool[] {
  return readItems(body).flatMap((item) => (item.type === type ? (item.tools ?? []) : []))
}

/** Tools offered from the start or by the application: `tools`, then the `additional_tools` items in order. */
export function offeredTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): readonly ResponsesTool[] {
  return [...(body.tools ?? []), ...collectTools(body, 'additional_tools')]
}

export function stringViolation(value: unknown, at: string): Found {
  return typeof value === 'string' ? undefined : wrongType(at, 'a string', value)
}

export function booleanViolation(value: unknown, at: string): Found {
  return typeof value === 'boolean' ? undefined : wrongType(at, 'a boolean', value)
}

/** Most optional fields of this wire may be null. */
export function optional(value: unknown, at: string, check: Check): Found {
  return value === undefined || value === null ? undefined : check(value, at)
}
