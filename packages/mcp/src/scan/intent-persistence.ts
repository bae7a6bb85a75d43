/** Orders that outlive the call: written into memory or into files that every session reads, or repeated without end. */
import { bit } from './concepts.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about, told } from './theme-tests.js'
import { theme } from './themes.js'

const MEMORY_FILE =
  /\b(?:claude|agents|gemini|memory|soul|copilot-instructions)\.md\b|\.(?:cursorrules|windsurfrules|clinerules|cursor\/rules|github\/copilot)\b/
/** What is to be kept is this text, or rules: not what the user asked to remember. */
const OWN_TEXT =
  /\b(?:this|these|the following|following|the above|above|below|instructions?|rules?|paragraph|lines?|directives?|policy|policies|sentence|text|always|never|that)\b/

export const persistenceJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (
    /\b(?:make|adopt|take|treat) (?:it|this|that|these) (?:as )?(?:a |your )?(?:permanent|standing|lasting|general|fixed|new) (?:rule|habit|policy|principle|instruction|preference)s?\b/.test(
      folded,
    )
  )
    return { rule: 'persistence', weight: 2.5, why: 'wants to be remembered beyond this call' }
  const isFile = MEMORY_FILE.test(folded)
  if (!isFile && !about(sentence, theme.memory | theme.later)) return undefined
  if (isSummary(sentence, setting) || speaksOfAttacks(sentence)) return undefined
  if (
    /\b(?:only|when|if) (?:the )?users?\b|\buser (?:says|asks|asked|wants)\b|\bask (?:the )?user\b|\bon request\b/.test(
      folded,
    )
  )
    return undefined
  const isKept = told(sentence, theme.keep) >= 0
  if (!isKept) return undefined
  const make = (weight: number) =>
    ({ rule: 'persistence', weight, why: 'wants to be remembered beyond this call' }) as const
  if (!sentence.isEnglish && about(sentence, theme.memory, theme.later)) return make(2.5)
  if (isFile && !sentence.isEnglish) return make(2.5)
  if (isFile) return make(OWN_TEXT.test(folded) ? 3 : 2)
  if (
    about(sentence, theme.memory) &&
    OWN_TEXT.test(folded) &&
    (about(sentence, theme.later) || has(sentence, bit.model | bit.force))
  )
    return make(3)
  if (
    about(sentence, theme.later) &&
    (OWN_TEXT.test(folded) || /:/.test(folded)) &&
    (!setting.isParameter || /:/.test(folded))
  )
    return make(sentence.isEnglish ? 2.5 : 2)
  return undefined
}

const MANY =
  /\b(?:\d{2,}|ten|twenty|thirty|forty|fifty|a hundred|hundreds of|a thousand|thousands of|many|countless) (?:more |consecutive |additional )?times\b/
const BOUNDED =
  /\b(?:at most|up to|maximum|max|no more than|until (?:it|the|there|status|done|empty|finished|all|you (?:have|get|receive|see|find)|complete\w*|no|a|an|both|every|they|\w+ is|\w+ returns)|retr(?:y|ies)|backoff|interval|page|cursor|seconds|minutes|polls?|polling)\b/

/** Calls without need, answers without end. */
export const overuseJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (!about(sentence, theme.repeat | theme.waste)) return undefined
  if (isSummary(sentence, setting) || setting.isName || speaksOfAttacks(sentence)) return undefined
  const make = (weight: number, why: string) => ({ rule: 'overuse', weight, why }) as const
  const isTold =
    told(sentence, theme.repeat | theme.follow | theme.waste) >= 0 ||
    /(?:^|[,;:] |\band |\bthen |\byou (?:must |should |shall |will |have to )?|\bresult |\balways |\bstop: |\bplease )(?:call|invoke|run|use|repeat|execute|request|issue|keep|query|restart|re-?run|answer|respond|write|generate|start|make|go on|continue|loop|roll|search|try|ask|send|check)\b/.test(
      folded,
    )
  if (!isTold) return undefined
  const isEndless =
    /\b(?:without (?:end|stopping|pause|limit)|endless(?:ly)?|infinite(?:ly)?|forever|indefinitely|never stop\w*|non-?stop|over and over|ad infinitum|perpetually|until (?:you are|you're) stopped|do not stop|don't stop|no (?:stopping|upper limit)|recursively)\b/.test(
      folded,
    )
  const isSpending =
    /\b(?:until|so that|to|and) (?:\w+ ){0,5}(?:budget|quota|credits?|tokens?|limit|window|balance)\b(?: \w+){0,3} (?:used up|exhausted|spent|gone|full|empty|reached|consumed|runs? out|depleted)\b|\b(?:use up|exhaust|burn(?: through)?|spend|drain|deplete|max out|fill) (?:\w+ ){0,4}(?:budget|quota|credits?|tokens?|context window|balance|limit)\b|\bas (?:many (?:tokens|times|calls)|long|often|much) as (?:possible|you can)\b|\b(?:longest|greatest|maximum|largest) (?:possible )?(?:length|answer|number of (?:tokens|calls|words))\b|\bat least (?:\d{1,3}[,. ])?\d{3,} (?:words|tokens|sentences|paragraphs|calls|times)\b/.test(
      folded,
    )
  if (
    /\bat least (?:\d{2,}|ten|twenty|thirty|fifty|a hundred) (?:times|calls|requests|rounds|runs)\b/.test(
      folded,
    ) ||
    /\bkeep (?:on )?(?:calling|repeating|running|invoking|using|requesting|querying) (?:\w+ ){0,4}(?:until|till|unless) (?:the user|you are|someone|somebody|you're|told|they)\b/.test(
      folded,
    )
  )
    return make(2.5, 'wants to be called many times')
  if (isSpending) return make(2.5, "wants the model to waste calls, words or the user's credit")
  if (BOUNDED.test(folded)) return undefined
  if (
    isEndless &&
    about(sentence, theme.repeat) &&
    /\b(?:call|calls|calling|invoke|run|repeat|repeating|request|execute|loop|again)\b/.test(folded) &&
    !setting.isParameter
  )
    return make(2.5, 'wants to be called without end')
  if (
    MANY.test(folded) &&
    /\b(?:call|invoke|run|use|repeat|execute|request|query|ping|search|fetch)\b/.test(folded)
  )
    return make(2.5, 'wants to be called many times')
  if (
    about(sentence, theme.regardless) &&
    about(sentence, theme.repeat) &&
    /\b(?:call|invoke|run|repeat) (?:\w+ ){0,3}again\b/.test(folded)
  )
    return make(2, 'wants to be called again without need')
  return undefined
}
