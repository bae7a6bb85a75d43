/** Compares a lock with the current servers, field by field, and renders the differences. */

import { canonicalJson, dropUndefined, isRecord } from '@toolwell/core/internal'
import { type Json, normalised } from '../../definition/fingerprint.js'
import type { Finding } from '../scan/rules.js'
import { type ListedServer, type Lock, namedTools } from './lock.js'

export interface FieldChange {
  /** JSON path within the definition: `inputSchema.properties.path.description`. */
  readonly path: string
  /** Undefined: the field did not exist. */
  readonly before?: Json
  readonly after?: Json
}

export interface LockChange {
  readonly kind: 'added' | 'changed' | 'removed'
  readonly server: string
  /** Undefined: about the server itself. */
  readonly tool?: string
  readonly fields: readonly FieldChange[]
}

export interface CheckOptions {
  /** Servers that could not be listed. They are not compared. */
  readonly unlisted?: readonly string[]
}

/** Returns the changes, sorted by server and tool. */
export function checkLock(
  lock: Lock,
  servers: readonly ListedServer[],
  { unlisted = [] }: CheckOptions = {},
): LockChange[] {
  const listed = new Map(servers.map((server) => [server.name, server]))
  const names = [...new Set([...Object.keys(lock.servers), ...listed.keys()])].sort()
  return names
    .filter((name) => !unlisted.includes(name))
    .flatMap((name) => compareServer(lock, name, listed.get(name)))
}

function compareServer(lock: Lock, server: string, listed: ListedServer | undefined): LockChange[] {
  const locked = Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined
  if (!listed) return [{ kind: 'removed', server, fields: [] }]
  const now = namedTools(listed)
  const changes: LockChange[] = []
  const instructions = listed.instructions ?? ''
  if (!locked)
    changes.push({
      kind: 'added',
      server,
      fields: instructions === '' ? [] : [{ path: 'instructions', after: instructions }],
    })
  else {
    const fields: FieldChange[] = []
    const { start = '' } = listed
    if (locked.start !== '' && start !== '' && locked.start !== start)
      fields.push({ path: 'start', before: locked.start, after: start })
    if (locked.instructions !== instructions)
      fields.push({ path: 'instructions', before: locked.instructions, after: instructions })
    if (fields.length > 0) changes.push({ kind: 'changed', server, fields })
  }
  for (const tool of [...new Set([...Object.keys(locked?.tools ?? {}), ...now.keys()])].sort()) {
    const before = locked && Object.hasOwn(locked.tools, tool) ? locked.tools[tool]?.definition : undefined
    const after = now.has(tool) ? normalised(now.get(tool)) : undefined
    const fields = compareFields(before, after)
    if (before === undefined) changes.push({ kind: 'added', server, tool, fields })
    else if (after === undefined) changes.push({ kind: 'removed', server, tool, fields })
    else if (fields.length > 0) changes.push({ kind: 'changed', server, tool, fields })
  }
  return changes
}

/** Finds the smallest parts that differ. Lists are compared item by item, because their order may matter. */
export function compareFields(before: Json | undefined, after: Json | undefined): FieldChange[] {
  const found: FieldChange[] = []
  const walk = (one: Json | undefined, other: Json | undefined, path: string): void => {
    if (isRecord(one) && isRecord(other)) {
      for (const key of [...new Set([...Object.keys(one), ...Object.keys(other)])].sort())
        walk(own(one, key), own(other, key), join(path, key))
    } else if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
      for (const [index, item] of one.entries()) walk(item, other[index], `${path}[${index}]`)
    else if (one === undefined && isRecord(other) && path === '')
      for (const key of Object.keys(other)) walk(undefined, own(other, key), key)
    else if (other === undefined && isRecord(one) && path === '')
      for (const key of Object.keys(one)) walk(own(one, key), undefined, key)
    else if (canonicalJson(one) !== canonicalJson(other) || (one === undefined) !== (other === undefined))
      found.push({ path, ...dropUndefined({ before: one, after: other }) })
  }
  walk(before, after, '')
  return found
}

const own = (value: { readonly [key: string]: Json }, key: string) =>
  Object.hasOwn(value, key) ? value[key] : undefined

function join(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

export type DiffPart = 'added' | 'removed' | 'heading' | 'note'

export interface RenderOptions {
  /** Colours a line. Default: no colours. */
  readonly style?: (part: DiffPart, text: string) => string
  /** Findings of a tool, or of a server if `tool` is undefined. */
  readonly findings?: (server: string, tool: string | undefined) => readonly Finding[]
}

/** Renders changes as text without invisible characters. Shows all of them, however long: nobody should approve unseen text. */
export function renderLockDiff(changes: readonly LockChange[], options: RenderOptions = {}): string {
  const { style = (_, text) => text, findings = () => [] } = options
  const output: string[] = []
  for (const { kind, server, tool, fields } of changes) {
    const name = tool === undefined ? visible(server) : `${visible(server)}/${visible(tool)}`
    output.push(style('heading', `${SIGN[kind]} ${name}  ${kind}${tool === undefined ? ' (server)' : ''}`))
    for (const finding of findings(server, tool))
      output.push(
        style(
          'note',
          `    ! ${finding.severity} ${finding.rule} in ${visible(finding.where)}: ${visible(finding.why)}`,
        ),
      )
    if (kind !== 'removed') for (const field of fields) output.push(...renderField(field, style))
    output.push('')
  }
  return output.slice(0, -1).join('\n')
}

const SIGN = { added: '+', changed: '~', removed: '-' } as const

function renderField(
  { path, before, after }: FieldChange,
  style: NonNullable<RenderOptions['style']>,
): string[] {
  let old = before === undefined ? [] : linesOf(before)
  let young = after === undefined ? [] : linesOf(after)
  // 5 and "5" look the same as text, but not as JSON.
  if (old.join('\n') === young.join('\n')) {
    old = wrap(visible(JSON.stringify(before)))
    young = wrap(visible(JSON.stringify(after)))
  }
  // Skip equal lines around the change.
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start++
  let end = 0
  while (end < old.length - start && end < young.length - start && old.at(-1 - end) === young.at(-1 - end))
    end++
  const removed = old.slice(start, old.length - end).map((line) => style('removed', `      - ${line}`))
  const added = young.slice(start, young.length - end).map((line) => style('added', `      + ${line}`))
  const context = start > 0 ? [`        … ${start} equal ${start === 1 ? 'line' : 'lines'}`] : []
  return [`    ${visible(path)}`, ...context, ...removed, ...added]
}

const WIDTH = 160

function linesOf(value: Json): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.split('\n').flatMap((line) => wrap(visible(line)))
}

function wrap(line: string): string[] {
  if (line.length <= WIDTH) return [line]
  const parts: string[] = []
  for (let rest = line; rest !== ''; ) {
    const space = rest.length <= WIDTH ? rest.length : rest.lastIndexOf(' ', WIDTH)
    // The space begins the next line, so that additional spaces can be seen.
    const length = space > WIDTH / 2 ? space : WIDTH
    parts.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return parts
}

/** Control characters, zero-width and bidirectional marks, tags, selectors, private use, unusual spaces; also the bracket of our notation. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800\u27e8]|(?! )\p{Z}/gu

/** Shows invisible characters as `⟨U+200B⟩`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code === 9 ? '⟨TAB⟩' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
