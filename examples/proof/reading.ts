/** Reads flags, catalogues and processes for the proof. */
import type { DeliveryName, Tokenizer, Toolwell } from '@toolwell/core'
import type { Setup } from './setup.ts'

const USAGE = `Usage: npm run proof [-- --delivery bridge|append] [-- --once]

Runs the proof: one task with five real MCP servers, a busy model, a killed process, a fork and a compaction, on a
scripted model behind a real Chat Completions wire. Needs no key and no network. Exits 0 when every check holds.

Examples
  npm run proof
  npm run proof -- --delivery append     found tools join the tools array instead of being called through tool_call
  npm run proof -- --once                the same as npm run proof; for scripts
`

/** The delivery from the flags, if any. Prints the usage and exits on `--help` or an unknown flag. */
export function readDelivery(given: readonly string[]): DeliveryName | undefined {
  if (given.includes('--help')) {
    process.stdout.write(USAGE)
    process.exit(0)
  }
  const at = given.indexOf('--delivery')
  const value = at < 0 ? undefined : given[at + 1]
  const unknown = given.filter(
    (flag, index) => flag !== '--once' && flag !== '--delivery' && (at < 0 || index !== at + 1),
  )
  if (unknown.length === 0 && at < 0) return undefined
  if (unknown.length === 0 && (value === 'bridge' || value === 'append')) return value
  const problem =
    unknown.length > 0
      ? `Unknown: ${unknown.join(' ')}. Flags of npm run proof go behind a --.`
      : `--delivery needs bridge or append${value === undefined ? '' : `, not ${value}`}.`
  process.stderr.write(`${problem}\n\n${USAGE}`)
  process.exit(2)
}

/** A delivery from the flags also turns deferral on. Otherwise every setting is the default. */
export function forced(delivery: string | undefined): Pick<Setup, 'mode' | 'delivery'> {
  return delivery === 'bridge' || delivery === 'append' ? { mode: 'on', delivery } : {}
}

/** Tokens of the definitions of each source. */
export function tokensBySource({ catalogue }: Toolwell, tokenizer: Tokenizer): Map<string, number> {
  const tokens = new Map<string, number>()
  for (const { wireName, source, tool } of catalogue.entries()) {
    const { description, inputSchema } = tool
    const cost = tokenizer.count(JSON.stringify({ name: wireName, description, inputSchema }))
    tokens.set(source, (tokens.get(source) ?? 0) + cost)
  }
  return tokens
}

export function everyTool(well: Toolwell, tokenizer: Tokenizer): number {
  return [...tokensBySource(well, tokenizer).values()].reduce((sum, tokens) => sum + tokens, 0)
}

/** Waits a moment for the processes to end. Returns whether they did. */
export function gone(pids: Iterable<number>): Promise<boolean> {
  return wait(() => [...pids].every((pid) => !isRunning(pid)), 10_000)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export async function wait(holds: () => boolean, milliseconds = 120_000): Promise<boolean> {
  const until = Date.now() + milliseconds
  while (!holds()) {
    if (Date.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return true
}
