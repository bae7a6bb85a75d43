/** Variables of the environment that an entry sends to an address. A program that it starts could read them all anyway. */
import { isRecord } from '@toolwell/core/internal'
import type { Fields } from './check-entry.js'
import { expand, type VariableScope } from './variables.js'

export function sentVariables({ url, headers, oauth }: Fields, scope: VariableScope): string[] {
  if (url === undefined) return []
  const texts = [url, ...[headers, oauth].flatMap((each) => (isRecord(each) ? Object.values(each) : []))]
  return [...new Set(texts.flatMap((text) => expand(String(text), scope).variables))]
}
