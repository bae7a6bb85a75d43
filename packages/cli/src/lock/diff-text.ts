/** Changes of a group as a person reads them, with what the scan says of each. */
import { type LockChange, renderLockDiff } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import type { Paint } from '../shared/terminal.js'
import { type Group, scanChange } from './groups.js'

export function diffText(
  group: Group,
  changes: readonly LockChange[],
  scanner: Scanner,
  paint: Paint,
): string {
  return renderLockDiff(changes, {
    style: (part, line) =>
      part === 'heading'
        ? paint(line, 'bold')
        : part === 'added'
          ? paint(line, 'name')
          : part === 'note'
            ? paint(line, 'error')
            : paint(line, 'dim'),
    findings: (server, tool) => scanChange(group, scanner, { server, tool }),
  })
}

/** A name as it is written on a command line; what is not plain is left to a star. */
export function shellWord(name: string): string {
  return /^[\w.@:/-]+$/.test(name)
    ? name
    : `'${name.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]+/g, '*')}'`
}
