/** The snapshot of a ledger as a file: a first line with a checksum and the place in the log where it belongs, and the text. */
import { rename, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { isRecord } from '../../../base/data.js'
import type { Snapshot } from '../../store.js'
import type { Extent } from './chain.js'
import { openNew, readFrom } from './files.js'
import { snapshotFile } from './names.js'

const FORMAT = 1
const NEWLINE = 0x0a

export interface StoredSnapshot extends Snapshot {
  /** Before the line with its last event: a reader that begins here sees that it is the same. */
  readonly at: Extent
}

/** Undefined where there is none that can be believed. */
export async function readSnapshotFile(base: string): Promise<StoredSnapshot | undefined> {
  const bytes = await readFrom(snapshotFile(base), 0)
  const end = bytes.indexOf(NEWLINE)
  if (end === -1) return undefined
  try {
    const head: unknown = JSON.parse(bytes.toString('utf8', 0, end))
    const text = bytes.subarray(end + 1)
    if (!isRecord(head) || head.v !== FORMAT || !isRecord(head.at)) return undefined
    const { count, at } = head as unknown as StoredSnapshot
    if (head.sum !== sumOf(count, at, text)) return undefined
    return { count, at, text: text.toString('utf8') }
  } catch {
    return undefined
  }
}

/** In one step: whoever reads gets the old one or the new one. Not waited for to reach the disk: a torn one is none. */
export async function writeSnapshotFile(base: string, { count, at, text }: StoredSnapshot): Promise<void> {
  const file = snapshotFile(base)
  const draft = `${file}.new`
  const bytes = Buffer.from(text, 'utf8')
  const head = JSON.stringify({ v: FORMAT, sum: sumOf(count, at, bytes), count, at })
  // Left by a process that was killed, or of another one that writes now: what comes of two is seen by its checksum.
  await rm(draft, { force: true })
  const handle = await openNew(draft)
  try {
    await handle.writeFile(Buffer.concat([Buffer.from(`${head}\n`), bytes]))
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

export async function removeSnapshotFile(base: string): Promise<void> {
  await rm(snapshotFile(base), { force: true })
  await rm(`${snapshotFile(base)}.new`, { force: true })
}

function sumOf(count: number, { segment, size, count: before }: Extent, text: Uint8Array): string {
  return crc32(text, crc32(`${count} ${segment} ${size} ${before}`))
    .toString(16)
    .padStart(8, '0')
}
