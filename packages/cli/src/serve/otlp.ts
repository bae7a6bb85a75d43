/**
 * Sends spans to the collector that the user names with `--otlp`, as OTLP in JSON. The SDK of OpenTelemetry would also read
 * inherited `OTEL_` variables, and could send spans and headers elsewhere.
 */
import { randomBytes } from 'node:crypto'
import type { SpanAttributes, SpanStart, Telemetry, TraceContext } from '@toolwell/core/telemetry'

export interface OtlpOptions {
  readonly url: URL
  readonly version: string
  /** Called when spans are lost: once, and again after the collector has answered. */
  readonly onLost: (reason: string) => void
}

export interface Otlp extends Telemetry {
  /** Sends the spans that wait. */
  close(): Promise<void>
}

const KINDS = { internal: 1, server: 2, client: 3 } as const
const ERROR = 2
/** Milliseconds in which spans are collected. */
const COLLECT = 1000
const MOST_WAITING = 10_000
const TIMEOUT = 10_000
const SAMPLED = '01'

export function createOtlp({ url, version, onLost }: OtlpOptions): Otlp {
  const endpoint = new URL(url)
  endpoint.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')}/v1/traces`
  const resource = { attributes: writeAttributes({ 'service.name': 'toolwell', 'service.version': version }) }
  let waiting: object[] = []
  let sending: Promise<void> | undefined
  let isLosing = false
  const post = async (spans: readonly object[]) => {
    try {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'toolwell', version }, spans }] }],
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT),
      })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`it answered with status ${answer.status}`)
      isLosing = false
    } catch (error) {
      const { message, cause } = error as Error
      if (!isLosing) onLost(cause instanceof Error ? cause.message : message)
      isLosing = true
    }
  }
  const flush = async () => {
    while (waiting.length > 0) {
      const spans = waiting
      waiting = []
      await post(spans)
    }
    sending = undefined
  }
  let hurry: () => void = () => undefined
  const add = (span: object) => {
    // A collector that is too slow must not fill the memory.
    if (waiting.length < MOST_WAITING) waiting.push(span)
    sending ??= new Promise<void>((resolve) => {
      hurry = resolve
      setTimeout(resolve, COLLECT).unref()
    }).then(flush)
  }
  return {
    start: (span) => startSpan(span, add),
    async close() {
      hurry()
      await sending
    },
  }
}

function startSpan({ name, kind, attributes, parent }: SpanStart, add: (span: object) => void) {
  const [, traceId = randomBytes(16).toString('hex'), parentSpanId = '', flags = SAMPLED] =
    /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(parent?.traceparent ?? '') ?? []
  const spanId = randomBytes(8).toString('hex')
  const startTimeUnixNano = nanoseconds()
  const all: Record<string, SpanAttributes[string]> = { ...attributes }
  const tracestate = parentSpanId === '' ? undefined : parent?.tracestate
  const context: TraceContext = {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate ? { tracestate } : {}),
  }
  return {
    context,
    set: (more: SpanAttributes) => void Object.assign(all, more),
    run: <T>(work: () => T) => work(),
    end(error?: string) {
      // The caller decided not to record this trace.
      if ((Number.parseInt(flags, 16) & 1) === 0) return
      if (error !== undefined) all['error.type'] = error
      add({
        traceId,
        spanId,
        ...(parentSpanId === '' ? {} : { parentSpanId }),
        ...(tracestate ? { traceState: tracestate } : {}),
        name,
        kind: KINDS[kind],
        startTimeUnixNano,
        endTimeUnixNano: nanoseconds(),
        attributes: writeAttributes(all),
        status: error === undefined ? {} : { code: ERROR },
      })
    },
  }
}

function nanoseconds(): string {
  // More digits than a number holds.
  return `${Math.round((performance.timeOrigin + performance.now()) * 1000)}000`
}

function writeAttributes(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : { doubleValue: value },
  }))
}
