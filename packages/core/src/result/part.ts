/** What a tool gave, as parts: one form for a host's own tools and for MCP. Each wire writes them in its own. */

export type ResultPart = TextPart | MediaPart | LinkPart | StructuredPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** Bytes: a picture, a sound, or any other file. */
export interface MediaPart {
  readonly type: 'image' | 'audio' | 'file'
  /** In base64. */
  readonly data: string
  readonly mediaType: string
  readonly name?: string
}

/** Something that can be fetched elsewhere. Its address is told; nobody fetches it. */
export interface LinkPart {
  readonly type: 'link'
  readonly uri: string
  readonly name?: string
  readonly description?: string
  readonly mediaType?: string
}

/** A JSON value. The model reads it as JSON. */
export interface StructuredPart {
  readonly type: 'structured'
  readonly value: unknown
}

/** A part as a tool may write it: bytes are as good as base64. */
export type GivenPart =
  | TextPart
  | LinkPart
  | StructuredPart
  | (Omit<MediaPart, 'data'> & { readonly data: string | Uint8Array })

export interface ToolResult {
  readonly parts: readonly GivenPart[]
  /** The tool ran and failed: the call counts as failed, and the model is told so. */
  readonly isError?: boolean
}

/** In the registry of all realms: two copies of this package may meet in one process. */
const MARK = Symbol.for('toolwell.result')

/**
 * A result in parts, for `execute` to return. Only what this function made is read as parts: a value that merely looks
 * like one is data, and is written as JSON.
 */
export function toolResult(
  parts: readonly GivenPart[],
  { isError = false }: { readonly isError?: boolean } = {},
): ToolResult {
  const made: ToolResult = { parts, ...(isError ? { isError } : {}) }
  return Object.defineProperty(made, MARK, { value: true })
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as { [MARK]?: unknown })[MARK] === true
}

export function isMedia(part: ResultPart): part is MediaPart {
  return part.type === 'image' || part.type === 'audio' || part.type === 'file'
}
