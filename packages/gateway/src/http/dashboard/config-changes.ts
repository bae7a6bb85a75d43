/** Changes of the config that the dashboard writes: shown before, written in place, and undone as long as the file is the same. */
import { randomUUID } from 'node:crypto'
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { matchesGlob } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import {
  type EntryEdit,
  editEntries,
  findEntry,
  isOffered,
  readEntry,
  readSmallFile,
  type TrustedProjects,
} from '@toolwell/mcp/internal'
import { ApiError } from './access.js'
import type {
  ChangedLine,
  ChangePreview,
  ChangeRequest,
  ChangeResult,
  FileChange,
  ToolAction,
  ToolName,
} from './api-types.js'
import type { Sets } from './sets.js'

interface Edit extends EntryEdit {
  readonly add: string[]
  readonly remove: string[]
}

interface Draft {
  readonly path: string
  readonly before: string
  readonly after: string
}

interface Applied {
  readonly id: string
  readonly time: number
  readonly title: string
  readonly drafts: readonly Draft[]
  readonly skipped: ChangePreview['skipped']
  isUndone: boolean
}

export interface ConfigChangesOptions {
  readonly sets: Sets
  /** Trusted project configs. A trusted file that the user changes here stays trusted. */
  readonly projects: TrustedProjects | undefined
  /** Reads the changed files. */
  readonly onWritten: () => void
  readonly now: () => number
}

/** The title of a change, with `*` for its tools. */
const TITLES: Readonly<Record<ToolAction, string>> = {
  pin: 'Pinned *',
  defer: 'Deferred *',
  deny: 'Denied *',
  allow: 'Allowed *',
  'read-only': 'Marked * as read-only',
  'not-read-only': 'Unmarked * as read-only',
}

const MOST_KEPT = 50
const MOST_TOOLS = 5000

export class ConfigChanges {
  readonly #options: ConfigChangesOptions
  /** Newest first. */
  readonly #applied: Applied[] = []

  constructor(options: ConfigChangesOptions) {
    this.#options = options
  }

  get all(): ChangeResult[] {
    return this.#applied.map(describe)
  }

  preview(body: Readonly<Record<string, unknown>>): ChangePreview {
    const { drafts, skipped } = this.#draft(readRequest(body))
    return { files: drafts.map(showDraft), skipped }
  }

  apply(body: Readonly<Record<string, unknown>>): ChangeResult {
    const request = readRequest(body)
    const { drafts, skipped } = this.#draft(request)
    const [first] = request.tools
    const what =
      request.tools.length === 1 && first ? `${first.server}/${first.tool}` : `${request.tools.length} tools`
    return this.#write(
      TITLES[request.action].replace('*', () => what),
      drafts,
      skipped,
    )
  }

  /** Writes `"enabled": false`. */
  disable(set: string, server: string): ChangeResult {
    const { server: config } = this.#options.sets.findServer(set, server)
    const { path, text } = open(config)
    const after = editEntries(text, path, [{ server, key: 'enabled', set: false }])
    return this.#write(`Disabled ${server}`, [{ path, before: text, after }], [])
  }

  undo(id: string): ChangeResult {
    const found = this.#applied.find((each) => each.id === id)
    if (!found)
      throw new ApiError(404, 'unknown-change', 'This change is no longer known. Edit the file by hand.')
    if (found.isUndone) throw new ApiError(409, 'undone', 'This change was already undone.')
    const changed = found.drafts.find(({ path, after }) => read(path) !== after)
    if (changed)
      throw new ApiError(
        409,
        'file-changed',
        `${changed.path} has changed since. Undo the later changes first, or edit the file by hand.`,
      )
    this.#put(found.drafts.map(({ path, before, after }) => ({ path, before: after, after: before })))
    found.isUndone = true
    return describe(found)
  }

  #draft({ action, tools }: ChangeRequest): {
    readonly drafts: readonly Draft[]
    readonly skipped: ChangePreview['skipped']
  } {
    const skipped: (ToolName & { readonly reason: string })[] = []
    const files = new Map<string, { readonly text: string; readonly edits: Map<string, Edit> }>()
    for (const each of tools) {
      const { server } = this.#options.sets.findServer(each.set, each.server)
      const { path, text } = open(server)
      const file = files.get(path) ?? { text, edits: new Map() }
      files.set(path, file)
      const planned = plan(action, each.tool, server, readEntry(text, path, server.name))
      if ('reason' in planned) skipped.push({ ...each, reason: planned.reason })
      else {
        const key = JSON.stringify([server.name, planned.key])
        const edit = file.edits.get(key) ?? { server: server.name, key: planned.key, add: [], remove: [] }
        file.edits.set(key, edit)
        edit.add.push(...(planned.add ?? []))
        edit.remove.push(...(planned.remove ?? []))
      }
    }
    const drafts = [...files].flatMap(([path, { text, edits }]): Draft[] => {
      if (edits.size === 0) return []
      try {
        return [{ path, before: text, after: editEntries(text, path, [...edits.values()]) }]
      } catch (error) {
        throw new ApiError(
          409,
          'not-editable',
          `${path} cannot be changed: ${(error as Error).message}. Edit it by hand.`,
        )
      }
    })
    return { drafts, skipped }
  }

  #write(title: string, drafts: readonly Draft[], skipped: ChangePreview['skipped']): ChangeResult {
    if (drafts.length === 0) {
      const [first] = skipped
      throw new ApiError(409, 'nothing-to-change', first?.reason ?? 'There is nothing to change.')
    }
    this.#put(drafts)
    const made: Applied = {
      id: randomUUID(),
      time: this.#options.now(),
      title,
      drafts,
      skipped,
      isUndone: false,
    }
    this.#applied.unshift(made)
    this.#applied.splice(MOST_KEPT)
    return describe(made)
  }

  #put(drafts: readonly Draft[]): void {
    const { projects, onWritten } = this.#options
    for (const { path, before, after } of drafts) {
      // Only content that the user trusted is trusted again with the change.
      const known = projects?.read(path)
      const isTrusted = known?.isTrusted === true && known.text === before
      replaceFile(path, after)
      if (isTrusted) projects?.add(path)
    }
    onWritten()
  }
}

function readRequest(body: Readonly<Record<string, unknown>>): ChangeRequest {
  const { action, tools } = body as Partial<ChangeRequest>
  const isTool = (each: unknown): each is ToolName => {
    const { set, server, tool } = (each ?? {}) as Partial<ToolName>
    return [set, server, tool].every((text) => typeof text === 'string')
  }
  if (typeof action !== 'string' || !Object.hasOwn(TITLES, action))
    throw new ApiError(400, 'unknown-action', `action must be one of ${Object.keys(TITLES).join(', ')}.`)
  if (!Array.isArray(tools) || tools.length === 0 || tools.length > MOST_TOOLS || !tools.every(isTool))
    throw new ApiError(400, 'no-tools', 'tools must be a list of { set, server, tool }.')
  return { action, tools }
}

/** The text of the file that defines a server. */
function open({ name, file }: ServerConfig): { readonly path: string; readonly text: string } {
  if (file === undefined) throw new ApiError(409, 'no-file', `${name} is not defined in a file.`)
  const text = read(file)
  if (text === undefined) throw new ApiError(409, 'unreadable', `${file} cannot be read.`)
  if (!findEntry(text, file, name))
    throw new ApiError(409, 'file-changed', `${file} no longer has the entry ${JSON.stringify(name)}.`)
  return { path: file, text }
}

function read(path: string): string | undefined {
  try {
    return readSmallFile(path).toString('utf8')
  } catch {
    return undefined
  }
}

/** Replaces the file in one step. A link stays a link. The draft is a new file, so it follows no link of a project's folder. */
function replaceFile(path: string, text: string): void {
  const real = realpathSync(path)
  const draft = `${real}.${randomUUID()}.new`
  try {
    writeFileSync(draft, text, { mode: statSync(real).mode & 0o777, flag: 'wx' })
    renameSync(draft, real)
  } catch (error) {
    rmSync(draft, { force: true })
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new ApiError(409, 'not-written', `${path} could not be written (${code}). Check its permissions.`)
  }
}

type Plan = Pick<EntryEdit, 'key' | 'add' | 'remove'> | { readonly reason: string }
type Entry = Readonly<Record<string, unknown>>

function plan(action: ToolAction, tool: string, server: ServerConfig, entry: Entry): Plan {
  if (tool.includes('*')) return { reason: 'Its name contains *, which is a pattern in the config.' }
  switch (action) {
    case 'pin':
      if (!server.lazy) return { reason: 'Its server has "lazy": false, so all its tools are always loaded.' }
      return addTo('alwaysLoad', tool, entry, matchesGlob)
    case 'defer':
      if (!server.lazy) return { reason: 'Its server has "lazy": false. Remove that first.' }
      if (entry.alwaysLoad === true)
        return { reason: '"alwaysLoad" is true for every tool of its server. Replace it by a list first.' }
      return removeFrom(['alwaysLoad'], tool, entry, matchesGlob)
    case 'deny':
      if (!isOffered(tool, server)) return { reason: 'It is denied already.' }
      return addTo(DENY_KEYS.find((key) => Array.isArray(entry[key])) ?? 'deny', tool, entry)
    case 'allow':
      return removeFrom(DENY_KEYS, tool, entry)
    case 'read-only':
      return addTo('readOnly', tool, entry, matchesGlob)
    case 'not-read-only':
      return removeFrom(['readOnly'], tool, entry, matchesGlob)
  }
}

/** Other clients have other names for `deny`. */
const DENY_KEYS = ['deny', 'excludeTools', 'disabledTools']

type Matches = (pattern: string, name: string) => boolean
const isEqual: Matches = (pattern, name) => pattern === name

function addTo(key: string, tool: string, entry: Entry, matches: Matches = isEqual): Plan {
  const value = entry[key]
  if (value === true) return { reason: `"${key}" is true for every tool of its server already.` }
  const before = (Array.isArray(value) ? value : []).find((each) => matches(String(each), tool))
  if (before !== undefined) return { reason: `"${key}" has ${JSON.stringify(before)} already.` }
  return { key, add: [tool] }
}

function removeFrom(keys: readonly string[], tool: string, entry: Entry, matches: Matches = isEqual): Plan {
  for (const key of keys) {
    const value = entry[key]
    const list = Array.isArray(value) ? value.map(String) : []
    const pattern = list.find((each) => each !== tool && matches(each, tool))
    if (pattern !== undefined)
      return {
        reason: `The pattern ${JSON.stringify(pattern)} in "${key}" names it too. Change the pattern by hand.`,
      }
    if (list.includes(tool)) return { key, remove: [tool] }
  }
  return { reason: `"${keys[0]}" of its server does not name it.` }
}

function describe({ id, time, title, drafts, skipped, isUndone }: Applied): ChangeResult {
  const isUndoable = !isUndone && drafts.every(({ path, after }) => read(path) === after)
  const shown = isUndone ? `${title} (undone)` : title
  return { id, time, title: shown, files: drafts.map(showDraft), skipped, isUndoable }
}

const CONTEXT = 3
/** Lines that are compared one by one. */
const MOST_COMPARED = 1500

function showDraft({ path, before, after }: Draft): FileChange {
  const lines = compareLines(before.split(/\r?\n/), after.split(/\r?\n/))
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== 'kept')
  return { path, lines: lines.filter((line, at) => line.kind !== 'kept' || isNear(at)) }
}

/** The shortest list of added and removed lines. */
function compareLines(before: readonly string[], after: readonly string[]): ChangedLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const isSameEnd = () => before[before.length - 1 - end] === after[after.length - 1 - end]
  while (end < Math.min(before.length, after.length) - start && isSameEnd()) end++
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  const kept = (text: string, at: number): ChangedLine => ({ kind: 'kept', line: at + 1, text })
  return [
    ...after.slice(0, start).map(kept),
    ...(old.length > MOST_COMPARED || fresh.length > MOST_COMPARED
      ? [
          ...old.map((text, at): ChangedLine => ({ kind: 'removed', line: start + at + 1, text })),
          ...fresh.map((text, at): ChangedLine => ({ kind: 'added', line: start + at + 1, text })),
        ]
      : alignLines(old, fresh, start)),
    ...after.slice(after.length - end).map((text, at) => kept(text, after.length - end + at)),
  ]
}

function alignLines(old: readonly string[], fresh: readonly string[], offset: number): ChangedLine[] {
  const width = fresh.length + 1
  /** Length of the longest common part of the rests. */
  const common = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === fresh[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
  const lines: ChangedLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < fresh.length) {
    const isKept = i < old.length && j < fresh.length && old[i] === fresh[j]
    const isRemoved =
      !isKept &&
      i < old.length &&
      (j >= fresh.length || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    if (isRemoved) lines.push({ kind: 'removed', line: offset + i + 1, text: old[i] ?? '' })
    else lines.push({ kind: isKept ? 'kept' : 'added', line: offset + j + 1, text: fresh[j] ?? '' })
    if (isKept || isRemoved) i++
    if (!isRemoved) j++
  }
  return lines
}
