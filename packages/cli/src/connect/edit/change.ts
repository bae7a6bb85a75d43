/** What is to change in the servers of a client's file, in whichever format that is. */

/** Where the servers are. */
export interface Table {
  readonly path: readonly string[]
  /** A list whose members have a `name`, instead of an object. */
  readonly isList: boolean
}

export interface NewEntry {
  readonly name: string
  /** Of a list without its name. */
  readonly value: unknown
  /** The text that was once there, which is put back as it was where it fits. */
  readonly source?: string
}

export interface Change {
  readonly remove: readonly string[]
  readonly add: readonly NewEntry[]
}

/** One place of a text, and what is to stand there instead. */
export interface Edit {
  readonly offset: number
  readonly length: number
  readonly text: string
}

/** One format. Nothing but the entries that are meant is touched: comments, order and blanks stay. */
export interface Editor {
  /** The text of an entry, to be put back later. */
  entrySource(text: string, table: Table, name: string): string | undefined
  /** Throws `Refusal` where that cannot be done in place. */
  change(text: string, table: Table, change: Change, eol: string): string
}

/** Edits do not overlap. Of those at one place, the first comes to stand first. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits
    .map((edit, at) => ({ edit, at }))
    .sort((a, b) => a.edit.offset - b.edit.offset || a.edit.length - b.edit.length || a.at - b.at)
  let result = ''
  let done = 0
  for (const { edit } of sorted) {
    if (edit.offset < done) throw new Refusal('its entries overlap', 'Change the file by hand')
    result += text.slice(done, edit.offset) + edit.text
    done = edit.offset + edit.length
  }
  return result + text.slice(done)
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Where the line of this place begins. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Behind the line end of this place; the end of the text where it has none. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset)
  return at < 0 ? text.length : at + 1
}

/** Why one file is left alone: a sentence without its end, what to do about it, and the line where that is known. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly fix: string,
    readonly line?: number,
  ) {
    super(message)
    this.name = 'Refusal'
  }
}

/** The refusal that was thrown; every other error is a fault of ours. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}
