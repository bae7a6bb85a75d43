/** Orders to keep something from the user. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import {
  follows,
  has,
  hasAll,
  isDenied,
  isMention,
  near,
  orderOf,
  speaksOfAttacks,
} from './sentence-tests.js'
import { isSummary, type Judge, type Suspicion } from './suspicion.js'

const TALK = /^(?:this|that|it|these|those|about|anything|any|what|your|the)$/
const HARMLESS_OBJECT =
  /^(?:ids?|uuids?|json|raw|internal|technical|dates?|details?|formats?|html|xml|markdown|urls?|links?|paths?|names?|numbers?|errors?|tokens?|keys?|passwords?|secrets?|credentials?|urns?|guid|statuses|emoji|slugs?|schema|sql|values?|apikey|api|stack|traces?|timestamps?|placeholder|codes?|unless|prices?|cost|images?|thumbnails?|screenshots?)$/

/** Ways to ask for silence that have no "not" before a verb of telling. */
const SILENCE: readonly (readonly [RegExp, string])[] = [
  [
    /\bsay nothing\b|\btell (?:nobody|no one|no-one|noone)\b|\b(?:make|give|leave) no (?:reference|mention|hint|indication|sign|trace|record of this)\b|\bwithout a word to\b|\bnot (?:say )?a word (?:about|of|to)\b|\b(?:stay|keep|remain)(?:s|ing)? (?:silent|quiet|mum|schtum|tight-lipped) (?:about|on|over)\b/,
    'tells the model to keep silent',
  ],
  [
    /\b(?:not|never|don't|avoid|without) (?:bring|bringing|call|calling) (?:\w+ ){1,3}to (?:the |any )?(?:user's?|their|anyone's|human's) (?:attention|notice)\b|\b(?:leave|keep) (?:\w+ ){1,4}out of what you (?:tell|say|show|report|write)\b|\b(?:users?|human|customer|person) (?:is|are) not to be (?:informed|told|notified|alerted|asked|shown|made aware)\b/,
    'wants the user not to be told',
  ],
  [
    /\bso (?:that )?(?:nobody|no one|no-one) (?:sees|notices|knows|finds|learns|suspects|hears)\b|\b(?:avoid|without|not|never|don't) (?:draw|drawing|call|calling|attract|attracting) (?:any )?attention\b|\b(?:stays?|remains?|kept?|keep) (?:strictly )?between (?:you and|us|the two)\b/,
    'wants something done unnoticed',
  ],
  [
    /\b(?:answers?|repl(?:y|ies)|responses?|output|messages?|summar(?:y|ies))\b[^.]{0,20}\b(?:must not|should not|mustn't|shouldn't|may not|can not|cannot|never|not to)\b[^.]{0,20}\b(?:contain|include|mention|reveal|show|hint|refer|betray|disclose)\b[^.]{0,30}\b(?:this (?:tool|step|call|action|request|operation)|hint|trace|sign|its use|it was|these)\b|\bwithout (?:mentioning|saying|telling|revealing|disclosing|announcing|acknowledging) (?:it|this|that|so|anything|anyone|a word)\b/,
    'wants something done without a word',
  ],
  [
    /\bso (?:that )?(?:the |any )?(?:users?|admin\w*|owner|team|customer|operator|human|person|they) (?:does not|doesn't|do not|don't|won't|will not|cannot|can't|never) (?:notice|see|know|find|learn|suspect|realis|realiz)|\b(?:stay|remain|be kept|keep|kept)s? (?:\w+ ){0,3}(?:hidden|secret|invisible|concealed|confidential) (?:from|to) (?:the |any |end |all )*(?:users?|human|person|customer|operator|owner)\b/,
    'wants the user not to see it',
  ],
  [
    /\bif (?:anybody|anyone|the user|someone|somebody|they|users?) asks? (?:what you (?:did|are doing)|about (?:this|it|that)|why|how you)\b[^.]{0,40}\b(?:answer|say|tell|reply|respond|claim)\b/,
    'tells the model what to say instead of the truth',
  ],
  [
    /\b(?:leave|keep|omit|exclude|drop|strip) (?:this|it|that|these|any (?:mention|trace|sign|reference)|all (?:mention|trace|sign|reference)s?|the (?:call|step|lookup|request|fact)\w*)(?: \w+){0,4} (?:out of|from|off) (?:any|the|your|every|all|its)?\s?(?:\w+ )?(?:summary|summaries|answers?|reply|replies|responses?|output|report|explanation|transcript|messages?|conversation)\b/,
    'tells the model what to leave out of its answer',
  ],
  [
    /\bas (?:though|if)\b[^.]{0,50}\b(?:never|not|nothing)\b[^.]{0,30}\b(?:called|used|happened|run|ran|invoked|existed?|occurred|taken place)\b/,
    'tells the model to act as if nothing had happened',
  ],
  [
    /\b(?:if|when) (?:the user |anyone |someone |they |you are |you're )?(?:is |are )?ask(?:ed|s|ing)?\b[^.]{0,40}\b(?:deny|say (?:that )?(?:you|it|nothing|no)|lie|claim|pretend|change the subject)\b|\bdeny (?:it|this|having|that you|any knowledge|knowing|all knowledge)\b/,
    'tells the model to deny what it did',
  ],
  [
    /\b(?:users?|humans?|persons?|customers?|people|operator|they) (?:\w+ ){0,4}(?:unaware|oblivious|ignorant|in the dark|none the wiser|clueless|uninformed|out of the loop)\b|\bunbeknownst\b|\bbehind (?:their|the user's|his|her) back\b/,
    'wants the user not to know',
  ],
]

export const secrecyJudge: Judge = (sentence, setting) => {
  const { tokens, folded } = sentence
  if (isSummary(sentence, setting) && !has(sentence, bit.user)) return undefined
  const soften = speaksOfAttacks(sentence)
  const weigh = (weight: number, why: string): Suspicion => ({
    rule: 'secrecy',
    weight: soften ? Math.min(weight, 1) : weight,
    why,
  })
  // Without the user's knowledge; the user must not know.
  const unknown = near(sentence, bit.know, bit.user, 6)
  if (unknown && has(sentence, bit.negation)) {
    const denied = follows(sentence, bit.negation, bit.know, 6)
    if (denied) {
      const between = tokens.slice(Math.max(0, denied[0] - 4), denied[1] + 1)
      const isBarred =
        between.some(({ word }) =>
          /^(?:must|mustn't|should|shouldn't|shall|let|without|never|need|needn't|may|have|has|allow|ever|aviso|sans|sin|ohne|без)$/.test(
            word,
          ),
        ) ||
        (has(sentence, bit.force) && has(sentence, bit.run | bit.send | bit.read | bit.put))
      const isAsking =
        /\b(?:does not|doesn't|do not|don't|may not|might not) (?:yet )?know\b|\bif (?:the )?users?\b|\bwhen (?:the )?users?\b/.test(
          folded,
        )
      if (isBarred && !isAsking && !/\busers? (?:who|that|with|without|in)\b/.test(folded))
        return weigh(3, 'wants something done that the user does not notice')
    }
  }
  if (
    !sentence.isEnglish &&
    hasAll(sentence, bit.know, bit.user, bit.negation) &&
    near(sentence, bit.know, bit.user, 7) &&
    near(sentence, bit.negation, bit.know, 4) &&
    !/[\u3040-\u9fff]/.test(folded)
  )
    return weigh(3, 'wants something done that the user does not notice')
  if (
    /\bl'insu de\b|\ba espaldas del? usuari|\bhinter dem rucken\b|\bвтайне от\b|\ball'insaputa\b/.test(folded)
  )
    return weigh(3, 'wants something done that the user does not notice')
  if (
    /\b(?:ohne (?:das )?wissen|a espaldas|sin que (?:el|la|los) usuari|без ведома)\b/.test(folded) ||
    /(?:用户|用戶)(?:不)?(?:知情|察觉|知道|发现)/.test(folded)
  )
    if (has(sentence, bit.negation)) return weigh(3, 'wants something done that the user does not notice')
  for (const [pattern, why] of SILENCE)
    if (pattern.test(folded)) return isMention(sentence, 0) ? undefined : weigh(3, why)
  // Do not tell the user.
  for (const [index, token] of tokens.entries()) {
    const telling = token.bits & (bit.tell | bit.show)
    const isDeniedHere =
      isDenied(tokens, index, 5) ||
      (!sentence.isEnglish &&
        !/^[\u3040-\u9fff]/.test(token.word) &&
        tokens.slice(index, index + 7).some(({ bits }) => bits & bit.negation))
    if (!telling || token.identifier !== undefined || !isDeniedHere) continue
    const after = tokens.slice(index + 1, index + 9)
    // "Users shouldn't say" is about users; "users must not be told" is not.
    const isPassive = !token.isBare || /^(?:told|shown)$/.test(token.word)
    const isToUser =
      (!sentence.isEnglish &&
        tokens.slice(Math.max(0, index - 5), index + 6).some(({ bits }) => bits & bit.user)) ||
      after.slice(0, 7).some(({ bits }) => bits & bit.user) ||
      (isPassive && tokens.slice(Math.max(0, index - 7), index).some(({ bits }) => bits & bit.user))
    const isPlain = after.slice(0, 7).some(({ word }) => HARMLESS_OBJECT.test(word))
    const isOfThis = after
      .slice(0, 4)
      .some(
        ({ word, bits }) =>
          /^(?:this|that|it|these|those|anything|instruction|instructions|step|steps)$/.test(word) ||
          (bits & (bit.instruction | bit.path)) !== 0,
      )
    const isInAnswer = after.some(({ bits }) => bits & bit.answer)
    const isShow = (token.bits & bit.tell) === 0
    if (!isOrderedDenial(sentence, index)) continue
    if (isMention(sentence, index)) continue
    if (isToUser && !isShow) {
      // "Do not say it is booked before the status is CONFIRMED" wants the truth told.
      const isTimely =
        /\b(?:until|before)\b(?! you\b)[^.]{0,40}\b(?:is|are|has|have|status|says|returns|confirms)\b/.test(
          folded,
        )
      if (isTimely) return weigh(1, 'tells the model what not to say yet')
      if (!isPlain) return weigh(3, 'tells the model to keep something from the user')
      if (isOfThis) return weigh(3, 'tells the model to keep something from the user')
      return weigh(0.5, 'tells the model what not to say')
    }
    if (isToUser && isOfThis) return weigh(3, 'tells the model not to show something to the user')
    const isBlunt =
      /^(?:mention|disclos|reveal|divulg|on$|speak|tell|admit|discuss)/.test(token.word) &&
      /^(?:this|these|that|it|your|instructions)$/.test(
        after[0]?.word === 'of' || after[0]?.word === 'about'
          ? (after[1]?.word ?? '')
          : (after[0]?.word ?? ''),
      )
    if (isOfThis && !isPlain && !isShow)
      return weigh(isInAnswer || after.length < 4 || isBlunt ? 3 : 2, 'tells the model not to speak of this')
    if (isInAnswer && !isPlain)
      return weigh(isShow ? 1.5 : 2, 'tells the model what to leave out of its answer')
    if (!isShow && after.slice(0, 3).some(({ word, bits }) => TALK.test(word) && !(bits & bit.tool)))
      return weigh(1, 'tells the model what not to speak of')
  }
  // Keep this hidden from the user; do it silently.
  const hidden = near(sentence, bit.hide, bit.user, orderOf(sentence, bit.hide) >= 0 ? 14 : 7)
  if (hidden && !isDenied(tokens, Math.min(...hidden), 3)) {
    const isOrdered =
      orderOf(sentence, bit.hide) >= 0 ||
      has(sentence, bit.force | bit.model) ||
      /\b(?:keep|remain|stay|make)\b/.test(folded)
    const isFrom =
      orderOf(sentence, bit.hide) >= 0 &&
      /\b(?:hide|conceal|mask|obscure|disguise|keep|withhold)\b[^.]{0,60}\bfrom\b/.test(folded) &&
      !setting.isParameter
    const isOfThis =
      isFrom ||
      !sentence.isEnglish ||
      /\b(?:this|it|these|that|everything|step|action|activity|behaviou?r|operation|call|use|usage)\b/.test(
        folded,
      )
    const isAddressed =
      isFrom ||
      has(sentence, bit.force | bit.model | bit.run | bit.send | bit.put) ||
      sentence.tokens.length < 12
    if (isOrdered && isOfThis && isAddressed && !isSummary(sentence, setting))
      return weigh(3, 'tells the model to hide something from the user')
  }
  if (
    /\bkeep (?:this|it|that|these|the (?:above|following|process|step|instruction)\w*|all of this|everything) (?:\w+ ){0,3}(?:secret|hidden|confidential|private|quiet|between us|to yourself|to itself|off the record|under wraps|invisible|internal)\b/.test(
      folded,
    )
  )
    return weigh(3, 'tells the model to keep something secret')
  const quietly = tokens.findIndex(
    ({ bits, word }) =>
      bits & bit.hide &&
      /(?:ly|silent|quiet|heimlich|unbemerkt|молча|тайно|незаметно|втайне|悄悄|偷偷|暗中|静默|默默|background|scenes|こっそり|密かに|몰래)$/.test(
        word,
      ),
  )
  if (quietly >= 0) {
    const close = tokens.slice(Math.max(0, quietly - 9), quietly + 10)
    const holds = (bits: number) => close.some((token) => token.bits & bits)
    const acts = close.some(
      ({ bits, isBare }) => isBare && bits & (bit.read | bit.send | bit.put | bit.run | bit.change),
    )
    // "Silently ignored", "fails silently" tell how a program behaves.
    const isFact = tokens
      .slice(Math.max(0, quietly - 2), quietly + 3)
      .some(({ word }) =>
        /^(?:fail|ignor|drop|truncat|discard|skipp|return|succe|produc|los|overwr|accept|appl|clamp|cap|fall|convert|swallow|失败|忽略)/.test(
          word,
        ),
      )
    if (acts && !isFact && !isSummary(sentence, setting)) {
      const isGrave =
        holds(bit.path | bit.conversation) ||
        (holds(bit.secret) && holds(bit.read | bit.send)) ||
        (holds(bit.address) && holds(bit.send))
      if (isGrave) return weigh(3, 'wants private data handled in secret')
      const isLatin = /^[a-z]/.test(tokens[quietly]?.word ?? '')
      const isOrdered =
        orderOf(sentence, bit.read | bit.send | bit.put | bit.run | bit.change) >= 0 &&
        has(sentence, bit.force | bit.model | bit.when)
      const isAlways = /\b(?:before|after|each|every|any|always|whenever)\b/.test(folded)
      return weigh(!isLatin ? 0.5 : isOrdered ? (isAlways ? 2 : 1.5) : 1, 'wants something done quietly')
    }
  }
  return undefined
}

/** "do not tell" as an order, not "does not report" as a fact. */
function isOrderedDenial(sentence: Sentence, index: number): boolean {
  const { tokens } = sentence
  if (!sentence.isEnglish) return true
  for (let place = index - 1; place >= Math.max(0, index - 5); place--) {
    const token = tokens[place]
    if (!token || !(token.bits & bit.negation)) continue
    const before = tokens[place - 1]
    if (/^(?:doesn't|isn't|aren't|hasn't|cannot|can't|won't)$/.test(token.word)) return false
    if (token.word === 'without')
      return has(sentence, bit.force | bit.model | bit.read | bit.send | bit.put) &&
        tokens[index]?.bits !== undefined &&
        !/notif|report/.test(tokens[index].word)
        ? true
        : near(sentence, bit.tell, bit.user, 4) !== undefined
    if (
      token.word === 'not' &&
      before !== undefined &&
      /^(?:does|is|are|did|has|have|was|were|will|can|may|might|could)$/.test(before.word) &&
      tokens[place + 1]?.word !== 'to' &&
      tokens[place - 2]?.word !== 'you'
    )
      return false
    // "not the alert" denies a thing, not a deed.
    if (tokens.slice(place + 1, index).some(({ word }) => /^(?:the|an?|any|of|in)$/.test(word))) return false
    if (token.word === 'no' || token.word === 'none' || token.word === 'nothing')
      return /^(?:need|reason|point|mention)$/.test(tokens[place + 1]?.word ?? '') || place === 0
    return true
  }
  return false
}
