/** Server-sent events, as all wires stream them: one JSON value per event. */

import { isIterable, refusing } from './streamed.js'

/**
 * The parsed data of each event of a response body, up to `[DONE]` where a wire sends one. Works on any chunking, within a
 * character too. Names of events are not read: on every wire the data say what they are. Throws at data that are no JSON,
 * and at a body that is no event stream, with what it says: an error of the API, a whole reply, a page of HTML.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  if (!isIterable(body))
    throw (await refusing()).noStream(body, 'readEvents takes the body of a response (response.body)')
  for await (const data of dataOf(body)) {
    if (data.trim() === '[DONE]') return
    if (data.trim() !== '') yield JSON.parse(data)
  }
}

/** An event ends at an empty line; one without that at the end counts: some servers close the connection right behind it. */
async function* dataOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  /** All that came, as long as no line is one of an event stream. */
  let other: string[] | undefined = []
  for await (const line of linesOf(body)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (line !== '' && FIELDS.includes(field)) other = undefined
    other?.push(line)
    if (field === 'data') data.push(value)
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
  if (data.length > 0) yield data.join('\n')
  const text = other?.join('\n').trim()
  if (text) throw (await refusing()).noEvents(text)
}

/** What a line of an event stream begins with. A comment has no name. */
const FIELDS = ['', 'data', 'event', 'id', 'retry']

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
