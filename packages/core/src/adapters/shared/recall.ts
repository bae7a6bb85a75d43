/**
 * The messages of a history as they were when they were last seen. Hosts give the whole history with every request: as the same
 * objects, or read anew from where they keep it, and they change messages in place. So each message is compared with a copy,
 * to its last level, and what was made of it is used again only where it is still the same.
 */

import { copyData, type DataCopy, isPlain, isSameData } from '../../base/same-data.js'
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
}

export interface Recalled<Message> {
  readonly entries: readonly Remembered<Message>[]
  /** The host's objects for those that are not its own here. */
  readonly given: ReadonlyMap<Message, Message>
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
    if (known && known.copy === copy) return known
    const signs = form && signsFor(form, message)
    const made = { message, copy, normal: normalise(message), signs }
    if (isObject(message) && copy) entries.set(message, made)
    return made
  }

  return (messages) => {
    const given = new Map<Message, Message>()
    before = messages.map((message, index) => {
      const known = before[index]
      const entry = known && isStill(known, message) ? known : remember(message)
      if (entry.message !== message) given.set(entry.message, message)
      return entry
    })
    return { entries: before, given }
  }
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
