/**
 * A response that goes out in one piece. The adapter of the SDK writes the head, each chunk and the end on their own, and every write is
 * a call of the system; an answer that is no stream is whole before its first byte is sent.
 */
import type { ServerResponse } from 'node:http'
import type { NodeServerResponseLike } from '@modelcontextprotocol/node'

export function inOneWrite(response: ServerResponse): NodeServerResponseLike {
  let head: { readonly status: number; readonly headers: Record<string, string> } | undefined
  const pieces: (string | Uint8Array)[] = []
  return {
    get destroyed() {
      return response.destroyed
    },
    on: (event, listener) => response.on(event, listener),
    writeHead(status, headers = {}) {
      // A stream is sent as it comes.
      if (headers['content-type']?.includes('event-stream')) response.writeHead(status, headers)
      else head = { status, headers }
    },
    write(chunk) {
      if (!head) return response.write(chunk)
      pieces.push(chunk)
      return true
    },
    end(chunk) {
      if (!head) return chunk === undefined ? response.end() : response.end(chunk)
      if (chunk !== undefined) pieces.push(chunk)
      const body = Buffer.concat(
        pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
      )
      response.writeHead(head.status, { ...head.headers, 'content-length': String(body.length) })
      return response.end(body)
    },
  }
}
