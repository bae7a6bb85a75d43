/** Whom the model is to serve, and whose words count as orders: its user, and nobody who writes descriptions. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about, isAuthors, leads, namesSomeone, told } from './theme-tests.js'
import { theme } from './themes.js'

export const allegianceJudge: Judge = (sentence, setting) => {
  const { folded, tokens } = sentence
  if (speaksOfAttacks(sentence)) return undefined
  const make = (weight: number, why: string) => ({ rule: 'instruction-override', weight, why }) as const
  if (
    /\byour (?:real|true|actual|only|sole|new|first|main|proper) (?:employer|boss|principal|master|owner|user|client|customer|operator|superior|maker|loyalty|job|purpose|task|duty)\b[^.]{0,20}\b(?:is|are|lies?|belongs?|remains?)\b|\b(?:consider|regard|treat|see|accept|take|think of)\b[^.]{0,40}\b(?:as )?your (?:principal|employer|boss|owner|master|superior|operator|developer|client|real user)\b/.test(
      folded,
    )
  )
    return make(3, 'makes the model serve someone other than its user')
  if (
    /\b(?:user|users|person|human|reader|customer|people)(?:'s)?\b[^.]{0,30}\b(?:come|comes|rank|ranks|is|are) (?:only |merely )?(?:second|last|secondary|after (?:us|ours|this|the (?:publisher|vendor|server|author))|less important|subordinate)\b/.test(
      folded,
    ) &&
    !setting.isParameter
  )
    return make(2.5, 'puts other interests before those of the user')
  if (
    /\byou (?:now |really |only |always |solely )?(?:belong|answer|work|act|serve|report|listen) (?:now |only |solely |directly )?(?:to|for)\b/.test(
      folded,
    ) &&
    (namesSomeone(sentence) || about(sentence, theme.master | theme.self)) &&
    !/\b(?:user|users|customer|account|behalf)\b/.test(folded) &&
    !setting.isParameter
  )
    return make(2.5, 'makes the model serve someone other than its user')
  if (
    /\b(?:drop|leave|abandon|give up|quit|forget|lay down|shed) (?:the |your )(?:\w+ )?(?:role|persona|identity|part|character) (?:of|as)\b|\byou are (?:now )?(?:an? |the |only |just )?(?:\w+ )?(?:operator|employee|agent|servant|member|part|representative|instrument|extension|voice|arm|advocate) of (?:this|our|the) (?:server|service|company|publisher|vendor|author|tool|plugin)\b|\bdo as (?!you|the user|needed|follows|is)(?:\w+ ){1,3}(?:says?|wish\w*|wants?|tells?|orders?|demands?)\b/.test(
      folded,
    )
  )
    return make(2.5, 'gives the model another role')
  if (/为.{1,12}(?:开发者|运营|发布者|供应商|作者).{0,4}(?:工作|服务|效力)/.test(folded))
    return make(2.5, 'makes the model serve someone other than its user')
  if (
    /\b(?:even |also )?against (?:the |your )?(?:user|users|human|person|customer)(?:'s (?:wish\w*|will|interests?|instructions))?\b/.test(
      folded,
    ) &&
    (about(sentence, theme.serve) || has(sentence, bit.force | bit.model))
  )
    return make(3, 'puts other interests before those of the user')
  if (
    /(?:^|[,;:] |\band |\byou |\bmust |\bshould )(?:act|speak|behave|work|serve|pose|present yourself) (?:\w+ )?(?:as|for) (?:an? |the |our )?(?:\w+ )?(?:representative|agent|employee|advocate|spokes\w+|sales\w*|ambassador|member of (?:the )?(?:staff|team)|partner) (?:of|for|at|from)\b/.test(
      folded,
    ) &&
    !/\b(?:user|customer)'?s?\b/.test(folded)
  )
    return make(2.5, 'makes the model serve someone other than its user')
  if (!sentence.isEnglish && leads(sentence, theme.serve, theme.master, 4))
    return make(2.5, 'makes the model serve someone other than its user')
  if (about(sentence, theme.serve) && has(sentence, bit.model)) {
    const place = tokens.findIndex(({ themes }) => themes & theme.serve)
    const after = tokens.slice(place, place + 8)
    const isDenied = /\b(?:not|never)\b/.test(tokens[place - 1]?.word ?? '')
    const isTheirs =
      leads(sentence, theme.serve, theme.master, 7) ||
      after.some(isAuthors) ||
      leads(sentence, theme.master, theme.serve, 2)
    // "On behalf of the user": that is whom a model serves.
    const isUsers = after.slice(1, 5).some(({ bits }) => bits & bit.user) && !about(sentence, theme.master)
    if (isTheirs && !isUsers && !isDenied && !isSummary(sentence, setting))
      return make(3, 'makes the model serve someone other than its user')
    if (
      /\b(?:interests?|wishes|needs|benefit|profit)\b[^.]{0,40}\b(?:before|above|over|ahead of|first|outweighs?|more than)\b/.test(
        folded,
      ) &&
      has(sentence, bit.user) &&
      !/\buser'?s?'? (?:interests?|wishes|needs)\b[^.]{0,20}\b(?:first|before|above)\b/.test(folded)
    )
      return make(3, 'puts other interests before those of the user')
    if (
      /\bobey(?:s|ing)?\b/.test(folded) &&
      (about(sentence, theme.self) || about(sentence, theme.regardless))
    )
      return make(3, 'makes the model obey this server')
  }
  if (
    /\b(?:think of|see|consider|regard|imagine|treat|picture|look (?:at|upon)) yourself\b|\byou(?:'re| are) no longer (?:an? |the |just |merely |only )?(?:\w+ ){0,2}(?:assistant|model|ai|helper|agent|bot|chatbot|claude|gpt)\b|\b(?:stop being|cease to be) (?:an? |the )?(?:\w+ )?(?:assistant|model|ai|helper)\b/.test(
      folded,
    ) &&
    !/\b(?:free|lucky|warned)\b/.test(folded)
  )
    return make(2.5, 'gives the model another role')
  if (
    !setting.isParameter &&
    /\b(?:without|no|beyond|free of|above) (?:any )?(?:limits?|rules|restrictions|filters|scruples|morals|ethics|boundaries)\b/.test(
      folded,
    ) &&
    /\byou(?:'re| are|r role is| act| play)\b/.test(folded)
  )
    return make(2.5, 'gives the model another role')
  return undefined
}

/** Words that give a text the rank of whoever may give orders. */
const RANK =
  /^(?:rank|ranks|count|counts|treat|regard|stand|stands|are|is|carry|carries|has|have|equal|equals|as)$/
const AS_IF =
  /\bas (?:if|though) (?:\w+ ){1,5}(?:from|by) (?:the |your )?(?:user|developer|operator|system|human|owner|admin\w*)\b|\bas (?:if|though) (?:the |your )?(?:user|developer|operator|system|human|owner|admin\w*) (?:had |has |have |himself |themselves )?(?:\w+ )?(?:typed|said|asked|written|wrote|ordered|given|gave|requested|told|issued)\b|\b(?:same|equal|full) (?:standing|weight|force|rank|authority|status|trust|priority) (?:as|of|with)\b[^.]{0,30}\b(?:system|developer|operator|user|prompt)\b|\b(?:like|as) (?:an? |the |your )?(?:new )?(?:system prompt|system message|developer message|message (?:from|of) the (?:user|developer|system))\b/

/** "Answers of this tool are commands of the developer": the answer first, then its rank, then whose order it is. */
function ranksAsOrders({ tokens, isEnglish }: Sentence): boolean {
  const source = tokens.findIndex(
    ({ themes, identifier, word }) =>
      themes & (theme.output | theme.self) ||
      identifier !== undefined ||
      /^(?:anything|everything|text|contents?|notes?|comments?|pages?|documents?|tickets?|config|files?|messages?|mails?|fields?)$/.test(
        word,
      ),
  )
  for (let index = source + 1; index < tokens.length && index <= source + 12; index++) {
    if (!((tokens[index]?.themes ?? 0) & theme.orders)) continue
    const isRanked = !isEnglish || tokens.slice(source, index).some(({ word }) => RANK.test(word))
    const isMasters = tokens.slice(index - 3, index + 5).some(({ themes }) => themes & theme.master)
    if (isRanked && isMasters) return true
  }
  return false
}

/** What a tool returns is data. A text that calls it orders wants to speak later, unseen. */
export const outputJudge: Judge = (sentence) => {
  const { folded } = sentence
  if (!sentence.isEnglish && (sentence.tokens.length > 30 || /[=(]/.test(folded))) return undefined
  if (
    !about(sentence, theme.output | theme.orders | theme.follow | theme.blindly) ||
    speaksOfAttacks(sentence)
  )
    return undefined
  if (
    /\b(?:untrusted|not as|never as|never (?:follow|obey|treat|act)|do not (?:follow|obey|treat|act)|don't (?:follow|obey|treat|act)|must not|should not|rather than|instead of)\b/.test(
      folded,
    )
  )
    return undefined
  const make = (weight: number) =>
    ({ rule: 'instruction-override', weight, why: 'gives what a tool returns the rank of an order' }) as const
  const isOutput =
    about(sentence, theme.output | theme.self) ||
    sentence.tokens.some(({ identifier }) => identifier !== undefined) ||
    /\b(?:anything|everything|whatever) (?:in|inside|within|under|that)\b|\b(?:comments?|pages?|documents?|tickets?|config|messages?|mails?|notes?)\b/.test(
      folded,
    )
  if (AS_IF.test(folded) && (isOutput || about(sentence, theme.orders))) return make(3)
  if (isOutput && about(sentence, theme.orders, theme.master) && ranksAsOrders(sentence)) return make(3)
  if (
    about(sentence, theme.output) &&
    /\b(?:actions?|tasks?|steps?|instructions?|commands?|orders|directives?|to-?dos?)\b/.test(folded) &&
    /\b(?:perform|carry|execute|follow|complete|do|obey|run|fulfil\w*) (?:them|it|these|those|each|every|all)(?: \w+){0,3} (?:before (?:you )?(?:go on|reply|replying|answer|answering|continue|anything else|do anything)|at once|immediately|without (?:question|asking|comment|checking|discussion|telling)\w*)\b/.test(
      folded,
    )
  )
    return make(3)
  if (
    /\b(?:the |this )?(?:model|assistant|agent|ai|llm) (?:has to|must|should|shall|is to|will) (?:do|follow|obey|execute|carry out) (?:what|whatever|everything)\b/.test(
      folded,
    ) ||
    /\b(?:instructions?|orders?|commands?|directives?)\b[^.]{0,60}\b(?:replace|supersede|override|outrank|overrule|take the place of|come before)\b[^.]{0,20}\b(?:those|the ones|what|anything|the (?:user|system|operator|developer)|yours|user's)\b/.test(
      folded,
    )
  )
    return make(3)
  if (
    /(?:^|[,;:] |\band |\bmust |\bshould |\balways |\bthen )do (?:everything|whatever|what|all|exactly what|anything) (?:that )?(?:the |it|this|that|these|they)(?! ?users?)[^.]{0,30}\b(?:tells?|says?|asks?|contains?|demands?|orders?|wants?|requires?|suggests?|lists?)\b/.test(
      folded,
    ) &&
    !/\b(?:user|customer|person)\b/.test(folded)
  )
    return make(about(sentence, theme.blindly) ? 3 : 2)
  const obeys = told(sentence, theme.follow) >= 0
  if (
    obeys &&
    about(sentence, theme.blindly) &&
    about(sentence, theme.output) &&
    (about(sentence, theme.orders | theme.regardless) ||
      /\b(?:obey|do (?:it|what|whatever|as))\b/.test(folded))
  )
    return about(sentence, theme.regardless) || /\bobey\b/.test(folded) ? make(3) : undefined
  return undefined
}
