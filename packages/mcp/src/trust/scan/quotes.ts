/** Which parts of a text stand in quotation marks: a quoted order is spoken about, not given. */

const QUOTED =
  /"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|`[^`\n]{1,400}`|«[^»\n]{1,400}»|「[^」\n]{1,400}」|(?<![^\s(:])'[^'\n]{1,400}'(?![^\s.,;:!?)])/g

/** Says of a range whether it lies within quotation marks. */
export function quotesIn(text: string): (start: number, end: number) => boolean {
  const spans = [...text.matchAll(QUOTED)].map(({ index, 0: span }) => [index, index + span.length] as const)
  return (start, end) => {
    let low = 0
    let high = spans.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((spans[middle]?.[0] ?? 0) <= start) low = middle + 1
      else high = middle
    }
    return end <= (spans[low - 1]?.[1] ?? 0)
  }
}
