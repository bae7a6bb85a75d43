/** Prints the proof with colours and boxes on a terminal, otherwise as plain text. */

const colourful = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

const paint = (code: number) => (text: string) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : text)
export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)
export const cyan = paint(36)

export function line(text = ''): void {
  process.stdout.write(`${text}\n`)
}

export function heading(title: string, note = ''): void {
  line()
  line(`${bold(title)}${note ? `  ${dim(note)}` : ''}`)
}

export const thousands = (tokens: number): string =>
  Math.abs(tokens) < 1000 ? String(Math.round(tokens)) : `${(tokens / 1000).toFixed(1)}k`

export const percent = (share: number): string => `${share >= 0.9995 ? '100' : (share * 100).toFixed(1)} %`

/** Pads columns by visible width. */
export function row(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()
}

/** A bar of `width` cells, `share` of it full. */
export function bar(share: number, width: number): string {
  const full = Math.max(0, Math.min(width, Math.round(share * width)))
  return colourful
    ? `${green('█'.repeat(full))}${dim('░'.repeat(width - full))}`
    : `${'#'.repeat(full)}${'.'.repeat(width - full)}`
}
