/** Comma-separated values as RFC 4180 has them: quotes are doubled inside quotes, rows may span lines. */

export function parseCsv(content: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let index = 0; index < content.length; index++) {
    const character = content.charAt(index)
    if (quoted) {
      if (character !== '"') cell += character
      else if (content.charAt(index + 1) === '"') cell += content.charAt(index++)
      else quoted = false
    } else if (character === '"') quoted = true
    else if (character === delimiter) {
      row.push(cell)
      cell = ''
    } else if (character === '\n') {
      rows.push([...row, cell])
      row = []
      cell = ''
    } else if (character !== '\r') cell += character
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell])
  return rows
}

export function formatCsv(rows: readonly (readonly string[])[], delimiter: string): string {
  const quote = (cell: string) =>
    /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell
  return rows.map((row) => `${row.map(quote).join(delimiter)}\n`).join('')
}
