/** Makes a segment ready to be written: where it is not the first, it says what it follows. */
import { rm, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Damage, readChain, topOf } from './chain.js'
import { createFile, openToAppend, readFrom, syncFolder } from './files.js'
import { type After, afterLine, readLine } from './lines.js'
import { lockFile, segmentFile } from './names.js'

/** A ledger that cannot be believed to its end is not gone on with. */
export class DamageFound extends Error {
  constructor(readonly damage: Damage) {
    super(damage.problem)
  }
}

const NEWLINE = 0x0a

/**
 * Only for the holder of the segment's lock. The files come first: from then on, nobody who still writes an earlier segment believes
 * that it counts (`isFenced`). What was written until then is counted; a place that is given instead ends the ledger there.
 */
export async function followOn(base: string, segment: number, cutAt?: After): Promise<void> {
  if (segment === 1 || (await saysWhatItFollows(base, segment))) return
  for (let each = topOf(base) + 1; each <= segment; each++) await createFile(segmentFile(base, each))
  const { extent, damage } = cutAt ? { extent: cutAt } : await readChain(base)
  // Nothing is cut off without being asked for.
  if (damage) throw new DamageFound(damage)
  const after = { segment: Math.max(1, extent.segment), size: extent.size, count: extent.count }
  const file = segmentFile(base, segment)
  await truncate(file, 0)
  const handle = await openToAppend(file)
  try {
    await handle.writeFile(afterLine(after))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncFolder(dirname(file))
  // Nobody looks at these any more.
  for (let each = segment - 1; each >= after.segment; each--) await rm(lockFile(base, each), { force: true })
}

async function saysWhatItFollows(base: string, segment: number): Promise<boolean> {
  const bytes = await readFrom(segmentFile(base, segment), 0, 1024)
  const end = bytes.indexOf(NEWLINE)
  return end !== -1 && readLine(bytes.subarray(0, end)).kind === 'after'
}
