/** Plans an import: which servers are new, which exist, and which need another name. Also reads and writes toolwell.json. */
import { randomUUID } from 'node:crypto'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { canonicalJson, isRecord } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { describeProblem } from '@toolwell/mcp'
import {
  DEFAULTS,
  describeReadError,
  readDocument,
  readDuration,
  readSmallFile,
} from '@toolwell/mcp/internal'
import { applyEdits, modify } from 'jsonc-parser'
import type { ClientFile } from '../shared/clients/clients.js'
import type { ClientServers, Inputs } from '../shared/clients/read-client.js'
import { Problem } from '../shared/problem.js'

export interface Addition {
  readonly name: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly from: readonly ClientFile[]
  /** Its name in the client, if it had to be renamed. */
  readonly was?: string
  readonly left: readonly string[]
  readonly inputs: Inputs
  /** Timeouts that differ between its clients. */
  readonly limits: readonly string[]
}

export interface Plan {
  readonly add: readonly Addition[]
  /** Names of servers that exist with the same entry. */
  readonly same: readonly string[]
  /** Names that exist with another entry, which stays. */
  readonly kept: readonly { readonly name: string; readonly from: ClientFile }[]
  /** For each file: name in the client to name in toolwell.json. Servers that are not imported are missing. */
  readonly placed: ReadonlyMap<ClientFile, ReadonlyMap<string, string>>
}

type Existing = Readonly<Record<string, unknown>>

/** `known`: the name of an entry in toolwell.json after an earlier import. It stays valid if the entry has changed. */
export function planImport(
  found: readonly ClientServers[],
  existing: Existing,
  known: (from: ClientFile, name: string) => string | undefined = () => undefined,
): Plan {
  const add: (Omit<Addition, 'entry' | 'left' | 'limits'> & {
    readonly from: ClientFile[]
    entry: Addition['entry']
    left: Addition['left']
    limits: Addition['limits']
  })[] = []
  const same = new Set<string>()
  const kept: Plan['kept'][number][] = []
  const isTaken = (name: string) => Object.hasOwn(existing, name) || add.some((each) => each.name === name)
  const placed = new Map<ClientFile, Map<string, string>>()
  const place = (from: ClientFile, name: string, here: string) => {
    const own = placed.get(from) ?? new Map<string, string>()
    placed.set(from, own.set(name, here))
  }
  for (const { from, servers } of found)
    for (const [name, { entry, skipped: left, inputs }] of servers) {
      const isEqual = (other: unknown) => comparable(other) === comparable(entry)
      const before = known(from, name)
      const added = add.find((each) => (each.was ?? each.name) === name && isEqual(each.entry))
      const first = add.find((each) => each.name === name)
      const there =
        before !== undefined && Object.hasOwn(existing, before)
          ? before
          : findNames(existing, name, from.client).find((each) => isEqual(existing[each]))
      if (added) {
        added.from.push(from)
        const differing = LIMITS.filter((key) => limitOf(added.entry, key) !== limitOf(entry, key))
        added.entry = withLongerLimits(added.entry, entry)
        added.limits = [...new Set([...added.limits, ...differing])]
        added.left = [...new Set([...added.left, ...left])]
        place(from, name, added.name)
      } else if (there !== undefined) {
        same.add(there)
        place(from, name, there)
      } else if (Object.hasOwn(existing, name)) kept.push({ name, from })
      else if (!first) {
        add.push({ name, entry, from: [from], left, inputs, limits: [] })
        place(from, name, name)
      }
      // Of two files of one client, the first has precedence.
      else if (!first.from.some(({ client }) => client === from.client)) {
        const free = freeName(`${name}-${from.client}`, isTaken)
        add.push({ name: free, entry, from: [from], was: name, left, inputs, limits: [] })
        place(from, name, free)
      }
    }
  return { add, same: [...same], kept, placed }
}

const LIMITS = ['timeout', 'startTimeout'] as const

/** An entry without a timeout has the default one. */
const limitOf = (entry: Addition['entry'], key: (typeof LIMITS)[number]) =>
  readDuration(entry[key]) ?? DEFAULTS[key]

/** Keeps the longer timeout: that client may need it. */
function withLongerLimits(entry: Addition['entry'], other: Addition['entry']): Addition['entry'] {
  const longer = LIMITS.filter((key) => limitOf(other, key) > limitOf(entry, key))
  const kept = Object.entries(entry).filter(([key]) => !longer.some((each) => each === key))
  const taken = longer.flatMap((key) => (other[key] === undefined ? [] : [[key, other[key]] as const]))
  return Object.fromEntries([...kept, ...taken])
}

/** An entry without default values, timeouts and `share`, so that two clients with the same server compare as equal. */
function comparable(entry: unknown): string {
  if (!isRecord(entry)) return canonicalJson(entry)
  const isImplied = (key: string, value: unknown) =>
    LIMITS.some((limit) => limit === key) ||
    key === 'share' ||
    (key === 'type'
      ? value === 'stdio' || /^(?:streamable-?)?http$/i.test(String(value))
      : (key === 'enabled' && value === true) ||
        (typeof value === 'object' && value !== null && Object.keys(value).length === 0 && key !== 'allow'))
  return canonicalJson(
    Object.fromEntries(Object.entries(entry).filter(([key, value]) => !isImplied(key, value))),
  )
}

/** Names that an earlier import may have used for a server. */
function findNames(existing: Existing, name: string, client: string): string[] {
  return Object.keys(existing).filter((other) => other === name || other.startsWith(`${name}-${client}`))
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let number = 2; isTaken(name); number++) name = `${wanted}-${number}`
  return name
}

export interface Target {
  readonly file: string
  /** Undefined if the file does not exist. */
  readonly text: string | undefined
  readonly servers: Readonly<Record<string, unknown>>
}

/** Reads toolwell.json. Throws if it is not a valid config, so that it is never overwritten. */
export function readTarget(file: string): Target {
  let text: string
  try {
    text = readSmallFile(file).toString('utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { file, text: undefined, servers: {} }
    throw new Problem(
      `${file} cannot be used: ${describeReadError(error).reason}.`,
      'Check the path after --to, and its permissions.',
    )
  }
  const { value, problems } = readDocument(text.trim() === '' ? '{}' : text, file)
  if (!value)
    throw new Problem(
      `${file} is not a valid config: ${problems.map(describeProblem).join(' ')}`,
      'Fix or move the file. Nothing was changed.',
    )
  const { mcpServers = {}, servers = {} } = value
  if (!isRecord(mcpServers) || !isRecord(servers))
    throw new Problem(`"mcpServers" in ${file} is not an object.`, 'Fix the file. Nothing was changed.')
  return { file, text, servers: { ...servers, ...mcpServers } }
}

export function addServers({ text }: Target, add: readonly Addition[]): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text?.includes('\r\n') ? '\r\n' : '\n' }
  let next = text === undefined || text.trim() === '' ? '{\n  "mcpServers": {}\n}\n' : text
  for (const { name, entry } of add)
    next = applyEdits(next, modify(next, ['mcpServers', name], entry, { formattingOptions }))
  return next.endsWith('\n') ? next : `${next}\n`
}

/** Writes atomically. A new file is readable by its owner only, because it may contain secrets. */
export async function writeTarget({ file }: Target, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file)
  const draft = `${target}.${randomUUID()}.tmp`
  try {
    makeFolder(dirname(target))
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o600,
    )
    await writeFile(draft, text, { mode: 0o600 })
    await chmod(draft, mode)
    await rename(draft, target)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new Problem(
      `${file} cannot be written (${code}).`,
      'Check the permissions of its folder. Nothing was changed.',
      { cause },
    )
  }
}
