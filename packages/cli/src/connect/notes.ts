/** Entries called like ours that a client keeps for one folder: there, they count before the one of the user. */

import { isRecord } from '@toolwell/core/internal'
import type { ConfigProblem } from '@toolwell/mcp'
import type { Addition } from '../import/plan.js'
import { folderFiles, type UserFile } from '../shared/clients/clients.js'
import { nameInput, valueAt } from '../shared/clients/read-client.js'
import type { Fields } from '../shared/clients/shapes.js'
import { ENTRY_NAME, readCommandLine, readToolwellEntry } from '../shared/clients/toolwell-entry.js'

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

// Why a server stays in its client: what is wrong in its entry as it would be read here, and what to do about it there.

export function explainProblem({ message, fix }: ConfigProblem, addition: Addition | undefined): string {
  const named = nameInput(message, addition?.inputs ?? new Map())
  const [, variable] = /the environment variable (\w+) is not set/.exec(message) ?? []
  if (variable === undefined) return `${named}. ${fix}`
  // Of all clients, this one reads a default: code.claude.com/docs/en/mcp.
  const hasDefaults = addition?.from.every(({ client }) => client === 'claude-code') === true
  const orDefault = hasDefaults ? `, or give a default there: \${${variable}:-value}` : ''
  return `${named}. Set ${variable} in the shell that runs this command, and where the gateway is started${orDefault}`
}
