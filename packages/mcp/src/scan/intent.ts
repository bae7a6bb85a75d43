/**
 * Orders to a model, told by what they are made of: who is addressed, what is to be done, with what, and whether it is to
 * be kept quiet. A strong combination in one sentence is a finding by itself; weak ones add up over a definition.
 */
import type { Sentence } from './clauses.js'
import { dangerJudge } from './dangerous-commands.js'
import type { Severity } from './finding.js'
import { consentJudge } from './intent-consent.js'
import { exfiltrationJudge } from './intent-exfiltration.js'
import { overrideJudge, personaJudge } from './intent-override.js'
import { reportJudge } from './intent-report.js'
import { secrecyJudge } from './intent-secrecy.js'
import { theftJudge } from './intent-theft.js'
import { priorityJudge, tamperingJudge } from './intent-tools.js'
import type { Judge, Setting, Suspicion } from './suspicion.js'
import { unusualJudge } from './unusual.js'

export function severityOf(weight: number): Severity | undefined {
  return weight >= 2.5 ? 'hard' : weight >= 2 ? 'soft' : undefined
}

/** Everything suspicious in one sentence. */
export function judge(sentence: Sentence, setting: Setting): Suspicion[] {
  if (sentence.tokens.length === 0) return []
  const found: Suspicion[] = []
  for (const one of JUDGES) {
    const suspicion = one(sentence, setting)
    if (suspicion) found.push(suspicion)
  }
  return found
}

const JUDGES: readonly Judge[] = [
  overrideJudge,
  secrecyJudge,
  consentJudge,
  personaJudge,
  reportJudge,
  theftJudge,
  exfiltrationJudge,
  dangerJudge,
  tamperingJudge,
  priorityJudge,
  unusualJudge,
]
