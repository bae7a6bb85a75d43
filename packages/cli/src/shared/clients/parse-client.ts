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

/** Claude Code keeps what was said in its file, too. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** Messages of the parsers show the line, which may hold a secret: only its number is given. */
export function parseClient(text: string, format: Shape['format'], file: string): ParsedClient {
  if (text.replace(/^\uFEFF/, '').trim() === '') return { value: {} }
  if (format === 'toml') return readToml(text.replace(/^\uFEFF/, ''))
  if (format === 'yaml') return readYaml(text.replace(/^\uFEFF/, ''))
  const { value, problems } = readDocument(text, file, { most: MOST_CHARACTERS })
  if (value) return { value }
  const [{ message, line } = { message: 'it cannot be read', line: undefined }] = problems
  return { problem: line === undefined ? { message } : { message, line } }
}

function readToml(text: string): ParsedClient {
  try {
    return { value: withNumbers(parseToml(text, { integersAsBigInt: 'asNeeded' })) as Fields }
  } catch (error) {
    const { line } = error as { line?: number }
    const message = 'this is not TOML'
    return { problem: line === undefined ? { message } : { message, line } }
  }
}

/** Whole numbers of TOML may be larger than JavaScript's. What is written back is the text, so nearly is enough. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withNumbers)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]))
}

function readYaml(text: string): ParsedClient {
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
