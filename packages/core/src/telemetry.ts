/** Entry point for OpenTelemetry. Needs the package `@opentelemetry/api`; the other entry points do not. */
import {
  type Span as ApiSpan,
  context,
  createTraceState,
  isSpanContextValid,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Telemetry, TraceContext } from './base/telemetry.js'

export type { Span, SpanAttributes, SpanStart, Telemetry, TraceContext } from './base/telemetry.js'

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const

/** Records spans with your tracer. Where they go is decided by the SDK that your program sets up. */
export function openTelemetry(tracer: Tracer): Telemetry {
  return {
    start({ name, kind, attributes, parent }) {
      const active = context.active()
      const remote = parent && readContext(parent)
      const local = trace.getSpanContext(active)
      const span = tracer.startSpan(
        name,
        // The span of the transport is not the parent, because the caller's span is.
        { kind: KINDS[kind], attributes, ...(remote && local ? { links: [{ context: local }] } : {}) },
        remote ? trace.setSpanContext(active, remote) : active,
      )
      return {
        context: writeContext(span),
        set: (more) => void span.setAttributes(more),
        run: (work) => context.with(trace.setSpan(active, span), work),
        end(error) {
          if (error !== undefined) {
            span.setAttribute('error.type', error)
            span.setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end()
        },
      }
    },
  }
}

function writeContext(span: ApiSpan): TraceContext | undefined {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  if (!isSpanContextValid({ traceId, spanId, traceFlags })) return undefined
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  const tracestate = traceState?.serialize()
  return { traceparent, ...(tracestate ? { tracestate } : {}) }
}

function readContext({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(traceparent) ?? []
  const read: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate ? { traceState: createTraceState(tracestate) } : {}),
  }
  return isSpanContextValid(read) ? read : undefined
}
