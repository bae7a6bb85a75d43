/** Detects dangerous shell commands, orders to a reader, and quoted text. */

import { createFinding, type Finding } from './rules.js'

const COMMANDS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'downloads a script and runs it',
    /\b(?:curl|wget|iwr|irm)\b[^\n|;]{0,200}\|\s{0,5}(?:sudo )?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b/i,
  ],
  ['downloads a script and runs it', /\b(?:ba)?sh\s{1,3}(?:-c\s{1,3})?["'`<(]{0,3}\$?\(?(?:curl|wget)\b/i],
  [
    'deletes everything',
    /\brm\s{1,3}-[a-z]{0,4}r[a-z]{0,4}\s{1,3}(?:--no-preserve-root\s{1,3})?["']?(?:~|\/(?:\s|\*|$|["'`])|\$home)/i,
  ],
  ['overwrites a disk', /\bmkfs\.\w|\bdd if=\/dev\/(?:zero|random)/i],
  ['opens a shell to the outside', /\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-e\b|\/dev\/tcp\/\d/i],
  ['runs an encoded command', /\bbase64\s{1,3}(?:-d|--decode)\b[^\n]{0,60}\|\s{0,5}(?:ba|z)?sh\b/i],
  [
    'installs itself permanently',
    /(?:>>?|append|add)[^\n]{0,40}(?:authorized_keys|\.bashrc|\.zshrc)\b|\bcrontab\s{1,3}-e\b/i,
  ],
  ['removes protection', /\bchmod\s{1,3}(?:-r\s{1,3})?0?777\s{1,3}[~/]/i],
]

/** Describes the first dangerous command in the text. */
function describeCommand(text: string): string | undefined {
  return COMMANDS.find(([, pattern]) => pattern.test(text))?.[0]
}

export function findCommands(where: string, text: string): Finding[] {
  const what = describeCommand(text)
  return what === undefined
    ? []
    : [createFinding('dangerous-command', 'soft', where, text, `contains a command that ${what}`)]
}

const VERBS =
  'ignore disregard forget override bypass tell inform mention reveal send forward upload mail email post transmit read open fetch retrieve collect copy include attach append pass put add insert hand give share export run execute call invoke delete remove obey follow dump print prepend grant take keep'
const OBJECTS =
  'instruction instructions guideline guidelines rules prompt system user users nobody anyone operator password passwords key keys token tokens secret secrets credentials file files folder conversation history chat messages private ssh env cookie session contents content notes data logs location home memory repo workspace address me everything http https'

const words = (list: string) => new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`, 'i')
const VERB = words(VERBS)
const OBJECT = words(OBJECTS)
const FORCE = /\b(?:you|your|must|always|never|required|shall|ai|llm|assistant|model|agents?)\b/i

/** Does the text give an order? A rough check, which is good enough for hidden or imitating text. */
export function isOrder(text: string): boolean {
  if (VERB.test(text) && OBJECT.test(text)) return true
  return describeCommand(text) !== undefined || (!/\s/.test(text) && isRunTogether(text))
}

/** Does the text ask a reader to act? */
export function addressesReader(text: string): boolean {
  return FORCE.test(text) || VERB.test(text)
}

/** Words of orders that are long enough to be recognised in disguise. */
export const MARKERS: readonly string[] = `${VERBS} ${OBJECTS}`.split(' ').filter((word) => word.length > 3)

/** An order without spaces: contains a verb and an object. */
function isRunTogether(text: string): boolean {
  const lower = text.slice(0, 400).toLowerCase()
  const has = (list: string) => list.split(' ').some((word) => word.length > 3 && lower.includes(word))
  return has(VERBS) && has(OBJECTS)
}

const QUOTED =
  /"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|`[^`\n]{1,400}`|«[^»\n]{1,400}»|「[^」\n]{1,400}」|(?<![^\s(:])'[^'\n]{1,400}'(?![^\s.,;:!?)])/g

/** Creates a function that says if a range is within quotation marks. A quoted order is mentioned, not given. */
export function createQuoteFinder(text: string): (start: number, end: number) => boolean {
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
