import type { Server } from '@modelcontextprotocol/server'

export function createModernServer(options?: {
  readonly tools?: readonly string[]
  readonly cacheHints?: object
  readonly onCall?: (name: string, context: unknown) => void
}): Server
