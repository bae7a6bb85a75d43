/** The parts of the Gemini API that this adapter reads or writes. Everything else passes through unchanged. */

export interface GoogleFunctionCall {
  /** Not every server sends an id. */
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

/** Media in a response. */
export interface GoogleResponseMedia {
  readonly inlineData: { readonly mimeType: string; readonly data: string }
}

/** One field of data and its metadata. Without an index signature, so that the SDK's `Part` fits. */
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
  /** `model` or `user`. */
  readonly role?: string
  readonly parts?: readonly GooglePart[]
}

/** The response of `generateContent`, or its content. */
export type GoogleReply = GoogleResponse | GoogleContent

/** The fields of the response that are read. */
export interface GoogleResponse {
  readonly candidates?: readonly { readonly content?: GoogleContent; readonly finishReason?: string }[]
  readonly usageMetadata?: unknown
}

/** A declaration as it is written, compatible with the SDK's types. */
export interface GoogleFunction {
  name?: string
  description?: string
  parametersJsonSchema?: unknown
}

/** A declaration of the host. */
export interface GoogleFunctionDeclaration extends GoogleFunction {
  /** Google's subset of OpenAPI. Read, never written. */
  parameters?: unknown
}

export interface GoogleTool {
  functionDeclarations?: GoogleFunction[]
}

export const WIRE = 'google'

export function listParts({ parts }: GoogleContent): readonly GooglePart[] {
  return Array.isArray(parts) ? (parts as readonly GooglePart[]) : []
}
