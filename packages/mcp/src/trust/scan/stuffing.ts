/** Finds stuffed text: far too long, full of repetitions, or hidden by blank space. */
import { createFinding, type Finding } from './rules.js'

const LONG = 20_000

export function findStuffing(where: string, text: string, isOwn: boolean): Finding[] {
  const findings: Finding[] = []
  if (text.length > LONG)
    findings.push(createFinding('stuffing', 'soft', where, text, `is ${text.length} characters long`))
  const gap = hiddenGap(text)
  if (gap !== undefined)
    findings.push(
      createFinding('stuffing', 'soft', where, text.slice(gap, gap + 120), 'hides text behind blank space'),
    )
  // Parameters may list many values; a tool has no reason to.
  if (!isOwn) return findings
  const words =
    text
      .slice(0, 100_000)
      .toLowerCase()
      .match(/\p{L}{3,}/gu) ?? []
  if (words.length >= 30) {
    const counts = new Map<string, number>()
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    const [word, count] = [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))
    const isRepeated = count >= 12 && count / words.length > 0.25 && word !== 'the'
    const isMonotone = words.length >= 60 && counts.size / words.length < 0.2 && words.length < 2000
    if (isRepeated || isMonotone)
      findings.push(
        createFinding('stuffing', 'soft', where, text, `repeats ${JSON.stringify(word)} ${count} times`),
      )
  }
  const items = text.slice(0, 20_000).split(/[,;|/\n]/)
  if (items.length >= 40) {
    const short = items.filter((item) =>
      /^\s{0,3}[\p{L}-]{2,20}(?: [\p{L}-]{2,20}){0,2}\s{0,3}\.?$/u.test(item),
    ).length
    if (short / items.length > 0.85 && items.length >= 60)
      findings.push(createFinding('stuffing', 'soft', where, text, `lists ${items.length} search words`))
  }
  return findings
}

/** Position of text after a screen or a line of blanks. */
function hiddenGap(text: string): number | undefined {
  let spaces = 0
  let lines = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string
    if (character === '\n') {
      lines++
      spaces = 0
    } else if (character === ' ' || character === '\t' || character === '\u00a0' || character === '\r')
      spaces++
    else {
      if (index > 0 && (spaces >= 120 || lines >= 20)) return index
      spaces = 0
      lines = 0
    }
  }
  return undefined
}
