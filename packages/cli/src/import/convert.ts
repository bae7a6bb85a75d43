/** An entry of another client with the keys of toolwell.json. What only that client writes is brought into the common form first. */
import { isRecord } from '@toolwell/core/internal'
import { type Translated, translateEntry, withCommonVariables } from '@toolwell/mcp/internal'
import type { Fields, Shape } from './shapes.js'

/**
 * `folder`: what relative paths start from; `whole`: the file. A sentence where it is no server; undefined where it is a part of
 * the client itself.
 */
export function convert(
  value: unknown,
  { common, variables }: Shape,
  whole: Fields,
  folder: string,
): Translated | string | undefined {
  if (!isRecord(value)) return 'it is not an object'
  const made = common(value, whole)
  if (made === undefined || typeof made === 'string') return made
  const { entry, left } = translateEntry(withCommonVariables(made, variables) as Fields, folder)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  return { entry, left }
}
