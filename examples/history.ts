/**
 * A host's own history in a file: one message per line, with the wire it is written in; appended as they come, rewritten
 * by a compaction. What was said on another wire stays as it was said there, so that nothing is lost on the way back.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WireName } from './wires.ts'

/** What was said on one wire before the conversation moved on. */
export interface Part {
  readonly wire: WireName
  readonly messages: readonly object[]
}

export interface History {
  readonly earlier: readonly Part[]
  /** The part that grows. */
  readonly last: Part
  append(...messages: readonly object[]): Promise<void>
  /** Begins a new part, unless the last one is of this wire. */
  moveTo(wire: WireName): Promise<void>
  replace(part: Part): Promise<void>
}

interface Line {
  readonly wire: WireName
  /** Absent where the conversation moved here and nothing has been said yet. */
  readonly message?: object
}

/** Reads a history, or begins one on the given wire. */
export async function openHistory(folder: string, id: string, wire: WireName): Promise<History> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${encodeURIComponent(id)}.history`)
  const text = await readFile(file, 'utf8').catch(() => '')
  // A torn last line was never acknowledged, and is not read.
  let parts = partsOf(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line),
  )
  const add = async (fresh: readonly Line[]) => {
    await appendFile(file, textOf(fresh))
    parts = partsOf(fresh, parts)
  }
  const history: History = {
    get earlier() {
      return parts.slice(0, -1)
    },
    get last() {
      return parts.at(-1) ?? { wire, messages: [] }
    },
    append: (...messages) => add(messages.map((message) => ({ wire: history.last.wire, message }))),
    moveTo: (next) => add([{ wire: next }]),
    async replace(part) {
      const fresh = [{ wire: part.wire }, ...part.messages.map((message) => ({ wire: part.wire, message }))]
      await writeFile(`${file}.new`, textOf(fresh))
      await rename(`${file}.new`, file)
      parts = partsOf(fresh)
    },
  }
  if (text !== '' && !text.endsWith('\n')) await writeFile(file, text.slice(0, text.lastIndexOf('\n') + 1))
  if (parts.length === 0) await history.replace({ wire, messages: [] })
  return history
}

/** Lines to parts, behind those that are there. */
function partsOf(lines: readonly Line[], before: readonly Part[] = []): readonly Part[] {
  const parts = before.map(({ wire, messages }) => ({ wire, messages: [...messages] }))
  for (const { wire, message } of lines) {
    if (parts.at(-1)?.wire !== wire) parts.push({ wire, messages: [] })
    if (message) parts.at(-1)?.messages.push(message)
  }
  return parts
}

function textOf(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
