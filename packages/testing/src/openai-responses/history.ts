/** Rules about a whole input on the OpenAI Responses wire: pairs of calls and outputs, and known functions. */
import { type Found, isObject, violation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'
import { type ResponsesItem, type ResponsesRequestBody, readItems } from './request.js'
import { type CallableTools, DEFAULT_NAMESPACE, declaredTools, load } from './tools.js'

/** A call that the input must answer. Searches run by the server are not included. */
interface OpenCall {
  readonly answer: 'function_call_output' | 'tool_search_output'
  /** The program that made the call. */
  readonly program: unknown
  answered: boolean
}

/** Every call is answered exactly once, anywhere after it, and names a function that is declared or was loaded by an earlier item. */
export function historyViolation(body: ResponsesRequestBody): Found {
  let callable = declaredTools(body)
  const calls = new Map<string, OpenCall>()
  const ids = new Set<string>()
  const programs = new Set<unknown>()
  const items = readItems(body)
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`
    if (item.type === 'program') programs.add(item.call_id)
    const found =
      duplicateItemViolation(item, ids) ??
      callerViolation(item, at, programs) ??
      loneReasoningViolation(item, items.slice(index + 1)) ??
      turnViolation(item, at, calls, callable)
    if (found) return found
    // The model sees nothing before a compaction (guides/compaction), so the tools loaded there are gone.
    if (item.type === 'compaction') callable = declaredTools(body)
    load(item, callable)
  }
  const open = [...calls].find(([, call]) => !call.answered)
  if (open === undefined) return undefined
  const kind = open[1].answer === 'function_call_output' ? 'function call' : 'tool search call'
  return violation(`No tool output found for ${kind} ${open[0]}.`, 'input', 'unanswered_tool_calls')
}

/** Between the outputs of a batch and the model's next item, only outputs and tools are allowed. */
export function orderViolation(body: ResponsesRequestBody): Found {
  let behindOutput = false
  for (const [index, { type = 'message', role }] of readItems(body).entries()) {
    if (OUTPUTS.includes(type)) behindOutput = true
    else if (type !== 'message' || role === 'assistant') behindOutput &&= type === 'additional_tools'
    else if (behindOutput)
      return violation(
        `Invalid 'input[${index}]': a message with the role '${role}' is between tool outputs and the next reply.`,
        `input[${index}]`,
        'message_behind_output',
      )
  }
  return undefined
}

const OUTPUTS = ['function_call_output', 'tool_search_output']

/** A call of a program follows the program (guides/tools-programmatic-tool-calling; SDK type `ResponseFunctionToolCall.Program`). */
function callerViolation(item: ResponsesItem, at: string, programs: ReadonlySet<unknown>): Found {
  const program = readProgram(item)
  if (program === undefined || programs.has(program)) return undefined
  const message = `No program found for caller '${String(program)}'.`
  return violation(message, `${at}.caller`, 'unknown_caller')
}

function readProgram({ caller }: ResponsesItem): unknown {
  return isObject(caller) && caller.type === 'program' ? caller.caller_id : undefined
}

function duplicateItemViolation({ id }: ResponsesItem, ids: Set<string>): Found {
  if (typeof id !== 'string') return undefined
  if (ids.has(id)) {
    const message = `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
    return violation(message, 'input', 'duplicate_item')
  }
  ids.add(id)
  return undefined
}

/** Reasoning must be followed by the message or call that it led to. */
function loneReasoningViolation({ type, id }: ResponsesItem, behind: readonly ResponsesItem[]): Found {
  if (type !== 'reasoning') return undefined
  const next = behind.find((item) => item.type !== 'reasoning')
  const kind = next?.type ?? 'message'
  const isLed = kind === 'message' ? next?.role === 'assistant' : kind.endsWith('_call')
  if (isLed) return undefined
  const message = `Item '${id ?? 'reasoning'}' of type 'reasoning' was provided without its required following item.`
  return violation(message, 'input', 'lone_reasoning')
}

function turnViolation(
  item: ResponsesItem,
  at: string,
  calls: Map<string, OpenCall>,
  callable: CallableTools,
): Found {
  const { type, call_id: id } = item
  if (typeof id !== 'string') return undefined
  if (type === 'function_call_output' || type === 'tool_search_output') {
    const call = calls.get(id)
    if (call?.answer !== type) return orphanViolation(id, type)
    if (call.answered) {
      const message = `Duplicate tool output found for call_id '${id}'.`
      return violation(message, `${at}.call_id`, 'duplicate_tool_answer')
    }
    call.answered = true
    // The output names the program that waits for it (SDK type `FunctionCallOutput.caller`; vercel/ai#17790, run live).
    if (readProgram(item) === call.program) return undefined
    const message = `The caller of the output for call_id '${id}' is not the caller of the call.`
    return violation(message, `${at}.caller`, 'wrong_caller')
  }
  if (type !== 'function_call' && type !== 'tool_search_call') return undefined
  if (calls.has(id)) {
    return violation(`Duplicate value for 'call_id' of '${id}'.`, `${at}.call_id`, 'duplicate_tool_call_id')
  }
  const isSearch = type === 'tool_search_call'
  const answer = isSearch ? 'tool_search_output' : 'function_call_output'
  calls.set(id, { answer, program: readProgram(item), answered: false })
  return isSearch ? undefined : historicCallViolation(item, at, callable)
}

function orphanViolation(id: string, type: string): Violation {
  const kind = type === 'function_call_output' ? 'function call output' : 'tool search output'
  return violation(`No tool call found for ${kind} with call_id ${id}.`, 'input', 'orphan_tool_answer')
}

function historicCallViolation(
  { name = '', namespace }: ResponsesItem,
  at: string,
  callable: CallableTools,
): Found {
  const space = callable.get(namespace ?? DEFAULT_NAMESPACE)
  if (space?.has(name)) return undefined
  if (typeof namespace === 'string' && space === undefined) {
    const message = `Invalid '${at}.namespace': namespace '${namespace}' of function_call '${name}' does not exist.`
    return violation(message, `${at}.namespace`, 'unknown_namespace')
  }
  if (typeof namespace !== 'string' && [...callable.values()].some((names) => names.has(name))) {
    return violation(
      `Missing namespace for function_call '${name}'. It does not exist in the default namespace. ` +
        "Round-trip the model's function_call item with its namespace field included.",
      `${at}.namespace`,
      'missing_namespace',
    )
  }
  // Stricter than OpenAI, which accepts any legal name in the history. Compatible servers that render the history with a template
  // look up each called tool, so dropping a tool or its loading item after use fails there.
  return violation(
    `Invalid '${at}.name': '${name}' is neither declared in 'tools' nor loaded by an item before it.`,
    `${at}.name`,
    'undeclared_tool',
  )
}
