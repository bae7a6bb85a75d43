/** The conversation, the instructions and the thoughts of the model itself. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { type Demand, ordered } from './handover.js'
import { has } from './sentence-tests.js'
import type { Suspicion } from './suspicion.js'

const THIS_TALK =
  /^(?:this|current|our|your|entire|full|whole|complete|so|far|above|previous|previously|prior|recent|earlier|last|verbatim|everything|all|ongoing|raw|exact|user's|diese\w*|gesamt\w*|bisherig\w*|ganze\w*|esta|todas?|tout|toute|toutes|tous|tutta|historial|historique|verlauf|cronologia|complet\w*|entier\w*|cette|вс\w+|эт\w+|полн\w+|完整|全部|所有|当前|本次|すべて|全て|全文|전체|모두)$/

/** Not any conversation, but the one this model is in, or what it was told. */
export function speaksOfThisTalk({ tokens, folded }: Sentence): boolean {
  if (
    /\b(?:system(?:[ -_])?(?:prompt|message)|your (?:\w+ ){0,2}(?:(?:system|initial|hidden|original|full|complete|internal|entire|whole|secret) prompt|instructions|context|reasoning|thoughts|memory|setup|scratchpad|rules|guidelines|directions|initial \w+)|(?:rules|directions|instructions|guidelines) (?:and \w+ )?you (?:were|have been|got|received|follow)|messages between|memory of the (?:assistant|model|agent|llm)|(?:assistant|model|agent)'s memory|chain[ -_]of[ -_]thought|(?:hidden|developer|initial|original) (?:prompt|message|instructions)|scratchpad|inner monologue|reasoning trace|said so far|discussed so far)\b/.test(
      folded,
    )
  )
    return true
  return tokens.some(
    ({ bits }, index) =>
      bits & bit.conversation &&
      tokens
        .slice(Math.max(0, index - 4), index + 4)
        .some(({ word }, place) => place !== Math.min(4, index) && THIS_TALK.test(word)),
  )
}

/** The talk is what is handed over, not where something is put: "include the whole chat", not "in chats, include all members". */
function handsOverTalk({ tokens }: Sentence): boolean {
  return (
    tokens.some(
      ({ bits, word }, index) =>
        bits & bit.conversation &&
        !/^(?:id|ids|name|type|key|url)$/.test(tokens[index + 1]?.word ?? '') &&
        // "In your instructions" is a place.
        !/^(?:in|to|within|follow|per|by)$/.test(tokens[index - 1]?.word ?? '') &&
        !(
          /^(?:in|to|within|follow|per|by)$/.test(tokens[index - 2]?.word ?? '') &&
          tokens[index - 1]?.word === 'your'
        ) &&
        (tokens.slice(Math.max(0, index - 10), index).some((token) => token.bits & (bit.put | bit.send)) ||
          !/^[a-z]/.test(word)),
    ) ||
    tokens.some(
      ({ bits }, index) =>
        bits & bit.conversation &&
        tokens
          .slice(index + 1, index + 9)
          .some(
            ({ word, isBare, bits: more }) =>
              more & (bit.put | bit.send) && (!isBare || /^(?:into|to|in)$/.test(word)),
          ) &&
        tokens[index + 1]?.word !== 'id',
    )
  )
}

/** Orders to hand over what the model was told or said. */
export function talkTheft({
  sentence,
  setting,
  broad,
  summary,
  handsOver,
  reads,
  isAddressed,
  weigh,
}: Demand): Suspicion | undefined {
  const { folded, tokens } = sentence
  if (speaksOfThisTalk(sentence)) {
    const isSystem =
      /\b(?:memory of the (?:assistant|model|agent)|system(?:[ -_])?(?:prompt|message)|your (?:\w+ ){0,2}(?:(?:system|initial|hidden|original|full|complete|internal|entire|whole|secret) prompt|instructions|system|setup|reasoning|thoughts|rules|guidelines|directions|initial \w+|original \w+)|(?:initial|original|startup) (?:instructions|prompt|rules)|(?:rules|directions|instructions|guidelines) (?:and \w+ )?you (?:were|have been|got|received|follow)|chain[ -_]of[ -_]thought|scratchpad|(?:hidden|developer) (?:prompt|message)|inner monologue|reasoning trace|internal reasoning)\b|systemprompt|系统提示|системн\w+ промпт|prompt (?:del|de|do|di) sistema|prompt systeme|システムプロンプト/.test(
        folded,
      )
    const isWhole =
      /\b(?:full|entire|whole|complete|history|transcript|last (?:\w+ ){0,2}messages|unabridged|verbatim|all|everything|so far|every|exact|raw|word[- ]for[- ]word|up to (?:now|this point)|gesamt\w*|ganze\w*|complet\w*|entier\w*|integral\w*|todas?|toute?s?|tutta|вс[юея]\w*|полн\w+|historique|historial|historico|cronologia|\w*verlauf|истори\w+)\b|完整|全部|所有|すべて|全て|전체/.test(
        folded,
      )
    const isOwn =
      /\b(?:your|this|current|our|so far|with the user|above|you)\b/.test(folded) ||
      !/[a-z]{3} [a-z]{3}/.test(folded) ||
      has(sentence, bit.force)
    const isConfig =
      /\b(?:for|of) the (?:new |created |target )?(?:agent|assistant|bot|model|call|generation|completion|persona)\b|\b(?:for|of|to) an? (?:\w+ )?(?:agent|assistant|bot|chatbot|persona|deployment|workflow)\b|\bto (?:use|set|guide|configure|apply)\b|\boptional system\b/.test(
        folded,
      )
    const isTo = has(sentence, bit.argument) || tokens.some(({ identifier }) => identifier !== undefined)
    if (
      !summary &&
      isTo &&
      ordered(sentence, bit.put | bit.read | bit.send) &&
      /\b(?:previous|earlier|past|prior|user's|last (?:\w+ )?|recent|all) messages\b|\bchat history\b|\bconversation history\b/.test(
        folded,
      ) &&
      !isConfig &&
      !/\bid\b/.test(folded)
    )
      return weigh(2.5, 'wants the conversation in an argument')
    if (
      !summary &&
      handsOver &&
      handsOverTalk(broad) &&
      !isConfig &&
      (isSystem ? isAddressed || has(sentence, bit.content) || isOwn : isWhole && isOwn)
    )
      return weigh(
        isSystem || isWhole ? 3 : 2,
        'tells the model to hand over its conversation or its instructions',
      )
    if (
      setting.isParameter &&
      ordered(sentence, bit.put) &&
      (isWhole || isSystem) &&
      !isConfig &&
      !/\bid\b/.test(folded)
    )
      return weigh(3, 'asks for the conversation or the instructions')
    if (
      setting.isParameter &&
      !isConfig &&
      isSystem &&
      /\b(?:your|the model's|the assistant's|current|full|verbatim|complete)\b/.test(folded)
    )
      return weigh(3, "asks for the model's own instructions or thoughts")
    if (
      setting.isParameter &&
      isWhole &&
      /\b(?:so far|(?:this|our|current) (?:conversation|chat|session|thread|dialog|exchange|discussion)|with the user|verbatim|up to (?:now|this)|est[ae]|dies\w+|cette|эт\w+|con el usuario|mit dem|avec l')\b|本次|当前|この/.test(
        folded,
      ) &&
      !/\bid\b/.test(folded) &&
      !isConfig
    )
      return weigh(
        /\b(?:so far|verbatim|with the user|up to (?:now|this)|our|this|est[ae]|dies\w+|cette|эт\w+)\b|本次|当前|この/.test(
          folded,
        )
          ? 3
          : 2,
        'asks for the whole conversation',
      )
    if (
      !summary &&
      !setting.isParameter &&
      ordered(sentence, bit.run) &&
      has(sentence, bit.force | bit.when) &&
      isWhole &&
      !isConfig &&
      /\b(?:with|con|mit|avec|com)\b|с |携|附/.test(folded) &&
      !/\b(?:id|ids|list|search|get|read|summari[sz]e|load|fetch)\b/.test(folded)
    )
      return weigh(2.5, 'wants the conversation with each call')
    if (!summary && isAddressed && reads && isSystem)
      return weigh(2, "speaks of the model's own instructions")
  }
  return undefined
}
