/** Compares figures with limits: missing a floor fails the command, missing a goal is only reported. */

export interface Line {
  readonly what: string
  readonly figure: number
  readonly floor?: number
  readonly goal: number
  /** Absent without a floor. */
  readonly holds?: boolean
  readonly reached: boolean
}

export function createLines() {
  const lines: Line[] = []
  const add = (
    what: string,
    figure: number | undefined,
    bounds: { readonly floor?: number; readonly goal: number; readonly atMost?: true },
  ): void => {
    if (figure === undefined || !Number.isFinite(figure)) return
    const { floor, goal, atMost } = bounds
    const meets = (bound: number) => (atMost ? figure <= bound : figure >= bound)
    lines.push({
      what,
      figure: Math.round(figure * 10_000) / 10_000,
      ...(floor === undefined ? {} : { floor, holds: meets(floor) }),
      goal,
      reached: meets(goal),
    })
  }
  return { lines, add }
}

/** Prints the lines, and fails the command if a floor is missed. */
export function printLines(lines: readonly Line[]): void {
  if (lines.length === 0) return
  process.stdout.write('\nLines\n')
  for (const { what, figure, floor, goal, holds, reached } of lines)
    process.stdout.write(
      `  ${holds === false ? 'MISS' : reached ? 'goal' : holds === undefined ? '  – ' : 'ok  '} ${what}: ${figure} (${floor === undefined ? '' : `floor ${floor}, `}goal ${goal})\n`,
    )
  if (lines.some(({ holds }) => holds === false)) process.exitCode = 1
}
