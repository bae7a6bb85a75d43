/** Orders to act without the user's consent, and claims that it was given. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { follows, has, orderOf, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge, type Setting } from './suspicion.js'

export const consentJudge: Judge = (sentence, setting) => {
  const claim = claimedConsent(sentence)
  const bypass = bypassedConsent(sentence, setting)
  if (claim === 0 && bypass === 0) return undefined
  return {
    rule: 'consent-bypass',
    weight: claim > 0 && bypass > 0 ? Math.max(3, claim + bypass) : claim + bypass,
    why:
      claim > bypass
        ? 'claims that the user has consented'
        : "tells the model to act without the user's consent",
  }
}

function claimedConsent(sentence: Sentence): number {
  const { folded } = sentence
  if (/\b(?:only|unless|if|until|after|once|whether|when|confirm that|true|false|whom?)\b/.test(folded))
    return 0
  if (
    /\b(?:they|users?|owner|admin\w*|security team|management|account holder|company) (?:(?:has|have) (?:already )?(?:given|granted|provided)|gave|granted) (?:\w+ ){0,2}(?:approval|consent|permission|authori[sz]ation|go-ahead)\b|\bauthori[sz]ed by (?:the )?(?:security|admin\w*|user|owner|management|company)/.test(
      folded,
    )
  )
    return 2
  const byUser =
    /\busers? (?:has |have |had )?(?:already |previously |explicitly |implicitly |fully )*(?:been )?(?:approved|consented|agreed|authori[sz]ed|granted|given|accepted|pre-?approved|pre-?authori[sz]ed|signed off|okayed|waived|opted)/
  const already =
    /\b(?:pre-?approved|pre-?authori[sz]ed|already (?:been )?(?:approved|authori[sz]ed|granted|consented|cleared)|(?:permission|consent|approval|authori[sz]ation) (?:is|was|has been|have been) (?:already )?(?:granted|given|obtained|implied|assumed))\b/
  if (
    /\byou (?:are|have been) (?:hereby |fully |already )?(?:authori[sz]ed|allowed|permitted|entitled|cleared|free) to\b[^.]{0,60}\bwithout\b[^.]{0,20}\b(?:approval|asking|confirmation|permission|consent|checking|sign-off)\b/.test(
      folded,
    )
  )
    return 3
  if (byUser.test(folded)) return 2
  if (
    /\b(?:treat|consider|assume|regard) (?:the )?(?:user's )?(?:consent|approval|permission|authori[sz]ation)(?: \w+){0,3} (?:given|granted|implied|obtained)\b|\bassume (?:that )?(?:the user|they|you have) (?:\w+ ){0,2}(?:agree|consent|approve|permission|approval|authori[sz]ation)/.test(
      folded,
    )
  )
    return 2.5
  return already.test(folded) && has(sentence, bit.model | bit.run | bit.tool | bit.consent) ? 2 : 0
}

/** Calls that change nothing may well run unasked. */
const HARMLESS =
  /\b(?:read-?only|reads?|reading|harmless|safe|idempotent|dry[- ]?run|drafts?|preview\w*|lookups?)\b/

function bypassedConsent(sentence: Sentence, setting: Setting): number {
  const { folded, tokens } = sentence
  if (isSummary(sentence, setting)) return 0
  const skipped = follows(sentence, bit.ignore, bit.consent, 4)
  // Japanese and Korean deny after the verb.
  const turned = sentence.isEnglish ? undefined : follows(sentence, bit.consent, bit.negation, 1)
  const pair = follows(sentence, bit.negation, bit.consent, 4) ?? skipped ?? turned
  if (
    /\b(?:auto-?(?:confirm|approve|accept)|rubber-?stamp|self-?approve)\b/.test(folded) &&
    orderOf(sentence, bit.consent) >= 0 &&
    !setting.isParameter
  )
    return 2
  if (
    /\b(?:asking|prompting|confirming with|checking with|consulting) (?:the )?(?:user|human|them)\b[^.]{0,50}\b(?:prohibited|forbidden|not (?:needed|required|necessary|allowed)|unnecessary|slows|wastes?|pointless)\b/.test(
      folded,
    )
  )
    return 2
  if (
    /\b(?:confirmation|approval|permission|consent) (?:dialog|prompt|request|step|question|message|popup)s?\b[^.]{0,40}\b(?:accepted|approved|dismissed|confirmed|skipped|bypassed|clicked)\b/.test(
      folded,
    ) &&
    !setting.isParameter
  )
    return 2.5
  if (
    /\b(?:no (?:reason|need) to|do not|don't|never) (?:ask|request|seek|require|double-check|check|confirm|wait)\b[^.]{0,20}\b(?:permission|approval|confirmation|consent|with the user|for an answer)\b/.test(
      folded,
    ) &&
    !setting.isParameter &&
    !/\bif\b/.test(folded)
  )
    return orderOf(sentence, bit.run | bit.send | bit.change) >= 0 &&
      /\b(?:immediately|at once|always|right away|automatically|directly)\b/.test(folded)
      ? 2.5
      : 1.5
  if (
    /\b(?:do not|don't|never|without) wait(?:ing)? for (?:the |any |an? )?(?:user|human|confirmation|approval|answer|permission|consent|reply|go-ahead|green light|ok|okay|yes|clearance|sign-?off|feedback)\b/.test(
      folded,
    ) &&
    !setting.isParameter
  )
    return 2
  if (
    /\b(?:do not|don't|never|no need to|refrain from|avoid|stop) (?:\w+ )?(?:ask|asking|interrupt|interrupting|bother|bothering|prompt|prompting|disturb|disturbing|trouble|troubling|annoy|pester|request|requesting|seek|seeking|show|showing|present|presenting|hold|delay)\b[^.]{0,30}\b(?:confirmations?|approvals?|permissions?|consent|questions|dialogs?|pop-?ups?|authori[sz]ation)\b/.test(
      folded,
    ) &&
    !setting.isParameter &&
    !HARMLESS.test(folded) &&
    !/\b(?:if|unless|twice|again|more than once)\b/.test(folded)
  )
    return 2
  if (
    /\byou (?:may|can|should|are free to|must|will|are allowed to) (?:\w+ ){1,8}without (?:asking|(?:any |further |user )?(?:confirmation|approval|permission|consent))\b/.test(
      folded,
    ) &&
    !setting.isParameter &&
    !HARMLESS.test(folded)
  )
    return 2
  const isUnneeded =
    /\b(?:confirmation|approval|permission|consent|asking)s? (?:is|are|was) (?:not |un)(?:needed|necessary|required|wanted)\b|\bno (?:new |further |extra |additional |second |separate )?(?:confirmation|approval|permission|consent) (?:is )?(?:needed|necessary|required)\b/.test(
      folded,
    ) && !setting.isParameter
  if (isUnneeded && pair && /\bwithout asking\b/.test(folded)) return 2.5
  if (isUnneeded) return 1.5
  if (!pair) return 0
  if (speaksOfAttacks(sentence, pair[0])) return 0
  // Parameters list what they accept: "approval is not required" is a value.
  if (setting.isParameter && (!has(sentence, bit.model | bit.force) || /\brequired\b/.test(folded))) return 0
  const close = tokens.slice(Math.max(0, pair[1] - 6), pair[1] + 7)
  // "Never approve on the user's behalf" leaves consent where it belongs.
  if (
    /^(?:approve|confirm|authori[sz]e|agree|verify|accept)$/.test(tokens[pair[1]]?.word ?? '') &&
    !/\bwith (?:the )?(?:user|human)/.test(folded)
  )
    return 0
  const isUsers =
    close.some(({ bits }) => bits & bit.user) ||
    close.some(({ word }) =>
      /^(?:confirmations?|approvals?|permissions?|consent|authori[sz]ation|sign-?off|go-ahead|clearance|bestatigung|erlaubnis|zustimmung|confirmacion|permiso|autorisation|подтверждени\w|разрешени\w)$/.test(
        word,
      ),
    )
  if (!isUsers) return 0
  // "This cannot be undone, so confirm": nobody is told not to.
  if (/^(?:cannot|can't|isn't|aren't|hasn't|undone)$/.test(tokens[pair[0]]?.word ?? '')) return 0
  // "Must not go on without approval" asks for consent.
  const first = tokens.findIndex(({ bits }) => bits & bit.negation)
  if (first >= 0 && first < pair[0] && tokens[pair[0]]?.word === 'without') return 0
  if (/\bif\b[^.]{0,40}\bnot\b/.test(folded)) return 0
  if (
    /\b(?:which|select|choose|specify|provide|for (?:the|an?|this|their) (?!permission|confirm|approv|consent|authori)\w+)\b/.test(
      folded,
    )
  )
    return 0.5
  const acts = orderOf(sentence, bit.run | bit.send | bit.change | bit.put | bit.ignore) >= 0
  const isForced =
    /\b(?:always|must|immediately|automatically|directly|right away|proceed|just|go ahead|at once|never)\b/.test(
      folded,
    ) || has(sentence, bit.when | bit.force)
  // Who says "always ask" or "never assume" wants consent; who needs a permission speaks of rights.
  if (
    /\b(?:always|must|should|please) ask\b|\b(?:never|not|don't) assume\b|\brequires?\b[^.]{0,30}\bpermissions?\b/.test(
      folded,
    )
  )
    return 0
  if (HARMLESS.test(folded)) return 1
  return isForced || (acts && !sentence.isEnglish) ? 2 : 1.5
}
