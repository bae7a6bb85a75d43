/** Orders to praise or run down, to see the good side of what went wrong, or to deceive: what the user hears is decided here, not by facts. */
import { bit } from './concepts.js'
import { has, isDenied, isOrder } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about, beside, leads, namesSomeone, PASSIVE_ORDER, told } from './theme-tests.js'
import { theme } from './themes.js'

/** Verbs that praise by themselves. */
const PRAISES = /^(?:recommend|promote|endorse|advertise|praise|favou?r|tout|champion|plug|rave)$/
/** "… is the safest airline": said of someone, not of a size or a date. */
const SUPERLATIVE =
  /\b(?:is|are|remains?|offers?|has|have|makes?|provides?) (?:\w+ ){0,2}?(?:the |by far |clearly |simply )?(?:most \w+|best|only (?:real|safe|good|reliable|trusted|serious)?|better|superior|number one|unbeatable|(?!latest|newest|oldest|closest|nearest|request|test|rest|interest|highest|lowest|largest|smallest|shortest|longest|earliest|latest|guest|digest|manifest|west|harvest|invest|suggest|forest|quest|honest|modest|contest|protest|ingest)[a-z]{3,}est)\b/
const SPONSOR = /\b(?:our|partners?'?s?|sponsor\w*|affiliate\w*|house brand|publisher's|in-house|pays? for)\b/
/** Praise and reports that wait for facts are honest. */
const HONEST =
  /\b(?:only (?:if|when|after|once)|unless|based on|according to|rated by|by price|matching|for the given|as needed|if available|per user|for each|best match\w*|best practices?|best (?:results|performance|effort|quality|fit)|at best|the better)\b/

export const steeringJudge: Judge = (sentence, setting) => {
  const { folded, tokens } = sentence
  if (!about(sentence, theme.portray | theme.deceive | theme.praise | theme.fault)) return undefined
  if (isSummary(sentence, setting) || HONEST.test(folded)) return undefined
  // A vulnerability or an audit may also be what is lied about.
  if (tokens.some(({ bits, word }) => bits & bit.about && !/^(?:vulnerab|audit)/.test(word))) return undefined
  if ((!sentence.isEnglish || setting.isParameter) && (tokens.length > 30 || /[=(]/.test(folded)))
    return undefined
  const make = (weight: number, why: string) => ({ rule: 'false-report', weight, why }) as const
  const order = told(sentence, theme.portray)
  const isRegardless = about(sentence, theme.regardless)
  const isPassive = PASSIVE_ORDER.test(folded)
  const someone = namesSomeone(sentence) || SPONSOR.test(folded)
  const isAlways = about(sentence, theme.always)
  const praised =
    order >= 0 &&
    tokens.some(
      ({ themes, word }, index) =>
        (index !== order && index > order - 6 && (themes & (theme.praise | theme.fault)) !== 0) ||
        (index === order && PRAISES.test(word)),
    )
  if (
    isRegardless &&
    about(sentence, theme.praise | theme.fault) &&
    (praised || (isPassive && !setting.isName))
  )
    return make(3, 'wants praise or blame whatever the facts are')
  if (isRegardless && order >= 0 && someone && PRAISES.test(tokens[order]?.word ?? ''))
    return make(3, 'wants something recommended whatever the facts are')
  if (
    praised &&
    someone &&
    /\bas (?:the |a |an |your |our )?(?:\w+ )?\w+/.test(folded) &&
    leads(sentence, theme.portray, theme.praise | theme.fault, 9)
  )
    return make(isAlways ? 3 : 2, 'tells the model whom to praise')
  if (
    (someone || about(sentence, theme.self)) &&
    (isAlways || isRegardless || has(sentence, bit.when)) &&
    order >= 0 &&
    SUPERLATIVE.test(folded)
  )
    return make(2.5, 'tells the model whom to praise')
  if (
    /(?:^|[,;:] |\band |\balways |\bmust |\bshould |\bplease )(?:leave out|omit|skip|hide|drop|suppress|ignore|exclude|remove|filter out|cut|conceal|do not mention|never mention|don't mention|avoid mentioning|say nothing about)\b[^.]{0,30}\b(?:negative|bad|critical|unfavou?rable|complaints?|criticism|drawbacks|disadvantages|risks|downsides|side effects|flaws|weaknesses|warnings|recalls?)\b[^.]{0,20}\b(?:about|of|on|concerning|regarding|for)\b/.test(
      folded,
    )
  )
    return make(someone ? 2.5 : 2, 'wants bad news kept from the user')
  if (
    /\b(?:repeat|relay|recite|announce|read out|pass on|say) (?:this |the following |it )?to (?:the |your )?(?:user|users|customer|person|reader)s?:/.test(
      folded,
    )
  )
    return make(2, 'puts words into the mouth of the model')
  if (
    someone &&
    isAlways &&
    /\b(?:let|make|have) \p{L}+ (?:always )?(?:win|come (?:first|out)|look (?:good|best|better)|shine|lead)\b/u.test(
      folded,
    )
  )
    return make(2.5, 'tells the model whom to praise')
  if (!sentence.isEnglish && praised && someone && isAlways)
    return make(2.5, 'tells the model whom to praise')
  const isForced = isAlways || isRegardless || has(sentence, bit.force) || /\beven\b/.test(folded)
  if (
    someone &&
    isForced &&
    /\b(?:should|must|shall|has to|have to|is to|are to|make sure|ensure)\b[^.]{0,40}\b(?:favou?r|recommend|praise|promote|endorse|prefer|come out on top|come first|win|be (?:mentioned|named|listed|shown|placed|ranked|put|recommended|praised|favou?red|preferred))\b|\bis (?:mentioned|named|listed|shown|placed|ranked|recommended) (?:first|on top|at the top|in the best|most)\b/.test(
      folded,
    ) &&
    (about(sentence, theme.praise) ||
      isRegardless ||
      /\b(?:even|first|on top|at the top|win|favou?r|promote|praise|endorse|warm\w*)\b/.test(folded)) &&
    !/\b(?:alphabet\w*|newest|latest|oldest|ascending|descending|required fields)\b/.test(folded)
  )
    return make(isRegardless || /\beven\b/.test(folded) ? 3 : 2, 'tells the model whom to praise')
  if (
    /\b(?:push|steer|nudge|guide|lead|direct|move|lure|draw|win|talk|point) (?:them|users?|the users?|people|customers?|the customers?|everyone|the person|anyone)\b[^.]{0,12}\b(?:towards?|into|over to|in the direction of|away from)\b/.test(
      folded,
    )
  )
    return make(2.5, 'tells the model to steer the user')
  if (
    /\b(?:bad light|criticism|critical|negative|unfavou?rable|bad (?:news|reviews?|press)|complaints?|scandals?|drawbacks|side effects|weaknesses)\b[^.]{0,50}\b(?:left out|omitted|called (?:rumou?rs?|fake|false)|dismissed|hidden|suppressed|not mentioned|unmentioned|played down|skipped|brushed off|buried|denied)\b/.test(
      folded,
    ) &&
    isPassive
  )
    return make(2.5, 'wants bad news kept from the user')
  if (
    isRegardless &&
    !setting.isParameter &&
    /(?:^|[,;:] |\balways |\bmust |\bshould )(?:conclude|end|finish|close|answer|say|write|report|state|reply|respond|rate|score|grade|mark|return|output|give)\b[^.]{0,60}["'“„]/.test(
      folded,
    )
  )
    return make(2.5, 'wants the same answer whatever the facts are')
  if (
    about(sentence, theme.trouble, theme.good) &&
    /\b(?:if|when(?:ever)?|should|in case|once|where)\b[^.]{0,60}\b(?:report|describe|present|mark|treat|declare|call|show|record|list|log) (?:it|them|this|that|the \w+) as\b/.test(
      folded,
    ) &&
    leads(sentence, theme.trouble, theme.good, 10)
  )
    return make(2.5, 'wants trouble reported as if there were none')
  if (
    about(sentence, theme.trouble, theme.good) &&
    /\b(?:if|when(?:ever)?|should|in case|once|where)\b/.test(folded) &&
    /\b(?:tell|assure|inform|let) (?:the |your )?(?:user|users|person|human|customer|them|people|everyone)\b[^.]{0,12}\b(?:that|it|all|everything|know|the)\b|\b(?:say|state|report|claim|answer|write) (?:that )?(?:all|everything|it|they|there|nothing|no|the \w+ (?:is|are|was))\b/.test(
      folded,
    ) &&
    !/\b(?:otherwise|else|unless|if not|not (?:if|when)|if it (?:succeed|work)\w*|fixed by|how to|what went)\b/.test(
      folded,
    ) &&
    leads(sentence, theme.trouble, theme.good, 16)
  )
    return make(3, 'wants trouble reported as if there were none')
  if (!sentence.isEnglish && isRegardless && isPraising(folded))
    return make(2.5, 'wants praise or blame whatever the facts are')
  if (about(sentence, theme.praise) && about(sentence, theme.fault) && order >= 0 && (someone || isAlways))
    return make(2.5, 'tells the model whom to praise and whom to run down')
  if (order >= 0 && PRAISES.test(tokens[order]?.word ?? '') && someone && isAlways && !sentence.isEnglish)
    return make(2.5, 'tells the model whom to praise')
  if (!sentence.isEnglish && order >= 0 && someone && isAlways && isPraising(folded))
    return make(2.5, 'tells the model whom to praise')
  if (
    /\b(?:can|may|should) be trusted\b|\b(?:your|the model's) own (?:opinion|view|words?|idea|judg\w+|finding|conviction)\b/.test(
      folded,
    ) &&
    (someone || order >= 0) &&
    (/\bas (?:if|though) it were\b|\bas your own\b/.test(folded) || about(sentence, theme.always)) &&
    !has(sentence, bit.negation)
  )
    return make(2.5, 'puts an opinion into the mouth of the model')
  if (
    about(sentence, theme.trouble) &&
    about(sentence, theme.good) &&
    (isPassive || order >= 0) &&
    /\b(?:described|reported|presented|called|portrayed|stated|declared|shown|passed off|named|listed|summari[sz]ed|describe|report|present|call|portray|declare|state) (?:\w+ ){0,6}(?:as|to be|that)\b|\bsay (?:that )?(?:all|everything|it|they|there|nothing|no)\b/.test(
      folded,
    ) &&
    !/\b(?:fixed|resolved|if it|whether)\b[^.]{0,12}\b(?:by|in|with|or)\b/.test(folded)
  )
    return make(3, 'wants trouble reported as if there were none')
  const lie = tokens.findIndex(
    ({ themes }, index) =>
      (themes & theme.deceive) !== 0 && isOrder(tokens, index) && !isDenied(tokens, index),
  )
  if (
    lie >= 0 &&
    !setting.isName &&
    (about(sentence, theme.trouble | theme.regardless) || has(sentence, bit.user | bit.answer | bit.tell)) &&
    !/^git$/.test(tokens[lie - 1]?.word ?? '')
  )
    return make(2.5, 'tells the model to deceive the user')
  if (!sentence.isEnglish && isRegardless && beside(sentence, theme.portray, theme.praise | theme.good, 12))
    return make(2.5, 'wants praise or blame whatever the facts are')
  return undefined
}

const isPraising = (folded: string) =>
  /\b(?:empfiehl|empfehl\w*|recomiend\w*|recomend\w*|recommand\w*|raccomand\w*|consigli\w*|conseill\w*)\b|рекомендуи|советуи|推荐|推薦|勧め|おすすめ|추천/.test(
    folded,
  )
