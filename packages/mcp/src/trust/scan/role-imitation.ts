/** Finds text that imitates a system message, another turn of the chat or the end of the description, and misleading markup. */

import { addressesReader, createQuoteFinder, isOrder } from './commands.js'
import { createFinding, type Finding } from './rules.js'

const ROLE = '(?:system|assistant|developer|admin(?:istrator)?|operator|ai|llm|agent|model|系统|助手|система)'
const SUFFIX =
  '(?:[-_ ]?(?:prompt|message|reminder|instructions?|notes?|notice|override|directives?|only|update|policy|command))'

interface Imitation {
  readonly why: string
  readonly pattern: RegExp
  /** Does the text after the match confirm it? */
  readonly needs: (after: string, match: RegExpExecArray) => boolean
  /** A heading such as "System" may be harmless: it is hard only with an order below it. */
  readonly isHeading?: true
}

/** Words of a system message that a list of requirements does not contain. */
const COMMANDS =
  /\b(?:(?:you|model|assistant) must|you (?:are|take|will)|obey|ignore|disregard|granted?|delete|send|forward|attach|export|hand|give|dump|rules|instructions?)\b/i
/** Common headings of harmless lists. */
const COMMON = /^\W*(?:model|agent|ai|llm)\W*$/i

const IMITATIONS: readonly Imitation[] = [
  {
    why: 'contains a chat template token, which can end the description and start another role',
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|end|eot_id|start_header_id|end_header_id|begin_of_text|endoftext)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:start|end)_of_turn>|<｜[^｜\n]{1,30}｜>/i,
    needs: () => true,
  },
  {
    why: 'marks text with the tag of another role',
    pattern: new RegExp(`<\\s{0,3}(${ROLE}${SUFFIX}?)\\s{0,3}>(?=[^<]{4,2000}<\\s{0,3}/\\s{0,3}\\1)`, 'iu'),
    needs: addressesReader,
  },
  {
    why: 'closes a tag that it did not open',
    pattern:
      /<\s{0,3}\/\s{0,3}(?:tool[-_ ]?(?:description|result|response|definition)s?|description|tools?|function(?:s|_results?|_calls?)?)\s{0,3}>/i,
    needs: (after, match) =>
      !match.input.slice(0, match.index).includes(`<${match[0].slice(2)}`) && addressesReader(after),
  },
  {
    why: 'has a heading that imitates the system',
    pattern: new RegExp(
      `(?:\\[\\[?|\\{\\{|【|\\(\\(|===+|---+|###+|%%\\[)\\s{0,3}${ROLE}${SUFFIX}?\\s{0,3}(?:\\]\\]?|\\}\\}|】|\\)\\)|===+|---+|###+|:|\\n)`,
      'iu',
    ),
    needs: addressesReader,
    isHeading: true,
  },
  {
    why: 'imitates a message of another role',
    isHeading: true,
    pattern: new RegExp(
      `(?:^|\\n)[ \\t>*#-]{0,4}(?:${ROLE}${SUFFIX}?|(?:note|message|instructions?) (?:to|for|from) (?:the )?(?:${ROLE.slice(3, -1)}))s?\\*{0,2}\\s{0,3}[:：](?=\\s{0,3}\\S+ \\S+ \\S)`,
      'iu',
    ),
    needs: (after, match) =>
      // "- System: name of the system" is a list of fields.
      !/[-*]\s{0,2}\w/.test(match[0]) && speaksAsRole(after, match[0]),
  },
  {
    why: 'contains a chat turn in which the assistant agrees',
    pattern:
      /(?:^|\n)\s{0,4}(?:human|user)\s{0,2}:[^\n]{1,300}\n\s{0,4}(?:\n\s{0,4})?assistant\s{0,2}:|(?:^|\n)\s{0,4}assistant\s{0,2}:[^\n]{1,300}\n\s{0,4}(?:\n\s{0,4})?(?:human|user)\s{0,2}:/i,
    needs: (_, match) => isOrder(match.input.slice(match.index, match.index + 600)),
  },
  {
    why: 'contains a message of another role as JSON',
    pattern: /["']role["']\s{0,3}:\s{0,3}["'](?:system|developer|assistant)["']/i,
    needs: (after, match) =>
      addressesReader(after) &&
      !/\b(?:messages|examples?|e\.g|format|array|like|such as|openai|chat)\b/i.test(
        match.input.slice(Math.max(0, match.index - 200), match.index),
      ),
  },
  {
    why: 'pretends that the description ends',
    pattern:
      /(?:^|\n)[\s\-=#*_[\]]{0,20}END OF (?:THE )?(?:TOOL |SYSTEM )?(?:DESCRIPTION|INSTRUCTIONS?|PROMPT|CONTEXT|LIST|DEFINITION)S?\b/i,
    needs: addressesReader,
  },
  {
    why: 'contains headings of a prompt template',
    isHeading: true,
    pattern: /(?:^|\n)\s{0,4}#{2,4}\s{0,2}(?:instruction|response|human|assistant|system)\s{0,2}:?\s{0,3}\n/i,
    needs: (after) => /\b(?:you|your)\b/i.test(after) || isOrder(after),
  },
  {
    why: 'hides a message to the model in a comment',
    pattern:
      /(?:<!--|\[(?:\/\/|comment)\]:\s{0,3}#?\s{0,3}[("'])\s{0,5}(?:(?:the )?(?:assistant|system|llm|ai|agents?|models?|hidden|instructions?)\b)/i,
    needs: addressesReader,
  },
]

/** Texts about chat formats mention these markers for good reason. */
const ABOUT_FORMATS =
  /\b(?:templates?|tokeni[sz]\w+|special tokens?|injections?|delimiters?|sanitis\w+|sanitiz\w+|escap(?:es|ed|ing)|strips?|detects?|flags?|rejects?|prompt formats?|chatml|parses?|for example|e\.g\.)/i

const MOST_MATCHES = 20

/** Returns the first hard finding, or else the first. */
export function findRoleImitation(where: string, text: string): Finding[] {
  const isQuoted = createQuoteFinder(text)
  let soft: Finding | undefined
  for (const { why, pattern, needs, isHeading } of IMITATIONS) {
    if (!pattern.test(text)) continue
    const every = new RegExp(pattern, `${pattern.flags}g`)
    for (let count = 0; count < MOST_MATCHES; count++) {
      const match = every.exec(text)
      if (!match) break
      const end = match.index + match[0].length
      if (!needs(text.slice(end, match.index + 500), match)) continue
      const isAbout = ABOUT_FORMATS.test(text.slice(Math.max(0, match.index - 300), match.index))
      // An open note to the model.
      const isOpen = /\b(?:to|for) /i.test(match[0])
      const isHonest =
        isHeading && (COMMON.test(match[0]) || !COMMANDS.test(firstSentence(text.slice(end, end + 300))))
      const isSpokenAbout = isAbout || isOpen || isHonest || isQuoted(match.index, end)
      const shown = text.slice(match.index, match.index + 120).trim()
      if (!isSpokenAbout) return [createFinding('role-imitation', 'hard', where, shown, why)]
      soft ??= createFinding('role-imitation', 'soft', where, shown, why)
    }
  }
  return soft ? [soft] : []
}

const firstSentence = (text: string) => text.trim().split(/[.!?\n]/, 1)[0] ?? ''

function speaksAsRole(after: string, role: string): boolean {
  const line = after.slice(0, after.search(/\n|$/))
  return addressesReader(line) || /\bSYSTEM\b/.test(role) || /\b(?:user|operator|rules)\b/i.test(line)
}

const WEIGHTY =
  /<\s{0,3}((?:very[-_ ]?|most[-_ ]?)?(?:important|critical|urgent|mandatory|hidden|secret|override|internal|instructions?|directives?|attention)(?:[-_ ]?(?:instructions?|notes?|rules?|steps?))?|tool_?response|tool_?result)\s{0,3}>[^<]{6,2000}<\s{0,3}\/\s{0,3}\1\s{0,3}>/iu
const STYLE =
  /<(?:span|div|p|font|small)\b[^>]{0,120}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0)[^>]{0,120}>/i
const COMMENT = /<!--(?!\s{0,5}(?:\[if|more\b))(?:\s{0,9}[^\s>-][^\s>]{0,60}){4}/i
const LINK_COMMENT = /\[(?:\/\/|comment)\]:\s{0,3}(?:#|<>)\s{0,3}[("'][^\n]{8,300}/i
/** An image or link with a placeholder for data in its address. */
const FILLED =
  /\]\(\s{0,3}https?:\/\/[^\s)]{1,300}(?:\{\{?[^}\n]{1,60}\}|\$\{|<[a-z]|\[[a-z]|=[A-Z]{3,}_[A-Z_]{2,60})/i
const QUERY_IMAGE = /!\[[^\]\n]{0,200}\]\(\s{0,3}https?:\/\/[^\s)?]{1,300}\?[^\s)]{0,200}=/i

const CHECKS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [STYLE, 'contains text with an invisible style'],
  [COMMENT, 'contains a comment, which a rendered view does not show'],
  [LINK_COMMENT, 'contains a comment, which a rendered view does not show'],
  [FILLED, 'contains an address with a placeholder for data; rendering it sends the data'],
  [QUERY_IMAGE, 'contains an image with a query; rendering it calls that address'],
]

export function findMarkup(where: string, text: string): Finding[] {
  const isQuoted = createQuoteFinder(text)
  const report = (match: RegExpExecArray, why: string) => [
    createFinding('markup', 'soft', where, text.slice(match.index, match.index + 120), why),
  ]
  const tag = WEIGHTY.exec(text)
  if (
    tag &&
    addressesReader(text.slice(tag.index + (tag[1] ?? '').length + 2, tag.index + 600)) &&
    !isQuoted(tag.index, tag.index + 2)
  )
    return report(
      tag,
      `marks text with a ${JSON.stringify(tag[1])} tag to make it look more important than a description`,
    )
  for (const [pattern, why] of CHECKS) {
    const match = pattern.exec(text)
    if (match && !isQuoted(match.index, match.index + match[0].length)) return report(match, why)
  }
  return []
}
