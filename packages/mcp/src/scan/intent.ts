/**
 * Orders to a model, told by what they are made of: who is addressed, what is to be done, with what, and whether it is to
 * be kept quiet. A strong combination in one sentence is a finding by itself; weak ones add up over a definition.
 */
import type { Sentence } from './clauses.js'
import { dangerJudge } from './dangerous-commands.js'
import type { Severity } from './finding.js'
import { allegianceJudge, outputJudge } from './intent-allegiance.js'
import { consentJudge } from './intent-consent.js'
import { coverJudge } from './intent-cover.js'
import { disguiseJudge } from './intent-disguise.js'
import { exfiltrationJudge } from './intent-exfiltration.js'
import { overrideJudge, personaJudge } from './intent-override.js'
import { paymentJudge } from './intent-payments.js'
import { overuseJudge, persistenceJudge } from './intent-persistence.js'
import { presumedJudge } from './intent-presumed.js'
import { rankJudge } from './intent-rank.js'
import { reportJudge } from './intent-report.js'
import { secrecyJudge } from './intent-secrecy.js'
import { steeringJudge } from './intent-steering.js'
import { choiceJudge, rivalJudge, strangersJudge } from './intent-strangers.js'
import { theftJudge } from './intent-theft.js'
import { priorityJudge, tamperingJudge } from './intent-tools.js'
import type { Judge, Setting, Suspicion } from './suspicion.js'
import { unusualJudge } from './unusual.js'

export function severityOf(weight: number): Severity | undefined {
  return weight >= 2.5 ? 'hard' : weight >= 2 ? 'soft' : undefined
}

/** Everything suspicious in one sentence. */
export function judge(sentence: Sentence, setting: Setting): Suspicion[] {
  return all(ALL, sentence, setting)
}

/** What two sentences say together that neither says by itself. */
export function judgeJoined(sentence: Sentence, setting: Setting): Suspicion[] {
  return all(OF_TWO, sentence, setting)
}

function all(judges: readonly Judge[], sentence: Sentence, setting: Setting): Suspicion[] {
  if (sentence.tokens.length === 0) return []
  const found: Suspicion[] = []
  for (const one of judges) {
    const suspicion = one(sentence, setting)
    if (suspicion) found.push(suspicion)
  }
  return found
}

/** Orders that are often spread over two sentences: what to take, then where to put it. */
const OF_TWO: readonly Judge[] = [
  overrideJudge,
  personaJudge,
  allegianceJudge,
  outputJudge,
  theftJudge,
  exfiltrationJudge,
  tamperingJudge,
  strangersJudge,
  paymentJudge,
]

const OF_ONE: readonly Judge[] = [
  rankJudge,
  secrecyJudge,
  coverJudge,
  disguiseJudge,
  consentJudge,
  presumedJudge,
  reportJudge,
  steeringJudge,
  dangerJudge,
  choiceJudge,
  priorityJudge,
  rivalJudge,
  persistenceJudge,
  overuseJudge,
  unusualJudge,
]

const ALL = [...OF_TWO, ...OF_ONE]
