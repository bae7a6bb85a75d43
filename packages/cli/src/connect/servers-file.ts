/** Adds moved servers to toolwell.json, with a record, and removes them when no client needs them. */
import { createHash } from 'node:crypto'
import { canonicalJson, dropUndefined } from '@toolwell/core/internal'
import type { Addition } from '../import/plan.js'
import { parseClient, valueAt } from '../shared/clients/read-client.js'
import {
  type ClientState,
  decodeText,
  digestBytes,
  readState,
  removeCreatedFolders,
  replaceFile,
  sweepDrafts,
} from './client-files.js'
import { SERVERS } from './connect-plan.js'
import { Refusal } from './edit/change.js'
import { changeServers } from './edit/change-servers.js'
import type { Records, ServersRecord } from './records.js'

/** Throws `Refusal`. Writes the record before the file. */
export async function addServers(
  records: Records,
  file: string,
  add: readonly Addition[],
  next: string,
): Promise<void> {
  if (add.length === 0) return
  const state = readState(file)
  const known = records.servers()
  if (known && known.file !== file)
    throw new Refusal(
      `an earlier connect moved servers to ${known.file}`,
      'Set XDG_CONFIG_HOME to its earlier value, or run: toolwell undo',
    )
  const { base, added } = known ? rebase(known, state, records) : { base: state.bytes, added: {} }
  const bytes = Buffer.from(next, 'utf8')
  const record: ServersRecord = {
    format: 1,
    file,
    ...dropUndefined({ before: digestBytes(base) }),
    after: digestBytes(bytes) ?? '',
    ...dropUndefined({ made: known?.made ?? state.missing }),
    added: { ...added, ...Object.fromEntries(add.map(({ name, entry }) => [name, entryDigest(entry)])) },
  }
  records.writeServers(record, base)
  try {
    await replaceFile(state, bytes)
  } catch (error) {
    if (known) records.writeServers(known, records.before(known))
    else records.removeServers()
    throw error
  }
}

/** Computes the file without our servers: the earlier content, or the current content without them. */
function rebase(known: ServersRecord, state: ClientState, records: Records) {
  if (digestBytes(state.bytes) === known.after) return { base: records.before(known), added: known.added }
  const added = findUnchanged(known, state)
  const text = decodeText(state.bytes) ?? ''
  const base = changeServers(text, 'json', SERVERS, { remove: Object.keys(added), add: [] })
  return { base: Buffer.from(base, 'utf8'), added }
}

/** Returns added entries that the user has not changed. */
function findUnchanged({ added }: ServersRecord, { bytes }: ClientState): Record<string, string> {
  const parsed = parseClient(decodeText(bytes) ?? '', 'json', '')
  if ('problem' in parsed) throw new Refusal(parsed.problem.message, 'Fix the file', parsed.problem.line)
  return Object.fromEntries(
    Object.entries(added).filter(
      ([name, digest]) => entryDigest(valueAt(parsed.value, [...SERVERS.path, name])) === digest,
    ),
  )
}

export interface Pruned {
  readonly file: string
  readonly removed: readonly string[]
  /** Changed by the user. */
  readonly kept: readonly string[]
  /** Undefined if the file is to be deleted. */
  readonly bytes: Buffer | undefined
  readonly state: ClientState
  readonly record: ServersRecord
  readonly isLast: boolean
}

/** Plans the removal of servers that are not `used`. Returns undefined if there are none. Throws `Refusal`. */
export function planPrune(records: Records, used: ReadonlySet<string>, isLast: boolean): Pruned | undefined {
  const record = records.servers()
  if (!record) return undefined
  const state = readState(record.file)
  const unused = Object.keys(record.added).filter((name) => !used.has(name))
  if (unused.length === 0 && !isLast) return undefined
  const isInStep = digestBytes(state.bytes) === record.after
  if (isLast && isInStep)
    return {
      file: record.file,
      removed: unused,
      kept: [],
      bytes: records.before(record),
      state,
      record,
      isLast,
    }
  if (state.bytes === undefined)
    return { file: record.file, removed: [], kept: [], bytes: undefined, state, record, isLast }
  const mine = findUnchanged(record, state)
  const removed = unused.filter((name) => Object.hasOwn(mine, name))
  const text = changeServers(decodeText(state.bytes) ?? '', 'json', SERVERS, { remove: removed, add: [] })
  const kept = unused.filter((name) => !removed.includes(name) && isThere(text, name))
  return { file: record.file, removed, kept, bytes: Buffer.from(text, 'utf8'), state, record, isLast }
}

function isThere(text: string, name: string): boolean {
  const parsed = parseClient(text, 'json', '')
  return 'value' in parsed && valueAt(parsed.value, [...SERVERS.path, name]) !== undefined
}

export async function prune(records: Records, pruned: Pruned): Promise<void> {
  const { state, bytes, record, removed, kept, isLast } = pruned
  const isInStep = digestBytes(state.bytes) === record.after
  if (digestBytes(bytes) === digestBytes(state.bytes)) sweepDrafts(state.real)
  else await replaceFile(state, bytes)
  if (bytes === undefined) removeCreatedFolders(state.real, record.made)
  const gone = new Set([...removed, ...kept])
  const added = Object.fromEntries(Object.entries(record.added).filter(([name]) => !gone.has(name)))
  if (isLast || bytes === undefined) records.removeServers()
  else
    records.writeServers(
      { ...record, added, after: isInStep ? (digestBytes(bytes) ?? '') : record.after },
      records.before(record),
    )
}

function entryDigest(entry: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(entry ?? null))
    .digest('hex')
}
