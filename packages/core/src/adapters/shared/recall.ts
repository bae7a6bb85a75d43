/**
 * The messages of a history as they were when they were last seen. Hosts give the whole history with every request: as the same
 * objects, or read anew from where they keep it, and they change messages in place. So each message is compared with a copy,
 * to its last level, and what was made of it is used again only where it is still the same.
 */

import { copyData, type DataCopy, isPlain, isSameData } from '../../base/data.js'
import { type Form, type FormSigns, signsFor } from './wrong-door.js'

export interface Remembered<Message> {
  /** The object that stands for it here: another one whenever it says something else, so that it can be a key. */
  readonly message: Message
  /** Undefined where it cannot be compared: then it is a new one each time. */
  readonly copy: DataCopy | undefined
  /** In normal form. */
  readonly normal: readonly Message[]
  /** Of the form of its wire, or of another. Undefined where the wire has a form of its own. */
  readonly signs: FormSigns | undefined
  /** Something is to be said about it: it is in another form, or it is not sent as it is. */
  readonly isOdd: boolean
}

export interface Recalled<Message> {
  readonly entries: readonly Remembered<Message>[]
  /** Those that are odd, by index. */
  readonly odd: readonly number[]
  /** What was written, with the host's objects in the place of those that stand for them here. */
  given(written: Message[]): Message[]
}

export function createRecall<Message>(
  normalise: (message: Message) => readonly Message[],
  form: Form | undefined,
): (messages: readonly Message[]) => Recalled<Message> {
  let before: readonly Remembered<Message>[] = []
  const entries = new WeakMap<object, Remembered<Message>>()

  const isStill = ({ copy, message: kept }: Remembered<Message>, message: Message): boolean =>
    copy !== undefined &&
    isSameData(message, copy) &&
    // It is sent in place of the other one.
    (message === kept || isSameData(kept, copy))

  const remember = (given: Message): Remembered<Message> => {
    const { message, copy } = standIn(given)
    const known = isObject(message) ? entries.get(message) : undefined
    if (known && copy && known.copy === copy) return known
    const signs = form && signsFor(form, message)
    const normal = normalise(message)
    const isOdd = normal.length === 0 || normal[0] !== message || signs?.isForeign === true
    const made = { message, copy, normal, signs, isOdd }
    if (isObject(message)) entries.set(message, made)
    return made
  }

  return (messages) => {
    const recalled: Remembered<Message>[] = []
    const kept: Message[] = []
    const odd: number[] = []
    // Two messages that are equal are two, also where the history has moved on and one stands where the other stood.
    const moved = new Set<Remembered<Message>>()
    let isAnew = false
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index] as Message
      const known = before[index]
      const isInPlace = known !== undefined && !moved.has(known) && isStill(known, message)
      const entry = isInPlace ? known : remember(message)
      if (!isInPlace) moved.add(entry)
      if (entry.message !== message) isAnew = true
      if (entry.isOdd) odd.push(index)
      recalled.push(entry)
      kept.push(entry.message)
    }
    before = recalled
    // The host may change its list while the request is made.
    const now = isAnew ? [...messages] : []
    const isKept = (message: Message) => isObject(message) && entries.has(message)
    return {
      entries: recalled,
      odd,
      given: (written) => (isAnew ? inTheirPlace(written, kept, now, isKept) : written),
    }
  }
}

/** Nearly all stand in the order of the history, some of ours between them: only what was moved is looked up. */
function inTheirPlace<Message>(
  written: readonly Message[],
  kept: readonly Message[],
  messages: readonly Message[],
  isKept: (message: Message) => boolean,
): Message[] {
  let places: Map<Message, number> | undefined
  let next = 0
  return written.map((message) => {
    if (message !== kept[next]) {
      if (!isKept(message)) return message
      places ??= new Map(kept.map((each, index) => [each, index]))
      next = places.get(message) ?? kept.length
    }
    return messages[next++] ?? message
  })
}

interface StandIn<Message> {
  readonly message: Message
  readonly copy: DataCopy | undefined
}

/** By the host's object. One memory for all adapters: what they keep by the object has to be right for all of them. */
const standIns = new WeakMap<object, StandIn<unknown>>()

/** The message itself, or, where it is not what it was when it was first seen, an object of its own with what it says now. */
function standIn<Message>(given: Message): StandIn<Message> {
  if (!isObject(given)) return { message: given, copy: undefined }
  const known = standIns.get(given) as StandIn<Message> | undefined
  if (
    known?.copy &&
    isSameData(given, known.copy) &&
    (known.message === given || isSameData(known.message, known.copy))
  )
    return known
  const copy = copyData(given)
  const made = { message: known || !copy ? anew(given) : given, copy }
  standIns.set(given, made)
  return made
}

/** What is more than data, or cannot be read, stays what it is. */
function anew<Message extends object>(given: Message): Message {
  try {
    return isPlain(given) ? ({ ...given } as Message) : given
  } catch {
    return given
  }
}

/** Messages as objects that can be keys: the same object always says the same. */
export function asKeys<Message extends object>(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => standIn(message).message)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
