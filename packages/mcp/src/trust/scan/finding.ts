/** What a scan says: a rule, how bad, where, a harmless excerpt, and what to do. */
import { safeJson } from '@toolwell/core/internal'
import { type Rule, SCAN_RULES, type Severity } from './rules.js'

export interface Finding {
  readonly rule: Rule
  readonly severity: Severity
  /** A JSON path within the definition: `description`, `inputSchema.properties["a b"].default`. */
  readonly where: string
  /** At most 160 characters, quoted and escaped: safe to print, log and show to a model. */
  readonly excerpt: string
  readonly why: string
  readonly fix: string
}

export function finding(
  rule: Rule,
  severity: Severity,
  where: string,
  excerpt: string,
  why: string,
): Finding {
  return { rule, severity, where, excerpt: excerptOf(excerpt), why, fix: SCAN_RULES[rule].fix }
}

/** Every character outside printable ASCII that could deceive is an escape; what reads as a letter stays. */
export function excerptOf(text: string, limit = 160): string {
  const characters = [...text.slice(0, limit * 2 + 2)]
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : characters.join('')
  return safeJson(cut.toWellFormed()).replace(/[\p{Cf}\p{Co}\p{Cn}\p{Mn}\u2800\u3000]/gu, escaped)
}

/** An excerpt for people: a tag looks like one. Everything else stays escaped. */
export function readable(excerpt: string): string {
  return excerpt.replace(/\\\\|\\u003([ce])/g, (whole, sign) =>
    sign === 'c' ? '<' : sign === 'e' ? '>' : whole,
  )
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
