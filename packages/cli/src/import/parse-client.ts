/** The text of a client's config as plain data, in whichever format it is. */
import { readDocument } from '@toolwell/mcp/internal'
import { parse as parseToml } from 'smol-toml'
import { parseDocument } from 'yaml'
import type { Fields, Shape } from './shapes.js'

export interface ClientProblem {
  readonly message: string
  readonly line?: number
}

export type ParsedClient = { readonly value: Fields } | { readonly problem: ClientProblem }

/** Messages of the parsers show the line, which may hold a secret: only its number is told. */
export function parseClient(text: string, format: Shape['format'], file: string): ParsedClient {
  if (text.replace(/^\uFEFF/, '').trim() === '') return { value: {} }
  if (format === 'toml') return toml(text.replace(/^\uFEFF/, ''))
  if (format === 'yaml') return yaml(text.replace(/^\uFEFF/, ''))
  const { value, problems } = readDocument(text, file)
  if (value) return { value }
  const [{ message, line } = { message: 'it cannot be read', line: undefined }] = problems
  return { problem: line === undefined ? { message } : { message, line } }
}

function toml(text: string): ParsedClient {
  try {
    return { value: parseToml(text) as Fields }
  } catch (error) {
    const { line } = error as { line?: number }
    const message = 'this is not TOML'
    return { problem: line === undefined ? { message } : { message, line } }
  }
}

function yaml(text: string): ParsedClient {
  const document = parseDocument(text)
  const [error] = document.errors
  const line = error?.linePos?.[0].line
  const message =
    error?.code === 'MULTIPLE_DOCS' ? 'this file holds several YAML documents' : 'this is not YAML'
  if (error) return { problem: line === undefined ? { message } : { message, line } }
  let value: unknown
  try {
    value = document.toJS()
  } catch {
    // An alias without its anchor, or so many that they stand for more than any config holds.
    return { problem: { message: 'its aliases cannot be followed' } }
  }
  if (value === null || value === undefined) return { value: {} }
  return typeof value === 'object' && !Array.isArray(value)
    ? { value: value as Fields }
    : { problem: { message: 'the file does not hold an object', line: 1 } }
}
