/** Sentences that stand alone in these presets, where the built-in rendering lets a list follow them. */
import { defaultPrompts, type Prompts } from '@toolwell/core'

const closed = (sentence: string) => sentence.replace(/:$/, '.')

export const closedSentences: Pick<Prompts, 'searchLoaded' | 'searchAlready'> = {
  searchLoaded: (facts) => closed(defaultPrompts.searchLoaded(facts)),
  searchAlready: (facts) => closed(defaultPrompts.searchAlready(facts)),
}
