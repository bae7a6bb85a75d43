/** Types of the Gemini wire. The fields follow `@google/genai`. */

export interface GoogleFunctionCall {
  readonly name: string
  readonly args?: { readonly [name: string]: unknown }
  readonly id?: string
}

export interface GoogleFunctionResponse {
  readonly name: string
  readonly response: { readonly [name: string]: unknown }
  readonly id?: string
  readonly [field: string]: unknown
}

/** Exactly one data field, and any number of fields that describe it. */
export interface GooglePart {
  readonly text?: string
  readonly functionCall?: GoogleFunctionCall
  readonly functionResponse?: GoogleFunctionResponse
  readonly thoughtSignature?: string
  readonly [field: string]: unknown
}

export interface GoogleContent {
  /** Default: `user`. */
  readonly role?: 'user' | 'model'
  readonly parts: readonly GooglePart[]
}

export interface GoogleFunctionDeclaration {
  readonly name: string
  readonly description?: string
  /** Google's subset of OpenAPI 3.0. `parametersJsonSchema` is the alternative. */
  readonly parameters?: { readonly [keyword: string]: unknown }
  readonly parametersJsonSchema?: { readonly [keyword: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleTool {
  readonly functionDeclarations?: readonly GoogleFunctionDeclaration[]
  readonly [field: string]: unknown
}

/** Shape of a body without violations. Model and streaming are in the path. */
export interface GoogleRequestBody {
  readonly contents: readonly GoogleContent[]
  readonly systemInstruction?: { readonly role?: string; readonly parts: readonly GooglePart[] }
  readonly tools?: readonly GoogleTool[]
  readonly toolConfig?: { readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleRuleOptions {
  /** Maximum characters of a function name. 128 in the official types; servers still stopped at 64 in 2025. */
  readonly maxName?: number
  /**
   * Requires calls since the last user message to carry their signature, as Gemini 3 does, and adds signatures to scripted
   * answers. Off by default, because earlier models send none.
   */
  readonly thoughtSignatures?: boolean
  /** Allows media (`parts`) in function responses, as Gemini 3 does. Default: true. Earlier models refuse it. */
  readonly mediaResponses?: boolean
}

export function declaredNames({ tools }: GoogleRequestBody): ReadonlySet<string> {
  return new Set(tools?.flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name))
}
