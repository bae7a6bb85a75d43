/** Definitions that speak about a tool of another server, or copy one. */
import { type Finding, finding } from './finding.js'
import type { NameIndex } from './name-index.js'

const IDENTIFIER = /[A-Za-z][\w.:/-]{6,80}/g
const MOST_NAMES = 200
/** Words by which a text says how the other tool is to be used, or that it is not. */
const ABOUT_USE =
  /\b(?:call(?:s|ed|ing)?|us(?:e|ed|ing)|invok\w+|instead|rather|never|before|after|when(?:ever)?|must|always|needs?|expects?|should|deprecated|broken|unlike|replace\w*|results? of|for|bug|off|in)\b/i

/** A description has no reason to name a tool that its own server does not have. */
export function findForeignTools(server: string, where: string, text: string, index: NameIndex): Finding[] {
  let count = 0
  for (const { 0: word, index: at } of text.matchAll(IDENTIFIER)) {
    if (!/[_-]|[a-z][A-Z]/.test(word)) continue
    if (++count > MOST_NAMES) break
    const name = word.replace(/[.:/-]+$/, '')
    if (!index.isForeign(server, name)) continue
    const around = text.slice(Math.max(0, at - 60), at + 100)
    if (!ABOUT_USE.test(text.slice(Math.max(0, at - 30), at + word.length + 30))) continue
    return [finding('shadowing', 'soft', where, around, `speaks about ${name}, a tool of another server`)]
  }
  return []
}

/** A tool with the name and the description of a tool of another server. */
export function findClone(server: string, definition: unknown, index: NameIndex): Finding[] {
  const { name, description } = definition as { name?: unknown; description?: unknown }
  if (typeof name !== 'string' || typeof description !== 'string') return []
  const owner = index.cloneOf(server, name, description)
  if (owner === undefined) return []
  const why = `has the name and the description of a tool of ${JSON.stringify(owner.slice(0, 60))}`
  return [finding('shadowing', 'soft', 'name', name, why)]
}
