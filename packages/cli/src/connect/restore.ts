/** Restores a client's file to its state before connect: byte for byte if possible, otherwise with the later changes. */
import { canonicalJson } from '@toolwell/core/internal'
import { listEntries, parseClient, valueAt } from '../shared/clients/read-client.js'
import { type Fields, findShape } from '../shared/clients/shapes.js'
import { ENTRY_NAME, startsToolwell } from '../shared/clients/toolwell-entry.js'
import { decodeText, digestBytes } from './client-files.js'
import { Refusal } from './edit/change.js'
import { changeServers, isSameConfig, valueAfter } from './edit/change-servers.js'
import type { ClientRecord, TakenEntry } from './records.js'

export interface Restored {
  /** Undefined if the file is to be deleted. */
  readonly bytes: Buffer | undefined
  /** `exact`: the earlier bytes. `merged`: with later changes. */
  readonly how: 'exact' | 'merged'
  /** Servers that are added to a changed file again. */
  readonly back: readonly string[]
}

/** Throws `Refusal` if later changes conflict. */
export function restore(
  record: ClientRecord,
  current: Buffer | undefined,
  before: Buffer | undefined,
): Restored {
  const exact: Restored = { bytes: before, how: 'exact', back: [] }
  const digest = digestBytes(current)
  if (digest === record.after || digest === record.before) return exact
  if (current === undefined)
    throw new Refusal('the file was deleted after it was connected', 'To restore it, add --overwrite')
  const { format, blank = '' } = findShape(record.shape)
  const { table, taken, replaced } = record
  const now = parse(decodeText(current) ?? '', format)
  // If only the formatting changed, the earlier bytes are restored.
  const was = parse(decodeText(before) ?? blank, format)
  const entries = new Map(listEntries(valueAt(now, table.path)).map(({ name, entry }) => [name, entry]))
  const ours = entries.get(ENTRY_NAME)
  const written = valueAfter(was, table, {
    remove: [ENTRY_NAME, ...taken.map(({ name }) => name)],
    add: ours === undefined ? [] : [{ name: ENTRY_NAME, value: ours }],
  })
  const isForeign = ours !== undefined && !startsToolwell(ours)
  if (!isForeign && isSameConfig(now, written, table)) return exact
  if (isForeign)
    throw new Refusal(
      `its entry ${ENTRY_NAME} was changed`,
      'Remove or rename that entry, or add --overwrite to restore the file',
    )
  const { conflict, back } = compareTaken(taken, entries, table.isList)
  if (conflict !== undefined)
    throw new Refusal(
      `it now has another server called ${JSON.stringify(conflict)}, the name of a moved server`,
      'Rename that server, or add --overwrite to restore the file',
    )
  // If the user removed our entry, an earlier Toolwell entry is not restored either.
  const all = ours === undefined || !replaced ? back : [...back, replaced]
  const change = { remove: ours === undefined ? [] : [ENTRY_NAME], add: all }
  const text = changeServers(decodeText(current) ?? '', format, table, change)
  // Delete a file that connect created.
  const isEmpty = before === undefined && isSameConfig(parse(text, format), was, table)
  return {
    bytes: isEmpty ? undefined : Buffer.from(text, 'utf8'),
    how: 'merged',
    back: all.map(({ name }) => name),
  }
}

/** Finds moved servers that are missing in the file, and one whose name is in use by another server. */
function compareTaken(
  taken: readonly TakenEntry[],
  entries: ReadonlyMap<string, unknown>,
  isList: boolean,
): { readonly conflict: string | undefined; readonly back: readonly TakenEntry[] } {
  const asWritten = ({ name, value }: TakenEntry) => (isList ? { name, ...(value as object) } : value)
  const plain = (value: unknown) => canonicalJson(JSON.parse(JSON.stringify(value ?? null)))
  const back = taken.filter(({ name }) => !entries.has(name))
  const other = taken.find(
    (each) => entries.has(each.name) && plain(entries.get(each.name)) !== plain(asWritten(each)),
  )
  return { conflict: other?.name, back }
}

function parse(text: string, format: 'json' | 'toml' | 'yaml'): Fields {
  const found = parseClient(text, format, '')
  if ('value' in found) return found.value
  const { message, line } = found.problem
  throw new Refusal(message, 'Fix the file, or add --overwrite to restore it', line)
}
