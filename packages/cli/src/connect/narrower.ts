/** Entries called like ours that a client keeps for one folder: there, they count before the one of the user. */
import { isRecord } from '@toolwell/core/internal'
import { folderFiles, type UserFile } from '../shared/clients/clients.js'
import { ENTRY_NAME, readCommandLine } from '../shared/clients/entry.js'
import { readToolwellEntry } from '../shared/clients/entry-in.js'
import { valueAt } from '../shared/clients/read-client.js'
import type { Fields } from '../shared/clients/shapes.js'

/** The commands that remove an entry of a folder; who has none has a file. */
const REMOVE: Readonly<Record<string, string>> = {
  'claude-code': 'claude mcp remove --scope project',
  gemini: 'gemini mcp remove --scope project',
  qwen: 'qwen mcp remove --scope project',
}

/** `value`: what the client's own file holds. `line`: what our entry starts. */
export function overrideNotes(
  from: UserFile,
  value: Fields,
  folder: string,
  line: readonly string[],
): string[] {
  const isOther = (entry: unknown) =>
    entry !== undefined && readCommandLine(entry).join('\n') !== line.join('\n')
  const note = (place: string, remove: string) =>
    `In ${place}, another entry called ${ENTRY_NAME} counts before this one. ${remove}`
  const folders = from.shape === 'claude-code' && isRecord(value.projects) ? value.projects : {}
  const local = Object.keys(folders)
    .filter((place) => isOther(valueAt(folders[place], ['mcpServers', ENTRY_NAME])))
    .map((place) => note(place, `Remove it there: claude mcp remove --scope local ${ENTRY_NAME}`))
  const shared = folderFiles(folder)
    .filter(
      (each) => each.client === from.client && each.file !== from.file && isOther(readToolwellEntry(each)),
    )
    .map(({ client, file }) => {
      // It has no command for that one.
      const command = file.endsWith('settings.local.json') ? undefined : REMOVE[client]
      return note(folder, command ? `Remove it there: ${command} ${ENTRY_NAME}` : `Remove it from ${file}`)
    })
  return [...local, ...shared]
}
