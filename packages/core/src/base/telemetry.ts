/** The seam for traces. `openTelemetry` of `@toolwell/core/telemetry` implements it with OpenTelemetry. */

/** W3C Trace Context, as MCP sends it in `_meta`. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: 'internal' | 'client' | 'server'
  readonly attributes: SpanAttributes
  /** The span of another process. Default: the active span of this process. */
  readonly parent?: TraceContext
}

export interface Span {
  /** For the request that the span covers. Undefined if the span is not recorded. */
  readonly context: TraceContext | undefined
  set(attributes: SpanAttributes): void
  /** Runs work in which this span is active. */
  run<T>(work: () => T): T
  /** `error` is the value of `error.type`. */
  end(error?: string): void
}

export interface Telemetry {
  start(span: SpanStart): Span
}
