/** Types and helpers for changes to the servers in a client's file, in any format. */

/** Where the servers are. */
export interface Table {
  readonly path: readonly string[]
  /** A list whose members have a `name`, instead of an object. */
  readonly isList: boolean
}

export interface NewEntry {
  readonly name: string
  /** In a list: without the name. */
  readonly value: unknown
  /** The earlier text of the entry, which is used again if it fits. */
  readonly source?: string
}

export interface Change {
  readonly remove: readonly string[]
  readonly add: readonly NewEntry[]
}

/** Replaces a range of a text. */
export interface Edit {
  readonly offset: number
  readonly length: number
  readonly text: string
}

/** Edits one format in place. Comments, order and whitespace of other entries stay. */
export interface Editor {
  /** The text of an entry, for a later undo. */
  entrySource(text: string, table: Table, name: string): string | undefined
  /** Throws `Refusal` if the change is not possible in place. */
  change(text: string, table: Table, change: Change, eol: string): string
}

/** Edits must not overlap. Edits at the same offset keep their order. */
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

/** Start of the line at this offset. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Offset after the end of this line. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset)
  return at < 0 ? text.length : at + 1
}

/** The reason why a file is skipped: a clause without a full stop, the fix, and the line if known. */
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

/** Returns a thrown refusal. Throws every other error again. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}
