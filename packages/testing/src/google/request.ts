/** The nouns of the Gemini wire. The fields are those of `@google/genai`. */

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

/** Exactly one field of data, and any number that describe it. */
export interface GooglePart {
  readonly text?: string
  readonly functionCall?: GoogleFunctionCall
  readonly functionResponse?: GoogleFunctionResponse
  readonly thoughtSignature?: string
  readonly [field: string]: unknown
}

export interface GoogleContent {
  /** A user's when absent. */
  readonly role?: 'user' | 'model'
  readonly parts: readonly GooglePart[]
}

export interface GoogleFunctionDeclaration {
  readonly name: string
  readonly description?: string
  /** Google's subset of OpenAPI 3.0; `parametersJsonSchema` is the alternative. */
  readonly parameters?: { readonly [keyword: string]: unknown }
  readonly parametersJsonSchema?: { readonly [keyword: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleTool {
  readonly functionDeclarations?: readonly GoogleFunctionDeclaration[]
  readonly [field: string]: unknown
}

/** The shape of a body without violations. The model and whether to stream stand in the path. */
export interface GoogleRequestBody {
  readonly contents: readonly GoogleContent[]
  readonly systemInstruction?: { readonly role?: string; readonly parts: readonly GooglePart[] }
  readonly tools?: readonly GoogleTool[]
  readonly toolConfig?: { readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleRuleOptions {
  /** Characters of a function's name. 128 as the official types have it; in 2025 servers still stopped at 64. */
  readonly maxName?: number
  /**
   * Whether calls since the user last spoke need the signature they came with, as Gemini 3 demands. Off by default, as
   * earlier models send none. The scripted answers then carry them.
   */
  readonly thoughtSignatures?: boolean
  /** Whether a function's response may hold media (`parts`), as Gemini 3 takes it; so when absent. Earlier models refuse it. */
  readonly mediaResponses?: boolean
}

export function declaredNames({ tools }: GoogleRequestBody): ReadonlySet<string> {
  return new Set(tools?.flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name))
}
