/** The result of an MCP tool as parts. */
import { isRecord } from '../base/data.js'
import { type GivenPart, type ToolResult, toolResult } from './part.js'

/** A `CallToolResult`, as far as it is read. */
export interface McpResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

/**
 * A server that gives structured content says the same as text beside it, for clients that read text: the protocol asks
 * for that. So it is read only where there is no text.
 */
export function mcpResult({ content, structuredContent, isError }: McpResult): ToolResult {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const parts = blocks.flatMap(readBlock)
  const isSaid = parts.some((part) => part.type === 'text' && part.text !== '')
  if (structuredContent !== undefined && !isSaid) parts.push({ type: 'structured', value: structuredContent })
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
  // A kind that is newer than this: what it is may still be told.
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

/** The last piece of an address, without what follows a `?` or `#`. */
function lastPathPart(uri: string): string {
  const [path = ''] = uri.split(/[?#]/, 1)
  return path.slice(path.lastIndexOf('/') + 1)
}
