/** Anthropic's own deferral through the SDK: a search answer refers to tools that were declared out of the model's sight. */

import { RESERVE_NAME } from '../../base/names.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { referencesText } from '../shared/thread.js'
import { references } from './found.js'
import type { AiFunction } from './types.js'

/** The names that a request knows. */
export interface Known {
  has(name: string): boolean
}

/** A result with the references that can be followed, and no word beside them: the API takes none. */
export function referring(names: readonly string[], known: Known): object {
  const some = names.filter((name) => known.has(name))
  return some.length > 0
    ? references(some.map((name) => [name]))
    : { type: 'text', value: referencesText(names) }
}

/**
 * Declared, and out of the model's sight. One is there from the first request on: the first deferred tool puts a note
 * about deferral before the model, which would move everything behind it.
 */
export function deferred(tool: AiFunction): AiFunction {
  const { providerOptions } = tool as { providerOptions?: Readonly<Record<string, object>> }
  const anthropic = { ...providerOptions?.anthropic, deferLoading: true }
  return { ...tool, providerOptions: { ...providerOptions, anthropic } } as AiFunction
}

export const RESERVE: WireTool = {
  name: RESERVE_NAME,
  description: 'Holds a place. It does nothing.',
  inputSchema: { type: 'object', properties: {} },
}
