/**
 * File format of a definition: one line with everything except the schemas, then one line per schema. A start parses the first
 * line. A schema is parsed when it is needed, which for most tools is never.
 */
import { createHash } from 'node:crypto'
import { findToolProblem, isValidated, markValidated } from '@toolwell/core/internal'
import type { McpTool, ServerDefinition } from './server-definition.js'

const FORMAT = 4

export interface StoredDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  readonly notes: unknown
  /** Identifies the definition for derived data. */
  readonly digest: string
}

/** Position of a schema in the bytes after the first line. */
type Span = readonly [start: number, end: number]
interface Spans {
  readonly inputSchema: Span
  readonly outputSchema?: Span
}

/** Version and checksum of the rest: `{"toolwell":4,"check":"…","body":…}`. */
const HEAD = /^\{"toolwell":(\d+),"check":"([0-9a-f]{64})","body":/

export function encodeDefinition(fingerprint: string, stored: StoredDefinition): Uint8Array {
  const { definition, savedAt, notes, digest } = stored
  const lines: Uint8Array[] = []
  let end = 0
  const put = (schema: unknown): Span => {
    const line = Buffer.from(`${JSON.stringify(schema)}\n`)
    lines.push(line)
    end += line.length
    return [end - line.length, end - 1]
  }
  const spans: (Spans | null)[] = []
  const tools = definition.tools.map((tool): object => {
    const { inputSchema, outputSchema, ...rest } = tool
    // Store invalid entries completely, so that their fault stays visible. Likewise entries with a key `__proto__`.
    const isWhole =
      findToolProblem({ name: tool.name, inputSchema }) !== undefined || Object.hasOwn(tool, '__proto__')
    const output = outputSchema === undefined || isWhole ? {} : { outputSchema: put(outputSchema) }
    spans.push(isWhole ? null : { inputSchema: put(inputSchema), ...output })
    return isWhole ? tool : rest
  })
  const parts = { fingerprint, savedAt, digest, definition: { ...definition, tools }, spans, notes }
  const body = JSON.stringify(parts)
  const rest = Buffer.concat([Buffer.from(`${body}}\n`), ...lines])
  return Buffer.concat([Buffer.from(`{"toolwell":${FORMAT},"check":"${sha256(rest)}","body":`), rest])
}

/** Returns the content, or a text that says why the file cannot be used. */
export function decodeDefinition(content: Buffer, fingerprint: string): StoredDefinition | string {
  const [head, format, check] = HEAD.exec(content.toString('latin1', 0, 128)) ?? []
  if (head === undefined) {
    const text = content.toString('utf8')
    return text.startsWith('{"toolwell"') || !isJson(text) ? 'is damaged' : 'was not written by Toolwell'
  }
  if (Number(format) !== FORMAT) return 'was written by another version'
  const rest = content.subarray(head.length)
  const lineEnd = rest.indexOf('\n')
  // Check all bytes now, because schemas are parsed later.
  if (check !== sha256(rest) || lineEnd < 1) return 'is damaged'
  // Without the brace that closes the head.
  const value = JSON.parse(rest.toString('utf8', 0, lineEnd - 1)) as StoredDefinition & {
    readonly fingerprint: unknown
    readonly spans: readonly (Spans | null)[]
  }
  if (value.fingerprint !== fingerprint) return 'belongs to another server'
  const { definition, spans, savedAt, digest, notes } = value
  const schemas = rest.subarray(lineEnd + 1)
  const tools = definition.tools.map((tool, at) => {
    const own = spans[at]
    return own ? markValidated(new StoredTool(tool, schemas, own) as unknown as McpTool) : tool
  })
  return { definition: { ...definition, tools }, savedAt, notes, digest }
}

/** A tool that parses its schemas on demand, and again after garbage collection. All tools share the getters and so one hidden class. */
class StoredTool {
  readonly #lines: Buffer
  readonly #spans: Spans
  #input: WeakRef<object> | undefined
  #output: WeakRef<object> | undefined

  constructor(stored: object, lines: Buffer, spans: Spans) {
    this.#lines = lines
    this.#spans = spans
    Object.assign(this, stored)
    Object.defineProperty(this, 'inputSchema', StoredTool.#inputSchema)
    if (spans.outputSchema) Object.defineProperty(this, 'outputSchema', StoredTool.#outputSchema)
  }

  static readonly #inputSchema: PropertyDescriptor & ThisType<StoredTool> = {
    enumerable: true,
    configurable: true,
    get() {
      const known = this.#input?.deref()
      if (known) return known
      const read = this.#read(this.#spans.inputSchema)
      this.#input = weakly(read)
      return read
    },
  }

  static readonly #outputSchema: PropertyDescriptor & ThisType<StoredTool> = {
    enumerable: true,
    configurable: true,
    get() {
      const known = this.#output?.deref()
      if (known) return known
      const read = this.#read(this.#spans.outputSchema ?? [0, 0])
      this.#output = weakly(read)
      return read
    },
  }

  #read([start, end]: Span): unknown {
    return JSON.parse(this.#lines.toString('utf8', start, end))
  }
}

/** Other values are cheap to parse again. */
function weakly(value: unknown): WeakRef<object> | undefined {
  return typeof value === 'object' && value !== null ? new WeakRef(value) : undefined
}

/** Marks a tool as valid if it was made from a valid one. */
export function copyValidation<T extends object>(made: T, origin: object): T {
  return isValidated(origin) ? markValidated(made) : made
}

/** Uses the platform's hash, because a start reads every file and must be fast. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
