/** What differs between a lock and the servers as they are now, field by field. */
import { canonicalJson, dropUndefined, isRecord } from '@toolwell/core/internal'
import { type Json, normalised } from '../../definition/fingerprint.js'
import { type ListedServer, type Lock, namedTools } from './lock.js'

export interface FieldChange {
  /** A JSON path within the definition: `inputSchema.properties.path.description`. */
  readonly path: string
  /** Undefined: the field was not there. */
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
  /** Servers that could not be listed: of these nothing is said. */
  readonly unlisted?: readonly string[]
}

/** Empty when nothing differs. In order of server, then tool. */
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

/** The smallest parts that differ. Lists are compared item by item, because their order may mean something. */
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
