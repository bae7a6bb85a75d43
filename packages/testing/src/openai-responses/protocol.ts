/** OpenAI Responses (`POST /v1/responses`) for the scripted endpoint: rules, render order, answers. */
import { isObject } from '../shared/guards.js'
import type { Protocol } from '../shared/protocol.js'
import { composeAnswer, type ResponsesAnswer, responseEvents, responseObject } from './answer.js'
import {
  type ResponsesItem,
  type ResponsesRequestBody,
  type ResponsesRuleOptions,
  type ResponsesTool,
  readItems,
} from './request.js'
import { findResponsesViolation } from './rules.js'

export function responsesProtocol(options: ResponsesRuleOptions = {}): Protocol<ResponsesRequestBody> {
  const read = <Body>(body: Body) => (options.toolSearch === 'ignored' ? dropSearch(body) : body)
  return {
    name: 'openai-responses',
    basePath: '/v1',
    match: (path) => (path === '/v1/responses' ? {} : undefined),
    authorised: (headers, apiKey) => headers.authorization === `Bearer ${apiKey}`,
    violationOf: (body) => findResponsesViolation(read(body), options),
    wantsStream: (body) => body.stream === true,
    renderOrder: (body) => responsesRenderOrder(read(body)),
    answer(scripted, body, context) {
      const answer = composeAnswer(scripted, read(body), context)
      return { object: responseObject(answer), stream: () => streamOf(answer) }
    },
    errorObject(status, message, code, param) {
      const type = status >= 500 ? 'server_error' : 'invalid_request_error'
      return { error: { message, type, param, code } }
    },
  }
}

/** The request without the tool search, if its tools can be read. */
function dropSearch<Body>(body: Body): Body {
  if (!isObject(body) || !Array.isArray(body.tools)) return body
  return { ...body, tools: body.tools.filter((tool) => !isObject(tool) || tool.type !== 'tool_search') }
}

/**
 * The request in the order in which OpenAI shows it to the model: tools, instructions, items. Definitions loaded by an item
 * appear at that item and keep everything before it cached. The model sees name and description of a deferred function, and
 * nothing of a deferred member of a namespace. Serialised from the parsed body, so white space does not count and the order of
 * keys does.
 */
export function responsesRenderOrder(
  body: Pick<ResponsesRequestBody, 'tools' | 'instructions' | 'input'>,
): string {
  const { tools = [], instructions } = body
  return (
    (tools.length === 0 ? '' : JSON.stringify(tools.map(visible))) +
    (typeof instructions === 'string' ? JSON.stringify(instructions) : '') +
    JSON.stringify(readItems(body).map(visibleItem))
  )
}

function visibleItem(item: ResponsesItem): ResponsesItem {
  return item.type === 'additional_tools' ? { ...item, tools: (item.tools ?? []).map(visible) } : item
}

function visible(tool: ResponsesTool): ResponsesTool {
  if (tool.type === 'namespace') {
    return { ...tool, tools: (tool.tools ?? []).filter((member) => member.defer_loading !== true) }
  }
  if (tool.defer_loading !== true) return tool
  const shown = ['type', 'name', 'server_label', 'description', 'server_description']
  return {
    type: tool.type,
    ...Object.fromEntries(Object.entries(tool).filter(([field]) => shown.includes(field))),
  }
}

const CLOSING = /(\.done|^response\.(completed|incomplete))$/

/** Everything that closes something at the end is one piece, so a stream that breaks off has closed nothing. */
function* streamOf(answer: ResponsesAnswer): Generator<string> {
  let closing = ''
  for (const event of responseEvents(answer)) {
    const text = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    if (CLOSING.test(event.type)) {
      closing += text
      continue
    }
    if (closing !== '') yield closing
    closing = ''
    yield text
  }
  yield closing
}
