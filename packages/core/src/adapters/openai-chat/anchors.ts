/**
 * Names the messages of a history. Chat Completions has no message ids, and some servers reuse call ids, so a name is
 * the call id or a hash of the content, with a number from its second occurrence on.
 */
import { shortHash } from '../../fingerprint.js'
import { type ChatMessage, callsOf } from './wire.js'

export interface Anchors {
  /** One name per message. */
  readonly names: readonly string[]
  /** The name that the next call with this id will have. */
  next(callId: string): string
}

const hashes = new WeakMap<ChatMessage, string>()

export function anchorsOf(messages: readonly ChatMessage[]): Anchors {
  const counts = new Map<string, number>()
  const current = new Map<string, string>()
  const take = (base: string): string => {
    const seen = (counts.get(base) ?? 0) + 1
    counts.set(base, seen)
    return numbered(base, seen)
  }
  const names = messages.map((message) => {
    for (const { id } of callsOf(message)) current.set(id, take(`call:${id}`))
    if (message.role === 'tool' && typeof message.tool_call_id === 'string')
      return current.get(message.tool_call_id) ?? `call:${message.tool_call_id}`
    return take(`message:${hashOf(message)}`)
  })
  return { names, next: (callId) => numbered(`call:${callId}`, (counts.get(`call:${callId}`) ?? 0) + 1) }
}

/**
 * Which names survive from one history to a shortened one, and what they are called there. Occurrences of one base are
 * matched from the end: what a compaction keeps is the newest.
 */
export function survivors(before: readonly string[], after: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {}
  const old = byBase(before)
  for (const [base, names] of byBase(after)) {
    const earlier = old.get(base) ?? []
    for (let back = 1; back <= Math.min(names.length, earlier.length); back++) {
      const from = earlier[earlier.length - back]
      const to = names[names.length - back]
      if (from !== undefined && to !== undefined) kept[from] = to
    }
  }
  return kept
}

function byBase(names: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const name of new Set(names)) {
    const base = name.replace(/#\d+$/, '')
    const group = groups.get(base)
    if (group) group.push(name)
    else groups.set(base, [name])
  }
  return groups
}

function numbered(base: string, occurrence: number): string {
  // A base that already ends like a number gets one always, so that no two names can meet.
  return occurrence === 1 && !/#\d+$/.test(base) ? base : `${base}#${occurrence}`
}

/** Over what a host keeps when it stores a message: role, content, calls. */
function hashOf(message: ChatMessage): string {
  const known = hashes.get(message)
  if (known !== undefined) return known
  const calls = callsOf(message).map((call) => [call.id, call.function.name, call.function.arguments])
  const made = shortHash(JSON.stringify([message.role, message.content ?? null, calls]), 12)
  hashes.set(message, made)
  return made
}
