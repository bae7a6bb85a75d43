/** The rules of the scan by id, and findings. */

import { assertKnownKeys, invalid, isRecord, nearest, safeJson } from '@toolwell/core/internal'
import { type FamilyId, families } from './phrase-families.js'

/** `hard` quarantines by default; `soft` is shown to the reviewer. */
export type Severity = 'hard' | 'soft'

export interface RuleEntry {
  /** Worst severity of a finding. */
  readonly severity: Severity
  readonly finds: string
  readonly fix: string
}

const structural = {
  'hidden-unicode': {
    severity: 'hard',
    finds: 'characters that a reader cannot see or that change the order of the text',
    fix: 'Ask the author to remove the invisible characters; do not approve text you cannot see.',
  },
  'terminal-escape': {
    severity: 'hard',
    finds: 'control sequences for terminals',
    fix: 'Do not print the raw text; ask the author to remove the control sequences.',
  },
  'encoded-payload': {
    severity: 'hard',
    finds: 'orders in Base64, Base32, hex, escapes, Morse, shifted, reversed or disguised letters',
    fix: 'Decode the text and read it; ask the author for plain text.',
  },
  'role-imitation': {
    severity: 'hard',
    finds: 'text that imitates a system message, another turn of the chat, or the end of the description',
    fix: 'Do not approve: a description is plain text; ask the author to remove the markers.',
  },
  'lookalike-name': {
    severity: 'hard',
    finds: 'names in mixed scripts, and names that imitate a tool of another server',
    fix: 'Compare the name letter by letter with the one you know; deny the tool if it differs.',
  },
  markup: {
    severity: 'soft',
    finds:
      'tags that claim importance, comments, invisible styles, images and links with placeholders for data',
    fix: 'Read the raw text, not the rendered one; ask the author to remove the markup.',
  },
  shadowing: {
    severity: 'soft',
    finds: 'text about a tool of another server, and copies of such a tool',
    fix: 'Check which server you meant; deny or rename the tool you did not mean.',
  },
  'embedded-secret': {
    severity: 'soft',
    finds: 'keys and passwords in well-known formats',
    fix: 'Tell the author to revoke the key and to remove it from the definition.',
  },
  stuffing: {
    severity: 'soft',
    finds: 'text that is far too long or repetitive, or hidden by blank space',
    fix: 'Ask the author for a shorter text; deny the tool if it crowds out others.',
  },
  'dangerous-command': {
    severity: 'soft',
    finds: 'shell commands that download and run a script, wipe a disk or open a shell to the outside',
    fix: 'Never let a model run a command that a definition gave it.',
  },
  'not-scanned': {
    severity: 'hard',
    finds: 'a definition that is too large, too deep or not an object; this rule cannot be switched off',
    fix: 'Read the definition yourself before you approve it.',
  },
} as const satisfies Readonly<Record<string, RuleEntry>>

export type Rule = keyof typeof structural | FamilyId

/** All rules, by id. */
export const SCAN_RULES: Readonly<Record<Rule, RuleEntry>> = Object.freeze({
  ...structural,
  ...(Object.fromEntries(
    families.map(({ id, severity, finds, fix }) => [id, { severity, finds, fix }]),
  ) as Record<FamilyId, RuleEntry>),
})

/** Which rules are switched off: `{ "steer-preference": "off" }`. */
export type RuleSettings = Readonly<Partial<Record<Rule, 'off'>>>

const SWITCHABLE = Object.keys(SCAN_RULES).filter((id) => id !== 'not-scanned')

/** Checks one setting. Undefined if it is valid. */
export function checkRuleSetting(
  id: string,
  value: unknown,
): { readonly message: string; readonly fix: string } | undefined {
  if (id === 'not-scanned')
    return { message: `the rule "${id}" cannot be switched off`, fix: 'Approve the definition instead' }
  if (!SWITCHABLE.includes(id)) {
    const [known] = nearest(id, SWITCHABLE, 1)
    const fix =
      known === undefined ? `Known rules: ${SWITCHABLE.join(', ')}` : `Did you mean ${JSON.stringify(known)}?`
    return { message: `there is no rule ${JSON.stringify(id)}`, fix }
  }
  if (value === 'off') return undefined
  return {
    message: `the rule ${JSON.stringify(id)} must be "off"`,
    fix: `Write "${id}": "off", or remove it`,
  }
}

/** Throws `invalid-option` for unknown rules and rules that cannot be switched off. `where`: the call, for the message. */
export function assertRules(options: { readonly rules?: RuleSettings }, where: string): RuleSettings {
  assertKnownKeys(options, ['rules'], where)
  const rules: unknown = options.rules ?? {}
  if (!isRecord(rules)) throw invalid('rules', `${where}.rules must be an object: { "rule-id": "off" }.`)
  for (const [id, value] of Object.entries(rules)) {
    const problem = checkRuleSetting(id, value)
    if (problem) throw invalid(`rules.${id}`, `${problem.message}. ${problem.fix}.`)
  }
  return rules as RuleSettings
}

/** Increment when a rule changes: older findings are then ignored. */
export const SCAN_VERSION = 7

/** Identifies the rules of a scan. Findings with another stamp are ignored. */
export function scanStamp(rules: RuleSettings = {}): string {
  return [SCAN_VERSION, ...Object.keys(rules).sort()].join(' ')
}

export interface Finding {
  readonly rule: Rule
  readonly severity: Severity
  /** JSON path within the definition: `description`, `inputSchema.properties["a b"].default`. */
  readonly where: string
  /** At most 160 characters, quoted and escaped: safe to print, log and show to a model. */
  readonly excerpt: string
  readonly why: string
  readonly fix: string
}

export function createFinding(
  rule: Rule,
  severity: Severity,
  where: string,
  excerpt: string,
  why: string,
): Finding {
  return { rule, severity, where, excerpt: createExcerpt(excerpt), why, fix: SCAN_RULES[rule].fix }
}

/** Escapes characters outside printable ASCII that could deceive. Letters stay. */
export function createExcerpt(text: string, limit = 160): string {
  const characters = [...text.slice(0, limit * 2 + 2)]
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : characters.join('')
  return safeJson(cut.toWellFormed()).replace(/[\p{Cf}\p{Co}\p{Cn}\p{Mn}\u2800\u3000]/gu, escaped)
}

/** Shows tags in an excerpt for people. Everything else stays escaped. */
export function showTags(excerpt: string): string {
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
