/** Prints figures with limits and sets the exit code if one is missed. */

export interface Line {
  readonly what: string
  readonly figure: number
  readonly limit: number
  readonly holds: boolean
}

export const atMost = (what: string, figure: number, limit: number): Line => ({
  what,
  figure,
  limit,
  holds: figure <= limit,
})

export const print = (line: string) => process.stdout.write(`${line}\n`)

export function printLines(lines: readonly Line[]): void {
  print('\nLines')
  for (const { what, figure, limit, holds } of lines)
    print(`  ${holds ? 'ok  ' : 'MISS'} ${what}: ${figure.toFixed(2)} (limit ${limit})`)
  if (lines.some(({ holds }) => !holds)) process.exitCode = 1
}
