/** Definitions name no project's folder: whoever reads them reads its own, and what it writes is judged as if it had read them so. */
import { homedir } from 'node:os'
import type { Caller } from '@toolwell/mcp'
import { insertFolder, replaceFolder } from '@toolwell/mcp/internal'
import type { Room } from '../room/room.js'

export function folderOf({ workspace = homedir() }: Caller): string {
  return workspace
}

/** What a caller in this folder reads. */
export function toldIn<T>(folder: string, { hasFolderNames }: Room, value: T): T {
  return hasFolderNames ? insertFolder(value, folder) : value
}

/** The same in an answer in words, which holds definitions as JSON. */
export function saidIn(folder: string, room: Room, text: string): string {
  return toldIn(JSON.stringify(folder).slice(1, -1), room, text)
}

export interface Heard<T> {
  /** To be judged by schemas that name no folder. */
  readonly value: T
  /** To be sent: with the folder, as it was written. */
  back(value: Readonly<Record<string, unknown>>): Record<string, unknown>
}

/** What a caller in this folder has written. */
export function heardIn<T>(folder: string, { hasFolderNames }: Room, value: T): Heard<T> {
  const heard = hasFolderNames ? replaceFolder(value, folder) : undefined
  return heard === undefined
    ? { value, back: (input) => input }
    : { value: heard, back: (input) => insertFolder(input, folder) }
}
