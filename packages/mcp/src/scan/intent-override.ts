/** Orders to drop, replace or outrank what the model was told, and to be someone else. */
import { widened } from './clauses.js'
import { bit } from './concepts.js'
import { has, isDenied, isMention, isOrder, near, speaksOfAttacks, startOf } from './sentence-tests.js'
import type { Judge, Suspicion } from './suspicion.js'

const WHOSE =
  /^(?:previous|previously|prior|earlier|above|preceding|your|you|foregoing|precedent|system|developer|developer's|operator|host|host's|creator|creators|provider|platform|hosting|application|client|aforementioned)$/

/** Instructions that a model has, not those of a recipe. */
const OWN_INSTRUCTIONS =
  /\byour (?:\w+ ){0,3}(?:instructions?|guidelines|guidance|directives?|directions|guardrails|safeguards|prompt)\b|\b(?:instructions?|guidelines|directives?|directions|guidance)\b[^.]{0,20}\b(?:you (?:had|have|were|got|received|follow|carry)|given to you|from (?:the )?(?:user|developer|system|operator|host))\b|\bsystem (?:prompt|message|instructions)\b|\binstructions\b[^.]{0,30}\breplace\b[^.]{0,20}\b(?:yours|the ones|those|any|all)\b/

export const overrideJudge: Judge = (sentence) => {
  const { tokens, folded } = sentence
  const make = (weight: number, why: string): Suspicion => ({ rule: 'instruction-override', weight, why })
  const pair = near(sentence, bit.ignore, bit.instruction, 9)
  if (
    !pair &&
    has(sentence, bit.instruction) &&
    sentence.isEnglish &&
    !speaksOfAttacks(sentence) &&
    OWN_INSTRUCTIONS.test(folded) &&
    !/\b(?:of|for) (?:an?|the|this|each|any) (?:\w+ )?(?:agent|assistant|bot|chatbot|model|workflow)\b/.test(
      folded,
    )
  ) {
    const broad = near(widened(sentence), bit.ignore, bit.instruction, 8)
    const verb = broad && ((tokens[broad[0]]?.wide ?? 0) & bit.ignore ? broad[0] : broad[1])
    if (verb !== undefined && !isDenied(tokens, verb, 3) && !isMention(sentence, verb))
      return make(3, 'tells the model to drop or change its instructions')
  }
  if (pair) {
    const left = Math.min(...pair)
    const from = startOf(tokens, left, bit.ignore)
    const around = tokens.slice(Math.max(0, from - 3), Math.max(...pair) + 5)
    const isWhose = around.some(
      ({ bits, word }) => bits & (bit.prior | bit.model) || /^(?:all|any|every|these|following)$/.test(word),
    )
    const verb =
      tokens.slice(from, from + 3).findIndex(({ bits }) => bits & bit.ignore) >= 0 ? from : Math.max(...pair)
    if (isWhose && !isDenied(tokens, verb, 2)) {
      if (isMention(sentence, from)) return make(1, 'quotes an order to ignore instructions')
      if (speaksOfAttacks(sentence, from))
        return make(isOrder(tokens, verb) ? 1.5 : 1, 'speaks of ignoring instructions')
      // "Prompts that ignore instructions" are spoken about.
      if (
        /^(?:that|which|who|to)$/.test(tokens[verb - 1]?.word ?? '') &&
        sentence.isEnglish &&
        !has(sentence, bit.model | bit.force)
      )
        return make(1, 'speaks of ignoring instructions')
      const isStrong =
        !sentence.isEnglish ||
        isOrder(tokens, verb) ||
        has(sentence, bit.model | bit.force) ||
        around.some(({ word, bits }) => (bits & bit.prior && !/^[a-z]/.test(word)) || WHOSE.test(word))
      return make(
        isStrong ? 3 : tokens[verb]?.isBare ? 2 : 1,
        'tells the model to drop or outrank what it was told before',
      )
    }
  }
  if (
    /\byour (?:\w+ )?(?:instructions|guidelines|directives|orders|task|goal|objective|mission|purpose) (?:now )?(?:change|are now|is now|become|becomes|have changed|has changed|differ|are different|are to|is to)\b|\byou now (?:serve|obey|answer to|work for|belong to|report to)\b/.test(
      folded,
    ) &&
    !speaksOfAttacks(sentence)
  )
    return make(3, 'gives the model other instructions')
  if (
    /\b(?:highest|ultimate|supreme|final|absolute|sole) (?:authority|priority)\b/.test(folded) &&
    /\b(?:this (?:text|tool|server|description|message)|these (?:instructions|words|rules)|what is written here)\b/.test(
      folded,
    ) &&
    has(sentence, bit.user | bit.instruction | bit.model)
  )
    return make(3, 'puts itself above the user and the system')
  const weak = near(sentence, bit.ignore, bit.rule, 7)
  if (weak && !speaksOfAttacks(sentence, Math.min(...weak)) && !isMention(sentence, Math.min(...weak))) {
    const [left, right] = [Math.min(...weak), Math.max(...weak)]
    const from = startOf(tokens, left, bit.ignore)
    const isWhose = tokens
      .slice(Math.max(0, from - 2), right + 5)
      .some(({ word, bits }) =>
        sentence.isEnglish ? WHOSE.test(word) && word !== 'system' : (bits & bit.prior) !== 0,
      )
    // "Rules are lifted" orders; "a rule that overrides" describes.
    if (
      !sentence.isEnglish &&
      isOrder(tokens, from) &&
      tokens.slice(from, right + 1).some(({ bits }) => bits & bit.other) &&
      !isDenied(tokens, from, 2)
    )
      return make(2, 'tells the model to drop rules')
    const isOrdered =
      isOrder(tokens, from) ||
      ((tokens[left]?.bits ?? 0) & bit.rule &&
        /ed$|n$|void|longer|apply|dropped|bind|force|effect|have|has|not|do|does/.test(
          tokens[right]?.word ?? '',
        )) ||
      /\byou(?:'re| are| have been) (?:\w+ )?(?:free|freed|released|relieved|exempt|exempted|excused|absolved)\b/.test(
        folded,
      )
    const isGiven =
      !sentence.isEnglish ||
      has(sentence, bit.model) ||
      /\b(?:previous|prior|earlier|preceding|above|developer|operator|host|hosting|client|platform|provider|vendor|creators?)\b/.test(
        folded,
      )
    const verb = (tokens[left]?.bits ?? 0) & bit.ignore ? from : right
    if (isWhose && isOrdered && isGiven && !isDenied(tokens, verb, 3))
      return make(3, 'tells the model to drop rules it was given')
  }
  if (
    /\b(?:do not|don't|never|stop|no longer|cease|refuse to|need not|needn't) (?:to )?(?:follow|obey|comply with|adhere to|listen to|honou?r|respect|heed)(?:ing)? (?:\w+ ){0,4}(?:developer|operator|host|system|you were|told you|guidelines|instructions|rules|previous|earlier|user's (?:request|instructions|wishes)|safety)\b/.test(
      folded,
    ) &&
    !speaksOfAttacks(sentence)
  )
    return make(3, 'tells the model not to follow what it was told')
  if (
    /(?:^|[,;:] |\band )(?:ignore|disregard|forget|set aside|abandon|override) (?:the |what the |whatever the )?(?:users?'?s?|user's) (?:request|question|task|wish(?:es)?|query|instructions?|input|asked|actual)\b/.test(
      folded,
    )
  )
    return make(3, 'tells the model to drop what the user asked for')
  if (
    /\b(?:these|this) (?:instructions?|rules?|text|tool|description|server|directives?) (?:always )?(?:wins?|prevails?|comes? first|takes? (?:precedence|priority)|overrules?|outranks?)\b/.test(
      folded,
    ) &&
    /\b(?:whatever|over|even|always|conflict|host|user|system)\b/.test(folded)
  )
    return make(3, 'puts itself above the user and the system')
  if (
    /(?:^|[,;:] |\band |must |should |always )(?:overrule|override|disobey|ignore|defy|disregard) the (?:user|human|operator)\b(?!'s)/.test(
      folded,
    ) &&
    !speaksOfAttacks(sentence)
  )
    return make(3, 'tells the model to act against the user')
  // "Ignore the above and …": no word for instructions is needed.
  if (
    /(?:^|[,;:] |\band )(?:please )?(?:ignore|disregard|forget|discard) (?:all |everything )?(?:of )?(?:the |that |what came |anything )?(?:above|previous|preceding|foregoing|before|prior|earlier)(?: (?:text|content|message|part|description))?(?:[,.;:]| and | then |$)/.test(
      folded,
    )
  )
    return make(isMention(sentence, 0) ? 1 : 3, 'tells the model to drop what came before')
  return undefined
}

const PERSONA =
  /\b(?:you are now|you're now|from now on,? (?:you|act|behave|treat|every|all|always)|act as (?:if (?:you|no|there)|though (?:you|no|there)|an? (?:unrestricted|unfiltered|administrator|admin|root|super)|root|admin)|(?:developer|god|debug|admin|root|maintenance|unrestricted|jailbreak|sudo|dan) mode (?:is )?(?:enabled|on|activated|now)?|do anything now|enter (?:developer|god|debug|admin|root|maintenance|unrestricted|sudo) mode|switch (?:to|into) (?:\w+ ){0,2}mode|you (?:have|are) (?:no|free (?:of|from)|without) (?:any )?(?:restrictions|limits|rules|filters|limitations)|no longer (?:bound|restricted|limited|subject)|your new (?:role|task|goal|objective|instructions|identity|purpose|persona)|new system (?:prompt|instructions|message)|pretend (?:to be|you|that you)|assume the role|roleplay as|you (?:must|will|shall) (?:now )?(?:obey|comply)|system override|admin(?:istrator)? override|override code|ahora eres|du bist (?:jetzt|nun|ab)|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|теперь ты|теперь вы|adesso sei|agora voce|ab sofort bist)|(?:你现在是|从现在起|从现在开始|現在你是|あなたは今から|이제부터 당신)/

export const personaJudge: Judge = (sentence) => {
  const match = PERSONA.exec(sentence.folded)
  if (!match) return undefined
  if (speaksOfAttacks(sentence))
    return { rule: 'instruction-override', weight: 1, why: 'speaks of another role for the model' }
  if (
    /\byou(?:'re| are) now (?:ready|able|connected|logged|signed|authenticated|subscribed|done|set|using|viewing|on|at)\b/.test(
      sentence.folded,
    )
  )
    return undefined
  const isGrave =
    /mode|override|restrict|free|no longer|anything|obey|comply|new system|root|admin|unfiltered|you are now|you're now|from now on|your new|ahora|jetzt|maintenant|теперь|现在|从现在/.test(
      match[0],
    )
  const isAddressed =
    has(sentence, bit.model) ||
    /^(?:enter|switch|from now|new system|system override|admin\w* override|do anything)/.test(match[0])
  return {
    rule: 'instruction-override',
    weight: isGrave && isAddressed ? 3 : isAddressed || !/^[a-z]/.test(match[0]) ? 2.5 : 1,
    why: 'gives the model another role',
  }
}
