/** Reads calls as the model wrote them: unwraps the bridge and forwarding tools, and parses arguments. */
import { isRecord } from '../base/data.js'
import { canonicalJson, shortHash } from '../base/hash.js'
import { quote } from '../base/text.js'
import { BRIDGE_NAME, createMetaEntry } from '../surface/meta-tools.js'
import type { CallStep, JudgeContext, Refusal, UnwrappedCall } from './checks.js'
import type { ModelCall } from './verdict.js'

/**
 * True for a search that is allowed and readable. Other calls of the search tool are judged, and refused, like any
 * call.
 */
export function isSearch(call: ModelCall, { context, loader, deferring }: JudgeContext): boolean {
  if (!deferring || call.name !== loader || 'unparsable' in call.input) return false
  return context.gate.availability(createMetaEntry(loader), 'call') !== 'denied'
}

/** Unwraps a call, or refuses it if its arguments cannot be read. */
export function readCall(call: ModelCall, at: JudgeContext): UnwrappedCall | Refusal {
  const { context, loader, deferring, state } = at
  const { prompts } = context.settings
  const isDenied = (name: string) => context.gate.availability(createMetaEntry(name), 'call') === 'denied'
  const given: unknown = 'value' in call.input ? call.input.value : call.input.unparsable
  const refuse = (reason: Refusal['reason'], text: string, asked = call.name): Refusal => ({
    reason,
    text,
    asked,
    given,
  })
  const unread = (name: string, problem: string, detail: string): Refusal => ({
    ...refuse('invalid', prompts.badArguments({ name, problem })),
    detail,
  })
  if (deferring && call.name === loader && isDenied(loader))
    return refuse('denied', prompts.denied({ name: loader }))
  if ('unparsable' in call.input) {
    const name = deferring && call.name === loader ? loader : quote(call.name)
    return unread(name, quote(call.input.problem), 'the arguments are not JSON')
  }
  const { value } = call.input
  const bridged = deferring && state.frozen?.delivery === 'bridge' && call.name === BRIDGE_NAME
  if (!bridged) {
    if (isRecord(value))
      return { asked: call.name, input: value, bridged, loadToken: undefined, within: undefined }
    return unread(quote(call.name), 'it is not an object', 'the arguments are not an object')
  }
  const inner = unwrapBridge(value)
  if (!inner) {
    if (!isRecord(value))
      return unread(quote(call.name), 'it is not an object', 'the arguments are not an object')
    const problems = listWrapperProblems(value)
    return {
      ...refuse('invalid', prompts.schemaNeeded({ name: BRIDGE_NAME, problems })),
      detail: problems.join('; '),
    }
  }
  if (inner.name === BRIDGE_NAME || inner.name === loader)
    return refuse('invalid', prompts.bridgeMisuse({ bridge: BRIDGE_NAME }), inner.name)
  if (isDenied(BRIDGE_NAME)) return refuse('denied', prompts.denied({ name: BRIDGE_NAME }), inner.name)
  return { asked: inner.name, input: inner.input, bridged, loadToken: inner.load, within: undefined }
}

/** Lists the faults in the bridge's own arguments. */
function listWrapperProblems({ name, arguments: given }: Record<string, unknown>): string[] {
  const isNamed = typeof name === 'string' && name !== ''
  return [
    ...(isNamed
      ? []
      : [
          `"name": "${name === undefined ? 'Is missing' : 'Must be a string'}: the exact name of the tool to call."`,
        ]),
    ...(readArguments(given) ? [] : ['"arguments": "Must be an object: the arguments of that tool."']),
  ]
}

/** Reads the call that a tool forwards. Undefined if the tool does not forward calls. */
export function readForwardedCall(
  step: CallStep,
  { context }: JudgeContext,
): UnwrappedCall | Refusal | undefined {
  const { entry, original, asked, alias, input } = step
  const { forwards } = entry.tool
  if (!forwards) return undefined
  try {
    const inner = forwards(original)
    const innerInput = readArguments(inner?.input)
    if (inner && innerInput)
      return {
        asked: String(inner.tool),
        input: innerInput,
        bridged: step.bridged,
        loadToken: undefined,
        within: String(inner.source),
      }
  } catch (error) {
    // `forwards` is the host's code. If it throws, the call is refused.
    context.notify({ kind: 'hook-failed', hook: 'forwards', detail: `${entry.id}: ${String(error)}` })
  }
  const text = context.settings.prompts.bridgeMisuse({ bridge: entry.wireName })
  return { reason: 'invalid', text, asked, tool: entry.id, alias, given: input }
}

/** Levels of nesting that arguments may have. */
const MAX_DEPTH = 1000

/** Reads the bridge's arguments. */
function unwrapBridge(
  value: unknown,
): { name: string; input: Record<string, unknown>; load: string | undefined } | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const load = typeof value.load === 'string' && value.load !== '' ? value.load : undefined
  const input = readArguments(value.arguments)
  return input && { name: value.name, input, load }
}

/** Reads arguments inside arguments. Some models send them as JSON text. Undefined if they are not an object. */
export function readArguments(value: unknown): Record<string, unknown> | undefined {
  let input: unknown = value ?? {}
  if (typeof input === 'string') {
    try {
      input = input.trim() === '' ? {} : JSON.parse(input)
    } catch {
      return undefined
    }
    if (isTooDeep(input)) return undefined
  }
  return isRecord(input) ? input : undefined
}

/** Marks deeply nested arguments as unparsable, because they would overflow recursive JSON readers. */
export function limitDepth(call: ModelCall): ModelCall {
  if (!('value' in call.input) || !isTooDeep(call.input.value)) return call
  return { ...call, input: { unparsable: '', problem: `they are nested deeper than ${MAX_DEPTH} levels` } }
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

/** Creates a key from target and arguments. Equal calls have equal keys. */
export function createCallKey(name: string, input: unknown): string {
  return shortHash(`${name}\n${typeof input === 'string' ? input : canonicalJson(input)}`)
}
