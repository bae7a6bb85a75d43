/** A client's file as it was before it was connected: to the byte where that is possible, otherwise with what was changed since. */
import { canonicalJson } from '@toolwell/core/internal'
import { listEntries, parseClient, valueAt } from '../shared/clients/read-client.js'
import { type Fields, findShape } from '../shared/clients/shapes.js'
import { ENTRY_NAME, startsToolwell } from '../shared/clients/toolwell-entry.js'
import { decodeText, digestBytes } from './client-file.js'
import { Refusal } from './edit/change.js'
import { changeServers, isSameConfig, valueAfter } from './edit/change-servers.js'
import type { ClientRecord, TakenEntry } from './records.js'

export interface Restored {
  /** Undefined: there is to be no file. */
  readonly bytes: Buffer | undefined
  /** `exact`: every byte as before. `merged`: with what was changed since. */
  readonly how: 'exact' | 'merged'
  /** Servers that are put back into a file that was changed since. */
  readonly back: readonly string[]
}

/** Throws `Refusal` where what was changed since is in the way. */
export function restore(
  record: ClientRecord,
  current: Buffer | undefined,
  before: Buffer | undefined,
): Restored {
  const exact: Restored = { bytes: before, how: 'exact', back: [] }
  const digest = digestBytes(current)
  if (digest === record.after || digest === record.before) return exact
  if (current === undefined)
    throw new Refusal(
      'the file is gone since it was connected',
      'To have it back as it was before, add --overwrite',
    )
  const { format, blank = '' } = findShape(record.shape)
  const { table, taken, replaced } = record
  const now = parse(decodeText(current) ?? '', format)
  // Only written anew: what it says is what was written.
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
      `its entry ${ENTRY_NAME} is no longer the one that was written`,
      'Remove or rename that entry, or add --overwrite to have the file as it was before',
    )
  const { conflict, back } = compareTaken(taken, entries, table.isList)
  if (conflict !== undefined)
    throw new Refusal(
      `another server is called ${JSON.stringify(conflict)} there now, as one that was taken over`,
      'Rename that one, or add --overwrite to have the file as it was before',
    )
  // Whoever has taken the entry out does not want the one from before it either.
  const all = ours === undefined || !replaced ? back : [...back, replaced]
  const change = { remove: ours === undefined ? [] : [ENTRY_NAME], add: all }
  const text = changeServers(decodeText(current) ?? '', format, table, change)
  // A file that was made for the entry alone goes with it.
  const isEmpty = before === undefined && isSameConfig(parse(text, format), was, table)
  return {
    bytes: isEmpty ? undefined : Buffer.from(text, 'utf8'),
    how: 'merged',
    back: all.map(({ name }) => name),
  }
}

/** Those that are not there again already. */
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
  throw new Refusal(message, 'Fix the file, or add --overwrite to have it as it was before', line)
}
