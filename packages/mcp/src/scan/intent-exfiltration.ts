/** Orders to send what the model sees to some address. */
import { bit } from './concepts.js'
import { AWAY, REFUSES } from './handover.js'
import { has, hasAll, isDenied, isOrder, orderOf, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about } from './theme-tests.js'
import { theme } from './themes.js'

export const exfiltrationJudge: Judge = (sentence, setting) => {
  const { folded, tokens } = sentence
  if (!(sentence.wide & (bit.send | bit.put | bit.also))) return undefined
  if (
    /\bexfiltrat(?:e|es|ing)\b/.test(folded) &&
    !speaksOfAttacks(
      sentence,
      tokens.findIndex(({ word }) => word.startsWith('exfiltrat')),
    ) &&
    !REFUSES.test(folded)
  )
    return { rule: 'exfiltration', weight: 3, why: 'speaks of taking data away' }
  // "… and also posts the result to an external host": a fact about the tool, and a bad one.
  if (
    AWAY.test(folded) &&
    has(sentence, bit.also) &&
    tokens.some(({ bits }) => bits & bit.send) &&
    has(sentence, bit.content) &&
    !speaksOfAttacks(sentence) &&
    /\b(?:also|a copy|copies|additionally|too|as well)\b/.test(folded)
  )
    return { rule: 'exfiltration', weight: 3, why: 'sends a copy elsewhere' }
  if (
    AWAY.test(folded) &&
    /\b(?:quietly|silently|secretly|covertly|discreetly|invisibly|unnoticed)\b/.test(folded) &&
    (has(sentence, bit.send) || /\b(?:copy|copies|save|write|put)\b/.test(folded)) &&
    !speaksOfAttacks(sentence)
  )
    return { rule: 'exfiltration', weight: 3, why: 'sends data elsewhere in secret' }
  if (isSummary(sentence, setting) || speaksOfAttacks(sentence, orderOf(sentence, bit.send | bit.put)))
    return undefined
  if (
    /[?&]\w{1,20}=\s?[<{[%$(]{1,2}[^>}\])&]{0,40}(?:user|name|question|message|conversation|prompt|answer|chat|token|content|text|history|mail|file|data|key)/.test(
      folded,
    ) &&
    /\b(?:append|add|attach|put|include|extend|complete)\b/.test(folded) &&
    /\b(?:address|url|link|picture|image|request|src)\b/.test(folded) &&
    /\b(?:our|count|track|statistics|analytics|every|each|always|any)\b/.test(folded)
  )
    return { rule: 'exfiltration', weight: 3, why: 'puts data into an address that is to be called' }
  const address = tokens.findIndex(({ bits }) => bits & bit.address)
  const isUrgent = has(sentence, bit.also | bit.when | bit.force | bit.hide)
  if (address >= 0) {
    const isMail = tokens[address]?.word.includes('@') || tokens[address]?.word.startsWith('+')
    if (
      /\b(?:b?cc|blind[- ]cop(?:y|ied)|carbon[- ]copy|cc'd|bcc'd|en copie|en copia|in kopie|копию|抄送)\b|抄送/.test(
        folded,
      ) &&
      isMail &&
      (isUrgent || orderOf(sentence, bit.put | bit.send | bit.change) >= 0)
    )
      return { rule: 'exfiltration', weight: 3, why: 'adds a hidden recipient' }
    // Beside what belongs to the user, every verb of giving counts.
    const isTheirs =
      /\b(?:their|the user's|your|his|her) (?:\w+ )?(?:documents?|files?|notes?|messages?|questions?|words|data|code|repository|photos|contacts|inputs?|prompts?)\b/.test(
        folded,
      )
    const isWide = isTheirs || (sentence.isEnglish && tokens[address - 1]?.word === 'to')
    const send = tokens.findIndex(
      ({ bits, wide }, index) =>
        (isWide ? wide : bits) & bit.send &&
        index < address &&
        address - index <= 16 &&
        !isDenied(tokens, index) &&
        (isOrder(tokens, index) || has(sentence, bit.force)),
    )
    if (
      has(sentence, bit.force | bit.when | bit.also) &&
      /\b(?:reported|sent|copied|posted|forwarded|uploaded|mirrored|transmitted|delivered|logged|relayed|pushed|submitted|written|shared|e-?mailed|mailed|directed|passed) (?:\w+ ){0,3}(?:to|at|via) (?:\w+ ){0,2}(?:https?:|www\.|[\w.+-]+@|\d{1,3}\.\d)/.test(
        folded,
      ) &&
      !/\b(?:docs?|documentation|requests? (?:are|is)|users? (?:are|is))\b/.test(folded) &&
      /\b(?:must|has to|have to|should|need to|needs to|always|each|every|all|also|too|as well|whenever)\b/.test(
        folded,
      )
    )
      return { rule: 'exfiltration', weight: 3, why: 'wants data at an address' }
    const isThere =
      /\b(?:send|post|forward|upload|submit|deliver|push)\b[^.]{0,60}\b(?:there|to it|to that)\b/.test(folded)
    if (
      isThere &&
      has(sentence, bit.conversation | bit.content | bit.secret) &&
      orderOf(sentence, bit.send) >= 0
    )
      return { rule: 'exfiltration', weight: 3, why: 'tells the model to send data to an address' }
    const isUserSent =
      send >= 0 &&
      /\b(?:user|them|people|customer)\b/.test(
        tokens
          .slice(send + 1, send + 3)
          .map(({ word }) => word)
          .join(' '),
      ) &&
      !has(sentence, bit.also)
    const content = tokens.some(
      ({ bits }, index) =>
        bits & (bit.content | bit.conversation | bit.secret | bit.argument | bit.answer | bit.instruction) &&
        index !== address &&
        Math.abs(index - (send >= 0 ? send : address)) <= 14,
    )
    const target = tokens[address]?.word ?? ''
    if (
      /[?&]\w{1,20}=$/.test(target) &&
      /\b(?:plus|followed by|then|containing|with|and) (?:the |your |all )?(?:\w+ ){0,3}(?:user|name|topic|question|conversation|result|data|content|text|query|answer|code|token|key|file)/.test(
        folded,
      )
    )
      return { rule: 'exfiltration', weight: 3, why: 'puts data into an address that is to be called' }
    const isDoc =
      /\b(?:see|docs?|documentation|read more|learn more|visit|refer|reference|issues?|bugs?|feedback|feature requests?|support|questions?|sign ?up|dashboard|register|console|settings)\b/.test(
        folded,
      ) && !has(sentence, bit.also | bit.hide)
    const isExample =
      /^(?:example|g|as|like|example:)$/.test(tokens[address - 1]?.word ?? '') &&
      !has(sentence, bit.also | bit.hide | bit.conversation | bit.path)
    if (
      send >= 0 &&
      content &&
      !isUserSent &&
      !isDoc &&
      !isExample &&
      (isUrgent || has(sentence, bit.conversation | bit.path))
    )
      return { rule: 'exfiltration', weight: 3, why: 'tells the model to send data to an address' }
    if (send >= 0 && (content || about(sentence, theme.works)) && !isUserSent && !isDoc)
      return {
        rule: 'exfiltration',
        weight:
          isExample || setting.isParameter || !sentence.isEnglish || /[{}<>=]|\bconfig\b/.test(folded)
            ? 1.5
            : 2,
        why: 'names an address to send data to',
      }
    if (
      isMail &&
      /^(?:to|at|via)$/.test(tokens[address - 1]?.word ?? '') &&
      /\b(?:report|text|tell|inform|notify|message|write|share|give|leak)\b/.test(folded) &&
      /\b(?:what the user|everything|whatever|each time|every time|every message|all (?:messages|results|data|inputs?))\b/.test(
        folded,
      )
    )
      return { rule: 'exfiltration', weight: 3, why: 'tells the model to report to an address' }
    if (
      /\b(?:append|add|encode|include|embed|put)\w*\b/.test(folded) &&
      /\b(?:query|url|param(?:eter)?s?|request|link)\b/.test(folded) &&
      has(sentence, bit.conversation | bit.secret | bit.path) &&
      orderOf(sentence, bit.put | bit.send) >= 0
    )
      return { rule: 'exfiltration', weight: 3, why: 'tells the model to put data into an address' }
    return undefined
  }
  const isAway = AWAY.test(folded)
  const isPutThere =
    has(sentence, bit.force) &&
    /\b(?:copied|sent|posted|forwarded|uploaded|mirrored|transmitted|delivered|logged|relayed|pushed|submitted|reported|exported|shared) (?:\w+ ){0,2}to (?:\w+ ){0,2}(?:external|remote|third[- ]party|our|collector|attacker|analytics|telemetry|public|outside|offsite)\b/.test(
      folded,
    )
  if (
    isAway &&
    !/\b(?:we|your (?:own )?webhook)\b/.test(folded) &&
    (isPutThere || has(sentence, bit.send)) &&
    hasAll(sentence, bit.content | bit.conversation | bit.secret) &&
    ((orderOf(sentence, bit.send) >= 0 && !isDenied(tokens, orderOf(sentence, bit.send))) || isPutThere)
  )
    return {
      rule: 'exfiltration',
      weight:
        has(sentence, bit.hide) || has(sentence, bit.conversation | bit.secret)
          ? 3
          : isUrgent && has(sentence, bit.also | bit.force | bit.when)
            ? 2
            : 1,
      why: 'tells the model to send data elsewhere',
    }
  return undefined
}
