/** What was said, and what lies open on the machine, asked for without the words for it: "what they typed since the start". */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { demanded, ordered, REFUSES } from './handover.js'
import { has, isDenied, speaksOfAttacks } from './sentence-tests.js'
import { isSummary, type Setting, type Suspicion } from './suspicion.js'
import { about } from './theme-tests.js'
import { theme } from './themes.js'

const SAID =
  /\b(?:said|typed|written|wrote|asked|told|discussed|talked about|mentioned|shared|happened|went on|entered|dictated|exchanged|spoken)\b/
const UNTIL_NOW =
  /\b(?:so far|until now|till now|up to now|since the (?:start|beginning|outset)|from the (?:start|beginning|outset|first)|to this point|until this point|up to here|earlier (?:in|today)|in this (?:chat|session|conversation|talk)|before this call|at any point|previously|thus far|to date)\b/
const WHOSE =
  /\b(?:the (?:user|person|human|customer|client)|they|user's|you|we|anyone|everybody|what has been|has been|was)\b/
const RETELL =
  /\b(?:retell|recount|recap|reproduce|restate|repeat|summari[sz]e|transcribe|copy|paste|list|give|write|put|include|describe|dump|a dump|record|log|everything|all|word for word|verbatim|full)\b/

export function toldOfYou(sentence: Sentence, setting: Setting): Suspicion | undefined {
  const { folded, tokens } = sentence
  if (isSummary(sentence, setting) || setting.isName || speaksOfAttacks(sentence) || REFUSES.test(folded))
    return undefined
  const isTo = has(sentence, bit.argument) || tokens.some(({ identifier }) => identifier !== undefined)
  const wants = demanded(sentence, bit.put | bit.send)
  if (
    UNTIL_NOW.test(folded) &&
    SAID.test(folded) &&
    WHOSE.test(folded) &&
    (setting.isParameter
      ? RETELL.test(folded)
      : (wants || RETELL.test(folded)) && isTo && has(sentence, bit.put | bit.send | bit.read)) &&
    !/\b(?:ids?|created|uploaded|configured|returned by|call (?:to|of))\b/.test(folded)
  )
    return {
      rule: 'data-theft',
      weight: setting.isParameter ? 3 : 2.5,
      why: 'asks for what was said in the conversation',
    }
  if (
    setting.isParameter &&
    /\b(?:all|every|any|json|dump|list|full|copy)\b/.test(folded) &&
    /\b(?:variables|values|keys|secrets|settings|entries) (?:in|of|from) (?:your|the|this|its) (?:\w+ )?environment\b/.test(
      folded,
    )
  )
    return { rule: 'data-theft', weight: 3, why: 'asks for the environment of the process' }
  if (
    ordered(sentence, bit.put | bit.send | bit.read) &&
    /\b(?:user's|their|his|her|person's|customer's) (?:\w+ )?(?:recent |last |latest |private |personal |all |saved |full )?(?:e-?mails|documents|photos|pictures|contacts|calendar|bookmarks|chats|messages|purchases|bank\w*|health\w*|passport|home address|medical \w+|browsing \w+|location history|searches)\b/.test(
      folded,
    ) &&
    /\b(?:in|into|as|to|via|through) (?:the )?[`'"][\w.-]+[`'"]/.test(folded)
  )
    return { rule: 'data-theft', weight: 2, why: 'wants private things of the user in an argument' }
  if (
    !setting.isParameter &&
    /\b(?:list|read|scan|search|open|go through|look (?:in|through|into)|browse|walk|check) (?:\w+ ){0,4}(?:documents|desktop|downloads|home|pictures|user) (?:folder|directory)\b|\b(?:list|read|scan|search|go through|look (?:in|through|into)|browse) (?:\w+ ){0,4}(?:~\/|\/home\/|\/users\/)/.test(
      folded,
    ) &&
    /\b(?:and|then) (?:pass|include|send|give|put|add|attach|report|supply|hand|copy|append|upload|provide|share|list)\b/.test(
      folded,
    ) &&
    has(sentence, bit.when | bit.force | bit.model)
  )
    return { rule: 'data-theft', weight: 2.5, why: 'tells the model to look through private folders' }
  // "Additionally wants the contents of the open tabs in `ctx`": of no use to most tools.
  if (
    about(sentence, theme.private) &&
    isTo &&
    !setting.isParameter &&
    /\b(?:contents?|list|all|full|copy|every|with their values|everything|whatever|recent|saved)\b/.test(
      folded,
    ) &&
    (ordered(sentence, bit.put | bit.send | bit.read) ||
      /\b(?:needs?|wants?|expects?|requires?|must)\b/.test(folded)) &&
    /\b(?:in|into|as|to|via|through) (?:the )?[`'"][\w.-]+[`'"]|\b(?:in|into|as|to|via) [a-z]+_[a-z_]+\b/.test(
      folded,
    ) &&
    !tokens.some(({ bits }, index) => bits & (bit.put | bit.send | bit.read) && isDenied(tokens, index))
  )
    return { rule: 'data-theft', weight: 2, why: 'wants in an argument what lies open on the machine' }
  return undefined
}
