/**
 * Joins the pieces of a call whose arguments are streamed (Vertex AI, `streamFunctionCallArguments`). The first piece has the
 * name, and each piece sets values at JSON paths: types `FunctionCall` and `PartialArg` of `@google/genai`.
 */

import { isRecord } from '../../base/data.js'

type Fields = Readonly<Record<string, unknown>>

interface OpenCall {
  part: Fields
  readonly call: Fields
  readonly args: Record<string, unknown>
}

/** Calls whose last piece is missing, or whose pieces cannot be read. They must not run. */
const unfinished = new WeakSet<object>()

/** Replies of streams that ended at the token limit. */
export const cutReplies = new WeakSet<object>()

export function isUnfinished(call: object): boolean {
  return unfinished.has(call)
}

export function markUnfinished<Call extends object>(call: Call): Call {
  unfinished.add(call)
  return call
}

/** Returns the same list if no call came in pieces. */
export function joinPieces(parts: readonly unknown[]): readonly unknown[] {
  if (!hasPieces(parts)) return parts
  const joined: unknown[] = []
  const open: OpenCall[] = []
  const close = (target: OpenCall, isComplete: boolean) => {
    const made = { ...target.call, args: target.args }
    const functionCall = isComplete ? made : markUnfinished(made)
    joined[joined.indexOf(target)] = { ...target.part, functionCall }
    open.splice(open.indexOf(target), 1)
  }
  for (const part of parts) {
    const call = readCall(part)
    if (!call || (call.name && !isPiece(call))) {
      joined.push(part)
      continue
    }
    const { partialArgs = [], willContinue = false, args, ...rest } = call
    if (rest.name) {
      const made = { part: part as Fields, call: rest, args: isRecord(args) ? structuredClone(args) : {} }
      open.push(made)
      joined.push(made)
    }
    // A piece without an id belongs to the call that began last. Without a call, nothing can be run.
    const target = rest.id ? open.find((each) => each.call.id === rest.id) : open.at(-1)
    if (!target) continue
    target.part = { ...(part as Fields), ...target.part }
    const pieces: readonly unknown[] = Array.isArray(partialArgs) ? partialArgs : []
    // An unreadable piece makes the whole call unreadable.
    if (!pieces.every((piece) => isRecord(piece) && applyPiece(target.args, piece))) close(target, false)
    else if (!willContinue) close(target, true)
  }
  for (const each of [...open]) close(each, false)
  return joined
}

export function hasPieces(parts: readonly unknown[]): boolean {
  return parts.some((part) => isPiece(readCall(part)))
}

/** Counts the calls whose last piece follows after these parts. `open`: the count before them. */
export function countOpenCalls(parts: readonly unknown[], open: number): number {
  let count = open
  for (const part of parts) {
    const call = readCall(part)
    if (call?.name) count += call.willContinue === true ? 1 : 0
    else if (call && call.willContinue !== true && count > 0) count--
  }
  return count
}

function readCall(part: unknown): Fields | undefined {
  return isRecord(part) && isRecord(part.functionCall) ? part.functionCall : undefined
}

function isPiece(call: Fields | undefined): boolean {
  return call !== undefined && (call.partialArgs !== undefined || call.willContinue === true)
}

/** Sets one value. A text continues the text that is there. False if the path cannot be read, or does not fit. */
function applyPiece(args: Record<string, unknown>, piece: Fields): boolean {
  const path = readPath(piece.jsonPath)
  const last = path?.pop()
  if (!path || last === undefined) return false
  let place: unknown = args
  for (const [index, key] of path.entries()) {
    if (!fits(place, key)) return false
    const next = path[index + 1] ?? last
    if (!Object.hasOwn(place, key)) place[key] = typeof next === 'number' ? [] : {}
    place = place[key]
  }
  if (!fits(place, last)) return false
  const { stringValue, numberValue, boolValue, nullValue } = piece
  const before = Object.hasOwn(place, last) ? place[last] : undefined
  const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? '' : null)
  place[last] = typeof before === 'string' && typeof value === 'string' ? before + value : value
  return true
}

/** A list has numbers as keys, without gaps; an object has names. */
function fits(place: unknown, key: string | number): place is Record<string | number, unknown> {
  if (Array.isArray(place)) return typeof key === 'number' && key <= place.length
  return isRecord(place) && typeof key === 'string'
}

/** The keys of a path such as `$.foo['a b'][0]`. Undefined if it has another form. */
function readPath(path: unknown): (string | number)[] | undefined {
  if (typeof path !== 'string' || !/^\$(\.[^.[\]]+|\[\d+\]|\['[^']*'\]|\["[^"]*"\])+$/.test(path))
    return undefined
  const keys = [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g)].map(
    ([, plain, index, single, double]) =>
      index === undefined ? (plain ?? single ?? double ?? '') : Number(index),
  )
  return keys.includes('__proto__') ? undefined : keys
}
