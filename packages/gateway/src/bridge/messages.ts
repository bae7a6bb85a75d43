/** Reads and checks the messages of a client, line by line. Uses only Node. */
import { LONGEST_LINE } from './protocol.js'

export interface Message {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly requestId?: unknown }
  readonly result?: unknown
  readonly error?: unknown
}

export type Read =
  | { readonly message: Message }
  /** The whole error response. */
  | { readonly refusal: object }

/**
 * Checks a line of a client. The daemon's transport drops invalid messages silently, so the sender would wait forever. The rules
 * match the SDK's `JSONRPCRequestSchema` and `JSONRPCNotificationSchema`; a test compares them.
 */
export function readMessage(line: string): Read {
  const excess = describeExcess(line)
  if (excess !== undefined) return refusal(null, -32600, `Invalid request: ${excess}`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refusal(null, -32700, 'Parse error: this is not JSON.')
  }
  if (Array.isArray(value)) return refusal(null, -32600, 'Invalid request: send one message per line.')
  if (!isObject(value)) return refusal(null, -32600, 'Invalid request: a message is an object.')
  const problem = findProblem(value)
  if (problem === undefined) return { message: value as Message }
  return refusal(isId(value.id) ? value.id : null, -32600, `Invalid request: ${problem}`)
}

const MOST_LEVELS = 1100
const MOST_KEYS = 100_000
const MOST_IN_BATCH = 100

/** Says which limit a JSON text exceeds. Reads the text once, before it is parsed. */
export function describeExcess(text: string): string | undefined {
  const isBatch = /^\s*\[/.test(text)
  let depth = 0
  let keys = 0
  let messages = 1
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      // Skip the string. `at` ends on its closing quote.
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
    } else if (character === '[' || character === '{') {
      if (++depth > MOST_LEVELS) return `it is nested deeper than ${MOST_LEVELS} levels.`
    } else if (character === ']' || character === '}') depth--
    else if (character === ':') {
      if (++keys > MOST_KEYS) return `it has more than ${MOST_KEYS} keys.`
    } else if (character === ',' && depth === 1 && isBatch && ++messages > MOST_IN_BATCH)
      return `a batch has at most ${MOST_IN_BATCH} messages.`
  }
  return undefined
}

const META_TASK = 'io.modelcontextprotocol/related-task'
const KEYS = new Set(['jsonrpc', 'id', 'method', 'params'])

function findProblem(value: Record<string, unknown>): string | undefined {
  const { jsonrpc, method, params } = value
  if (jsonrpc !== '2.0') return '"jsonrpc" must be "2.0".'
  // The answer to a request of the daemon.
  if (method === undefined && ('result' in value || 'error' in value)) return undefined
  if (typeof method !== 'string') return '"method" must be a string.'
  if ('id' in value && !isId(value.id)) return '"id" must be a string or a whole number.'
  const extra = Object.keys(value).find((key) => !KEYS.has(key))
  if (extra !== undefined) return `unknown key ${JSON.stringify(extra)}.`
  if (params === undefined) return undefined
  if (!isObject(params)) return '"params" must be an object.'
  const { _meta: meta } = params
  if (meta === undefined) return undefined
  if (!isObject(meta)) return '"_meta" must be an object.'
  if (meta.progressToken !== undefined && !isId(meta.progressToken))
    return '"progressToken" must be a string or a whole number.'
  const task = meta[META_TASK]
  if (task !== undefined && !(isObject(task) && typeof task.taskId === 'string'))
    return `"${META_TASK}" must be an object with a "taskId".`
  return undefined
}

export function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** Refuses a second request with the same id, because its answer could not be matched. */
export function describeTakenId(id: string | number): string {
  return `The id ${JSON.stringify(id)} belongs to a request that is still open. Use a new id for each request.`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refusal(id: string | number | null, code: number, message: string): Read {
  return { refusal: { jsonrpc: '2.0', id, error: { code, message } } }
}

/** Splits a pipe into lines. Returns false if a line is too long; the rest cannot be read then. */
export function createLineSplitter(onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let pieces: Buffer[] = []
  let held = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end)
      const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last])
      pieces = []
      held = 0
      start = end + 1
      const text = line.toString('utf8').trim()
      if (text !== '') onLine(text)
    }
    if (start < chunk.length) {
      pieces.push(chunk.subarray(start))
      held += chunk.length - start
    }
    return held <= LONGEST_LINE
  }
}
