/** Takes a call out of its wrapper: the bridge, or a tool of the host's that stands for others. */
import { isRecord } from '../base/data.js'
import { quote } from '../base/text.js'
import { BRIDGE_NAME, metaEntry } from '../surface/meta-tools.js'
import type { CallStep, JudgeContext, Refusal, UnwrappedCall } from './checks.js'
import { type ModelCall, readArguments, unwrap } from './verdict.js'

/** A search that may be made. One that is denied or cannot be read is judged like any call. */
export function isSearch(call: ModelCall, { context, loader, deferring }: JudgeContext): boolean {
  if (!deferring || call.name !== loader || 'unparsable' in call.input) return false
  return context.gate.availability(metaEntry(loader), 'call') !== 'denied'
}

export function readCall(call: ModelCall, at: JudgeContext): UnwrappedCall | Refusal {
  const { context, loader, deferring, state } = at
  const { prompts } = context.settings
  const isDenied = (name: string) => context.gate.availability(metaEntry(name), 'call') === 'denied'
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
    return unread(name, quote(call.input.problem), 'the arguments are no JSON')
  }
  const { value } = call.input
  const bridged = deferring && state.frozen?.delivery === 'bridge' && call.name === BRIDGE_NAME
  if (!bridged) {
    if (isRecord(value))
      return { asked: call.name, input: value, bridged, loadToken: undefined, within: undefined }
    return unread(quote(call.name), 'it is not an object', 'the arguments are no object')
  }
  const inner = unwrap(value)
  if (!inner) {
    if (!isRecord(value))
      return unread(quote(call.name), 'it is not an object', 'the arguments are no object')
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

/** What the wrapper's input lacks. */
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

/** The call that a tool stands for; undefined for a tool that stands for itself. */
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
    // The host's code: where it fails, nothing was called.
    context.notify({ kind: 'hook-failed', hook: 'forwards', detail: `${entry.id}: ${String(error)}` })
  }
  const text = context.settings.prompts.bridgeMisuse({ bridge: entry.wireName })
  return { reason: 'invalid', text, asked, tool: entry.id, alias, given: input }
}
