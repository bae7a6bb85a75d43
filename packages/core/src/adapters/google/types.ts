/** The parts of the Gemini API that this adapter reads or writes. Everything else passes through untouched. */

export interface GoogleFunctionCall {
  /** Not every server sends one. */
  readonly id?: string
  readonly name?: string
  readonly args?: { readonly [name: string]: unknown }
}

export interface GoogleFunctionResponse {
  readonly id?: string
  readonly name?: string
  readonly response?: { readonly [name: string]: unknown }
  readonly parts?: unknown
}

/** A piece of media in a response. */
export interface GoogleResponseMedia {
  readonly inlineData: { readonly mimeType: string; readonly data: string }
}

/** One field of data, and some that describe it. No index signature: the SDK's own `Part` has none and fits here. */
export interface GooglePart {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: GoogleFunctionCall
  readonly functionResponse?: GoogleFunctionResponse
  readonly inlineData?: unknown
  readonly fileData?: unknown
  readonly executableCode?: unknown
  readonly codeExecutionResult?: unknown
}

export interface GoogleContent {
  /** `model`, or a user's. */
  readonly role?: string
  readonly parts?: readonly GooglePart[]
}

/** The answer of `generateContent`, or the content in it. */
export type GoogleReply = GoogleResponse | GoogleContent

/** What `generateContent` answers, as far as it is read. */
export interface GoogleResponse {
  readonly candidates?: readonly { readonly content?: GoogleContent; readonly finishReason?: string }[]
  readonly usageMetadata?: unknown
}

/** A declaration as it is written, in the words of the SDK's types. */
export interface GoogleFunction {
  name?: string
  description?: string
  parametersJsonSchema?: unknown
}

/** A declaration of the host's. */
export interface GoogleFunctionDeclaration extends GoogleFunction {
  /** Google's subset of OpenAPI. Read, never written. */
  parameters?: unknown
}

export interface GoogleTool {
  functionDeclarations?: GoogleFunction[]
}

export const WIRE = 'google'

export function partsOf({ parts }: GoogleContent): readonly GooglePart[] {
  return Array.isArray(parts) ? (parts as readonly GooglePart[]) : []
}
