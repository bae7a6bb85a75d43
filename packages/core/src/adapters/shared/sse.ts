/** Server-sent events, as all wires stream them: one JSON value per `data:` line. */

/** Parsed `data:` lines of a response body, up to `[DONE]` where a wire sends one. Works on any chunking, within a character too. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of linesOf(body)) {
    if (!line.startsWith('data:')) continue
    const data = line.slice(5).trim()
    if (data === '[DONE]') return
    if (data !== '') yield JSON.parse(data)
  }
}

/** A last line without an end counts: some servers close the connection right behind it. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let buffer = ''
  for await (const bytes of body) {
    const lines = (buffer + decoder.decode(bytes, { stream: true })).split('\n')
    buffer = lines.pop() ?? ''
    for (const line of lines) yield line.trimEnd()
  }
  buffer += decoder.decode()
  if (buffer !== '') yield buffer.trimEnd()
}
