/** Questions of a server, passed to the caller whose call caused them; and what it logs. */
import {
  type Client,
  type JSONRPCMessage,
  type ListRootsResult,
  ProtocolError,
} from '@modelcontextprotocol/client'
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import { hidden } from '../definition/without-secrets.js'
import {
  type Caller,
  type CallerCapabilities,
  type CallerHandlers,
  isLogLevel,
  isLoudEnough,
  type LogMessage,
} from './caller.js'

/** Only what was announced is answered. */
export function answerQuestions(
  client: Client,
  current: () => Caller | undefined,
  { elicitation, sampling, roots }: CallerCapabilities,
): void {
  const asked = <K extends 'elicit' | 'sample' | 'roots'>(kind: K): NonNullable<CallerHandlers[K]> => {
    const handler = current()?.handlers?.[kind]
    if (handler) return handler as NonNullable<CallerHandlers[K]>
    throw new ProtocolError(
      -32603,
      'This cannot be answered: it is not clear whose call it belongs to. Calls of several clients are under way on one connection.',
    )
  }
  if (elicitation)
    client.setRequestHandler('elicitation/create', (request, context) =>
      asked('elicit')(request.params, context.mcpReq.signal),
    )
  if (sampling)
    client.setRequestHandler('sampling/createMessage', (request, context) =>
      asked('sample')(request.params, context.mcpReq.signal),
    )
  if (roots)
    client.setRequestHandler(
      'roots/list',
      async (): Promise<ListRootsResult> => ({ roots: [...(await asked('roots')())] }),
    )
}

/** What a message logs, or undefined where it is another one. */
export function loggedIn(message: JSONRPCMessage): LogMessage | undefined {
  if (!('method' in message) || message.method !== 'notifications/message') return undefined
  const { level, logger, data } = isRecord(message.params) ? message.params : {}
  if (!isLogLevel(level)) return undefined
  return { level, data, ...dropUndefined({ logger: typeof logger === 'string' ? logger : undefined }) }
}

/** To the caller that it belongs to, without secrets; nobody reads the log of another. A handler that throws has no say in the call. */
export function passLog(
  { data, ...line }: LogMessage,
  caller: Caller | undefined,
  hide: (text: string) => string,
): void {
  const { handlers, logLevel } = caller ?? {}
  if (!handlers?.log || !isLoudEnough(line.level, logLevel)) return
  try {
    handlers.log({ ...line, data: hidden(data, hide) })
  } catch {
    // It was told.
  }
}
