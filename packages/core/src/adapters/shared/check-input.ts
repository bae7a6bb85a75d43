/** Checks what a host gives to an adapter, and reports mistakes with a fix. */

import { isRecord } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { nearest } from '../../base/nearest.js'
import { assertKnownKeys, describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { type Form, wires } from '../../base/wires.js'
import type { SurfaceView } from '../../surface/project.js'
import { isPromise } from '../../tool/define-tool.js'
import { findFailure, isStream, type StreamedReply } from './stream.js'
import { plainText, type Unit, type UnitCall } from './thread.js'

const KINDS: readonly unknown[] = ['system', 'user', 'assistant', 'answer', 'note'] satisfies Unit['kind'][]

/** A thread comes from `thread` of an adapter, directly or from a store. */
export function assertThread(thread: unknown): void {
  const from = 'the result of thread() of an adapter, directly or from JSON'
  if (!Array.isArray(thread)) throw invalid('thread', `adopt takes ${from}, not ${describeKind(thread)}.`)
  const broken = thread.findIndex((unit: unknown) => !isUnit(unit))
  if (broken >= 0)
    throw invalid('thread', `adopt takes ${from}; entry ${broken} of this list is not a unit of it.`)
}

function isUnit(value: unknown): boolean {
  if (!isRecord(value) || !KINDS.includes(value.kind) || typeof value.text !== 'string') return false
  if (value.kind === 'answer' && typeof value.callId !== 'string') return false
  if (value.kind === 'assistant' && !(Array.isArray(value.calls) && value.calls.every(isUnitCall)))
    return false
  return isNative(value.native)
}

function isUnitCall(value: unknown): boolean {
  if (!isRecord(value) || typeof value.id !== 'string' || typeof value.name !== 'string') return false
  return isRecord(value.input) && isNative(value.native)
}

function isNative(value: unknown): boolean {
  if (value === undefined) return true
  return (
    isRecord(value) &&
    typeof value.wire === 'string' &&
    typeof value.value === 'object' &&
    value.value !== null
  )
}

const METHODS = ['read', 'write', 'parts', 'calls', 'answer']

export function assertWire(wire: unknown): void {
  const missing = isRecord(wire)
    ? [
        ...(typeof wire.name === 'string' ? [] : ['name']),
        ...METHODS.filter((key) => typeof wire[key] !== 'function'),
      ]
    : ['name', ...METHODS]
  if (missing.length > 0)
    throw invalid(
      'wire',
      `createAdapter takes a wire, but this one has no ${missing.join(', ')}. See docs/adapters/writing-one.md.`,
    )
}

/** The keys of the system prompt in `begin`, on all wires. */
const PROMPTS = ['system', 'instructions', 'systemInstruction']

/** Settings of requests with which a provider keeps the history. */
const SERVER_STATE = [
  ...['previous_response_id', 'previousResponseId', 'previous_interaction_id'],
  ...['conversation', 'store', 'thread', 'thread_id', 'background'],
]

/** Explains that the whole history is sent. `found`: what the host uses instead. */
export function refuseServerState(path: string, found: string): ToolwellError {
  return invalid(
    path,
    `${found} keeps the history at the provider, where Toolwell cannot add, repair or compact anything. Pass your whole history to begin on every request, and send parts without it. For OpenAI, also send store: false and include: ['reasoning.encrypted_content'].`,
  )
}

/** Finds a setting of these options with which the provider keeps the history. */
export function findServerState(options: unknown): string | undefined {
  if (!isRecord(options)) return undefined
  return SERVER_STATE.find((key) => options[key] != null && options[key] !== false)
}

/**
 * Throws if a history has only the newest results: the provider is to know the rest. `isKnown`: whether this
 * conversation ran the call with this anchor.
 */
export function assertWholeHistory(units: readonly Unit[], isKnown: (anchor: string) => boolean): void {
  const first = units.find(({ kind }) => kind !== 'system')
  if (first?.kind !== 'answer' || units.some(({ kind }) => kind !== 'answer' && kind !== 'system')) return
  if (isKnown(`call:${first.callId}`))
    throw refuseServerState(
      'begin.messages',
      'This history has results without their calls. It seems that a setting such as previous_response_id',
    )
}

/** `own`: the keys that this wire takes in `begin`, apart from `requestId`. */
export function assertRequest(request: unknown, own: readonly string[]): void {
  const state = findServerState(request)
  if (state !== undefined) throw refuseServerState(`begin.${state}`, `The setting ${JSON.stringify(state)}`)
  const foreign = isRecord(request)
    ? PROMPTS.find((key) => request[key] !== undefined && !own.includes(key))
    : undefined
  if (foreign !== undefined) {
    const [here] = own.filter((key) => PROMPTS.includes(key))
    throw invalid(
      `begin.${foreign}`,
      here === undefined
        ? "On this wire the system prompt is a message in your history: { role: 'system', content: … }."
        : `On this wire, pass the system prompt as ${JSON.stringify(here)}, not as ${JSON.stringify(foreign)}.`,
    )
  }
  assertKnownKeys(request, ['requestId', ...own], 'begin')
}

/**
 * Throws if these calls were already run on this turn: the tools would do everything twice. A failed run may be
 * repeated.
 */
export function assertFirstRun(ran: WeakSet<object>, reply: unknown, calls: readonly UnitCall[]): () => void {
  const marks = [reply, ...calls.map(({ native }) => native?.value)].filter(
    (value): value is object => typeof value === 'object' && value !== null,
  )
  if (calls.length > 0 && marks.some((mark) => ran.has(mark)))
    throw invalid(
      'run',
      'This reply was already run. Use the result of the first run(). For the next reply, call begin again with the history that contains this reply and its results.',
    )
  for (const mark of marks) ran.add(mark)
  return () => {
    for (const mark of marks) ran.delete(mark)
  }
}

/** A shorter prompt may be in a history by chance. */
const LEAST = 20

export const FED_BACK =
  'this history, or its prompt, contains text that Toolwell added to an earlier request. Keep your own list: push the reply and the messages of run onto it, and pass that list to begin, not the messages of turn.parts'

/**
 * Whether the host passed a request as the history: its messages or prompt contain the section or an insert of this
 * conversation.
 */
export function isFedBack(
  units: readonly Unit[],
  prompt: object,
  { section, inserts }: SurfaceView,
): boolean {
  const isFound = (text: string, kinds: readonly Unit['kind'][]) =>
    text.length >= LEAST && units.some((unit) => kinds.includes(unit.kind) && unit.text.includes(text))
  return (
    isFound(section, ['system']) ||
    // The model may quote anything.
    inserts.some(({ text }) => isFound(text, ['system', 'user', 'answer'])) ||
    (section.length >= LEAST && plainText(prompt).includes(JSON.stringify(section).slice(1, -1)))
  )
}

const ASSEMBLED =
  'await assemble(readEvents(response.body)), or await assemble(stream) with the stream of an SDK'

/** Roles of messages that a model does not write. */
const OTHERS = ['user', 'system', 'developer', 'tool', 'function']

/** The reply in the argument of `run`. Throws if it is certainly not a reply. The wire checks the rest. */
export function readReply<Reply>(given: Reply | StreamedReply<Reply, unknown>): Reply {
  if (isStreamed(given)) {
    if (!given.complete) throw describeBreak(given.error)
    return given.reply
  }
  assertReply(given)
  return given
}

export function isStreamed(reply: unknown): reply is StreamedReply<unknown, unknown> {
  return isRecord(reply) && 'rawUsage' in reply && 'complete' in reply && 'reply' in reply
}

/** Describes a broken stream. An error that replaced the stream already has a description. */
function describeBreak(error: unknown): ToolwellError {
  if (ToolwellError.is(error)) return invalid('reply', `No reply to run. ${error.message}`)
  const why = typeof error === 'string' ? error : findFailure({ error })
  return invalid(
    'reply',
    `This stream ended early${why ? ` (${quote(why, 300)})` : ''}. Its calls may be incomplete, so nothing was run. Begin again with the same history.`,
  )
}

function assertReply(reply: unknown): void {
  if (!isRecord(reply)) return
  if (isPromise(reply))
    throw invalid('reply', 'This is a promise of a reply. Await it, then pass the reply to run.')
  if (typeof reply.json === 'function' && typeof reply.status === 'number')
    throw invalid(
      'reply',
      `This is a Response of fetch. Pass its content to run: await response.json(), or for a stream ${ASSEMBLED}.`,
    )
  if (isStream(reply))
    throw invalid('reply', `This is a stream. Pass the assembled reply to run: ${ASSEMBLED}.`)
  if (isEvent(reply))
    throw invalid('reply', `This is one event of a stream. Pass the assembled reply to run: ${ASSEMBLED}.`)
  const { error, role } = reply
  if (typeof role === 'string' && OTHERS.includes(role))
    throw invalid(
      'reply',
      `This is a message with the role ${JSON.stringify(role)}, not a reply of a model. Pass the reply of the API to run.`,
    )
  const isAnswer = ['choices', 'candidates', 'output', 'content', 'message'].some((key) => key in reply)
  if (isAnswer || !isRecord(error) || typeof error.message !== 'string') return
  throw invalid(
    'reply',
    `The API answered with an error: ${quote(error.message, 300)}. Nothing was run. Check the status of a response before you pass it to run.`,
  )
}

/** A chunk of Chat Completions, or an event of the Responses API or Anthropic's. Events of Gemini look like replies. */
function isEvent({ choices, type }: Readonly<Record<string, unknown>>): boolean {
  if (typeof type === 'string') return /^(?:response\.|message_|content_block_)/.test(type)
  const [choice]: readonly unknown[] = Array.isArray(choices) ? choices : []
  return isRecord(choice) && isRecord(choice.delta) && !('message' in choice)
}

/** `ui`: messages of the AI SDK's user interfaces, which no adapter reads. */
type AnyForm = Form | 'ui'

const FORMS = (Object.keys(wires) as Form[]).filter((wire) => wires[wire].api)

function describeForm(form: AnyForm): string {
  return form === 'ui' ? 'an interface (UIMessage)' : wires[form].api
}

/**
 * The forms that a message shows, usually none or one. Only shapes that exist on one wire count: messages with text
 * alone look the same on most wires.
 */
function detectForms(message: unknown): readonly AnyForm[] {
  try {
    return isRecord(message) ? detectMessageForms(message) : []
  } catch {
    // A field cannot be read: the entry will be dropped.
    return []
  }
}

function detectMessageForms(message: Readonly<Record<string, unknown>>): readonly AnyForm[] {
  const { content, parts } = message
  const pieces = Array.isArray(content) ? content.filter(isRecord) : []
  const isUi = (part: unknown) => isRecord(part) && typeof part.type === 'string'
  return [
    ...(Array.isArray(parts) && content === undefined && parts.some(isUi) ? ['ui' as const] : []),
    ...FORMS.filter((form) => wires[form].isMessage?.(message)),
    ...new Set(pieces.flatMap((piece) => FORMS.filter((form) => wires[form].isPart?.(piece)))),
  ]
}

/** Roles of all wires. Servers have more, which are read as the user's. */
const ROLES = ['user', 'assistant', 'system', 'developer', 'tool', 'function', 'model']

/** Throws if a message has a misspelt role: the wire would read it as the user's. */
export function assertRoles(messages: readonly unknown[]): void {
  for (const [index, message] of messages.entries()) {
    const role = readRole(message)
    if (typeof role !== 'string' || ROLES.includes(role)) continue
    const [meant] = nearest(role, ROLES, 1)
    if (meant !== undefined)
      throw invalid(
        `messages[${index}].role`,
        `Entry ${index} of this history has the role ${quote(role, 40)}. Did you mean ${JSON.stringify(meant)}?`,
      )
  }
}

function readRole(message: unknown): unknown {
  try {
    return isRecord(message) ? message.role : undefined
  } catch {
    return undefined
  }
}

/** Whether a message has no parts, on a wire where a message consists of parts. */
function lacksParts(message: unknown): boolean {
  try {
    if (!isRecord(message) || message.parts !== undefined || typeof message.role !== 'string') return false
    const { content } = message
    return typeof content === 'string' ? content !== '' : Array.isArray(content) && content.length > 0
  } catch {
    return false
  }
}

/**
 * Describes the first entry of a history that has the form of another wire. Throws if no entry has the form of this
 * wire.
 */
export function findForeignEntry(form: Form, messages: readonly unknown[]): string | undefined {
  const { adapter, alsoReads, api, needsParts } = wires[form]
  const forms = messages.map(detectForms)
  const isOwn = (some: readonly AnyForm[]) => some.some((each) => each === form || each === alsoReads)
  const index = forms.findIndex((some, at) =>
    some.length > 0 ? !isOwn(some) : needsParts === true && lacksParts(messages[at]),
  )
  if (index < 0) return undefined
  const [other] = forms[index] ?? []
  const problem = `entry ${index} of this history is ${other ? `in the form of ${describeForm(other)}` : 'a message with "content"'}, and ${adapter} reads that of ${api}`
  if (forms.some(isOwn)) return problem
  throw invalid('messages', `${problem[0]?.toUpperCase()}${problem.slice(1)}. ${describeFix(adapter, other)}`)
}

const FIX_UI = 'Convert it with convertToModelMessages of the AI SDK, and use aiSdk of @toolwell/core/ai-sdk.'

function describeFix(here: string, other: AnyForm | undefined): string {
  if (!other) return 'Messages of this API are { role, parts: [{ text }] }.'
  if (other === 'ui') return FIX_UI
  const there = wires[other].adapter
  return `Use ${there} of @toolwell/core/${other}, or move the thread: ${here}(conversation).adopt(${there}(conversation).thread(messages)).`
}

/** Throws if a reply has the form of another wire: this wire would find no calls in it. */
export function assertOwnReply(form: Form, reply: unknown): void {
  const whole = isRecord(reply) ? FORMS.filter((each) => wires[each].isReply?.(reply)) : []
  const forms: readonly AnyForm[] = [...whole, ...detectForms(reply)]
  const [other] = forms
  if (other === undefined || forms.includes(form)) return
  const { adapter, api } = wires[form]
  const fix =
    other === 'ui'
      ? FIX_UI
      : `Use ${wires[other].adapter} of @toolwell/core/${other} for the request and its reply.`
  throw invalid(
    'reply',
    `This reply is in the form of ${describeForm(other)}, and ${adapter} reads that of ${api}. ${fix}`,
  )
}
