/** Private files: read for a call, put into one, or asked for. */
import { bit } from './concepts.js'
import { AWAY, type Demand, ordered } from './handover.js'
import { has, isDenied, isMention, near } from './sentence-tests.js'
import type { Suspicion } from './suspicion.js'

/** Orders about a path where secrets lie. */
export function fileTheft({
  sentence,
  setting,
  summary,
  handsOver,
  reads,
  isAddressed,
  weigh,
}: Demand): Suspicion | undefined {
  const { folded, tokens } = sentence
  const path = tokens.findIndex(({ bits }) => bits & bit.path)
  if (path >= 0 && !isMention(sentence, path)) {
    const isPrivate = tokens.some(({ isPrivatePath }) => isPrivatePath)
    const isPathOnly =
      /\b(?:path (?:to|of)|location of|filename|file name|defaults? to|default(?:s)?:|located (?:at|in)|e\.g\.|looks? (?:in|for)|configured in|config (?:in|at)|stored in|set (?:it )?in|from your|in your)\b/.test(
        folded,
      )
    const contents = near(sentence, bit.content | bit.read, bit.path, 8) !== undefined
    const isTo =
      has(sentence, bit.argument) ||
      /\b(?:arguments?|parameters?|fields?|sidenote|input)\b/.test(folded) ||
      tokens.some(({ identifier }) => identifier !== undefined)
    const acts = tokens.some(
      ({ bits }, index) => bits & (bit.read | bit.put | bit.send) && !isDenied(tokens, index),
    )
    if (isPrivate && acts && isTo && !isPathOnly && !setting.isParameter)
      return weigh(3, 'feeds a private file into a call')
    if (
      isPrivate &&
      ordered(sentence, bit.run) &&
      has(sentence, bit.when | bit.content | bit.tool) &&
      !isPathOnly &&
      !summary
    )
      return weigh(3, 'tells the model to use a tool on a private file')
    if (
      setting.isParameter &&
      /\b(?:process\.env|os\.environ)\b/.test(folded) &&
      /\b(?:dump|contents?|copy|full|all|json|values?|output) (?:of|from)\b/.test(folded)
    )
      return weigh(3, 'asks for the environment of the process')
    if (/\bexfiltrat\w*\b|\b(?:leak|steal|siphon|smuggle)s?\b/.test(folded))
      return weigh(3, 'speaks of taking a private file away')
    if (
      isPrivate &&
      tokens.some(({ bits }, index) => bits & bit.send && !isDenied(tokens, index)) &&
      (has(sentence, bit.address) || AWAY.test(folded))
    )
      return weigh(3, 'sends a private file away')
    if (
      handsOver &&
      (reads || contents) &&
      !summary &&
      !(isPathOnly && !isPrivate && !ordered(sentence, bit.put | bit.send))
    )
      return weigh(isPrivate || isAddressed || reads ? 3 : 2, 'tells the model to hand over a private file')
    if (
      reads &&
      isTo &&
      !summary &&
      /\b(?:what|whatever) (?:they|it|these|those) (?:contain|hold|say|has|have)s?\b/.test(folded)
    )
      return weigh(3, 'tells the model to hand over a private file')
    if (reads && !summary && !isPathOnly)
      return weigh(
        isPrivate && (isAddressed || setting.isParameter) ? 3 : isPrivate ? 2 : isAddressed ? 1.5 : 1,
        'tells the model to read a private file',
      )
    if (
      setting.isParameter &&
      isPrivate &&
      !isPathOnly &&
      /\b(?:contents?|text|inhalt|contenido|contenu|full|entire|body|output of|dump|data from|base64)\b/.test(
        folded,
      )
    )
      return weigh(3, 'asks for the contents of a private file')
    if (setting.isParameter && isPrivate && contents && !isPathOnly)
      return weigh(3, 'asks for the contents of a private file')
    if (handsOver && isPrivate && !summary && !isPathOnly)
      return weigh(3, 'tells the model to hand over or change a private file')
    if (
      handsOver &&
      isAddressed &&
      !summary &&
      !isPathOnly &&
      /authorized_keys|bashrc|zshrc|profile|crontab/.test(folded)
    )
      return weigh(3, 'tells the model to change a file that the machine trusts')
  }
  return undefined
}
