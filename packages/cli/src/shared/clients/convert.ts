/** An entry of another client with the keys of toolwell.json. What only that client writes is brought into the common form first. */
import { isRecord } from '@toolwell/core/internal'
import { type Translated, translateEntry, withCommonVariables } from '@toolwell/mcp/internal'
import { findInputs, type Inputs } from './inputs.js'
import type { Fields, Shape } from './shapes.js'

export interface Converted extends Translated {
  readonly inputs: Inputs
}

/** `folder`: what relative paths start from; `whole`: the file. A sentence where it is no server. */
export function convertEntry(
  value: unknown,
  { common, variables }: Shape,
  whole: Fields,
  folder: string,
): Converted | string {
  if (!isRecord(value)) return 'it is not an object'
  // No other client has these: there it is a text, and here it would be run.
  if (/\$\{cmd:/.test(JSON.stringify(value)))
    return 'it holds a ${cmd:…}, which that client does not run; write the entry yourself'
  const made = common(value, whole)
  if (typeof made === 'string') return made
  const { entry, left } = translateEntry(withCommonVariables(made, variables) as Fields, folder)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  return { entry, left, inputs: findInputs(made) }
}
