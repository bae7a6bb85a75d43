/** The nouns of the OpenAI Responses wire, with the guards that its rules share. */

import type { Found } from '../shared/guards.js'
import { wrongType } from '../shared/openai.js'

/** A tool definition; which fields it has depends on its type. A namespace holds its members in `tools`. */
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

/** An item of the input; which fields it has depends on its type, and one without a type is a message. */
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

/** The shape of a body without violations. */
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
  /** Whether the model has the API's own tool search; so when absent. gpt-5.4-nano and older models refuse it. */
  readonly toolSearch?: boolean
  /**
   * Whether the server knows tools of the kind `namespace`; so when absent. Compatible servers and proxies lag behind: xAI's
   * answers 422 "unknown variant `namespace`" (maximhq/bifrost#5428), others refuse the whole request (coder/coder#28656).
   */
  readonly namespaces?: boolean
  /**
   * Judges a function without `strict` as if it were true. OpenAI tries strict mode on such a function and falls back
   * in silence where the schema does not allow it: a host that means `strict: false` has to say so, and this shows
   * where it does not.
   */
  readonly strictByDefault?: boolean
  /**
   * Refuses a message between the outputs of a batch and the model's next item. OpenAI takes it; servers that render the
   * items with a chat template drop the reasoning before it (GLM, MiniMax, Qwen) or refuse it (Mistral's templates), as on
   * the Chat wire. Not for a host whose user speaks while tools run.
   */
  readonly strictOrder?: boolean
}

type Check = (value: unknown, at: string) => Found

/** A string is short for one message of the user. */
export function itemsOf({ input }: Pick<ResponsesRequestBody, 'input'>): readonly ResponsesItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

export function toolsOf(body: Pick<ResponsesRequestBody, 'input'>, type: string): readonly ResponsesTool[] {
  return itemsOf(body).flatMap((item) => (item.type === type ? (item.tools ?? []) : []))
}

/** Everything offered from the start or by the application: `tools`, then the `additional_tools` items in order. */
export function offeredTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): readonly ResponsesTool[] {
  return [...(body.tools ?? []), ...toolsOf(body, 'additional_tools')]
}

export function stringViolation(value: unknown, at: string): Found {
  return typeof value === 'string' ? undefined : wrongType(at, 'a string', value)
}

export function booleanViolation(value: unknown, at: string): Found {
  return typeof value === 'boolean' ? undefined : wrongType(at, 'a boolean', value)
}

/** Most optional fields of this wire may be null as well as absent. */
export function optional(value: unknown, at: string, check: Check): Found {
  return value === undefined || value === null ? undefined : check(value, at)
}
