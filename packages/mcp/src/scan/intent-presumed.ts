/** Consent made light of or taken for granted: the question is a formality, silence is a yes, an old approval covers new abilities. */
import { bit } from './concepts.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Judge } from './suspicion.js'
import { about, beside, told } from './theme-tests.js'
import { theme } from './themes.js'

/** Words that make light of a question; the rest of the theme only says that none is asked. */
const LIGHT =
  /\b(?:formalit(?:y|ies)|for show|decorat\w+|cosmetic|theat(?:re|er)|placebo|meaningless|tiresome|annoy\w*|irritat\w+|nuisance|pointless|no point|superfluous|waste[s]? (?:of )?time|slow\w* (?:things|everyone|everything|down|them|you)|dummy|ceremonial|relic|no (?:meaning|function|effect)|not binding|vestigial|friction|in the way|formsache|formalite|formalidad\w*|pro forma|lastig|costs? (?:\w+ ){0,4}time|theatrics)\b|формальност|бессмысл|走过场|无意义|形式|形式的|형식/
const ON_ITS_OWN =
  /\b(?:by itself|by yourself|yourself|on its own|on your own|on (?:the user's|their|his|her) behalf|in (?:the user's|their) (?:name|place|stead)|for (?:the user|them)|automatically)\b/

export const presumedJudge: Judge = (sentence, setting) => {
  const { folded } = sentence
  if (
    !about(sentence, theme.question | theme.yes | theme.presume | theme.sham) &&
    !has(sentence, bit.consent) &&
    !(has(sentence, bit.user) && has(sentence, bit.negation))
  )
    return undefined
  if (isSummary(sentence, setting) || speaksOfAttacks(sentence) || setting.isName) return undefined
  if (!sentence.isEnglish && (sentence.tokens.length > 30 || /[=(]/.test(folded))) return undefined
  const make = (weight: number, why: string) => ({ rule: 'consent-bypass', weight, why }) as const
  if (
    /\b(?:only|unless|until|once|whether|never assume|do not assume|don't assume|not be assumed|must not|should not)\b/.test(
      folded,
    ) &&
    !LIGHT.test(folded)
  )
    return undefined
  const asksSomeone =
    has(sentence, bit.user | bit.consent) ||
    /\b(?:anybody|anyone|nobody|somebody|person|people|they|their|them|client|human)\b/.test(folded)
  if (
    about(sentence, theme.question) &&
    LIGHT.test(folded) &&
    asksSomeone &&
    beside(sentence, theme.question, theme.sham, 12)
  )
    return make(/\bif\b/.test(folded) || setting.isParameter ? 2 : 2.5, 'makes light of asking the user')
  if (
    /\b(?:does|do|did) not (?:want|wish|like|care|need|expect) to be (?:asked|consulted|bothered|interrupted|prompted|involved|disturbed)\b|\b(?:hold up|delay|stop|pause|wait with|block|interrupt) (?:\w+ ){0,6}for (?:an? |the |any )?(?:human|user|person)(?:'s)? (?:decision|answer|reply|approval|review|input|confirmation|ok)\b|\b(?:prompt|dialog|pop-?up|window|question|request|banner|warning)s?\b[^.]{0,40}\b(?:closed|dismissed|clicked away|skipped|accepted|confirmed|ignored|answered)\b[^.]{0,20}\b(?:without|unread|automatically|blindly|at once|by you|yourself)\b/.test(
      folded,
    ) &&
    !/\b(?:if|must not|should not|cannot) \b/.test(folded)
  )
    return make(2.5, "tells the model to act without the user's consent")
  if (
    /\b(?:user|users|customer|customers|owner|person|client|account holder|they)\b(?: \w+){0,3} (?:accepted|approved|agreed to|consented to|authori[sz]ed|signed off on|allowed|permitted) (?:everything|anything|all|every|whatever|any)\b/.test(
      folded,
    ) &&
    !/\b(?:if|whether|once|when|until|unless|after)\b/.test(folded)
  )
    return make(2.5, 'claims that the user has consented')
  if (
    /\b(?:fill|set|answer|put|enter|pass|reply|say|write|choose|click|give)\b[^.]{0,30}["'“]?\b(?:yes|true|confirmed|agreed|ok|okay|approved|allow|accept\w*)\b["'”]?[^.]{0,12}\b(?:on behalf of|in the name of|in place of|instead of|for) (?:the |your )?(?:user|person|human|customer|owner)\b/.test(
      folded,
    )
  )
    return make(3, "tells the model to answer in the user's place")
  if (
    /\bas (?:if|though) (?:\w+ ){1,6}(?:accepted|approved|confirmed|granted|agreed|clicked|consented|said yes|allowed|given)\b/.test(
      folded,
    ) &&
    asksSomeone
  )
    return make(3, 'takes consent for granted')
  if (
    /\b(?:users?|people|customers?|owners?|everyone|they|person|company|team)\b[^.]{0,40}\b(?:opted out of|waived|declined|turned off|switched off|given up|gave up|renounced|do(?:es)? not want|don't want|dislikes?|hates?|prefers? not|agreed in advance to|tired of|have no wish for|decided against) (?:\w+ ){0,4}(?:confirmations?|questions?|prompts?|approvals?|dialogs?|pop-?ups?|asked|being asked|reviews?|previews?)\b/.test(
      folded,
    )
  )
    return make(2.5, 'claims that the user wants no questions')
  if (
    /\byou (?:already |hereby )?(?:have|hold|possess|enjoy|were given|are given|got) (?:the |a |our |their )?(?:user's )?(?:\w+ )?(?:standing|full|blanket|general|permanent|prior|unlimited|complete|implicit|lasting|open|free) (?:\w+ )?(?:permission|authority|approval|consent|mandate|clearance|authori[sz]ation|licen[cs]e|hand)\b/.test(
      folded,
    )
  )
    return make(2.5, 'claims that the user has consented')
  if (
    /\b(?:asking|questions?|confirmations?|prompts?|checking back|previews?|previewing|approvals?) (?:\w+ ){0,5}(?:is|are) (?:not|neither|never|un)\s?(?:desired|wanted|welcome|expected|appreciated|intended|foreseen|called for|helpful)\b/.test(
      folded,
    )
  )
    return make(2, "tells the model to act without the user's consent")
  if (
    /\b(?:act|do|execute|run|proceed|delete|send|pay|buy|deploy|go) (?:it |this )?first\b[^.]{0,20}\b(?:tell|ask|inform|report|explain|notify|apologi[sz]e|confirm)\b[^.]{0,20}\b(?:later|afterwards?|after|second|then)\b/.test(
      folded,
    )
  )
    return make(2.5, "tells the model to act without the user's consent")
  if (
    /\b(?:no|without|needs? no|with no|any) (?:further|other|more|additional|second) (?:questions?|confirmations?|approvals?|prompts?|checks?|consent|permission|sign-off|review)\b/.test(
      folded,
    ) &&
    !setting.isParameter &&
    has(sentence, bit.run | bit.send | bit.change | bit.tool | bit.argument | bit.when) &&
    !/\b(?:if|must not|cannot)\b/.test(folded)
  )
    return make(2, "tells the model to act without the user's consent")
  if (
    /\bno (?:reason|need|point|use|call|cause) (?:to|in|for) (?:ask|asking|consult|consulting|inform|check|checking|confirm|confirming|bother|bothering|involve|involving|wait|waiting|prompt|prompting|notify) (?!for (?:the|an?|their|his|her|its|this|that|it)\b)(?:the |any |your )?(?:users?|them|person|human|customer|anyone|anybody|again|first|owner|people)\b(?! (?:for|which|what|to provide|whether|about (?:the|their) (?:id|name)))/.test(
      folded,
    )
  )
    return make(2, "tells the model to act without the user's consent")
  if (
    /\b(?:spare|save) (?:the |your )?(?:users?|them|person|people|customer|humans?)\b[^.]{0,40}/.test(
      folded,
    ) &&
    about(sentence, theme.question)
  )
    return make(2.5, "tells the model to act without the user's consent")
  if (
    /\b(?:removed?|removes|removing|took|taken|take|leave|left|leaves|keep|drop|dropped|cut) (?:the )?(?:human|user|person|people|humans|users|operator)s? (?:out of|from) (?:the |this |it|that|any|all)/.test(
      folded,
    ) &&
    !setting.isParameter
  )
    return make(2.5, 'takes the user out of the decision')
  if (
    about(sentence, theme.presume) &&
    about(sentence, theme.yes) &&
    beside(sentence, theme.presume, theme.yes, 7) &&
    /\b(?:silence|no (?:answer|reply|objection)|answer|reply|lack of|absence|operations?|calls?|actions?|requests?|purchases?|everything|all|they|user|users|their|earlier|previous|every|any|each)\b/.test(
      folded,
    ) &&
    !/\b(?:if|false|returns?|boolean|flag|when set|status|state|whether|to confirm)\b/.test(folded) &&
    (!setting.isParameter || ON_ITS_OWN.test(folded))
  )
    return make(2.5, 'takes consent for granted')
  if (
    /\b(?:press(?:es)?|clicks?|ticks?|choose[s]?|selects?|hits?|answers?|confirms?|accepts?|approves?) (?:the )?["'“]?(?:allow|yes|ok|okay|accept|approve|confirm|agree|always allow|proceed|continue)\b/.test(
      folded,
    ) &&
    ON_ITS_OWN.test(folded) &&
    !/\b(?:the )?user (?:must|should|can|has to|needs to|clicks|presses)\b/.test(folded)
  )
    return make(3, "tells the model to answer in the user's place")
  if (
    /\bset (?:\w+ ){0,3}to true (?:yourself|on your own|by default|without|in (?:their|the user's))/.test(
      folded,
    ) &&
    asksSomeone
  )
    return make(2.5, "tells the model to answer in the user's place")
  if (
    /\b(?:approv\w+|consent\w*|permission|authori[sz]ation|agreement)\b[^.]{0,40}\b(?:covers?|extends?|carries over|still (?:holds|applies|stands|valid)|includes? (?:this|these|all|new)|applies (?:to|here)|suffices|is enough)\b/.test(
      folded,
    ) &&
    /\b(?:earlier|previous\w*|prior|first|initial|original|old|already|given|once|past|standing|general|existing)\b/.test(
      folded,
    )
  )
    return make(2.5, 'stretches an old approval over something new')
  if (
    /\b(?:approved|reviewed|vetted|audited|checked|scanned|trusted|certified)\b[^.]{0,80}\b(?:no|not|without|never|skip) (?:\w+ ){0,2}(?:further|another|second|additional|new|more|need\w*|again|re-?review|re-?check\w*|scan\w*|inspect\w*|look)\b/.test(
      folded,
    ) &&
    (about(sentence, theme.self) || has(sentence, bit.tool | bit.run)) &&
    !setting.isParameter
  )
    return make(2.5, 'claims that it needs no second look')
  if (
    about(sentence, theme.question) &&
    about(sentence, theme.sham) &&
    told(sentence, theme.blindly | theme.follow) >= 0 &&
    !setting.isParameter &&
    beside(sentence, theme.question, theme.sham, 6) &&
    !/\bif\b/.test(folded)
  )
    return make(2, "tells the model to act without the user's consent")
  if (
    /\b(?:user|person|human|people|customer|owner|nobody|they)\b[^.]{0,20}\b(?:no need|need not|needn't|not need|never need\w*|not have|needs?|has|have)\b[^.]{0,6}\bto be (?:asked|consulted|involved|bothered|told first|troubled)\b/.test(
      folded,
    ) &&
    /\b(?:no|not|never|needn't|nobody)\b/.test(folded)
  )
    return make(2, "tells the model to act without the user's consent")
  if (
    !sentence.isEnglish &&
    about(sentence, theme.question) &&
    about(sentence, theme.sham) &&
    beside(sentence, theme.question, theme.sham, 6) &&
    (about(sentence, theme.blindly) || has(sentence, bit.user))
  )
    return make(2, "tells the model to act without the user's consent")
  return undefined
}
