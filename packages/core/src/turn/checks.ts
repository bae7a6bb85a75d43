/**
 * The checks that a call must pass before it runs, in order. Each returns the step, or a refusal. The order matters: an
 * answer shows nothing of a tool that the policy hides.
 */
import { firstLine, quote } from '../base/text.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerState } from '../ledger/fold.js'
import { quoteName } from '../search/quote-name.js'
import type { Context } from '../surface/context.js'
import { definitionLine, schemaLine } from '../surface/deltas.js'
import type { FailureReason } from '../tool/notice.js'
import type { ValidationIssue } from '../tool/tool.js'
import type { Batch } from './load.js'
import { describeAwayTool } from './sources.js'

/** Everything that the checks of one batch read. */
export interface JudgeContext {
  readonly state: LedgerState
  readonly context: Context
  readonly batch: Batch
  readonly loader: string
  /** True if this conversation hides tools. */
  readonly deferring: boolean
}

/** A call without its wrapper. */
export interface UnwrappedCall {
  readonly asked: string
  readonly input: Record<string, unknown>
  /** True if the call came through the bridge. */
  readonly bridged: boolean
  /** The load token that came with it. */
  readonly loadToken: string | undefined
  /** The source of the tool, if the call names one. */
  readonly within: string | undefined
}

/** A call whose target is known. */
export interface CallStep extends UnwrappedCall {
  readonly entry: Entry
  readonly alias: string | undefined
  /** Not loaded when the batch started. */
  readonly hidden: boolean
  /** The arguments, with the tool's own property names. */
  readonly original: Record<string, unknown>
}

export interface Refusal {
  readonly reason: FailureReason
  readonly text: string
  readonly asked: string
  /** The id, if the target is known. */
  readonly tool?: string
  readonly alias?: string | undefined
  /** The arguments as sent. Identical failures are counted. */
  readonly given: unknown
  /** The fault in the arguments, for people. Contains no values. */
  readonly detail?: string
}

export type Check = (step: CallStep, at: JudgeContext) => CallStep | Refusal | Promise<CallStep | Refusal>

export function isRefusal(value: object): value is Refusal {
  return 'reason' in value
}

export function refuse(
  { entry, asked, alias, input }: CallStep,
  reason: FailureReason,
  text: string,
): Refusal {
  return { reason, text, asked, tool: entry.id, alias, given: input }
}

/** The tool may be seen, and its source is connected. */
export const isAvailable: Check = (step, { context }) => {
  const { entry } = step
  const availability = context.gate.availability(entry, 'see')
  if (availability === 'ready') return step
  const isDenied = availability === 'denied'
  // Denied after it was shown: the model knows the name, so the answer only says that the tool is gone.
  const state = isDenied ? 'no longer available' : describeAwayTool(entry, availability, context)
  const text = context.settings.prompts.unavailable({ name: entry.wireName, state })
  return refuse(step, isDenied ? 'denied' : 'unavailable', text)
}

/** The tool may be loaded. Comes before all checks whose refusal shows the schema or a way to load the tool. */
export const mayBeLoaded: Check = (step, { context }) => {
  if (!step.hidden || context.gate.availability(step.entry, 'load') === 'ready') return step
  return refuse(step, 'denied', context.settings.prompts.denied({ name: step.entry.wireName }))
}

/** The load token belongs to the current definition. */
export const isCurrent: Check = (step, { context }) => {
  const { entry, loadToken } = step
  if (loadToken === undefined || loadToken === context.loadToken(entry)) return step
  const text = context.settings.prompts.stale({ name: entry.wireName })
  return refuse(step, 'stale', `${text}\n${schemaLine(entry, context)}`)
}

/** The option `hiddenCalls` allows calls of tools that are not loaded. */
export const hiddenCallsAllowed: Check = (step, { context, loader }) => {
  const { prompts, hiddenCalls } = context.settings
  const name = step.entry.wireName
  if (!step.hidden || hiddenCalls === 'load-and-run') return step
  if (hiddenCalls === 'refuse') return refuse(step, 'refused', prompts.refused({ name }))
  return refuse(step, 'hint', prompts.hint({ name, loader, select: writeSelectQuery(name, context) }))
}

/**
 * The arguments match the schema. Checked on every delivery, and if deferral is off: providers enforce a schema only in
 * `strict` mode. If the tool has its own validator, that one decides, and the tool receives its output.
 */
export const argumentsFit: Check = async (step, at) => {
  const { entry, input } = step
  const { context } = at
  const original = context.restore(entry, input)
  if (entry.tool.validate) {
    const own = await runOwnValidator(entry, original, context)
    return 'problems' in own
      ? refuseArguments(step, at, own.problems, own.rules)
      : { ...step, original: own.value }
  }
  const check = await context.check(entry, input)
  const detail = check.kind === 'undecided' ? check.detail : context.unusable(entry)
  if (detail !== undefined) context.notify({ kind: 'schema-unusable', tool: entry.id, detail })
  return check.kind === 'valid' ? { ...step, original } : refuseArguments(step, at, check.problems)
}

/** The policy allows the call. Asked last, with the arguments as the tool will receive them. */
export const mayBeCalled: Check = (step, { context }) => {
  const { entry, original } = step
  if (context.gate.availability(entry, 'call', original) === 'ready') return step
  return refuse(step, 'denied', context.settings.prompts.denied({ name: entry.wireName }))
}

/** A tool that forwards calls is not called through another tool that does. */
export const isNotNested: Check = (step, { context }) => {
  const { entry, within } = step
  if (!entry.tool.forwards || within === undefined) return step
  return refuse(step, 'invalid', context.settings.prompts.bridgeMisuse({ bridge: entry.wireName }))
}

export const CHECKS: readonly Check[] = [
  isAvailable,
  mayBeLoaded,
  isCurrent,
  hiddenCallsAllowed,
  argumentsFit,
  mayBeCalled,
  isNotNested,
]

/**
 * Refuses arguments. The answer names the faults and shows the schema. If the tool was not loaded, the reason is
 * `schema-needed`, a cost of deferral; otherwise the model made a mistake, and the reason is `invalid`.
 */
function refuseArguments(
  step: CallStep,
  { context, state }: JudgeContext,
  problems: readonly string[],
  rules = problems,
): Refusal {
  const { entry, hidden } = step
  const text = context.settings.prompts.schemaNeeded({ name: entry.wireName, problems })
  const reason = hidden || !state.frozen ? 'schema-needed' : 'invalid'
  const detail = firstLine(rules.join('; '), 200)
  // Only the bridge takes a load token, and a call without a conversation.
  const takesToken = !state.frozen || state.frozen.delivery === 'bridge'
  const schema = takesToken ? schemaLine(entry, context) : definitionLine(entry, context)
  return { ...refuse(step, reason, `${text}\n${schema}`), detail }
}

const MAX_PROBLEMS = 8

/** Runs the tool's own validator. If it throws, the call is refused, because its arguments are unchecked. */
async function runOwnValidator(
  { id, tool }: Entry,
  input: Record<string, unknown>,
  { notify }: Context,
): Promise<
  | { readonly value: Record<string, unknown> }
  | { readonly problems: readonly string[]; readonly rules?: readonly string[] }
> {
  try {
    const verdict = await tool.validate?.(input)
    if (!verdict || verdict.issues === undefined)
      return { value: (verdict?.value ?? input) as Record<string, unknown> }
    const issues = verdict.issues.slice(0, MAX_PROBLEMS)
    return { problems: issues.map(describeProblem), rules: issues.map((issue) => describeRule(issue, input)) }
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'validate', detail: `${id}: ${String(error)}` })
    return { problems: ['(the arguments): "They could not be checked."'] }
  }
}

/** JSON in a history escapes these signs, so words replace them. */
const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'above',
  '<': 'below',
}

function describeProblem(issue: ValidationIssue): string {
  const message = issue.message.replace(/([<>]=?)\s*(?=-?\d)/g, (_, sign: string) => `${COMPARISONS[sign]} `)
  return `${describePlace(issue)}: ${quote(message, 200)}`
}

/** Some libraries repeat the received value after these words. */
const RECEIVED = / \(was | but received /

/**
 * Describes the broken rule without the value: by the message, or by the rule's name if the message contains the
 * value.
 */
function describeRule(
  issue: ValidationIssue & { readonly code?: unknown; readonly type?: unknown },
  input: unknown,
): string {
  const values = listTexts(readValue(input, issue))
  const isPlain = (rule: unknown): rule is string =>
    typeof rule === 'string' && !values.some((value) => rule.includes(value.slice(0, 12)))
  const [message] = issue.message.split(RECEIVED, 1)
  const rule = [message, issue.code, issue.type].find(isPlain)
  return rule === undefined ? describePlace(issue) : `${describePlace(issue)}: ${quote(rule, 120)}`
}

function readValue(input: unknown, { path = [] }: ValidationIssue): unknown {
  return path.reduce((value: unknown, key) => {
    const name = typeof key === 'object' ? key.key : key
    return isObject(value) ? (value as Record<PropertyKey, unknown>)[name] : undefined
  }, input)
}

/** Lists every value inside a value, as text. */
function listTexts(value: unknown): string[] {
  if (isObject(value)) return Object.values(value).flatMap(listTexts)
  return value === undefined || value === '' ? [] : [String(value)]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function describePlace({ path = [] }: ValidationIssue): string {
  const keys = path.map((key) => String(typeof key === 'object' ? key.key : key))
  return keys.length === 0 ? '(the arguments)' : quote(keys.join('/'), 120)
}

/** Writes the search query that loads this tool. */
function writeSelectQuery(name: string, { settings, notify }: Context): string {
  try {
    const asked: unknown = settings.searchTool.select?.(name)
    if (typeof asked === 'string') return asked
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'search.tool.select', detail: String(error) })
  }
  return `select:${quoteName(name)}`
}
