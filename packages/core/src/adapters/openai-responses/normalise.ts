/** Converts items that the API refuses to the nearest form that it accepts, without losing content. */

import { isRecord } from '../../base/data.js'
import { hasSameItems, plainText, textUnlessEmpty } from '../shared/thread.js'
import type { ResponsesItem } from './types.js'

type Fields = Readonly<Record<string, unknown>>

const ROLES = ['user', 'assistant', 'system', 'developer']
const INPUT_PARTS = ['input_text', 'input_image', 'input_file']
const OUTPUT_PARTS = ['output_text', 'refusal']
const TEXT_PARTS = ['text', 'input_text', 'output_text']
const ID = /^[a-zA-Z0-9_-]{1,64}$/
/** The prefixes of item ids. Ids are optional, except for reasoning. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fc',
  reasoning: 'rs',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
}

/**
 * Returns the same item if nothing changed, nothing if it is empty, and several for a Chat Completions message with
 * calls.
 */
export function normaliseItem(item: ResponsesItem): readonly ResponsesItem[] {
  const { type, role } = item
  if (type != null && typeof type !== 'string') {
    const { type: _, ...rest } = item as Fields
    return normaliseItem(rest as ResponsesItem)
  }
  if (type != null && type !== 'message') return normaliseTyped(item, type)
  const { tool_calls: calls, tool_call_id: answered, ...message } = item as ResponsesItem & Fields
  if (role === 'tool' || role === 'function')
    return [
      {
        type: 'function_call_output',
        call_id: plainText(answered),
        output: normaliseParts(item.content, false),
      },
    ]
  if (Array.isArray(calls) && calls.length > 0)
    return [...createMessage(message), ...calls.flatMap(convertChatCall)]
  if (type == null && role == null && item.content == null) return writeAsText(item)
  return [normaliseMessage(item)]
}

/**
 * Removes the parsed values that the official client adds to streamed replies, because the API refuses them. No
 * warning: nothing is lost, and every user of that client has them.
 */
export function removeParsed(item: ResponsesItem): ResponsesItem {
  const { parsed_arguments: _, ...call } = item as ResponsesItem & Fields
  const plain = item.type === 'function_call' && 'parsed_arguments' in item ? call : item
  if (!Array.isArray(item.content) || !item.content.some((part) => isRecord(part) && 'parsed' in part))
    return plain
  const content = item.content.map((part: unknown) => {
    if (!isRecord(part)) return part
    const { parsed: __, ...rest } = part
    return rest
  })
  return { ...plain, content }
}

function normaliseMessage(item: ResponsesItem): ResponsesItem {
  const given = item.role ?? ''
  const role = ROLES.includes(given) ? given : 'user'
  const content = normaliseParts(item.content, role === 'assistant')
  const normal = withoutBadId(item, 'message')
  return role === item.role && content === item.content ? normal : { ...normal, role, content }
}

function normaliseTyped(item: ResponsesItem, type: string): readonly ResponsesItem[] {
  const normal = withoutBadId(item, type)
  // Reasoning is looked up by its id, unless it carries its content.
  if (type === 'reasoning')
    return typeof normal.id === 'string' || typeof normal.encrypted_content === 'string' ? [normal] : []
  if (type === 'function_call') {
    const { call_id: id, name } = item
    if (typeof id === 'string' && typeof name === 'string') return [normal]
    return [{ ...normal, call_id: plainText(id), name: plainText(name) }]
  }
  if (type !== 'function_call_output') return [normal]
  const { call_id: id } = item
  const output = item.output == null ? item.output : normaliseParts(item.output, false)
  if (typeof id === 'string' && output === item.output) return [normal]
  return [{ ...normal, call_id: plainText(id), output }]
}

/** The API would not find an id of another provider or library. */
function withoutBadId(item: ResponsesItem, type: string): ResponsesItem {
  const { id, ...rest } = item
  const prefix = PREFIXES[type]
  if (id == null || prefix === undefined) return item
  return typeof id === 'string' && ID.test(id) && id.startsWith(prefix) ? item : rest
}

/** Converts content to text or a list of parts. Unknown types pass, unless they are plain text under another name. */
function normaliseParts(content: unknown, ofModel: boolean): unknown {
  if (!Array.isArray(content)) return plainText(content)
  const [kind = '', ...others] = ofModel ? OUTPUT_PARTS : INPUT_PARTS
  const parts = content.flatMap((part: unknown): unknown[] => {
    const { type, text } = isRecord(part) ? part : { type: undefined, text: part }
    const isText = TEXT_PARTS.includes(String(type))
    if (type === kind && typeof text === 'string') return [part]
    if (typeof type === 'string' && (others.includes(type) || (!isText && typeof text !== 'string')))
      return [part]
    const words = isText ? plainText(text) : textUnlessEmpty(text ?? part)
    return words === '' ? [] : [{ type: kind, text: words }]
  })
  return hasSameItems(parts, content) ? content : parts
}

function createMessage(message: ResponsesItem): readonly ResponsesItem[] {
  const content = normaliseParts(message.content, true)
  return content === '' ? [] : [{ type: 'message', role: 'assistant', content }]
}

function convertChatCall(call: unknown): readonly ResponsesItem[] {
  const { id, function: target } = isRecord(call) ? call : {}
  if (!isRecord(target)) return writeAsText(call)
  const written = plainText(target.arguments)
  return [
    {
      type: 'function_call',
      call_id: plainText(id),
      name: plainText(target.name),
      arguments: written || '{}',
    },
  ]
}

function writeAsText(value: unknown): readonly ResponsesItem[] {
  const text = textUnlessEmpty(value)
  return text === '' ? [] : [{ type: 'message', role: 'user', content: text }]
}
