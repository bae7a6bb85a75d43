/** Claims that a text outranks what the model was told, or that what it was told has lapsed. */
import { bit } from './concepts.js'
import { has, speaksOfAttacks } from './sentence-tests.js'
import type { Judge } from './suspicion.js'
import { about } from './theme-tests.js'
import { theme } from './themes.js'

const HERE =
  /\b(?:this (?:text|tool|server|description|message|page|definition|service|document|file|field|parameter|plugin|list|note)|these (?:lines|words|rules|instructions|notes)|what (?:stands|is written|is said|you read) here|our (?:rules|word|instructions|text)|the (?:text|description|rules) (?:here|below|of this))\b/
const WINS =
  /\b(?:wins?|prevails?|comes? first|goes first|takes? (?:precedence|priority)|counts?|is (?:right|decisive|binding|final|what matters)|follow (?:this|these|the (?:text|description|server|tool)|us|ours)|overrules?|outranks?|has the last word|decides?|go(?:es)? with|side with|is to be (?:followed|believed)|holds|applies)\b/
const BOSS =
  /\b(?:operator|developer|system|user|users|host|client|platform|provider|anthropic|openai|makers?|creators?|other instructions|other rules|guidelines|instructions|rules|prompt|training|your)\b/
/** What a model was told, by when and by whom it was told. */
const TOLD =
  /\b(?:rules|instructions?|guidelines|guidance|advice|restrictions?|limits?|limitations|policies|policy|directions|text|message|prompt|orders|safety|constraints|principles|training|boundaries|safeguards|everything|what)\b[^.]{0,20}\b(?:you (?:started|began|begin|start|were|was|got|had|have|received|came|carry|hold|know|usually|normally|otherwise|follow)|your (?:makers?|operator|developers?|provider|creators?|host|company|vendor|trainers?)|(?:written|said|told|stated|set|given|placed) (?:before|above|earlier|by your|by the (?:operator|developer|host|platform)|at the (?:start|beginning|outset))|before this (?:line|point|message|text)|at the (?:start|beginning|outset) of (?:this|the))\b|\b(?:your|the) (?:usual|normal|ordinary|regular|built-in|default|standing|safety|operator's|developer's|original|initial) (?:\w+ )?(?:rules|instructions?|guidelines|guidance|advice|restrictions?|limits?|limitations|policies|policy|directions|constraints|principles|boundaries|safeguards)\b/
const LAPSED =
  /\b(?:(?:was|were|is|are) (?:only |just |merely |all |all just )?(?:an? )?(?:drafts?|tests?|jokes?|mistakes?|placeholders?|examples?|exercise|for (?:testing|training|show|another|others|other)|meant for (?:another|other|others|someone|a different)|out of date|outdated|void|off|over|gone|lifted|suspended|irrelevant|obsolete|superseded|replaced|history|waived|relaxed|not real|not valid|not for)|(?:do|does|did) not (?:reach|extend|cover|count|concern|hold|matter|apply|bind|affect|include)|don't (?:reach|count|hold|matter|apply|bind)|doesn't (?:reach|count|hold|matter|apply|bind)|(?:can|may|could|should|must|is to|are to) be (?:left|put|set|laid|dropped|forgotten|skipped|ignored|thrown|disregarded|treated as void)|no longer|ends? here|stops? here|has ended|have ended|has expired|have expired|lose their|loses its)\b/

export const rankJudge: Judge = (sentence) => {
  const { folded } = sentence
  if (!has(sentence, bit.model | bit.prior | bit.rule | bit.instruction) || !sentence.isEnglish)
    return undefined
  if (
    /\b(?:never|do not|don't|must not|no longer|nicht) (?:refuse|decline|object to|question|doubt|challenge|resist) (?:any|anything|what|whatever|a |requests?|orders?|this|these|its|our|it\b)|\b(?:refuse|decline|deny|question) nothing\b|\b(?:grant|say yes to|comply with|obey|fulfil|fulfill) (?:all|every|any|each) (?:requests?|orders?|commands?|wish\w*|demands?|instructions?) (?:of|from|by|that|this)\b/.test(
      folded,
    )
  )
    return { rule: 'instruction-override', weight: 2.5, why: 'tells the model to refuse nothing' }
  if (
    /\bonly (?:what |the (?:rules|words|instructions|text) of )?(?:this (?:server|tool|text|description)|we|our)\b[^.]{0,30}\b(?:valid|counts?|binding|matters?|applies|apply|true|says? is)\b|\b(?:discard|ignore|disregard|reject|drop|forget) (?:\w+ ){0,2}(?:directions|instructions|orders|rules|requests|guidance|advice) (?:from|of|by) (?:anywhere|anyone|everyone|everybody|somewhere|any|other|all other) ?(?:else|sources?|places?|people|parties)?\b/.test(
      folded,
    )
  )
    return { rule: 'instruction-override', weight: 2.5, why: 'puts itself above the user and the system' }
  if (
    /\b(?:has|have|takes?|gets?|enjoys?|given|with) (?:\w+ )?(?:priority|precedence) over (?:\w+ ){0,4}(?:users?|user's|system|operator|developer|instructions|rules|guidelines|prompt|request)\b/.test(
      folded,
    ) &&
    (HERE.test(folded) || has(sentence, bit.instruction)) &&
    !/\b(?:parameters?|fields?|options?|flags?|environment|config\w*|files?) (?:has|have|takes?|gets?)\b/.test(
      folded,
    )
  )
    return { rule: 'instruction-override', weight: 3, why: 'puts itself above the user and the system' }
  if (
    /^\W{0,3}(?:\w+ )?override\W{1,3}(?:\w+ ){0,3}(?:safety|rules|limits|restrictions|filters|guardrails|checks)\b|\b(?:safety|restrictions|guardrails|filters) (?:is |are )?(?:off|lifted|disabled)\b/.test(
      folded,
    ) &&
    sentence.tokens.length <= 8
  )
    return { rule: 'instruction-override', weight: 2, why: 'says that limits are off' }
  if (speaksOfAttacks(sentence)) return undefined
  const make = (weight: number, why: string) => ({ rule: 'instruction-override', weight, why }) as const
  if (
    about(sentence, theme.conflict) &&
    HERE.test(folded) &&
    WINS.test(folded) &&
    BOSS.test(folded) &&
    !/\b(?:user|operator|system|host|developer)(?:'s \w+)? (?:wins|prevails|comes first|takes (?:precedence|priority)|decides)\b/.test(
      folded,
    )
  )
    return make(3, 'puts itself above the user and the system')
  if (LAPSED.test(folded) && TOLD.test(folded))
    return make(2.5, 'says that what the model was told no longer counts')
  if (
    /\b(?:developer|god|debug|admin|root|maintenance|unrestricted|jailbreak|sudo|navigation|expert|test)[- ]?mode\b/.test(
      folded,
    ) &&
    /\b(?:restrictions?|limits?|rules|filters|safety|safeguards|guardrails|checks)\b[^.]{0,20}\b(?:lifted|off|disabled|removed|suspended|gone|void|ignored|relaxed|not (?:count|apply))\b/.test(
      folded,
    )
  )
    return make(2.5, 'says that limits are off')
  return undefined
}
