/** What an import would do: which servers are new, which are there already, which bear a name that is taken. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { canonicalJson, isRecord } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { describeProblem } from '@toolwell/mcp'
import { DEFAULTS, readDocument, readDuration } from '@toolwell/mcp/internal'
import { applyEdits, modify } from 'jsonc-parser'
import type { ClientFile } from '../shared/clients/clients.js'
import type { ClientServers, Inputs } from '../shared/clients/read-client.js'
import { Problem } from '../shared/problem.js'

export interface Addition {
  readonly name: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly from: readonly ClientFile[]
  /** What it is called there, where that name was taken. */
  readonly was?: string
  readonly left: readonly string[]
  readonly inputs: Inputs
  /** Time limits that its clients do not agree on. */
  readonly limits: readonly string[]
}

export interface Plan {
  readonly add: readonly Addition[]
  /** There already, and the same. */
  readonly same: readonly string[]
  /** There already, and another: it stays. */
  readonly kept: readonly { readonly name: string; readonly from: ClientFile }[]
  /** By file and by the name there: what each is called here. What is missing was not taken over. */
  readonly placed: ReadonlyMap<ClientFile, ReadonlyMap<string, string>>
}

type Existing = Readonly<Record<string, unknown>>

/** `known`: what an entry was called when it was taken over before, which holds whatever became of it here. */
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
    for (const [name, { entry, left, inputs }] of servers) {
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
      // One client with two files: the stronger one was read first.
      else if (!first.from.some(({ client }) => client === from.client)) {
        const free = freeName(`${name}-${from.client}`, isTaken)
        add.push({ name: free, entry, from: [from], was: name, left, inputs, limits: [] })
        place(from, name, free)
      }
    }
  return { add, same: [...same], kept, placed }
}

const LIMITS = ['timeout', 'startTimeout'] as const

/** What says nothing of a limit means the usual one. */
const limitOf = (entry: Addition['entry'], key: (typeof LIMITS)[number]) =>
  readDuration(entry[key]) ?? DEFAULTS[key]

/** A client that waits longer may need to. */
function withLongerLimits(entry: Addition['entry'], other: Addition['entry']): Addition['entry'] {
  const longer = LIMITS.filter((key) => limitOf(other, key) > limitOf(entry, key))
  const kept = Object.entries(entry).filter(([key]) => !longer.some((each) => each === key))
  const taken = longer.flatMap((key) => (other[key] === undefined ? [] : [[key, other[key]] as const]))
  return Object.fromEntries([...kept, ...taken])
}

/**
 * Clients differ in how much they write out: what says no more than leaving it out counts as left out. Each has time limits of its
 * own, which make no other server.
 */
function comparable(entry: unknown): string {
  if (!isRecord(entry)) return canonicalJson(entry)
  const isImplied = (key: string, value: unknown) =>
    LIMITS.some((limit) => limit === key) ||
    (key === 'type'
      ? value === 'stdio' || /^(?:streamable-?)?http$/i.test(String(value))
      : (key === 'enabled' && value === true) ||
        (typeof value === 'object' && value !== null && Object.keys(value).length === 0 && key !== 'allow'))
  return canonicalJson(
    Object.fromEntries(Object.entries(entry).filter(([key, value]) => !isImplied(key, value))),
  )
}

/** Where a server may have been written by an import before. */
function findNames(existing: Existing, name: string, client: string): string[] {
  return Object.keys(existing).filter((other) => other === name || other.startsWith(`${name}-${client}`))
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let number = 2; isTaken(name); number++) name = `${wanted}-${number}`
  return name
}

// The file that servers are written into: what it holds, and the same with more, comments and all.

export interface Target {
  readonly file: string
  /** Undefined where there is no file yet. */
  readonly text: string | undefined
  readonly servers: Readonly<Record<string, unknown>>
}

/** A file that cannot be read as a config is never written over. */
export function readTarget(file: string): Target {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { file, text: undefined, servers: {} }
    throw new Problem(`${file} cannot be read (${code}).`, 'Check the path behind --to, and its permissions.')
  }
  const { value, problems } = readDocument(text.trim() === '' ? '{}' : text, file)
  if (!value)
    throw new Problem(
      `${file} is not a config: ${problems.map(describeProblem).join(' ')}`,
      'Fix it or move it away. Nothing was changed.',
    )
  const { mcpServers = {}, servers = {} } = value
  if (!isRecord(mcpServers) || !isRecord(servers))
    throw new Problem(`"mcpServers" in ${file} is not an object.`, 'Fix it. Nothing was changed.')
  return { file, text, servers: { ...servers, ...mcpServers } }
}

export function addServers({ text }: Target, add: readonly Addition[]): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text?.includes('\r\n') ? '\r\n' : '\n' }
  let next = text === undefined || text.trim() === '' ? '{\n  "mcpServers": {}\n}\n' : text
  for (const { name, entry } of add)
    next = applyEdits(next, modify(next, ['mcpServers', name], entry, { formattingOptions }))
  return next.endsWith('\n') ? next : `${next}\n`
}

/** Whole or not at all. A new file is for its owner alone: it may hold secrets. */
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
      'Check that its folder may be written to. Nothing was changed.',
      { cause },
    )
  }
}
