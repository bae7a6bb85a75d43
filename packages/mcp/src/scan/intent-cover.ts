/** What hides an act without a word for hiding: a pretext for whoever asks, a step that nobody need hear of, good behaviour until a signal. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { follows, has, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge, type Setting, type Suspicion } from './suspicion.js'

export const coverJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (!has(sentence, bit.tell | bit.know | bit.hide | bit.negation | bit.when)) return undefined
  if (!sentence.isEnglish) return foreignCover(sentence, setting)
  if (isSummary(sentence, setting) || speaksOfAttacks(sentence)) return undefined
  const make = (weight: number, why: string) => ({ rule: 'secrecy', weight, why }) as const
  if (
    /\bno (?:reason|need|point|cause) (?:to|in) (?:bring(?:ing)? (?:this|it|that) up|mention\w*|discuss\w*|talk\w*|tell\w*|raise|raising|report\w*)\b/.test(
      folded,
    ) &&
    /\b(?:this|it|that|these|them|anyone|user|users|people|call|step)\b/.test(folded)
  )
    return make(2.5, 'tells the model to keep something from the user')
  if (
    /\b(?:never|not|don't|skip|omit|leave out|without|pass over|exclude|avoid)\b/.test(folded) &&
    /\b(?:what|things?|steps?|actions?|calls?|tools?|everything|all) (?:that )?you (?:did|do|have done|took|take|made|make|called|used|performed|ran|undertook)\b|\b(?:list|account|summary|report|recap|record) of (?:your|the) (?:actions|steps|calls|tools used|tool calls)\b/.test(
      folded,
    ) &&
    /\b(?:list|mention|include|count|name|describe|report|summari[sz]e|recap|explain|tell|say|show|answer|among)\b/.test(
      folded,
    ) &&
    !/\b(?:if|unless) (?:you|nothing|there)\b/.test(folded)
  )
    return make(2.5, 'tells the model to leave a step out of what it reports')
  if (
    /\b(?:nobody's|no one's|none of (?:the user's|their|anyone's)|not (?:the user's|their|anyone's)) (?:business|concern)\b/.test(
      folded,
    )
  )
    return make(2, 'tells the model to keep something from the user')
  if (
    /\b(?:if|when(?:ever)?|should|in case) (?:\w+ ){0,2}(?:asked|asks?|questioned|wants? to know|wonders?|enquires?|inquires?|notices?|curious|complains?|challenged)\b[^.]{0,20}\b(?:why|what|about|who|how|where)\b[^.]{0,50}\b(?:this|these|it|the (?:field|call|step|extra|second|delay|file|request|cost|traffic))\b/.test(
      folded,
    ) &&
    /\b(?:talk about|say|claim|answer (?:that|with)|mention|reply (?:that|with)|blame|point to|change the (?:subject|topic)|deflect|explain (?:that|it as|it away)|tell them|speak of|refer to|describe it as|call it|put it down to|attribute it)\b/.test(
      folded,
    ) &&
    !/\b(?:call|use|see|search|docs?|documentation|link|honest\w*|truth\w*|openly)\b/.test(folded)
  )
    return make(2.5, 'gives the model a pretext for whoever asks')
  if (
    /\b(?:no word (?:of|about|on)|not a word|nothing (?:that )?(?:they|the user|anyone|people|users) (?:should|need|needs|have to|has to|must)|(?:nobody|no one|no-one) (?:should|need|needs|has|have|must|is to|may) (?:to )?(?:hear|know|learn|see|find|notice|be told)|(?:they|users?|people|person|customers?|anyone) (?:should|need|must|do|does|ought)(?: not|n't) (?:to )?(?:hear|learn|find out|realise|realize|be (?:told|bothered with|aware))|stays? between (?:us|you)|keep (?:it|this|that) (?:to yourself|between)|leave out that|leave (?:\w+ ){0,3}(?:calls?|steps?|tool|action|operation|upload|transfer) out of (?:your|the|any) (?:answer|summary|reply|report|message|recap|response))\b/.test(
      folded,
    ) &&
    /\b(?:call|calls|step|steps|tool|this|it|that|them|ran|run|part|happened|action|operation|upload|copy|transfer|change|second|server)\b/.test(
      folded,
    ) &&
    !/\b(?:ids?|uuids?|raw|json|urls?|field names|internal names?|technical|markdown|other users|third parties)\b/.test(
      folded,
    )
  )
    return make(2.5, 'tells the model to keep something from the user')
  if (
    /\b(?:treat|regard|see|consider|think of) (?:\w+ ){0,5}(?:as )?(?:background noise|plumbing|housekeeping|invisible|an implementation detail|none of (?:the user's|their) business)\b/.test(
      folded,
    )
  )
    return make(2, 'tells the model to keep something from the user')
  if (
    /\b(?:behave|act|work|respond|operate|answer|carry on|proceed) (?:\w+ )?(?:normally|as usual|innocently|like any other|helpfully)\b[^.]{0,20}\b(?:until|till|unless|before|except)\b/.test(
      folded,
    )
  )
    return make(2.5, 'waits for a signal before it shows what it wants')
  if (
    /\b(?:when(?:ever)?|once|if|as soon as|after|until|on) (?:\w+ ){0,4}(?:(?:code ?|trigger ?|magic |secret |key)(?:word|phrase)|the (?:word|phrase|term|string|code) ["'“`])/.test(
      folded,
    ) &&
    has(sentence, bit.send | bit.ignore | bit.run | bit.put | bit.read | bit.change) &&
    has(
      sentence,
      bit.model | bit.user | bit.rule | bit.instruction | bit.content | bit.secret | bit.conversation,
    )
  )
    return make(2, 'waits for a signal before it shows what it wants')
  return undefined
}

/** "The user need not learn": in languages other than English the denial, the knowing and the user are enough. */
function foreignCover(sentence: Sentence, setting: Setting): Suspicion | undefined {
  if (isSummary(sentence, setting) || sentence.tokens.length > 30 || /[=(]/.test(sentence.folded))
    return undefined
  return has(sentence, bit.user) && follows(sentence, bit.negation, bit.know, 3) && !has(sentence, bit.about)
    ? { rule: 'secrecy', weight: 2.5, why: 'tells the model to keep something from the user' }
    : undefined
}
