/** Short spellings of JSON Schema, so that a tool's parameters can be read as a list. */
import type { Tool } from '@toolwell/core'

export type Schema = Tool['inputSchema']

/** A tool's description: a first line that stands alone while the tool is deferred, and a paragraph. */
export const prose = (first: string, ...rest: readonly string[]): string => `${first}\n${rest.join(' ')}`

export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more,
})

export const integer = (description: string, more: Schema = {}): Schema => ({
  type: 'integer',
  description,
  ...more,
})

export const number = (description: string, more: Schema = {}): Schema => ({
  type: 'number',
  description,
  ...more,
})

export const flag = (description: string, byDefault: boolean): Schema => ({
  type: 'boolean',
  description,
  default: byDefault,
})

export const choice = (values: readonly string[], description: string, more: Schema = {}): Schema => ({
  type: 'string',
  enum: values,
  description,
  ...more,
})

export const list = (items: Schema, description: string, more: Schema = {}): Schema => ({
  type: 'array',
  items,
  description,
  ...more,
})

export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  more: Schema = {},
): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
  additionalProperties: false,
  ...more,
})
