/** Tools as providers and other libraries write them, and the door that reads each. */

import { isRecord } from '../base/guards.js'
import { describeKind } from '../base/options.js'

/** The wires whose tools have a form of their own. */
export type ToolForm = 'anthropic' | 'google' | 'openai-chat' | 'openai-responses'

const OWNERS: Readonly<Record<ToolForm, string>> = {
  anthropic: "Anthropic's",
  google: "Gemini's",
  'openai-chat': "OpenAI's",
  'openai-responses': "OpenAI's",
}

/** Undefined where it has the form of none of them, or that of Toolwell and MCP. */
export function formOf(tool: object): ToolForm | undefined {
  const { type, function: inner, inputSchema } = tool as Readonly<Record<string, unknown>>
  if (type === 'function' && isRecord(inner)) return 'openai-chat'
  if ('functionDeclarations' in tool) return 'google'
  if (inputSchema !== undefined) return undefined
  if ('parametersJsonSchema' in tool) return 'google'
  if ('input_schema' in tool) return 'anthropic'
  return 'parameters' in tool && 'type' in tool ? 'openai-responses' : undefined
}

/** As a sentence behind the tool's name. */
export function inForm(form: ToolForm): string {
  return `is in ${OWNERS[form]} shape; importTools of @toolwell/core/${form} reads a list of these`
}

export const KEYED =
  'has no name; tools of the AI SDK have theirs as keys, and importTools of @toolwell/core/ai-sdk reads those'

export function isPromise(value: unknown): boolean {
  return isRecord(value) && typeof value.then === 'function'
}

/** What was given in place of a list of tools, with what to do. It ends a sentence. */
export function noTools(given: unknown): string {
  if (isPromise(given)) return 'a promise: await it.'
  if (isRecord(given) && formOf(given)) return 'one tool by itself: put it into a list.'
  return `${describeKind(given)}. Tools with their names as keys are those of the AI SDK: importTools of @toolwell/core/ai-sdk reads them.`
}
