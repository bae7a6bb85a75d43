/** Whether a text gives orders, asked of what is hidden or posing: there a rough answer is good enough. */
import { commandIn } from './commands.js'

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
  return commandIn(text) !== undefined || (!/\s/.test(text) && isRunTogether(text))
}

/** Speaks to a reader who is to act. */
export function addresses(text: string): boolean {
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
