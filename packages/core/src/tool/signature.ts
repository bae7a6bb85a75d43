/** A schema as one readable line, for answers that must not repeat what the tools array already says. */
import { firstLine } from '../base/text.js'
import type { JsonSchema } from './tool.js'

/** `create_issue(title: string, labels?: string[])`. Bounded: at most 30 parameters, two levels. Never throws. */
export function signatureOf(name: string, schema: JsonSchema): string {
  const properties = record(schema.properties)
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const keys = Object.keys(properties)
  const parts = keys
    .slice(0, 30)
    .map((key) => `${plain(key)}${required.has(key) ? '' : '?'}: ${typeOf(properties[key], 1)}`)
  if (keys.length > 30) parts.push('…')
  return `${name}(${parts.join(', ')})`
}

function typeOf(value: unknown, depth: number): string {
  const schema = record(value)
  if (Array.isArray(schema.enum)) {
    const options = schema.enum.slice(0, 6).map((option) => plain(JSON.stringify(option) ?? 'null'))
    return `${options.join(' | ')}${schema.enum.length > 6 ? ' | …' : ''}`
  }
  if (schema.type === 'array') {
    const item = typeOf(schema.items, depth)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (schema.type === 'object' && depth > 0 && schema.properties !== undefined) {
    const properties = record(schema.properties)
    const keys = Object.keys(properties)
    const inner = keys.slice(0, 8).map((key) => `${plain(key)}: ${typeOf(properties[key], depth - 1)}`)
    return `{ ${inner.join(', ')}${keys.length > 8 ? ', …' : ''} }`
  }
  if (typeof schema.type === 'string') return plain(schema.type)
  if (Array.isArray(schema.type)) return schema.type.map((type) => plain(String(type))).join(' | ')
  return 'any'
}

function plain(text: string): string {
  return firstLine(text, 60).replace(/[<>]/g, '')
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
