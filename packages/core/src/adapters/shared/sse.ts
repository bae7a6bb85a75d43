/** Server-sent events, as all wires stream them: one JSON value per event. */

/**
 * The parsed data of each event of a response body, up to `[DONE]` where a wire sends one. Works on any chunking, within a
 * character too. Names of events are not read: on every wire the data say what they are. Throws at data that are no JSON.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  for await (const data of dataOf(body)) {
    if (data.trim() === '[DONE]') return
    if (data.trim() !== '') yield JSON.parse(data)
  }
}

/** An event ends at an empty line; one without that at the end counts: some servers close the connection right behind it. */
async function* dataOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of linesOf(body)) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
  if (data.length > 0) yield data.join('\n')
}

/** Lines end in a line feed, a carriage return, or both. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // It also takes a byte order mark away.
  const decoder = new TextDecoder()
  let open = ''
  let isAfterReturn = false
  for await (const bytes of body) {
    const decoded = decoder.decode(bytes, { stream: true })
    if (decoded === '') continue
    const text: string = isAfterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    isAfterReturn = text.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\r|\n/)
    open += first
    for (const line of rest) {
      yield open
      open = line
    }
  }
  open += decoder.decode()
  if (open !== '') yield open
}
