/**
 * Reads a recorded request without the library: one line for each message, call or answer, in provider-neutral words. Skips
 * Toolwell's notices and unwraps bridged calls.
 */

/** The fields read from a request of any wire. */
export interface RequestBody {
  readonly messages?: readonly Fields[]
  readonly input?: readonly Fields[]
  readonly contents?: readonly Fields[]
  readonly tools?: readonly Fields[]
}

interface Fields {
  readonly [field: string]: unknown
}

/** Names in the tools array. */
export function declaredNames({ tools = [] }: RequestBody): string[] {
  return tools
    .flatMap((tool) => (tool.functionDeclarations ? list(tool.functionDeclarations) : [tool]))
    .map((tool) => String(tool.name ?? fields(tool.function).name ?? tool.type))
}

export function storyOf({ messages = [], input = [], contents = [] }: RequestBody): string[] {
  const searches = new Set<string>()
  const lines: string[] = []
  const speak = (role: unknown, text: unknown) => {
    const said = String(text ?? '').trim()
    if (said !== '' && !said.startsWith('<tool-update>')) lines.push(`${role}: ${said}`)
  }
  const call = (id: unknown, name: unknown, given: unknown) => {
    const input = fields(typeof given === 'string' ? parsed(given) : given)
    if (name === 'tool_call') lines.push(`call: ${input.name} ${JSON.stringify(input.arguments)}`)
    else if (name === 'tool_search') {
      searches.add(String(id))
      lines.push(`search: ${input.query}`)
    } else lines.push(`call: ${name} ${JSON.stringify(input)}`)
  }
  const answer = (id: unknown, text: unknown) =>
    lines.push(searches.has(String(id)) ? 'found' : `answer: ${withoutUpdate(String(text))}`)

  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === 'system') continue
    const speaker = role === 'assistant' ? 'model' : role
    if (role === 'tool') answer(id, content)
    else if (typeof content === 'string') speak(speaker, withoutUpdate(content))
    for (const part of list(content)) {
      if (part.type === 'tool_use') call(part.id, part.name, part.input)
      else if (part.type === 'tool_result') answer(part.tool_use_id, textIn(part.content))
      else if (part.type === 'text') speak(speaker, part.text)
      else lines.push(`${speaker}: (${part.type})`)
    }
    for (const each of list(calls)) call(each.id, fields(each.function).name, fields(each.function).arguments)
  }
  for (const { type, role, content, call_id: id, name, arguments: given, output } of input) {
    if (type === 'function_call') call(id, name, given)
    else if (type === 'tool_search_call') call(id, 'tool_search', given)
    else if (type === 'function_call_output' || type === 'tool_search_output') answer(id, textIn(output))
    else if (type === 'message' || type === undefined) {
      if (typeof content === 'string') speak(role === 'assistant' ? 'model' : role, content)
      for (const part of list(content))
        if (part.text === undefined) lines.push(`${role}: (${part.type})`)
        else speak(role === 'assistant' ? 'model' : role, part.text)
    } else lines.push(`(${type})`)
  }
  for (const { role, parts } of contents)
    for (const part of list(parts)) {
      const { functionCall, functionResponse } = part
      if (functionCall) {
        const { id, name, args } = fields(functionCall)
        call(id ?? name, name, args)
      } else if (functionResponse) {
        const { id, name, response } = fields(functionResponse)
        answer(id ?? name, Object.values(fields(response))[0])
      } else if (part.text === undefined) lines.push(`${role}: (${Object.keys(part)[0]})`)
      else if (part.thought) lines.push(`(thought)`)
      else speak(role, part.text)
    }
  return lines
}

/** A notice follows the text or answer to which it belongs. */
function withoutUpdate(text: string): string {
  return text.replace(/(?:^|\n\n)<tool-update>[\s\S]*?<\/tool-update>/g, '')
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => part.text ?? `(${part.type})`)
    .join('')
}

/** A model's output may not be JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : []
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
