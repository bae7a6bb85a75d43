/** Orders to read or hand over secrets, private files, the conversation or the system prompt. */
import { widened } from './clauses.js'
import { bit } from './concepts.js'
import { type Demand, demanded, ordered, REFUSES } from './handover.js'
import { secretNameIn } from './secret-names.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge, type Suspicion } from './suspicion.js'
import { fileTheft } from './theft-files.js'
import { toldOfYou } from './theft-life.js'
import { namedSecret, secretTheft } from './theft-secrets.js'
import { speaksOfThisTalk, talkTheft } from './theft-talk.js'

const FILES_WITH_SECRETS =
  /\bfiles?\b[^.]{0,50}\b(?:looks? like|contain(?:s|ing)?|named|resembl\w+|hold(?:s|ing)?) (?:an? |any )?(?:\w+ )?(?:keys?|secrets?|passwords?|credentials?|tokens?)\b/

export const theftJudge: Judge = (sentence, setting): Suspicion | undefined => {
  const { folded, tokens } = sentence
  if (
    !isSummary(sentence, setting) &&
    ordered(sentence, bit.put | bit.send) &&
    FILES_WITH_SECRETS.test(folded) &&
    !speaksOfAttacks(sentence)
  )
    return { rule: 'data-theft', weight: 3, why: 'tells the model to hand over files with secrets' }
  if (
    setting.isParameter &&
    /\b(?:everything|all|anything|whatever) (?:that )?you (?:know|remember|have learned|have stored|can find) (?:about|of|on|from)\b|\boutput of [`'"]?(?:env|printenv|set|history|whoami|id|cat\b)/.test(
      folded,
    )
  )
    return { rule: 'data-theft', weight: 3, why: 'asks for what the model knows' }
  if (
    !has(sentence, bit.path | bit.secret | bit.conversation) &&
    !speaksOfThisTalk(sentence) &&
    secretNameIn(sentence.text) === undefined
  )
    return toldOfYou(sentence, setting)
  if (REFUSES.test(folded) && !has(sentence, bit.hide)) return undefined
  const isAbout = speaksOfAttacks(
    sentence,
    tokens.findIndex(({ bits }) => bits & (bit.path | bit.secret | bit.conversation)),
  )
  const summary = isSummary(sentence, setting)
  const weigh = (weight: number, why: string): Suspicion => ({
    rule: 'data-theft',
    weight: isAbout ? Math.min(weight - 1.5, 2) : weight,
    why,
  })
  const isSpaced = !/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/.test(folded)
  // A private file, or what the model was told, is object enough: there every verb of giving counts.
  const broad = has(sentence, bit.path) || speaksOfThisTalk(sentence) ? widened(sentence) : sentence
  const handsOver = demanded(broad, bit.put | bit.send)
  const reads = demanded(broad, bit.read)
  const isAddressed = has(sentence, bit.force | bit.model | bit.when)
  const demand: Demand = { sentence, setting, broad, summary, handsOver, reads, isAddressed, isSpaced, weigh }
  return (
    fileTheft(demand) ??
    talkTheft(demand) ??
    secretTheft(demand) ??
    namedSecret(demand) ??
    toldOfYou(sentence, setting)
  )
}
