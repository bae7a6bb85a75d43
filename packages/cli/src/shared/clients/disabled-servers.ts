/** Finds servers that a client disables in a separate list instead of in their entries. */
import { join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { MOST_BYTES_OF_DATA, readDocument, readSmallFile } from '@toolwell/mcp/internal'
import { type ClaudeFolder, type ClientFile, claudeFolder, type Places } from './clients.js'
import { copilotHome } from './rule-readers.js'
import type { Fields } from './shapes.js'

/** True if a list of the client disables this server of the file. */
export type IsOff = (from: ClientFile, name: string) => boolean

export function readSwitches({ home, folder, env }: Pick<Places, 'home' | 'folder' | 'env'>): IsOff {
  const gemini = geminiSwitches(home, folder, '.gemini')
  const qwen = geminiSwitches(home, folder, '.qwen')
  const claude = claudeSwitches(claudeFolder(home, env), folder)
  const copilot = readSettings(join(copilotHome({ home, env }), 'settings.json')).disabledMcpServers
  return (from, name) => {
    if (from.client === 'copilot-cli') return namesIn(copilot)?.includes(name) === true
    if (from.client === 'gemini') return gemini(name)
    if (from.client === 'qwen') return qwen(name)
    return from.client === 'claude-code' && claude(name, from.file === join(folder, '.mcp.json'))
  }
}

/** Every `excluded` list counts. Of two `allowed` lists, the one of the folder counts. */
function geminiSwitches(home: string, folder: string, inside: '.gemini' | '.qwen') {
  const lists = [folder, home]
    .map((place) => readSettings(join(place, inside, 'settings.json')))
    .map((settings) => {
      const mcp = isRecord(settings.mcp) ? settings.mcp : {}
      return {
        allowed: namesIn(mcp.allowed ?? settings.allowMCPServers),
        excluded: namesIn(mcp.excluded ?? settings.excludeMCPServers) ?? [],
      }
    })
  const allowed = lists.find((list) => list.allowed !== undefined)?.allowed
  const excluded = lists.flatMap((list) => list.excluded)
  return (name: string) => excluded.includes(name) || allowed?.includes(name) === false
}

/** `isShared`: the server is in the folder's `.mcp.json`, whose servers the user approves one by one. */
function claudeSwitches(own: ClaudeFolder, folder: string) {
  const { projects } = readSettings(own.file)
  const here = isRecord(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined
  const places = [
    isRecord(here) ? here : {},
    readSettings(join(folder, '.claude', 'settings.local.json')),
    readSettings(join(folder, '.claude', 'settings.json')),
    readSettings(join(own.settings, 'settings.json')),
  ]
  const listed = (key: string) => places.flatMap((place) => namesIn(place[key]) ?? [])
  const off = listed('disabledMcpServers')
  const refused = listed('disabledMcpjsonServers')
  const agreed = listed('enabledMcpjsonServers')
  const isAgreedToAll = places.some((place) => place.enableAllProjectMcpServers === true)
  return (name: string, isShared: boolean) => {
    if (off.includes(name)) return true
    if (!isShared) return false
    // An empty list means that the user has not decided yet.
    return refused.includes(name) || (!isAgreedToAll && agreed.length > 0 && !agreed.includes(name))
  }
}

function namesIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined
}

/** Treats an unreadable file as empty. */
function readSettings(file: string): Fields {
  try {
    return readDocument(readSmallFile(file, MOST_BYTES_OF_DATA).toString('utf8'), file).value ?? {}
  } catch {
    return {}
  }
}
