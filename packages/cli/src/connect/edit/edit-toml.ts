/** Changes the servers of a TOML text, in place. */
import { stringify } from 'smol-toml'
import { applyEdits, type Edit, type Editor, lineAt, type NewEntry } from './change.js'
import { Refusal } from './refusal.js'
import { listStatements, type Statement } from './toml-statements.js'

export const tomlEditor: Editor = {
  entrySource(text, { path }, name) {
    const ranges = findRanges(text, listStatements(text), [...path, name])
    // Lines without a heading belong to the table above them, and mean something else at another place.
    const isWhole = ranges.length > 0 && ranges.every(({ start }) => /^[ \t]*\[/.test(text.slice(start)))
    return isWhole ? ranges.map(({ start, end }) => text.slice(start, end)).join('') : undefined
  },
  change(text, { path }, { remove, add }, eol) {
    const statements = listStatements(text)
    const inline = statements.find(
      (each) => each.kind !== 'table' && isSame(each.path, path.slice(0, each.path.length)),
    )
    if (inline)
      throw new Refusal(
        `${path.join('.')} is written as one value`,
        `Write each server as a table of its own: [${path.join('.')}.NAME]`,
        lineAt(text, inline.start),
      )
    const edits: Edit[] = remove.flatMap((name) =>
      findRanges(text, statements, [...path, name]).map(({ start, end }) => ({
        offset: start,
        // With the blank lines that parted it from the next.
        length: end + (/^(?:[ \t]*\r?\n)*/.exec(text.slice(end))?.[0].length ?? 0) - start,
        text: '',
      })),
    )
    const rest = applyEdits(text, edits)
    if (add.length === 0) return rest
    const added = add.map((each) => entryText(each, path, eol)).join(eol)
    if (rest.trim() === '') return rest + added
    const gap = /\n[ \t]*\r?\n$/.test(rest) ? '' : eol
    return `${rest}${rest.endsWith('\n') ? '' : eol}${gap}${added}`
  },
}

function entryText({ name, value, source }: NewEntry, path: readonly string[], eol: string): string {
  if (source !== undefined) return source.endsWith('\n') ? source : `${source}${eol}`
  const whole = path.reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), {
    [name]: value,
  })
  const text = `${stringify(whole).trimEnd()}\n`
  return eol === '\n' ? text : text.replaceAll('\n', eol)
}

/** A table goes with all that is in it, its comments too; comments behind its last line belong to what follows. */
function findRanges(
  text: string,
  statements: readonly Statement[],
  path: readonly string[],
): { readonly start: number; readonly end: number }[] {
  const own = statements.filter(({ path: each }) => isSame(each.slice(0, path.length), path))
  const ranges: { start: number; end: number }[] = []
  for (const { kind, start, end } of own) {
    const last = ranges.at(-1)
    const isNext =
      last !== undefined &&
      statements.every((each) => own.includes(each) || each.start < last.end || each.start >= end)
    const isBelow = isNext && (kind === 'pair' || /^(?:[ \t]*\r?\n)*$/.test(text.slice(last.end, start)))
    if (last && isBelow) last.end = end
    else ranges.push({ start, end })
  }
  return ranges
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at])
}
