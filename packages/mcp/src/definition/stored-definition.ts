/**
 * A definition as a file: a line with everything but the schemas, and behind it one line for each schema. A start reads
 * the first; a schema is read when it is wanted, which for most tools is never.
 */
import { createHash } from 'node:crypto'
import { isValidated, markValidated, problemOf } from '@toolwell/core/internal'
import type { McpTool, ServerDefinition } from './server-definition.js'

const FORMAT = 3

export interface StoredDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  readonly notes: unknown
  /** Names the definition, for what belongs to it. */
  readonly digest: string
}

/** The place of a schema in the bytes after the first line. */
type Span = readonly [start: number, end: number]
interface Spans {
  readonly inputSchema: Span
  readonly outputSchema?: Span
}

/** The head says what follows, so that the rest is looked at once: `{"toolwell":3,"check":"…","body":…}`. */
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
    // An entry that is not a tool is stored whole, so that its fault is still visible. So is one with a key `__proto__`.
    const isWhole =
      problemOf({ name: tool.name, inputSchema }) !== undefined || Object.hasOwn(tool, '__proto__')
    const output = outputSchema === undefined || isWhole ? {} : { outputSchema: put(outputSchema) }
    spans.push(isWhole ? null : { inputSchema: put(inputSchema), ...output })
    return isWhole ? tool : rest
  })
  const parts = { fingerprint, savedAt, digest, definition: { ...definition, tools }, spans, notes }
  const body = JSON.stringify(parts)
  const rest = Buffer.concat([Buffer.from(`${body}}\n`), ...lines])
  return Buffer.concat([Buffer.from(`{"toolwell":${FORMAT},"check":"${sha256(rest)}","body":`), rest])
}

/** The content, or in words why it is none. */
export function decodeDefinition(content: Buffer, fingerprint: string): StoredDefinition | string {
  const [head, format, check] = HEAD.exec(content.toString('latin1', 0, 128)) ?? []
  if (head === undefined) {
    const text = content.toString('utf8')
    return text.startsWith('{"toolwell"') || !isJson(text) ? 'is damaged' : 'was not written by Toolwell'
  }
  if (Number(format) !== FORMAT) return 'was written by another version'
  const rest = content.subarray(head.length)
  const lineEnd = rest.indexOf('\n')
  // All bytes are checked now, so that schemas that are read later are known to be undamaged.
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

/** A tool whose schemas are read from the file on demand, and again when memory was wanted meanwhile. All share one getter; with one getter each, every tool would have its own hidden class. */
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

/** What is no object costs nothing to read again. */
function weakly(value: unknown): WeakRef<object> | undefined {
  return typeof value === 'object' && value !== null ? new WeakRef(value) : undefined
}

/** Marks a tool as valid that is made from a valid one. */
export function copyValidation<T extends object>(made: T, origin: object): T {
  return isValidated(origin) ? markValidated(made) : made
}

/** The platform's own hash, because a start reads every file and must be fast. */
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
