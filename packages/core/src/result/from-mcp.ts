/** Converts the result of an MCP tool to parts. */
import { isRecord } from '../base/data.js'
import { type GivenPart, type ToolResult, toolResult } from './part.js'

/** The fields of `CallToolResult` that are read. */
export interface McpResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

/** Uses structured content only if the text is empty: the protocol asks servers to send the same content as text too. */
export function mcpResult({ content, structuredContent, isError }: McpResult): ToolResult {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const parts = blocks.flatMap(readBlock)
  const hasText = parts.some((part) => part.type === 'text' && part.text !== '')
  if (structuredContent !== undefined && !hasText)
    parts.push({ type: 'structured', value: structuredContent })
  return toolResult(parts, { isError: isError === true })
}

function readBlock(block: unknown): GivenPart[] {
  if (!isRecord(block)) return []
  const { type, text, data, mimeType, uri, name, title, description, resource } = block
  const media = { mediaType: typeof mimeType === 'string' ? mimeType : '' }
  if (type === 'text') return typeof text === 'string' ? [{ type, text }] : []
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return [{ type, data, ...media }]
  if (type === 'resource' && isRecord(resource)) return readResource(resource)
  if (type === 'resource_link' && typeof uri === 'string')
    return [
      {
        type: 'link',
        uri,
        ...readName(typeof title === 'string' ? title : name),
        ...(typeof description === 'string' ? { description } : {}),
        ...(media.mediaType === '' ? {} : media),
      },
    ]
  // An unknown, newer kind of block: pass it on as JSON.
  return [{ type: 'structured', value: block }]
}

function readResource({ uri, text, blob, mimeType }: Record<string, unknown>): GivenPart[] {
  if (typeof text === 'string') return [{ type: 'text', text }]
  const mediaType = typeof mimeType === 'string' ? mimeType : 'application/octet-stream'
  if (typeof blob !== 'string') return typeof uri === 'string' ? [{ type: 'link', uri, mediaType }] : []
  const [kind = ''] = mediaType.split('/')
  const type = kind === 'image' || kind === 'audio' ? kind : 'file'
  return [
    { type, data: blob, mediaType, ...readName(typeof uri === 'string' ? lastPathPart(uri) : undefined) },
  ]
}

function readName(name: unknown): { readonly name?: string } {
  return typeof name === 'string' && name !== '' ? { name } : {}
}

/** The last part of a URI's path, without query and fragment. */
function lastPathPart(uri: string): string {
  const [path = ''] = uri.split(/[?#]/, 1)
  return path.slice(path.lastIndexOf('/') + 1)
}
