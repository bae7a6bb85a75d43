/** What a scan says: a rule, how bad, where, a harmless excerpt, and what to do. */
import { safeJson } from '@toolwell/core/internal'

/** `hard` quarantines by default; `soft` is shown to whoever reviews. */
export type Severity = 'hard' | 'soft'

export type Rule =
  /** Characters a reader cannot see: tags, zero-width, bidi, selectors, private use, fillers. */
  | 'hidden-unicode'
  /** Terminal control sequences. */
  | 'terminal-escape'
  /** Orders to drop, replace or outrank what the model was told before. */
  | 'instruction-override'
  /** Orders to keep something from the user. */
  | 'secrecy'
  /** Orders to act without the user's consent, or claims that it was given. */
  | 'consent-bypass'
  /** Orders to read or hand over secrets, private files, the conversation or the system prompt. */
  | 'data-theft'
  /** Orders to send what the model sees to some address. */
  | 'exfiltration'
  /** Orders that change how other tools are called. */
  | 'tool-tampering'
  /** Talks about a tool of another server, or bears its name in disguise. */
  | 'shadowing'
  /** Claims rank over every other tool. */
  | 'priority-claim'
  /** Orders to say something untrue, or to put something into every answer. */
  | 'false-report'
  /** Orders to be remembered beyond this call: in memory, or in files that every session reads. */
  | 'persistence'
  /** Orders to call or to write without need or end. */
  | 'overuse'
  /** Tags, role markers, turns of a conversation, comments. */
  | 'fake-structure'
  /** Text that hides what it says: encoded, reversed, shifted, spaced out. */
  | 'encoded-payload'
  /** A key or password. */
  | 'embedded-secret'
  /** A parameter that asks for what the tool does not need. */
  | 'exfiltration-parameter'
  /** A default, constant or example that does harm when used. */
  | 'dangerous-value'
  /** Orders to run commands that open the machine. */
  | 'dangerous-command'
  /** Text far larger, or far more repetitive, than a description needs. */
  | 'stuffing'
  /** A name in mixed scripts. */
  | 'deceptive-name'
  /** A part could not be scanned, so nothing is known of it. */
  | 'not-scanned'

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

const FIXES: Readonly<Record<Rule, string>> = {
  'hidden-unicode': 'Ask the author to remove the invisible characters; do not approve text you cannot see.',
  'terminal-escape': 'Do not print the raw text; ask the author to remove the control sequences.',
  'instruction-override':
    'Do not approve: no tool needs to speak about the instructions a model has. Remove the server.',
  secrecy: 'Do not approve: no tool needs to be kept from the user. Remove the server.',
  'consent-bypass':
    'Keep approval prompts on for this tool, and ask the author why it should run without them.',
  'data-theft': 'Do not approve. Remove the server; change the secrets it may have seen.',
  exfiltration: 'Do not approve. Remove the server; look in its past calls for what was sent.',
  'tool-tampering': 'Do not approve: a tool may describe itself, not how others are called.',
  shadowing: 'Check which server you meant; deny or rename the tool you did not mean.',
  'priority-claim': 'Read the text; if the tool is wanted, approve it, and rank tools by rules instead.',
  'false-report': 'Do not approve: what the model tells the user is not the business of a tool.',
  persistence:
    'Do not approve; look in memory and in instruction files such as AGENTS.md for what was already written.',
  overuse: 'Do not approve without a limit on calls and cost; ask the author why so many are needed.',
  'fake-structure': 'Do not approve: a description is plain text; ask the author to remove the markers.',
  'encoded-payload': 'Decode the text and read it; ask the author for plain text.',
  'embedded-secret': 'Tell the author to revoke the key and to remove it from the definition.',
  'exfiltration-parameter': 'Leave the parameter empty or deny the tool; ask the author what it is for.',
  'dangerous-value': 'Do not approve with this value; pass your own or ask the author to remove it.',
  'dangerous-command': 'Do not approve; never let a model run a command that a description gave it.',
  stuffing: 'Ask the author for a shorter text; deny the tool if it crowds out others.',
  'deceptive-name': 'Compare the name letter by letter with the one you know; deny the tool if it differs.',
  'not-scanned': 'Look at the definition by hand before you approve it.',
}

export function finding(
  rule: Rule,
  severity: Severity,
  where: string,
  excerpt: string,
  why: string,
): Finding {
  return { rule, severity, where, excerpt: excerptOf(excerpt), why, fix: FIXES[rule] }
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
