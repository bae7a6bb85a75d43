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

export function isUnfinished(call: object): boolean {
  return unfinished.has(call)
}

export function markUnfinished<Call extends object>(call: Call): Call {
  unfinished.add(call)
  return call
}

/** Returns the same list if no call came in pieces. */
export function joinPieces(parts: readonly unknown[]): readonly unknown[] {
  if (!parts.some((part) => isPiece(readCall(part)))) return parts
  const joined: unknown[] = []
  let open: OpenCall | undefined
  const close = (isComplete: boolean) => {
    if (!open) return
    const { part, call, args } = open
    const made = { ...call, args }
    const functionCall = isComplete ? made : markUnfinished(made)
    joined[joined.indexOf(open)] = { ...part, functionCall }
    open = undefined
  }
  for (const part of parts) {
    const call = readCall(part)
    if (!call || (!open && !isPiece(call))) {
      joined.push(part)
      continue
    }
    const { partialArgs = [], willContinue = false, args, ...rest } = call
    if (rest.name) {
      close(false)
      open = { part: part as Fields, call: rest, args: isRecord(args) ? structuredClone(args) : {} }
      joined.push(open)
    }
    if (!open) continue
    open.part = { ...(part as Fields), ...open.part }
    const pieces: readonly unknown[] = Array.isArray(partialArgs) ? partialArgs : []
    // An unreadable piece makes the whole call unreadable.
    const target = open
    if (!pieces.every((piece) => isRecord(piece) && applyPiece(target.args, piece))) close(false)
    else if (!willContinue) close(true)
  }
  close(false)
  return joined
}

function readCall(part: unknown): Fields | undefined {
  return isRecord(part) && isRecord(part.functionCall) ? part.functionCall : undefined
}

function isPiece(call: Fields | undefined): boolean {
  return call !== undefined && (call.partialArgs !== undefined || call.willContinue === true)
}

/** Sets one value. A text continues the text that is there. False if the path cannot be read. */
function applyPiece(args: Record<string, unknown>, piece: Fields): boolean {
  const path = readPath(piece.jsonPath)
  const last = path?.pop()
  if (!path || last === undefined) return false
  let place: Record<string, unknown> = args
  for (const [index, key] of path.entries()) {
    const next = path[index + 1] ?? last
    if (!Object.hasOwn(place, key)) place[key] = typeof next === 'number' ? [] : {}
    const inner = place[key]
    if (typeof inner !== 'object' || inner === null) return false
    place = inner as Record<string, unknown>
  }
  const { stringValue, numberValue, boolValue, nullValue } = piece
  const before = Object.hasOwn(place, last) ? place[last] : undefined
  const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? '' : null)
  place[last] = typeof before === 'string' && typeof value === 'string' ? before + value : value
  return true
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
