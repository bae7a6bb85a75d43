/** A host's own history in a file: one message per line, appended as they come, rewritten by a compaction. */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatMessage } from '@toolwell/core/openai-chat'

export interface History {
  readonly messages: readonly ChatMessage[]
  /** How often the history was rewritten: with its length, it names a request. */
  readonly generation: number
  append(...messages: readonly ChatMessage[]): Promise<void>
  replace(messages: readonly ChatMessage[]): Promise<void>
}

/** Reads a history, or begins one with the system message. */
export async function openHistory(folder: string, id: string, system: string): Promise<History> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${encodeURIComponent(id)}.history`)
  const text = await readFile(file, 'utf8').catch(() => '')
  // The first line is the generation; a torn last line was never acknowledged, and is not read.
  const [first, ...lines] = text.split('\n').slice(0, -1)
  let generation = Number(first ?? 0)
  let messages = lines.map((line) => JSON.parse(line) as ChatMessage)
  const history: History = {
    get messages() {
      return messages
    },
    get generation() {
      return generation
    },
    async append(...fresh) {
      messages = [...messages, ...fresh]
      await appendFile(file, fresh.map((message) => `${JSON.stringify(message)}\n`).join(''))
    },
    async replace(next) {
      generation++
      messages = [...next]
      await writeFile(
        `${file}.new`,
        `${[generation, ...next.map((message) => JSON.stringify(message))].join('\n')}\n`,
      )
      await rename(`${file}.new`, file)
    },
  }
  if (text !== '' && !text.endsWith('\n')) await writeFile(file, text.slice(0, text.lastIndexOf('\n') + 1))
  if (messages.length === 0) await history.replace([{ role: 'system', content: system }])
  return history
}
