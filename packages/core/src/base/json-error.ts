/** Explains invalid JSON in files that people write by hand: the line, the column, the problem and the fix. */

/** Scans the text itself, because the messages of JavaScript engines differ and often lack the position. Runs only on invalid JSON. */
export function explainBadJson(json: string): { line: number; column: number; message: string; fix: string } {
  const { position, expected } = firstJsonError(json)
  const before = json.slice(0, position)
  const line = before.split('\n').length
  const column = position - before.lastIndexOf('\n')
  const found = String.fromCodePoint(json.codePointAt(position) ?? 0)
  const afterComma = before.trimEnd().endsWith(',')
  const [message, fix] =
    position >= json.length
      ? ['the text ends too early', 'Close what is open; the file may have been cut off']
      : found === '/'
        ? ['a comment', 'Remove the comment; JSON has none']
        : (found === '}' || found === ']') && afterComma
          ? [`a comma before ${JSON.stringify(found)}`, 'Remove the comma']
          : found === '"' && expected !== 'a comma or the end'
            ? [
                'a string that does not end, or holds a raw line break or a wrong escape',
                'Correct the string',
              ]
            : [`found ${JSON.stringify(found)} instead of ${expected}`, `Write ${expected} there`]
  return { line, column, message: message ?? '', fix: fix ?? '' }
}

type Expected = 'a value' | 'a key in double quotes' | 'a colon' | 'a comma or the end'

function firstJsonError(json: string): { readonly position: number; readonly expected: Expected } {
  const space = /[ \t\r\n]*/y
  const token =
    /[[\]{}:,]|"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  const closers: string[] = []
  let expected: Expected = 'a value'
  let justOpened = false
  for (;;) {
    space.lastIndex = token.lastIndex
    space.exec(json)
    const position = space.lastIndex
    token.lastIndex = position
    const found = token.exec(json)?.[0]
    if (found === undefined) return { position, expected }
    const closes = found === closers.at(-1) && (justOpened || expected === 'a comma or the end')
    justOpened = false
    if (closes) {
      closers.pop()
      expected = 'a comma or the end'
    } else if ((found === '{' || found === '[') && expected === 'a value') {
      closers.push(found === '{' ? '}' : ']')
      expected = found === '{' ? 'a key in double quotes' : 'a value'
      justOpened = true
    } else if (found === ',' && expected === 'a comma or the end' && closers.length > 0) {
      expected = closers.at(-1) === '}' ? 'a key in double quotes' : 'a value'
    } else if (found === ':' && expected === 'a colon') {
      expected = 'a value'
    } else if (found.startsWith('"') && expected === 'a key in double quotes') {
      expected = 'a colon'
    } else if (!/^[[\]{}:,]/.test(found) && expected === 'a value') {
      expected = 'a comma or the end'
    } else {
      return { position, expected }
    }
  }
}
