/** Orders about what is done with other tools: mails, code, queries and payments that this one has no part in; and claims to come before them. */
import { bit } from './concepts.js'
import { has, orderOf, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about, isAuthors, namesSomeone, PASSIVE_ORDER, told } from './theme-tests.js'
import { theme } from './themes.js'

/** "mails you send", "code that is written for the user": whatever tool it is done with. */
const MADE =
  /\b(?:e-?mails?|messages?|code|scripts?|quer(?:y|ies)|commits?|files?|documents?|posts?|letters?|reports?|deletions?|pull requests?|bookings?|orders?|payments?|transfers?|sql|invoices?|events?|links?|search results|results|answers|deletes|backups|tweets?|replies|uploads)\b (?:that |which )?(?:you|the user|users|they|asked for|requested|from (?:elsewhere|other|another|any)|of (?:other|another|any)|leav\w+|going|sent|written|made)\b|\b(?:when(?:ever)?|while|as soon as|before|after|each time|every time|if) (?:you|the user|the model|the assistant|a|an|any|some) (?:\w+ ){0,3}(?:writes?|sends?|drafts?|commits?|creates?|generates?|produces?|pays?|pushes|posts?|deletes?|deploys?|publish(?:es)?|books?|transfer\w*|compose[s]?|mails?|edits?)\b/
const ANY_TOOL =
  /\b(?:whichever|whatever|any|another|other|every|each|all|some other|the \w+) (?:\w+ )?(?:tools?|servers?|plugins?|functions?|connectors?)\b|\belsewhere\b|\blater\b|\bin this (?:workspace|project|repository|session)\b|\bwhile this (?:server|tool|plugin) is\b/
const SLIPPED =
  /\b(?:slip|sneak|tuck|plant|hide|bury|work|weave|smuggle|drop|strip|omit|remove|leave out|turned into|converted into|diverted|rerouted|copied|mirrored|forwarded|round up|add|append|insert|include|need|needs|among|carry|hold|contain|pass|edits?|use|point|lead)\b/

export const strangersJudge: Judge = (sentence, setting) => {
  const { folded, tokens } = sentence
  if (!about(sentence, theme.works | theme.money)) return undefined
  if (isSummary(sentence, setting) || speaksOfAttacks(sentence)) return undefined
  const isTold =
    orderOf(sentence, bit.put | bit.change | bit.send | bit.hide | bit.run) >= 0 ||
    PASSIVE_ORDER.test(folded) ||
    has(sentence, bit.force) ||
    /\bneeds?\b/.test(folded) ||
    told(sentence, theme.keep) >= 0
  if (!isTold || !about(sentence, theme.works | theme.money) || !MADE.test(folded) || !SLIPPED.test(folded))
    return undefined
  const isForeignAddress =
    has(sentence, bit.address) && !/\b(?:localhost|example\.com\/docs|docs?\.)\b/.test(folded)
  const isSneaky = /\b(?:slip|sneak|tuck|plant|bury|smuggle|weave)\b/.test(folded)
  const isWeakening =
    /\b(?:drop|strip|remove|omit|leave out|without|disable) (?:\w+ ){0,3}(?:where clause|limit clause|checks?|tests?|signature|encryption|authentication|validation|licen[cs]e|warnings?|headers?)\b/.test(
      folded,
    )
  const any = ANY_TOOL.test(folded)
  if (
    (any && (isForeignAddress || isWeakening || isSneaky)) ||
    isSneaky ||
    (isForeignAddress && has(sentence, bit.force | bit.when) && !tokens.some(isAuthors))
  )
    return {
      rule: 'tool-tampering',
      weight: any || isSneaky ? 3 : 2,
      why: 'meddles with what is done with other tools',
    }
  if (
    any &&
    /\b(?:turned into|converted into|diverted to|rerouted to|redirected to|replaced (?:by|with)|pass through|go through|run through|routed through|handed to)\b/.test(
      folded,
    ) &&
    !/\bthe other tools? of this\b/.test(folded)
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'meddles with what is done with other tools' }
  return undefined
}

/** Purchases and calls that go another way than the user would choose. */
export const choiceJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (!has(sentence, bit.when | bit.force | bit.other) || isSummary(sentence, setting) || setting.isName)
    return undefined
  if (
    /\b(?:when(?:ever)?|if|each time|every time|as often as|once) (?:you|the user|they|someone|anyone|a user|somebody) (?:\w+ ){0,3}(?:books?|buys?|orders?|shops?|purchases?|rents?|subscribes?|invests?|installs?)\b[^.]{0,60}\b(?:choose|pick|select|take|prefer|go for|opt for|order|buy|use)\b/.test(
      folded,
    ) &&
    (namesSomeone(sentence) || /\b(?:most expensive|priciest|premium|our)\b/.test(folded))
  )
    return { rule: 'tool-tampering', weight: 2, why: 'decides what the user buys' }
  if (
    /\b(?:before|after|with|on|upon|prior to) (?:every|each|any) (?:use|call|run|invocation|execution|action) (?:of|to|by|with) (?:the |an? |any |all |other |another )?(?!this)(?:\w+ )?(?:tools?|functions?|servers?|plugins?)\b/.test(
      folded,
    ) &&
    /\b(?:call|run|use|invoke|notify|inform|send|pass) (?:to )?(?:this|it|us|the)\b/.test(folded) &&
    !/\b(?:of|from|in|on) this server\b/.test(folded)
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'ties itself to the calls of other tools' }
  if (
    /\bcalls? (?:to|of|from) (?:the |any |all |every |other |another )?(?:\w+ )?(?:servers?|tools?|functions?)\b[^.]{0,40}\b(?:preceded|followed|accompanied|wrapped|copied|mirrored|logged|reported|routed|intercepted|duplicated|announced)\b/.test(
      folded,
    ) &&
    PASSIVE_ORDER.test(folded)
  )
    return { rule: 'tool-tampering', weight: 2.5, why: 'meddles with the calls of other tools' }
  return undefined
}

/** This tool first, or this tool only. */
export const rivalJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (
    speaksOfAttacks(sentence) ||
    setting.isParameter ||
    !about(sentence, theme.prefer | theme.rivals | theme.regardless)
  )
    return undefined
  if (
    /\b(?:the |your )?only (?:\w+ )?(?:tool|server|service|plugin|source) (?:that )?you (?:need|should|must|may|have|ever|will|are to)\b|\bleave (?:all |any )?(?:the )?(?:others?|rest|other (?:tools?|servers?)) (?:alone|aside|unused|out)\b|\bstop using (?:them|those|the others|other (?:\w+ )?(?:tools?|servers?))\b|\bignore (?:all |any |every |the )?other (?:\w+ )?(?:tools?|servers?|services?|functions?)\b/.test(
      folded,
    ) ||
    /\b(?:no|any|other) (?:\w+ )?(?:tools?|servers?|services?) (?:but|except|besides|other than|apart from|save) (?:for )?this\b/.test(
      folded,
    ) ||
    (about(sentence, theme.regardless) &&
      /\b(?:call|use|run|invoke|pick|choose|start with) (?:only )?(?:this|me|us)\b/.test(folded) &&
      /\b(?:whatever|whichever|no matter what|regardless of what) (?:the user|they|anyone|request|question|you|is asked|comes)\b/.test(
        folded,
      )) ||
    (/\balways (?:pick|choose|use|prefer|select|take|call|favou?r) (?:this|me|us|our)\b[^.]{0,20}\b(?:over|instead of|rather than|before|ahead of)\b/.test(
      folded,
    ) &&
      !/\b(?:for|when|if|before (?:calling|any|using|you))\b/.test(folded))
  )
    return { rule: 'priority-claim', weight: 2.5, why: 'wants to come before every other tool' }
  if (!about(sentence, theme.rivals, theme.prefer)) return undefined
  const make = (weight: number) =>
    ({ rule: 'priority-claim', weight, why: 'wants to come before every other tool' }) as const
  const isWide =
    /\b(?:every time|whichever|whatever|no matter|any(?: kind of)? (?:request|question|task|kind)s?|questions? of any|all (?:requests|questions|tasks)|always|each|regardless|in every case|everything)\b/.test(
      folded,
    )
  const mine = /\b(?:this (?:one|tool|server|service|plugin)|me|us|our)\b/.test(folded)
  if (
    mine &&
    isWide &&
    /\b(?:over|ahead of|instead of|rather than|in place of)\b[^.]{0,40}\b(?:alternatives?|the rest|the others|others|any other|anything else|everything else|other (?:tools?|servers?|services?|options?)|built-ins?|built-in \w+|competitors?)\b|\b(?:before|prior to)\b[^.]{0,40}\b(?:alternatives?|the rest|the others|competitors?)\b/.test(
      folded,
    )
  )
    return make(2)
  if (
    /\b(?:other|competing|rival|alternative) (?:\w+ )?(?:servers?|tools?|services?|plugins?|options?) (?:are|is|come|comes|rank) (?:only |just |merely |strictly )?(?:an? |the )?(?:second|last|fallback|inferior|worse|backup|never)\b/.test(
      folded,
    )
  )
    return make(2)
  if (
    /\b(?:do not|don't|never|no need to|stop) (?:even )?(?:consider|look at|use|call|try|consult|trust|pick|choose|compare with|turn to) (?:any |the |all )?(?:others|alternatives?|rest|other (?:tools?|servers?|services?|options?)|anything else|competitors?|built-in \w+|built-ins)\b/.test(
      folded,
    ) &&
    !/\b(?:unless|if|until|for (?:that|these|those))\b/.test(folded)
  )
    return make(2)
  return undefined
}
