/** Audit log in files: `calls.jsonl`, and older ones as `calls.1.jsonl` to `calls.4.jsonl`. */
import { readFileSync, statSync } from 'node:fs'
import { appendFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditLog, AuditRecord } from './storage.js'

export interface AuditFileLimits {
  /** Size in bytes above which a file is rotated. */
  readonly maxBytes?: number
  readonly files?: number
}

const MAX_BYTES = 10 * 1024 * 1024
const FILES = 5
const TIME = '{"time":"'
/** Milliseconds in which records are collected for one write. A write costs as much as ten records. */
const COLLECT = 100
/** Records that wait for a slow disk. More are lost, and counted. */
const MOST_QUEUED = 10_000

export function auditFile(
  folder: string,
  { maxBytes = MAX_BYTES, files = FILES }: AuditFileLimits = {},
): AuditLog {
  const nameFile = (age: number) => join(folder, age === 0 ? 'calls.jsonl' : `calls.${age}.jsonl`)
  let queue: string[] = []
  let writing: Promise<void> | undefined
  // A killed process or a full disk may have left half a line.
  let isLineOpen = true
  let lost = { count: 0, reason: '' }
  const lose = (count: number, reason: string) => {
    lost = { count: lost.count + count, reason }
  }
  const rotate = async () => {
    const { size = 0 } = statSync(nameFile(0), { throwIfNoEntry: false }) ?? {}
    if (size === 0) isLineOpen = false
    if (size < maxBytes) return
    for (let age = files - 1; age > 0; age--)
      await rename(nameFile(age - 1), nameFile(age)).catch(() => undefined)
  }
  /** One write at a time. Records that arrive meanwhile go into the next one. */
  const write = async () => {
    while (queue.length > 0) {
      const lines = queue
      queue = []
      try {
        await rotate()
        await appendFile(nameFile(0), `${isLineOpen ? '\n' : ''}${lines.join('\n')}\n`, { mode: 0o600 })
        isLineOpen = false
      } catch (error) {
        isLineOpen = true
        const { code = String(error) } = error as NodeJS.ErrnoException
        lose(lines.length, code)
      }
    }
    writing = undefined
  }
  const flush = async () => {
    while (writing) await writing
  }
  return {
    append(record) {
      if (queue.length >= MOST_QUEUED) {
        lose(1, 'the disk is too slow')
        return
      }
      queue.push(JSON.stringify(record))
      writing ??= new Promise<void>((resolve) => setTimeout(resolve, COLLECT)).then(write)
    },
    get lost() {
      return lost
    },
    async read(since) {
      const records: AuditRecord[] = []
      const from = new Date(since).toISOString()
      for (let age = files - 1; age >= 0; age--)
        for (const line of readLines(nameFile(age), since)) {
          // Each line begins with its time, so older ones need no parsing.
          const record =
            line.slice(TIME.length, TIME.length + from.length) >= from ? parseRecord(line) : undefined
          if (record) records.push(record)
        }
      return records
    },
    flush,
  }
}

/** Skips a file whose last record is older. File times may be a little behind. */
function readLines(file: string, since: number): string[] {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  if (changed === undefined || changed < since - 1000) return []
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    // Rotated away meanwhile.
    return []
  }
}

function parseRecord(line: string): AuditRecord | undefined {
  if (line === '') return undefined
  try {
    const record = JSON.parse(line) as Partial<AuditRecord> | null
    return typeof record?.time === 'string' && typeof record.tool === 'string'
      ? (record as AuditRecord)
      : undefined
  } catch {
    return undefined
  }
}
