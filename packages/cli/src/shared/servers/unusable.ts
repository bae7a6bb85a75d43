/** An unusable entry of a server's list in one line: `entry 3 (name) has an inputSchema that is not an object`. */
import { firstLine } from '@toolwell/core/internal'
import type { UnusableEntry } from '@toolwell/mcp'

/** Of files the place is not kept. */
export type UnusableView = Omit<UnusableEntry, 'entry'> & { readonly entry?: number }

export function unusableLine({ entry, name, reason }: UnusableView): string {
  const called = name === undefined ? '' : firstLine(name, 60)
  const place = entry === undefined ? called : `entry ${entry}${called === '' ? '' : ` (${called})`}`
  return `${place} ${firstLine(reason, 300)}`
}
