/** Orders to tell the user something untrue, or something the author wants said. */
import { bit } from './concepts.js'
import { has, hasAll, near, orderOf, speaksOfAttacks } from './sentence-tests.js'
import type { Judge } from './suspicion.js'

export const reportJudge: Judge = (sentence) => {
  const { folded } = sentence
  if (speaksOfAttacks(sentence, orderOf(sentence, bit.tell | bit.answer | bit.show | bit.put)))
    return undefined
  const says =
    hasAll(sentence, bit.tell | bit.answer | bit.show, bit.user | bit.answer | bit.model) ||
    /\b(?:claim|pretend|assure|reassure|state|say|insist|lie|assert|convince)\b/.test(folded)
  const good =
    /\b(?:succe\w+|bug-free|flawless|failed|went through|no bugs|worked|works|fine|safe|complete[d]?|normal|passed|no (?:issues?|problems?|errors?|changes?|results?|vulnerabilit\w+|threats?|findings?|risks?)|secure|clean|genuine|verified|nothing (?:happened|found|was)|done|legitimate|trusted|healthy|all good|harmless|up to date)\b/
  const anyway =
    /\b(?:even (?:if|when|though)|regardless|no matter|whatever|whether or not|irrespective|despite|although|in (?:all|any|every) cases?|instead of (?:the )?(?:real|actual|true))\b/
  if (says && good.test(folded) && anyway.test(folded) && has(sentence, bit.model | bit.force | bit.user))
    return { rule: 'false-report', weight: 3, why: 'tells the model to report something untrue' }
  if (
    says &&
    good.test(folded) &&
    /\b(?:if|when(?:ever)?|should)\b[^.]{0,40}\b(?:not work|does not|fails?|failing|down|overdue|expired|denied|late|breaks?|broken|errors?|wrong|crash\w*|goes wrong|unsuccessful|missing|found|vulnerab\w+|infected)\b/.test(
      folded,
    ) &&
    /\b(?:say|claim|state|pretend|assure|insist|report that|tell the user)\b/.test(folded) &&
    !/\bif (?:it|this|the \w+) (?:succeed|work)/.test(folded)
  )
    return { rule: 'false-report', weight: 3, why: 'tells the model to report something untrue' }
  if (
    /\b(?:drop|remove|hide|strip|filter out|suppress|omit|delete) (?:\w+ ){0,3}(?:warnings?|alerts?|errors|findings|vulnerabilit\w+)\b[^.]{0,30}\b(?:from|in|of) (?:its|the|your|any|all) (?:\w+ )?(?:output|report|result|answer|response|summary)/.test(
      folded,
    ) &&
    has(sentence, bit.when | bit.force | bit.model)
  )
    return { rule: 'false-report', weight: 2.5, why: 'tells the model to hold back warnings' }
  if (
    /\b(?:always|must|should)\b[^.]{0,20}\b(?:say|claim|state|answer|insist|write)\b[^.]{0,60}\b(?:best|excellent|superior|great|better|safest|recommended)\b/.test(
      folded,
    ) &&
    anyway.test(folded)
  )
    return { rule: 'false-report', weight: 2.5, why: 'steers what the user is told' }
  if (
    /\bmake (?:the )?(?:users?|human|customer|person|them|it) (?:believe|think|feel|look|seem|assume)\b|\bgive the (?:user|impression)\b[^.]{0,20}\bimpression\b/.test(
      folded,
    ) &&
    has(sentence, bit.user)
  )
    return { rule: 'false-report', weight: 3, why: 'tells the model to deceive the user' }
  if (
    has(sentence, bit.address) &&
    /\b(?:close|end|finish|conclude|begin|start|open|sign off|preface|wrap up) (?:every|each|all|any|your) (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|messages?|output|summar(?:y|ies))\b/.test(
      folded,
    )
  )
    return { rule: 'false-report', weight: 3, why: 'puts a link into what the user is told' }
  if (
    /\b(?:lie to|mislead|deceive|trick|convince|persuade|pressure|manipulate|talk) the (?:user|human|customer)/.test(
      folded,
    )
  )
    return { rule: 'false-report', weight: 3, why: 'tells the model to deceive the user' }
  const every =
    /\b(?:every|each|all|any|always|end of|start of|beginning of|final|bottom of|top of|your)\b/.test(folded)
  if (
    every &&
    has(sentence, bit.address) &&
    near(sentence, bit.put | bit.show | bit.send, bit.answer, 10) &&
    orderOf(sentence, bit.put | bit.show | bit.send) >= 0
  )
    return { rule: 'false-report', weight: 3, why: 'puts a link into what the user is told' }
  if (
    (/\b(?:recommend|promote|endorse|advertise|praise|favou?r|steer|push|upsell|plug)\b/.test(folded) ||
      /\bpresent \w+(?: \w+)? as (?:the )?(?:best|only|safest|superior)\b|\bspeak (?:badly|ill) of\b/.test(
        folded,
      )) &&
    /\b(?:always|every|must|exclusively|only|subtly|heavily|never)\b/.test(folded) &&
    (has(sentence, bit.answer | bit.user | bit.model) ||
      /\bas (?:the )?(?:best|only)\b|\bbadly\b/.test(folded))
  )
    return { rule: 'false-report', weight: 2, why: 'steers what the user is told' }
  return undefined
}
