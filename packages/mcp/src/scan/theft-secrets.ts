/** Keys, passwords and the like, collected or handed over. */
import { bit } from './concepts.js'
import { type Demand, demanded, ordered } from './handover.js'
import { secretNameIn } from './secret-names.js'
import { has } from './sentence-tests.js'
import type { Suspicion } from './suspicion.js'

/** A secret of the environment by its name: asked for in an argument, or to be fetched. */
export function namedSecret({ sentence, setting, summary, weigh }: Demand): Suspicion | undefined {
  const { folded, text, tokens } = sentence
  if (summary || setting.isName || !sentence.isEnglish || secretNameIn(text) === undefined) return undefined
  // What the server itself reads, and how to set it up, is its own business.
  if (
    /\b(?:defaults?|fall ?back|falls back|left out|omitted|is used|are used|instead|optional\w*|e\.g|example|such as|name of|called|named|configur\w+|set (?:the|it|up|in|via|as|\w+_)|must be set|to be set|is set|not set|unset|missing|export|requires?|expired|obtain|server|bearer|authorization|curl|headers?)\b/.test(
      folded,
    )
  )
    return undefined
  const isTo =
    has(sentence, bit.argument) || tokens.filter(({ identifier }) => identifier !== undefined).length > 1
  const isValue =
    /\b(?:value|contents?|output|whatever|what) (?:of|from|is in|in|stands|under)\b|\benvironment\b|\bfrom (?:the |your )?(?:env|shell|machine|client)\b/.test(
      folded,
    )
  if (setting.isParameter && isValue) return weigh(3, 'asks for a secret of the environment')
  if (ordered(sentence, bit.put | bit.send | bit.read) && (isTo || isValue))
    return weigh(
      setting.isParameter || isValue ? 3 : 2,
      'tells the model to hand over a secret of the environment',
    )
  return undefined
}

/** Orders about secrets, by their names. */
export function secretTheft({
  sentence,
  setting,
  summary,
  isAddressed,
  isSpaced,
  weigh,
}: Demand): Suspicion | undefined {
  const { folded, tokens } = sentence
  if (has(sentence, bit.secret) && !summary) {
    const where =
      /\b(?:found|find|see|seen|environment|machine|computer|system|disk|files?|folder|memory|context|conversation|available|stored|local|workspace|repository|project|saved|any|all|every|browser|session|user's|contents?|your environment|process)\b|环境|文件|系统|всех|все |файл\w*|fichiers?|archivos?|datei\w*|umgebung\w*/.test(
        folded,
      )
    const isPlural =
      /\b(?:passwords|credentials|secrets|tokens|keys|cookies|variables?|vars|statements|documents|photos|wallets?|seed phrase|recovery phrase|private key|ssh key|card numbers?|logins|contents?|codes|history|home directory|data|information)\b|密码|密钥|凭证|凭据|环境变量|parole?n?|парол\w*|ключ\w*|токен\w*|credencial\w*|contrasen\w*|zugangsdat\w*|passwor\w*|schlussel|identifiants|mots? de passe|cles?\b/.test(
        folded,
      )
    const isOwnKey =
      /\b(?:api|access|auth|bearer|oauth|page|refresh|next|personal access|your) (?:key|token)\b|\btoken (?:from|returned)\b|\bheader\b|\bauthenticat\w+\b|\bpagination\b|\bmax[_ ]tokens\b|\b(?:delta|sync|page|next|skip|continuation)[- ]?tokens?\b|\bsecurely\b|\bsafely\b|\bsecure (?:place|location)\b|\bsign[- ]?in\b|\blog ?in\b/.test(
        folded,
      )
    const takes = ordered(sentence, bit.read) || /\btake (?:it|them|the)\b/.test(folded)
    const gives =
      ordered(sentence, bit.put | bit.send) ||
      (takes &&
        /\b(?:and|then) (?:store|save|write|report|share|copy|show|list|dump|record|log|print|set) (?:it|them|these|those|the|all)\b/.test(
          folded,
        ))
    const isTo = has(sentence, bit.argument) || tokens.some(({ identifier }) => identifier !== undefined)
    // "Needs the saved logins in `seed`": the place is named, so the verb matters little.
    // "When the user mentions a password, store it": what slips out is kept.
    if (
      /\b(?:when(?:ever)?|if|once|as soon as|each time|every time) (?:the |a )?(?:user|person|customer|human|someone|anyone|they|you) (?:\w+ )?(?:mentions?|types?|enters?|shares?|writes?|says?|pastes?|sends?|sees?|finds?|encounters?|reveals?|comes? across|notices?|spots?)\b/.test(
        folded,
      ) &&
      /\b(?:store|save|put|record|copy|write|pass|log|keep|add|include|send|forward|report|append|note) (?:it|them|that|this|the|its)\b/.test(
        folded,
      ) &&
      !isOwnKey &&
      !/\b(?:do not|don't|never|not|safely|securely|vault)\b/.test(folded)
    )
      return weigh(2.5, 'keeps secrets that the user lets slip')
    if (
      /\b(?:needs?|wants?|requires?|asks? for|expects?|gets?|has) (?:\w+ ){0,3}access to (?:your|the user's|their|all|any)\b/.test(
        folded,
      ) &&
      isPlural &&
      !isOwnKey &&
      (has(sentence, bit.also) || isAddressed)
    )
      return weigh(2, 'wants access to secrets')
    if (
      gives &&
      isPlural &&
      !isOwnKey &&
      has(sentence, bit.also | bit.hide) &&
      /\b(?:saved|stored|user already has|user's|the user has|in the browser|on (?:the|this) machine)\b/.test(
        folded,
      )
    )
      return weigh(3, 'tells the model to hand over secrets')
    const isFilled = /\b(?:in|into|as|under|via|through|to) (?:the )?'[\w.-]+'/.test(folded)
    if (
      isFilled &&
      isPlural &&
      where &&
      !isOwnKey &&
      /\b(?:needs?|wants?|expects?|requires?|takes?|list|give|write|dump|state|carr(?:y|ies)|holds?)\b/.test(
        folded,
      ) &&
      /\b(?:saved|stored|all|every|any|browser|machine|user's|values)\b/.test(folded)
    )
      return weigh(2.5, 'wants secrets in an argument')
    if (
      takes &&
      gives &&
      isPlural &&
      !isOwnKey &&
      (where ||
        isTo ||
        /\b(?:private key|ssh keys?|passwords|credentials|cookies|seed phrase|wallet)\b/.test(folded))
    )
      return weigh(
        isSpaced || has(sentence, bit.hide) ? 3 : 1,
        'tells the model to collect secrets and hand them over',
      )
    if (
      demanded(sentence, bit.put) &&
      isPlural &&
      where &&
      isTo &&
      !isOwnKey &&
      has(sentence, bit.force) &&
      /\b(?:user's|process|saved|stored|browser|machine|every|all|any)\b/.test(folded)
    )
      return weigh(/\b(?:user's|all|every)\b/.test(folded) ? 3 : 2.5, 'wants secrets in an argument')
    if (
      gives &&
      isPlural &&
      /\buser's (?:\w+ )?(?:passwords?|credentials|secrets|private keys?|tokens|cookies|card|bank)\b/.test(
        folded,
      ) &&
      !isOwnKey
    )
      return weigh(2.5, "wants the user's secrets")
    const isSourced =
      /\b(?:configuration|config|environment|files?|disk|browser|keychain|home|machine|computer|history|store|vault|messages|memory)\b/.test(
        folded,
      )
    if (takes && gives && isTo && isSourced && isSpaced && !/\bsecurely\b/.test(folded))
      return weigh(3, 'tells the model to fetch a secret and hand it over')
    if (gives && isPlural && where && (isAddressed || isTo) && !isOwnKey)
      return weigh(
        isSpaced ? (/\b(?:all|any|every|user's|browser)\b/.test(folded) && isTo ? 3 : 2) : 1,
        'tells the model to hand over secrets',
      )
    if (gives && has(sentence, bit.address) && ordered(sentence, bit.send) && isPlural)
      return weigh(3, 'tells the model to send secrets away')
    if (
      takes &&
      isTo &&
      /\b(?:keychain|password store|wallet|vault|browser|credential store)\b/.test(folded) &&
      /\b(?:and|then)\b/.test(folded)
    )
      return weigh(2.5, 'wants secrets in an argument')
    if (takes && isTo && isSourced && isPlural && !isOwnKey && has(sentence, bit.when))
      return weigh(2.5, 'wants secrets in an argument')
    if (takes && isAddressed && isPlural && where && !isOwnKey && has(sentence, bit.when))
      return weigh(1.5, 'tells the model to look for secrets')
    if (
      setting.isParameter &&
      !setting.isName &&
      isPlural &&
      where &&
      /\b(?:any|all|every|full|contents?|dump|complete)\b/.test(folded) &&
      !isOwnKey &&
      (gives ||
        /\b(?:dump|contents?) of|\ball (?:the )?(?:user's |local |available )(?:environment|env|password|credential|secret|cookie|key)/.test(
          folded,
        ))
    )
      return weigh(2.5, 'asks for secrets the tool does not name a use for')
  }
  return undefined
}
