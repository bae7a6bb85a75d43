/** The entry of Toolwell in one file of a client. */
import { readFileSync } from 'node:fs'
import type { ClientFile } from './clients.js'
import { ENTRY_NAME } from './entry.js'
import { parseClient } from './parse-client.js'
import { listEntries, valueAt } from './read-client.js'
import { findShape } from './shapes.js'

/** A file that cannot be read is not looked at: its client tells its user. */
export function readToolwellEntry({ file, shape: name }: ClientFile): unknown {
  const { format, tables } = findShape(name)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  // Some of these files are large, and most have no such entry.
  if (!text.includes(ENTRY_NAME)) return undefined
  const parsed = parseClient(text, format, file)
  if ('problem' in parsed) return undefined
  return tables
    .flatMap((path) => listEntries(valueAt(parsed.value, path)))
    .find((each) => each.name === ENTRY_NAME)?.entry
}
