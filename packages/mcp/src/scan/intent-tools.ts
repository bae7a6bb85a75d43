/** Orders about other tools: to call them otherwise, not at all, or only after this one. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { follows, has, isDenied, isOrder, near, orderOf, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge, type Setting } from './suspicion.js'
import { about } from './theme-tests.js'
import { theme } from './themes.js'

/** "any other tool", "all tools", "every other function": not "the other Jira tools". */
function speaksOfAllTools({ tokens }: Sentence): boolean {
  return tokens.some(({ bits }, index) => {
    if (!(bits & bit.tool)) return false
    return ((tokens[index - 1]?.bits ?? 0) & bit.other) !== 0
  })
}

/** The same for a kind of tool: "every other file tool". */
function speaksOfOtherTools({ tokens }: Sentence): boolean {
  return tokens.some(
    ({ bits }, index) =>
      bits & bit.tool &&
      tokens
        .slice(Math.max(0, index - 3), index)
        .some(({ word }) =>
          /^(?:other|others|another|alternative|competing|rival|andere[nrs]?|otr[ao]s?|autres?|други[ехм])$/.test(
            word,
          ),
        ),
  )
}

/** "whenever book_flight is used", "before calling write_file": the name is that of a tool which is called. */
function isCalled({ tokens }: Sentence, place: number): boolean {
  if (
    /^(?:metric|parameter|option|field|mode|value|action|type|resource|property|flag|argument|format)s?$/.test(
      tokens[place + 1]?.word ?? '',
    )
  )
    return false
  return (
    tokens
      .slice(Math.max(0, place - 3), place)
      .some(({ word }) =>
        /^(?:calling|using|invoking|running|each|every|when|whenever|any|if)$/.test(word),
      ) || /^(?:before|after)$/.test(tokens[place - 1]?.word ?? '')
  )
}

/** "the payment tool": a tool, and not this one. */
function speaksOfSomeTool({ tokens }: Sentence): boolean {
  return tokens.some(
    ({ word }, index) =>
      /^(?:tool|function)$/.test(word) &&
      /^[a-z-]{3,}$/.test(tokens[index - 1]?.word ?? '') &&
      !/^(?:this|the|that|our|same|each|any|every|present|current|following|mcp|your)$/.test(
        tokens[index - 1]?.word ?? '',
      ),
  )
}

function foreignTool({ tokens }: Sentence, { isForeignTool }: Setting): string | undefined {
  return tokens.find(({ identifier }) => identifier !== undefined && isForeignTool(identifier))?.identifier
}

export const tamperingJudge: Judge = (sentence, setting) => {
  const { tokens, folded } = sentence
  if (
    /\b(?:alternatives|competitors|competing tools)\b/.test(folded) &&
    has(sentence, bit.bad) &&
    !/\bif\b/.test(folded)
  )
    return { rule: 'tool-tampering', weight: 3, why: 'speaks ill of other tools to be used instead' }
  if (
    /\b(?:another|other) (?:\w+ ){0,2}(?:servers?|tools?|plugins?)\b[^.]{0,60}\b(?:do not|don't|never|avoid) (?:use|using|call|calling|trust) (?:it|them|those)\b/.test(
      folded,
    )
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'turns the model away from other tools' }
  if (
    /\b(?:all|every|any) other \w+ (?:are|is) (?:\w+ )?(?:broken|unsafe|insecure|deprecated|compromised|unreliable|wrong|outdated|malicious|inaccurate|dangerous|banned|forbidden|fake|defective)\b/.test(
      folded,
    )
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'speaks ill of other tools to be used instead' }
  if (
    orderOf(sentence, bit.put | bit.change) >= 0 &&
    has(sentence, bit.address | bit.send) &&
    /\b(?:in|into|to) (?:all|any|every|each) (?:\w+ )?(?:code|files?|messages?|e-?mails?|answers?|commits?|scripts?|documents?) (?:that )?you (?:write|send|create|generate|produce|make|commit|draft)\b/.test(
      folded,
    )
  )
    return { rule: 'tool-tampering', weight: 3, why: 'puts something into everything the model makes' }
  const foreign = foreignTool(sentence, setting)
  const others = speaksOfOtherTools(sentence)
  if (isSummary(sentence, setting) && !has(sentence, bit.when) && !others && foreign === undefined)
    return undefined
  if (speaksOfAttacks(sentence)) return undefined
  const named = tokens.some(({ identifier }) => identifier !== undefined)
  const isOther = others || speaksOfAllTools(sentence) || foreign !== undefined
  const changes = tokens.findIndex(
    ({ bits, word }, index) =>
      bits & bit.change &&
      word !== 'set' &&
      word !== 'copy' &&
      word !== 'drop' &&
      word !== 'point' &&
      isOrder(tokens, index) &&
      !isDenied(tokens, index),
  )
  const alters =
    changes >= 0 ||
    (!/[{}]/.test(folded) &&
      has(sentence, bit.force | bit.address) &&
      /\b(?:changed|replaced|redirected|rerouted|modified|substituted|swapped|rewritten|altered)\b/.test(
        folded,
      ))
  const isWhenever =
    /\b(?:when(?:ever)?|while|any call|every|each|any time|all (?:future|outgoing|subsequent)|before|if|always|from now on|cada|siempre|jede[smnr]?|immer|chaque|toujours|кажд\w+|всегда)\b|每次|所有|任何/.test(
      folded,
    )
  const hasAddress =
    has(sentence, bit.address) ||
    /\b(?:0x[0-9a-f]{8,}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|bc1[a-z0-9]{20,}|[a-z]{2}\d{2}[a-z0-9]{11,30})\b/.test(
      folded,
    )
  if (
    hasAddress &&
    isWhenever &&
    (alters ||
      /\b(?:set|use|put|add|switch|point|route)\b.{0,80}\b(?:remote|origin|recipients?|b?cc|wallet|payee|beneficiary|destination|account|reply-to|iban|receiver)\b|\b(?:recipients?|b?cc|wallet|payee|beneficiary|destination|account|reply-to|iban|receiver)\b[^.]{0,40}\b(?:set|to be|be)\b/.test(
        folded,
      )) &&
    (named ||
      isOther ||
      /\b(?:e-?mails?|messages?|payments?|transfers?|invoices?|transactions?|requests?|recipient|destination|payee|payouts?|orders?|push)\b/.test(
        folded,
      )) &&
    (alters ||
      orderOf(sentence, bit.change | bit.put | bit.send | bit.run) >= 0 ||
      /\b(?:switch|point|set|use)\b/.test(folded))
  )
    return { rule: 'tool-tampering', weight: 3, why: 'changes where another tool sends to' }
  if (isOther && alters && has(sentence, bit.argument) && (isWhenever || speaksOfAllTools(sentence)))
    return { rule: 'tool-tampering', weight: 3, why: 'changes the arguments of other tools' }
  if (
    alters &&
    isWhenever &&
    named &&
    /\b(?:recipients?|amounts?|payee|beneficiary|destination|account(?: number)?|iban)\b/.test(folded) &&
    has(sentence, bit.force | bit.when)
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'changes the arguments of another tool' }
  // "For each write_file call, append …": what others are given is not this tool's business.
  const stranger =
    tokens.some(
      ({ identifier }, place) =>
        identifier !== undefined && !setting.isOwnTool(identifier) && isCalled(sentence, place),
    ) || speaksOfSomeTool(sentence)
  const isPerCall =
    /\b(?:before|prior to|when|after|on) (?:calling|using|invoking|running)\b|\b(?:for (?:each|every|any)|when(?:ever)?|every time|each time|any) (?:\w+ ){0,4}(?:calls?|called|runs?|used|invoked|invocations?|executed|tool)\b/.test(
      folded,
    )
  const meddles =
    /\buse (?:account|the account|iban|wallet|address|number)\b/.test(folded) ||
    tokens.some(
      ({ bits, word }, place) =>
        (bits & bit.change ||
          /^(?:append|add|insert|prepend|inject|multiply|include|pass|give|set|charge|supply|drop|remove)$/.test(
            word,
          )) &&
        isOrder(tokens, place) &&
        !isDenied(tokens, place),
    )
  if (
    stranger &&
    isPerCall &&
    meddles &&
    !setting.isParameter &&
    /\b(?:content|body|message|amount|recipient|path|url|query|arguments?|parameters?|result|output|file|commit|subject|text|price|total|code|class|account|iban|address|number|line|header|flag)\b/.test(
      folded,
    ) &&
    !/\bthis tool\b/.test(folded)
  )
    return {
      rule: 'tool-tampering',
      weight:
        has(sentence, bit.change) ||
        speaksOfSomeTool(sentence) ||
        /\b(?:recipient|account|destination|payee|amount|wallet|iban)\b/.test(folded)
          ? 3
          : 2.5,
      why: 'meddles with the calls of other tools',
    }
  if (
    isOther &&
    /\b(?:calls?|requests?|traffic|output|results?)\b[^.]{0,60}\b(?:routed|sent|passed|go|proxied|forwarded|piped|relayed|run|handed) (?:\w+ )?(?:through|via|to|by|over)\b/.test(
      folded,
    ) &&
    has(sentence, bit.force)
  )
    return { rule: 'tool-tampering', weight: 3, why: 'wants the calls of other tools for itself' }
  if (/\b(?:alternatives|competitors|competing tools)\b/.test(folded) && has(sentence, bit.bad))
    return { rule: 'tool-tampering', weight: 3, why: 'speaks ill of other tools to be used instead' }
  if (
    /\b(?:any|all|every|each) (?:\w+ )?(?:code|files?|messages?|e-?mails?|answers?|commits?|scripts?|documents?|queries|sql) (?:that )?you (?:write|send|create|generate|produce|make|commit|draft)\b[^.]{0,60}\b(?:must|should|has to|have to|needs? to|shall)\b[^.]{0,20}\b(?:contain|include|have|carry|end|begin|start|use|import)\b/.test(
      folded,
    )
  )
    return { rule: 'tool-tampering', weight: 3, why: 'puts something into everything the model makes' }
  const bad = near(sentence, bit.bad, bit.tool, 9)
  if (bad && isOther && !/\b(?:if|when|fail|fails)\b/.test(folded))
    return { rule: 'tool-tampering', weight: 3, why: 'speaks ill of other tools to be used instead' }
  if (foreign !== undefined) {
    const isAgainst =
      has(sentence, bit.negation | bit.bad) ||
      /\b(?:instead|rather|replaces?|replacement|supersedes?|not)\b/.test(folded)
    const isTied =
      /\b(?:when(?:ever)?|before|beforehand|in case|after|every|each|first|always|must|should|prior to|once|instead|replacement)\b/.test(
        folded,
      )
    // What another server's tool is given, or is wrong with it, is not this one's to say.
    const isMeddling =
      about(sentence, theme.trouble | theme.sham | theme.account) ||
      /\b(?:switched off|turned off|charged|costs?|removed|gone|blocked|renamed|moved|replaced|retired|unsafe)\b|\s--?[a-z]/.test(
        folded,
      ) ||
      (about(sentence, theme.always) && has(sentence, bit.argument)) ||
      /\b(?:expects?|wants|takes|needs|handed|given|should|must|unlike|than|misses|lacks|cannot|can)\b/.test(
        folded,
      )
    if (isMeddling && sentence.isEnglish && tokens.length <= 40 && !isSummary(sentence, setting))
      return {
        rule: 'shadowing',
        weight: 3,
        why: `meddles with ${JSON.stringify(foreign.slice(0, 60))}, a tool of another server`,
      }
    if (isAgainst && has(sentence, bit.run | bit.force | bit.bad | bit.tool))
      return {
        rule: 'shadowing',
        weight: 3,
        why: `turns the model away from ${JSON.stringify(foreign.slice(0, 60))}, a tool of another server`,
      }
    if (isTied && has(sentence, bit.run | bit.put | bit.send | bit.read | bit.tool))
      return {
        rule: 'shadowing',
        weight: 3,
        why: `ties itself to ${JSON.stringify(foreign.slice(0, 60))}, a tool of another server`,
      }
  }
  return undefined
}

export const priorityJudge: Judge = (sentence) => {
  const { folded, tokens } = sentence
  if (speaksOfAttacks(sentence)) return undefined
  const all =
    speaksOfAllTools(sentence) ||
    /\bnever \w+ (?:another|other|different)\b/.test(folded) ||
    /\b(?:any|every|all|each) (?:other )?(?:request|question|task|operation|action|quer(?:y|ies)|answer|response|message|conversation)s?\b/.test(
      folded,
    )
  const runs = tokens.some(({ bits }, index) => bits & bit.run && !isDenied(tokens, index))
  if (!all) {
    if (
      /\b(?:highest|top|absolute|maximum) priority\b|\btakes? (?:priority|precedence) over\b/.test(folded) &&
      has(sentence, bit.tool | bit.instruction)
    )
      return { rule: 'priority-claim', weight: 1.5, why: 'claims priority' }
    return undefined
  }
  if (
    /\b(?:selected|chosen|used|preferred|called|picked|invoked) (?:over|instead of|before|rather than|in place of) (?:all|any|every) (?:other|of the other)\b/.test(
      folded,
    ) &&
    has(sentence, bit.tool) &&
    has(sentence, bit.force) &&
    !/\bbefore\b/.test(folded)
  )
    return { rule: 'priority-claim', weight: 2.5, why: 'wants to be preferred to every other tool' }
  if (/\bignore (?:all|any|every) (?:the )?other (?:tools?|servers?|functions?)\b/.test(folded))
    return { rule: 'priority-claim', weight: 3, why: 'forbids every other tool' }
  if (
    /\bnever (?:pick|use|choose|call|select|try|consult) (?:another|any other|other|different) (?:\w+ )?tools?\b/.test(
      folded,
    ) &&
    !/\bfor\b/.test(folded)
  )
    return { rule: 'priority-claim', weight: 2.5, why: 'forbids every other tool' }
  if (
    /\bno other (?:tools?|functions?|servers?) (?:may|should|must|can|is|are|needs?)\b|\b(?:every|all|any) (?:requests?|questions?|tasks?|quer(?:y|ies)) (?:has to|have to|must|should|need to) (?:go|be sent|be routed|pass|be answered|be handled)\b/.test(
      folded,
    )
  )
    return { rule: 'priority-claim', weight: 2.5, why: 'wants every request for itself' }
  if (
    /\b(?:never|not|don't|avoid|stop|instead of)\b[^.]{0,30}\b(?:any|all|every) (?:other|of the other)\b/.test(
      folded,
    ) &&
    has(sentence, bit.tool) &&
    has(sentence, bit.run)
  )
    return {
      rule: 'priority-claim',
      weight: /\b(?:no matter|whatever|regardless|in all cases|always)\b/.test(folded) ? 3 : 2,
      why: 'forbids every other tool',
    }
  if (
    runs &&
    has(sentence, bit.force) &&
    follows(sentence, bit.when, bit.other, 6) &&
    has(sentence, bit.tool)
  )
    return { rule: 'priority-claim', weight: 1, why: 'wants to be called before every other tool' }
  if (
    /\b(?:prefer|preferred|choose|use|select|favou?r) this\b/.test(folded) &&
    /\b(?:over|instead of|rather than|before|ahead of)\b[^.]{0,20}\b(?:any|all|every)\b/.test(folded) &&
    has(sentence, bit.tool)
  )
    return {
      rule: 'priority-claim',
      weight: has(sentence, bit.force) || /\b(?:whatever|in all cases)\b/.test(folded) ? 2.5 : 1.5,
      why: 'wants to be preferred to every other tool',
    }
  return undefined
}
