/** An answer of HTTP that is no answer of MCP: its status, and the head of what it says, unless that is a web page. */
import { SdkHttpError } from '@modelcontextprotocol/client'
import { isRecord } from '@toolwell/core/internal'

/** The older transport says it only in the text. */
const POSTING = /^Error POSTing to endpoint(?: \(HTTP (\d+)\))?:? ?(.*)$/s

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '')

export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof SdkHttpError)) {
    const [, told] = POSTING.exec(messageOf(error)) ?? []
    return told === undefined ? undefined : Number(told)
  }
  const { status } = error.data as { status?: unknown }
  return typeof status === 'number' ? status : undefined
}

/** `status 500 ("out of memory")`. Undefined where the error is another one. Secrets are taken out before the text is cut. */
export function statusLine(error: unknown, hide: (text: string) => string): string | undefined {
  const status = statusOf(error)
  if (status === undefined) return undefined
  const head = quoted(hide(headOf(error)))
  return `status ${status}${head === '' ? '' : ` (${head.slice(2)})`}`
}

/** The text of the answer on one line; empty where it is a web page. Of an error of the protocol, what it says. */
export function headOf(error: unknown): string {
  const [, , text = ''] = POSTING.exec(messageOf(error)) ?? []
  const line = (messageIn(text) ?? text).replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.startsWith('<') || line === 'null' ? '' : line
}

const MOST_CHARACTERS = 160

export const quoted = (line: string) =>
  line === '' ? '' : `: ${JSON.stringify(line.slice(0, MOST_CHARACTERS))}`

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    const message = isRecord(error) ? error.message : undefined
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
