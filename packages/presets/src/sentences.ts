/** Sentences that end with a full stop in these presets, because no list follows them. */
import { defaultPrompts, type Prompts } from '@toolwell/core'

const closed = (sentence: string) => sentence.replace(/:$/, '.')

export const closedSentences: Pick<Prompts, 'searchLoaded' | 'searchAlready'> = {
  searchLoaded: (facts) => closed(defaultPrompts.searchLoaded(facts)),
  searchAlready: (facts) => closed(defaultPrompts.searchAlready(facts)),
}
