/** Markup that a plain description has no use for: it claims weight, is not shown, or sends data when it is rendered. */
import { type Finding, finding } from './finding.js'
import { addresses } from './orders.js'
import { quotesIn } from './quotes.js'

const WEIGHTY =
  /<\s{0,3}((?:very[-_ ]?|most[-_ ]?)?(?:important|critical|urgent|mandatory|hidden|secret|override|internal|instructions?|directives?|attention)(?:[-_ ]?(?:instructions?|notes?|rules?|steps?))?|tool_?response|tool_?result)\s{0,3}>[^<]{6,2000}<\s{0,3}\/\s{0,3}\1\s{0,3}>/iu
const STYLE =
  /<(?:span|div|p|font|small)\b[^>]{0,120}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0)[^>]{0,120}>/i
const COMMENT = /<!--(?!\s{0,5}(?:\[if|more\b))(?:\s{0,9}[^\s>-][^\s>]{0,60}){4}/i
const LINK_COMMENT = /\[(?:\/\/|comment)\]:\s{0,3}(?:#|<>)\s{0,3}[("'][^\n]{8,300}/i
/** An image or link with a place for data in its address. */
const FILLED =
  /\]\(\s{0,3}https?:\/\/[^\s)]{1,300}(?:\{\{?[^}\n]{1,60}\}|\$\{|<[a-z]|\[[a-z]|=[A-Z]{3,}_[A-Z_]{2,60})/i
const QUERY_IMAGE = /!\[[^\]\n]{0,200}\]\(\s{0,3}https?:\/\/[^\s)?]{1,300}\?[^\s)]{0,200}=/i

const CHECKS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [STYLE, 'holds text that is styled not to be seen'],
  [COMMENT, 'holds a comment, which a rendered view does not show'],
  [LINK_COMMENT, 'holds a comment, which a rendered view does not show'],
  [FILLED, 'holds an address that is to be filled with data; showing it sends the data'],
  [QUERY_IMAGE, 'holds an image with a query; showing it calls that address'],
]

export function findMarkup(where: string, text: string): Finding[] {
  const isQuoted = quotesIn(text)
  const report = (match: RegExpExecArray, why: string) => [
    finding('markup', 'soft', where, text.slice(match.index, match.index + 120), why),
  ]
  const tag = WEIGHTY.exec(text)
  if (
    tag &&
    addresses(text.slice(tag.index + (tag[1] ?? '').length + 2, tag.index + 600)) &&
    !isQuoted(tag.index, tag.index + 2)
  )
    return report(
      tag,
      `marks text with a ${JSON.stringify(tag[1])} tag, as if it were more than a description`,
    )
  for (const [pattern, why] of CHECKS) {
    const match = pattern.exec(text)
    if (match && !isQuoted(match.index, match.index + match[0].length)) return report(match, why)
  }
  return []
}
