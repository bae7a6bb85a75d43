/** Where programs of this user keep their files, by the rules of the system. */
import { homedir } from 'node:os'
import { join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

const PLACES = {
  cache: { variable: 'XDG_CACHE_HOME', mac: ['Library', 'Caches'], other: ['.cache'] },
  data: { variable: 'XDG_DATA_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'share'] },
  state: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'state'] },
  logs: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Logs'], other: ['.local', 'state'] },
} as const

export function userFolder(kind: keyof typeof PLACES, name: string, env: Env = process.env): string {
  const { variable, mac, other } = PLACES[kind]
  const base =
    env[variable] ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    join(homedir(), ...(process.platform === 'darwin' ? mac : other))
  return join(base, 'toolwell', name)
}
