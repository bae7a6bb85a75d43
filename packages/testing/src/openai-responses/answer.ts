/** Writes an answer on the OpenAI Responses wire: a single object or events. */
import type { AnswerContext, ScriptedAnswer, ScriptedCall } from '../shared/protocol.js'
import { argumentFragments, estimateCachedTokens, estimateTokens, pieces } from '../shared/usage.js'
import { offeredTools, type ResponsesRequestBody } from './request.js'
import { type CallableTools, callableTools, DEFAULT_NAMESPACE } from './tools.js'

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

interface OutputText {
  readonly type: 'output_text'
  readonly text: string
  readonly annotations: readonly never[]
  readonly logprobs: readonly never[]
}

interface MessageItem {
  readonly id: string
  readonly type: 'message'
  readonly status: ItemStatus
  readonly role: 'assistant'
  readonly content: readonly OutputText[]
}

interface FunctionCallItem {
  readonly id: string
  readonly type: 'function_call'
  readonly status: ItemStatus
  readonly call_id: string
  readonly name: string
  readonly namespace?: string
  /** The text the model wrote, which may not be JSON. */
  readonly arguments: string
}

interface SearchCallItem {
  readonly id: string
  readonly type: 'tool_search_call'
  readonly status: ItemStatus
  readonly execution: 'client'
  readonly call_id: string
  /** A parsed value, not text: the only place where this wire parses the model's output. */
  readonly arguments: unknown
}

interface ReasoningItem {
  readonly id: string
  readonly type: 'reasoning'
  readonly status?: ItemStatus
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
  /** With `include: ['reasoning.encrypted_content']`. */
  readonly encrypted_content?: string
}

type OutputItem = ReasoningItem | MessageItem | FunctionCallItem | SearchCallItem

/** A finished answer before it is written in either form. */
export interface ResponsesAnswer {
  readonly id: string
  readonly body: ResponsesRequestBody
  readonly output: readonly OutputItem[]
  /** Why the answer is incomplete. Undefined if it is complete. */
  readonly reason: string | undefined
  readonly usage: object
}

export interface ResponsesEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** Constant, so that a script gives the same bytes on every run. */
const CREATED = 1_700_000_000

/**
 * `finish` is `completed` (the default) or the reason why the answer is incomplete (`max_output_tokens`, `content_filter`).
 * Throws if a script calls `tool_search` and the request leaves the search to the server, because the script plays only the
 * model.
 */
export function composeAnswer(
  { thinking, text, calls = [], finish = 'completed' }: ScriptedAnswer,
  body: ResponsesRequestBody,
  context: AnswerContext,
): ResponsesAnswer {
  const { index, rendered, earlier } = context
  const search = offeredTools(body).find((tool) => tool.type === 'tool_search')
  const callable = callableTools(body)
  const message =
    text !== undefined || calls.length === 0 ? [messageItem(`msg_${index + 1}`, text ?? '')] : []
  const called = calls.map((call, position): OutputItem => {
    const callId = call.id ?? context.nextCallId('call_')
    const suffix = `${index + 1}_${position + 1}`
    if (search === undefined || call.name !== 'tool_search') {
      return functionCallItem(`fc_${suffix}`, callId, call, callable)
    }
    if (search.execution === 'client') return searchCallItem(`tsc_${suffix}`, callId, call)
    throw new Error(
      "The script calls 'tool_search', but the request does not declare it with execution 'client'.",
    )
  })
  const reason = finish === 'completed' ? undefined : finish
  const thought = thinking === undefined ? [] : [reasoningItem(`rs_${index + 1}`, thinking, body)]
  const items: readonly OutputItem[] = [...thought, ...message, ...called]
  const output = items.map((item, position) =>
    reason !== undefined && position === items.length - 1 ? { ...item, status: 'incomplete' as const } : item,
  )
  const input = estimateTokens(rendered)
  const written = estimateTokens(output.map(writtenText).join(''))
  const usage = {
    input_tokens: input,
    // Required by the official types. The automatic cache modelled here has no writes to report.
    input_tokens_details: { cached_tokens: estimateCachedTokens(rendered, earlier), cache_write_tokens: 0 },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + written,
  }
  return { id: `resp_${index + 1}`, body, output, reason, usage }
}

/** Without `output_text`, which is not on the wire: the official clients add it. */
export function responseObject({ id, body, output, reason, usage }: ResponsesAnswer): object {
  return {
    ...frameOf(id, body),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    completed_at: reason === undefined ? CREATED : null,
    output,
    usage,
  }
}

/** Numbered from 0, ending with the whole response. */
export function* responseEvents(answer: ResponsesAnswer): Generator<ResponsesEvent> {
  let sequence = 0
  for (const event of unnumberedEvents(answer)) yield { ...event, sequence_number: sequence++ }
}

/**
 * Text and arguments come in pieces of at most eight characters. Parallel calls alternate, so a client that joins fragments by
 * arrival instead of by `output_index` or `item_id` fails.
 */
function* unnumberedEvents(answer: ResponsesAnswer): Generator<ResponsesEvent> {
  const { id, body, output, reason } = answer
  const started = { ...frameOf(id, body), output: [], usage: null }
  yield { type: 'response.created', response: started }
  yield { type: 'response.in_progress', response: started }
  const calls: Generator<ResponsesEvent>[] = []
  for (const [index, item] of output.entries()) {
    yield { type: 'response.output_item.added', output_index: index, item: openItem(item) }
    if (item.type === 'message') yield* messageEvents(item, index)
    else if (item.type === 'reasoning') yield { type: 'response.output_item.done', output_index: index, item }
    else calls.push(callEvents(item, index))
  }
  yield* inTurns(calls)
  const type = reason === undefined ? 'response.completed' : 'response.incomplete'
  yield { type, response: responseObject(answer) }
}

function* messageEvents(item: MessageItem, index: number): Generator<ResponsesEvent> {
  for (const [position, part] of item.content.entries()) {
    const place = { item_id: item.id, output_index: index, content_index: position }
    yield { type: 'response.content_part.added', ...place, part: { ...part, text: '' } }
    for (const delta of pieces(part.text)) {
      yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] }
    }
    yield { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] }
    yield { type: 'response.content_part.done', ...place, part }
  }
  yield { type: 'response.output_item.done', output_index: index, item }
}

/** A search has no events for its arguments: they come with the finished item. */
function* callEvents(item: FunctionCallItem | SearchCallItem, index: number): Generator<ResponsesEvent> {
  if (item.type === 'function_call') {
    const place = { item_id: item.id, output_index: index }
    for (const delta of argumentFragments(item.arguments)) {
      yield { type: 'response.function_call_arguments.delta', ...place, delta }
    }
    const { name, arguments: text } = item
    yield { type: 'response.function_call_arguments.done', ...place, name, arguments: text }
  }
  yield { type: 'response.output_item.done', output_index: index, item }
}

function* inTurns(sources: readonly Generator<ResponsesEvent>[]): Generator<ResponsesEvent> {
  let rest = sources
  while (rest.length > 0) {
    const going: Generator<ResponsesEvent>[] = []
    for (const source of rest) {
      const { done, value } = source.next()
      if (done) continue
      yield value
      going.push(source)
    }
    rest = going
  }
}

/** Fields of a response from its first event on. OpenAI returns the settings of the request. */
function frameOf(id: string, body: ResponsesRequestBody): object {
  return {
    id,
    object: 'response',
    created_at: CREATED,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
  }
}

function reasoningItem(id: string, text: string, { include }: ResponsesRequestBody): ReasoningItem {
  const isEncrypted = Array.isArray(include) && include.includes('reasoning.encrypted_content')
  return {
    id,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text }],
    ...(isEncrypted && { encrypted_content: Buffer.from(text).toString('base64') }),
  }
}

function messageItem(id: string, text: string): MessageItem {
  const part: OutputText = { type: 'output_text', text, annotations: [], logprobs: [] }
  return { id, type: 'message', status: 'completed', role: 'assistant', content: [part] }
}

function functionCallItem(
  id: string,
  callId: string,
  call: ScriptedCall,
  callable: CallableTools,
): FunctionCallItem {
  const { name, namespace } = addressOf(call.name, callable)
  return {
    id,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
    arguments: textOf(call.arguments),
  }
}

function searchCallItem(id: string, callId: string, call: ScriptedCall): SearchCallItem {
  return {
    id,
    type: 'tool_search_call',
    status: 'completed',
    execution: 'client',
    call_id: callId,
    arguments: parsed(call.arguments),
  }
}

/**
 * Finds the namespace of a function that the script calls; the default namespace wins. `crm.list_orders` selects a namespace if
 * several have the name. A function that the model was never shown is called without a namespace.
 */
function addressOf(name: string, callable: CallableTools): { name: string; namespace?: string } {
  const dot = name.indexOf('.')
  const [space, member] = [name.slice(0, Math.max(dot, 0)), name.slice(dot + 1)]
  if (dot > 0 && callable.has(space)) return { name: member, namespace: space }
  if (callable.get(DEFAULT_NAMESPACE)?.has(name)) return { name }
  const holder = [...callable].find(([, names]) => names.has(name))
  return holder === undefined ? { name } : { name, namespace: holder[0] }
}

function textOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {})
}

/** The parsed value, or the text itself if it is not JSON. */
function parsed(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** The item as announced, before its content. */
function openItem(item: OutputItem): OutputItem {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  if (item.type === 'reasoning') return { ...item, summary: [] }
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  return { ...item, status: 'in_progress', arguments: {} }
}

function writtenText(item: OutputItem): string {
  if (item.type === 'message') return item.content.map((part) => part.text).join('')
  if (item.type === 'reasoning') return item.summary.map(({ text }) => text).join('')
  if (item.type === 'function_call') return item.name + item.arguments
  return `tool_search${textOf(item.arguments)}`
}
