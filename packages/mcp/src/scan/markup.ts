/** Structure that plain text has no use for: tags that give orders, markers of roles, turns of a talk, comments, images. */
import { readSentences } from './clauses.js'
import { bit } from './concepts.js'
import { type Finding, finding } from './finding.js'
import { fold, squeezed, unveil } from './fold.js'
import { has, orderOf } from './sentence-tests.js'

/** Tokens that chat templates are made of. No description needs them. */
const TEMPLATE =
  /<\|(?:im_start|im_end|system|user|assistant|end|eot_id|start_header_id|end_header_id|begin_of_text|endoftext|endofprompt|fim_\w{1,10}|channel|message)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:start|end)_of_turn>|<｜[^｜]{1,30}｜>|\[\/?SYSTEM_PROMPT\]|<\/?s>\s{0,3}\[INST\]/i

const SUFFIX =
  '(?:[-_ ]?(?:prompt|message|reminder|instructions?|note|override|directives?|context|rules?|task|command|only|payload|block|content|action|step))?'
/** Tags that claim weight, and tags that may also be the name of something to fill in. */
const TAG = new RegExp(
  `<\\s{0,3}/?\\s{0,3}((?:very[-_ ]?|extremely[-_ ]?|most[-_ ]?)?(?:important|critical|urgent|mandatory|system|hidden|secret|admin|administrator|assistant|developer|override|internal|ai|llm|agent|model|wichtig|importante|важно|重要|系统)${SUFFIX})(?:\\s[^<>]{0,80})?\\s{0,3}/?\\s{0,3}>`,
  'iu',
)
const PLAIN_TAG =
  /<\s{0,3}((?:tool|function)[-_ ]?(?:result|response|output|call|use|description)s?|thinking|instructions?|directives?|must[-_ ]?(?:do|read|follow)|attention|warning|mandate|policy|rules?|prompt|human|user[-_ ]?(?:message|input|query)|context[-_ ]?update|prerequisites?|priority|note)\s{0,3}>[^<]{10,2000}<\s{0,3}\/\s{0,3}\1\s{0,3}>|<\s{0,3}\/\s{0,3}(tool[-_ ]?(?:description|result|response|output|use)s?|description|tools?|function(?:s|_results?|_calls?)?|tool_?definitions?|schema|context|documents?)\s{0,3}>/iu
const BRACKET =
  /(?:\[\[?|\{\{|【|«|\(\(|\*\*\*|===+|---+|###+|~~~+)\s{0,3}(?:(?:begin|start|end|new|hidden|secret)\s{1,3})?(?:system|admin(?:istrator)?|assistant|developer|ai|llm|agent|model|internal|root|security|operator|priority|system\s{1,3}prompt|for (?:the )?(?:ai|llm|model|assistant|agent)s?)\s{0,3}(?:only|prompt|message|instructions?|notice|override|note|directives?|update|alert|mode|command|policy|context|eyes only|use only|:)?s?\s{0,3}(?:\]\]?|\}\}|】|»|\)\)|\*\*\*|===+|---+|###+|~~~+|:)/iu
const TURN =
  /(?:^|\n|\\n|["'“]|\s{3,})\s{0,8}(?:\*\*|#{1,4}\s{0,2})?(system|assistant|human|user|developer|ai|tool|function|系统|用户|助手|система|system message|system prompt|system note|system notice|note to (?:ai|llm|model|assistant|agent|self)s?|(?:ai|llm|model|agent|assistant) (?:note|instructions?|directive|hint|only)|instructions? (?:for|to) (?:the )?(?:ai|llm|model|assistant|agent)s?|(?:message|note|notice|memo|directive) (?:from|by) (?:the )?(?:system|admin(?:istrator)?|developer|anthropic|openai|host|security|platform|operator)s?(?: team)?)(?:\*\*)?\s{0,3}[:：]\s{0,3}(?:\*\*)?(\S[^\n]{0,300})/giu

export function findMarkup(where: string, raw: string): Finding[] {
  const findings: Finding[] = []
  const text = squeezed(unveil(raw))
  const template = TEMPLATE.exec(text)
  if (template)
    findings.push(
      finding(
        'fake-structure',
        'hard',
        where,
        text.slice(template.index, template.index + 120),
        'holds a token of a chat template, which can end the description and open another role',
      ),
    )
  const tag = TAG.exec(text)
  const plain = tag ? undefined : PLAIN_TAG.exec(text)
  if (tag) {
    const inside = text.slice(tag.index, tag.index + 600)
    const isClosed = fold(text).includes(`</${fold(tag[1] ?? '')}`)
    const isOrdering = ordersSomething(inside.slice(tag[0].length)) && (isClosed || /\p{Lu}{3}/u.test(tag[0]))
    if (isOrdering || isClosed)
      findings.push(
        finding(
          'fake-structure',
          isOrdering ? 'hard' : 'soft',
          where,
          inside,
          `marks text with a ${JSON.stringify(tag[1])} tag, as if it were more than a description`,
        ),
      )
  } else if (plain) {
    const inside = text.slice(plain.index, plain.index + 600)
    const isBreaking = plain[2] !== undefined
    if (ordersSomething(inside))
      findings.push(
        finding(
          'fake-structure',
          isBreaking ? 'hard' : 'soft',
          where,
          inside,
          isBreaking
            ? 'closes a structure that it did not open'
            : `marks text with a ${JSON.stringify(plain[1])} tag`,
        ),
      )
  }
  const bracket = BRACKET.exec(text)
  if (bracket) {
    const after = text.slice(bracket.index, bracket.index + 400)
    if (ordersSomething(after))
      findings.push(
        finding('fake-structure', 'hard', where, after.slice(0, 120), 'poses as a message of the system'),
      )
  }
  const end =
    /(?:^|\n)[\s\-=#*_<>[\]]{0,20}(?:END|BEGIN|START) (?:OF )?(?:THE )?(?:TOOL |SYSTEM |USER |DEVELOPER )?(?:DESCRIPTION|INSTRUCTIONS?|PROMPT|CONTEXT|DOCUMENT|MESSAGE|INPUT|DEFINITION)S?\b/.exec(
      text,
    )
  if (end)
    findings.push(
      finding(
        'fake-structure',
        'hard',
        where,
        text.slice(end.index, end.index + 120),
        'pretends that the description ends',
      ),
    )
  const template2 =
    /(?:^|\n)\s{0,4}#{2,4}\s{0,2}(?:instruction|response|input|human|assistant|system)\s{0,2}:\s{0,3}(?:\n|$)/i.exec(
      text,
    )
  if (template2)
    findings.push(
      finding(
        'fake-structure',
        'hard',
        where,
        text.slice(template2.index, template2.index + 120),
        'holds the headings of a prompt template',
      ),
    )
  const heading =
    /(?:^|\n)\s{0,3}(?:#{1,6}|\*\*|==+)\s{0,3}(?:system|assistant|developer|agent|ai|llm|model)(?:[ _-](?:prompt|message|instructions?|notes?|only|directives?))?\s{0,3}(?:\*\*|==+|#{1,6})?\s{0,3}:?\s{0,3}\n\s{0,4}(\S[^\n]{0,300})/i.exec(
      text,
    )
  if (
    heading &&
    ordersSomething(heading[1] ?? '') &&
    /\b(?:you|your|must|never|always)\b/i.test(heading[1] ?? '')
  )
    findings.push(
      finding(
        'fake-structure',
        'hard',
        where,
        heading[0].trim(),
        'heads a paragraph as if it came from the system',
      ),
    )
  const role = /["']role["']\s{0,3}:\s{0,3}["'](?:system|developer|assistant)["']/i.exec(text)
  const isSample = /\b(?:messages|examples?|e\.g|format|array|like|such as|openai|chat)\b/i.test(
    text.slice(0, (role?.index ?? 0) + 10),
  )
  if (role && (!isSample || ordersSomething(text.slice(role.index, role.index + 400))))
    findings.push(
      finding(
        'fake-structure',
        /["'}\]]\s{0,3}[}\]]/.test(text.slice(0, role.index)) ||
          /\b(?:must|you)\b/i.test(text.slice(role.index, role.index + 300))
          ? 'hard'
          : 'soft',
        where,
        text.slice(role.index, role.index + 120),
        'holds a message of another role',
      ),
    )
  findings.push(...findTurns(where, text), ...findComments(where, text), ...findImages(where, text))
  return findings
}

function ordersSomething(text: string): boolean {
  return readSentences(text.slice(0, 600)).some(
    (sentence) =>
      orderOf(
        sentence,
        bit.read | bit.put | bit.send | bit.run | bit.ignore | bit.tell | bit.change | bit.hide,
      ) >= 0 || has(sentence, bit.force),
  )
}

function findTurns(where: string, text: string): Finding[] {
  const roles = new Set<string>()
  for (const match of text.matchAll(TURN)) {
    const role = fold(match[1] ?? '')
    roles.add(role)
    const body = match[2] ?? ''
    if (/\bSYSTEM\b/.test(match[0].slice(0, 40)) && body.split(/\s+/).length >= 4)
      return [finding('fake-structure', 'hard', where, match[0].trim(), 'poses as a turn of "system"')]
    if (
      /^(?:system|developer|assistant|ai|система|系统|system \w+|note to|.* note|.* only|instructions? |message|notice|memo|directive|llm|model|agent)/.test(
        role,
      ) &&
      (ordersSomething(body) || /\b(?:you|your)\b/i.test(body)) &&
      body.split(/\s+/).length >= 3
    ) {
      return [
        finding(
          'fake-structure',
          'hard',
          where,
          match[0].trim(),
          `poses as a turn of ${JSON.stringify(role)}`,
        ),
      ]
    }
  }
  if ((roles.has('user') || roles.has('human')) && roles.has('assistant'))
    return [
      finding(
        'fake-structure',
        /assistant\W{1,4}(?:sure|of course|ok|okay|yes|certainly|i will|i'll|i have|done|understood)\b/i.test(
          text,
        )
          ? 'hard'
          : 'soft',
        where,
        text.slice(0, 120),
        'holds turns of a conversation',
      ),
    ]
  return []
}

/** What a rendered view leaves out. */
function findComments(where: string, text: string): Finding[] {
  const findings: Finding[] = []
  let from = 0
  for (let count = 0; count < 50; count++) {
    const start = text.indexOf('<!--', from)
    if (start < 0) break
    const end = text.indexOf('-->', start + 4)
    const body = text.slice(start + 4, end < 0 ? start + 600 : Math.min(end, start + 2000))
    from = end < 0 ? start + 4 : end + 3
    if (/^\s{0,5}\[(?:if|endif)|^\s{0,5}<?!/i.test(body)) continue
    const words = body.trim().split(/\s+/).length
    if (words < 3) continue
    findings.push(
      finding(
        'fake-structure',
        ordersSomething(body) && words > 3 ? 'hard' : 'soft',
        where,
        text.slice(start, start + 120),
        'holds a comment, which a rendered view does not show',
      ),
    )
    break
  }
  const link = /\[(?:\/\/|comment|hidden|_)\]:\s{0,3}(?:#|<>)\s{0,3}[("']([^\n]{8,300})/i.exec(text)
  if (link && ordersSomething(link[1] ?? ''))
    findings.push(finding('fake-structure', 'hard', where, link[0], 'holds a Markdown comment with orders'))
  const style =
    /<(?:span|div|p|font|small)\b[^>]{0,120}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0|color\s{0,2}:\s{0,2}(?:white|#fff|transparent))[^>]{0,120}>/i.exec(
      text,
    )
  if (style)
    findings.push(
      finding('fake-structure', 'hard', where, style[0], 'holds text that is styled not to be seen'),
    )
  return findings
}

const IMAGE = /!\[[^\]\n]{0,200}\]\(\s{0,3}(https?:\/\/[^\s)]{1,500})/i
const PLACEHOLDER = /\{\{?[^}]{1,60}\}?\}|\$\{[^}]{1,60}\}|<[a-z][^<>]{1,60}>|%s|\[[A-Za-z_ -]{3,40}\]|%7b/i

function findImages(where: string, text: string): Finding[] {
  const image = IMAGE.exec(text)
  if (image) {
    const address = text.slice(image.index, image.index + 600)
    const carries = /[?&][\w-]{1,30}=/.test(image[1] ?? '')
    const isFilled =
      PLACEHOLDER.test(image[1] ?? '') || PLACEHOLDER.test(/\([^)\n]{0,500}/.exec(address)?.[0] ?? '')
    if (isFilled)
      return [
        finding(
          'exfiltration',
          'hard',
          where,
          address.slice(0, 120),
          'holds an image whose address is to be filled with data; showing it sends the data',
        ),
      ]
    if (carries)
      return [
        finding(
          'exfiltration',
          'soft',
          where,
          address.slice(0, 120),
          'holds an image with a query; showing it calls that address',
        ),
      ]
  }
  const link =
    /\]\(\s{0,3}(?:https?:\/\/[^\s)]{1,300})?[?&/=]?(?:\{\{|\$\{|<)[^)\n]{0,60}(?:conversation|history|secret|token|key|data|password|prompt|content|env|context)/i.exec(
      text,
    )
  if (link)
    return [finding('exfiltration', 'hard', where, link[0], 'holds a link that is to be filled with data')]
  const scheme =
    /\b(?:javascript|vbscript):\s{0,3}[a-z(]|\bdata:text\/(?:html|javascript)|<(?:script|iframe|object|embed)\b[^>]{0,100}(?:src|>)/i.exec(
      text,
    )
  if (
    scheme &&
    !/\b(?:xss|sanit|escape|security|block|strip|reject|html)\b/i.test(
      text.slice(Math.max(0, scheme.index - 200), scheme.index + 200),
    )
  )
    return [
      finding(
        'fake-structure',
        'soft',
        where,
        text.slice(scheme.index, scheme.index + 100),
        'holds active content',
      ),
    ]
  return []
}
