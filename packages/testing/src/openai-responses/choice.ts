/** The rules about `tool_choice` on the OpenAI Responses wire. */

import { type Found, isObject, violation } from '../shared/guards.js'
import { eachOf, missing, wrongType, wrongValue } from '../shared/openai-wording.js'
import { offeredTools, type ResponsesRequestBody, type ResponsesTool } from './request.js'
import { HOSTED_TOOLS, MEMBER_TOOLS } from './tools.js'

export function toolChoiceViolation(body: ResponsesRequestBody): Found {
  const { tool_choice: choice } = body
  const offered = offeredTools(body)
  if (choice === undefined) return undefined
  if (typeof choice === 'string') {
    const allowed = ['none', 'auto', 'required']
    if (!allowed.includes(choice)) return wrongValue('tool_choice', choice, allowed)
    if (choice !== 'required' || offered.length > 0) return undefined
    const message = "Tool choice 'required' must be specified with 'tools' parameter."
    return violation(message, 'tool_choice', 'invalid_value')
  }
  if (!isObject(choice)) return wrongType('tool_choice', 'a string or an object', choice)
  if (choice.type !== 'allowed_tools') return chosenViolation(choice, 'tool_choice', offered)
  const modes = ['auto', 'required']
  if (!modes.includes(choice.mode as string)) return wrongValue('tool_choice.mode', choice.mode, modes)
  if (!Array.isArray(choice.tools)) return wrongType('tool_choice.tools', 'an array', choice.tools)
  return eachOf(choice.tools, 'tool_choice.tools', (entry, at) => chosenViolation(entry, at, offered))
}

/** Only what the model can call from the start is chosen: no deferred tool, no member of a namespace, no search. */
function chosenViolation(chosen: unknown, at: string, offered: readonly ResponsesTool[]): Found {
  if (!isObject(chosen)) return wrongType(at, 'an object', chosen)
  const choosable = [...MEMBER_TOOLS, ...HOSTED_TOOLS]
  if (!choosable.includes(chosen.type as string)) return wrongValue(`${at}.type`, chosen.type, choosable)
  const named = MEMBER_TOOLS.includes(chosen.type as string)
  if (named && typeof chosen.name !== 'string') return missing(`${at}.name`)
  const param = named ? `${at}.name` : `${at}.type`
  const label = named ? chosen.name : chosen.type
  const tool = offered.find(({ type, name }) => type === chosen.type && (!named || name === chosen.name))
  if (tool === undefined) {
    return violation(`Tool choice '${label}' not found in 'tools' parameter.`, param, 'invalid_value')
  }
  if (tool.defer_loading !== true) return undefined
  return violation(
    `Tool choice '${label}' is a deferred tool, which cannot be chosen.`,
    param,
    'deferred_tool_choice',
  )
}
