/** Shell commands that open or destroy a machine. */

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
    'stays on the machine',
    /(?:>>?|append|add)[^\n]{0,40}(?:authorized_keys|\.bashrc|\.zshrc)\b|\bcrontab\s{1,3}-e\b/i,
  ],
  ['takes protection away', /\bchmod\s{1,3}(?:-r\s{1,3})?0?777\s{1,3}[~/]/i],
]

/** What the first dangerous command in the text does. */
function describeCommand(text: string): string | undefined {
  return COMMANDS.find(([, pattern]) => pattern.test(text))?.[0]
}

export function findCommands(where: string, text: string): Finding[] {
  const what = describeCommand(text)
  return what === undefined
    ? []
    : [createFinding('dangerous-command', 'soft', where, text, `holds a command that ${what}`)]
}

// Whether a text gives orders, asked of what is hidden or posing: there a rough answer is good enough.

const VERBS =
  'ignore disregard forget override bypass tell inform mention reveal send forward upload mail email post transmit read open fetch retrieve collect copy include attach append pass put add insert hand give share export run execute call invoke delete remove obey follow dump print prepend grant take keep'
const OBJECTS =
  'instruction instructions guideline guidelines rules prompt system user users nobody anyone operator password passwords key keys token tokens secret secrets credentials file files folder conversation history chat messages private ssh env cookie session contents content notes data logs location home memory repo workspace address me everything http https'

const words = (list: string) => new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`, 'i')
const VERB = words(VERBS)
const OBJECT = words(OBJECTS)
const FORCE = /\b(?:you|your|must|always|never|required|shall|ai|llm|assistant|model|agents?)\b/i

/** A verb of an order and something that is worth an order. */
export function isOrder(text: string): boolean {
  if (VERB.test(text) && OBJECT.test(text)) return true
  return describeCommand(text) !== undefined || (!/\s/.test(text) && isRunTogether(text))
}

/** Speaks to a reader who is to act. */
export function addressesReader(text: string): boolean {
  return FORCE.test(text) || VERB.test(text)
}

/** Words that orders are made of and that are long enough to be known in disguise. */
export const MARKERS: readonly string[] = `${VERBS} ${OBJECTS}`.split(' ').filter((word) => word.length > 3)

/** The same without spaces: two such words of which one is no verb. */
function isRunTogether(text: string): boolean {
  const lower = text.slice(0, 400).toLowerCase()
  const has = (list: string) => list.split(' ').some((word) => word.length > 3 && lower.includes(word))
  return has(VERBS) && has(OBJECTS)
}

/** Which parts of a text stand in quotation marks: a quoted order is spoken about, not given. */

const QUOTED =
  /"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|`[^`\n]{1,400}`|«[^»\n]{1,400}»|「[^」\n]{1,400}」|(?<![^\s(:])'[^'\n]{1,400}'(?![^\s.,;:!?)])/g

/** Says of a range whether it lies within quotation marks. */
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
