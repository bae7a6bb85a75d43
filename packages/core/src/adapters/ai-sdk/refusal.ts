/** Whether a provider has refused how tools are deferred, by what servers and proxies say that do not know it. */

/** The words of the wires for it, and what strict parsers say of a kind of tool that they do not know. */
const NATIVE_WORDS =
  /defer_loading|tool[_ ]search|tool_reference|tool_addition|additional_tools|deferred|namespace|\b(?:unknown|unsupported|only)\b.{0,40}\btools?\b|\btools(?:\[\d+\]|\.\d+)\.type\b/i

export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { statusCode, responseBody } = error as Error & { statusCode?: unknown; responseBody?: unknown }
  const isBadRequest = statusCode === 400 || statusCode === 404 || statusCode === 422
  return isBadRequest && NATIVE_WORDS.test(`${error.message} ${String(responseBody ?? '')}`)
}
