/** A host's own history in a file: one message per line, appended as they come, rewritten by a compaction. */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatMessage } from '@toolwell/core/openai-chat'

export interface History {
  readonly messages: readonly ChatMessage[]
  append(...messages: readonly ChatMessage[]): Promise<void>
  replace(messages: readonly ChatMessage[]): Promise<void>
}

/** Reads a history, or begins one with the system message. */
export async function openHistory(folder: string, id: string, system: string): Promise<History> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${encodeURIComponent(id)}.history`)
  const text = await readFile(file, 'utf8').catch(() => '')
  // A torn last line was never acknowledged, and is not read.
  const lines = text.split('\n').slice(0, -1)
  let messages = lines.map((line) => JSON.parse(line) as ChatMessage)
  const history: History = {
    get messages() {
      return messages
    },
    async append(...fresh) {
      messages = [...messages, ...fresh]
      await appendFile(file, linesOf(fresh))
    },
    async replace(next) {
      messages = [...next]
      await writeFile(`${file}.new`, linesOf(next))
      await rename(`${file}.new`, file)
    },
  }
  if (text !== '' && !text.endsWith('\n')) await writeFile(file, text.slice(0, text.lastIndexOf('\n') + 1))
  if (messages.length === 0) await history.replace([{ role: 'system', content: system }])
  return history
}

function linesOf(messages: readonly ChatMessage[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('')
}
