/**
 * Google's provider writes a schema in Google's own subset, which has no free object: servers refuse one without
 * properties. Where a tool takes any object, its arguments are JSON in a text there; a model may write them in either form.
 */

import { isRecord } from '../../base/data.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { readArguments } from '../shared/thread.js'
import type { AiReplyCall } from './types.js'

type Schema = Readonly<Record<string, unknown>>

/** Not `arguments`: a tool may have a parameter of that name. */
const FIELD = 'arguments_json'

/** The schema with its free object as a text; undefined where it has none. `description`: what the model reads of it. */
export function withTextArguments(tool: WireTool | Tool, description: string): Schema | undefined {
  const { inputSchema: schema } = tool
  const text = { type: 'string', description: `${description} (JSON)` }
  if (tool.name === BRIDGE_NAME)
    return { ...schema, properties: { ...(schema.properties as Schema), arguments: text } }
  if (!isFree(schema)) return undefined
  return { type: 'object', properties: { [FIELD]: text } }
}

/** An object with whatever properties a caller likes. One that names none and allows no others is a call without arguments. */
function isFree({ type, properties, additionalProperties }: Schema): boolean {
  if (type !== 'object' || additionalProperties === undefined || additionalProperties === false) return false
  return !isRecord(properties) || Object.keys(properties).length === 0
}

/** A call with its arguments out of their text. */
export function withOwnArguments(call: AiReplyCall): AiReplyCall {
  const given = readArguments(call.input)
  if (!('value' in given) || !isRecord(given.value)) return call
  const { [FIELD]: text, ...others } = given.value
  return typeof text === 'string' && Object.keys(others).length === 0 ? { ...call, input: text } : call
}
