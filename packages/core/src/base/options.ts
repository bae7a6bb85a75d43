/** Checks of options and config objects. No key is silently ignored. */
import { ToolwellError } from './errors.js'
import { nearest } from './nearest.js'

/**
 * Throws `invalid-option` if the value is not an object, and for the first unknown key. `path` names the place: `createToolwell`,
 * `config.search`.
 */
export function assertKnownKeys(value: unknown, known: readonly string[], path: string): void {
  if (Array.isArray(value) && known.includes('tools'))
    throw invalid(path, `${path} takes an object, not a list: give { tools: […] }.`)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(
      path,
      `${path} takes an object of options (${known.join(', ')}), not ${describeKind(value)}.`,
    )
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const [suggestion] = nearest(key, known, 1)
    const help =
      suggestion === undefined
        ? `Known options: ${known.join(', ')}.`
        : `Did you mean ${JSON.stringify(suggestion)}?`
    throw new ToolwellError('invalid-option', `Unknown option ${JSON.stringify(key)} in ${path}. ${help}`, {
      path,
      key,
      ...(suggestion === undefined ? {} : { nearest: suggestion }),
    })
  }
}

export function assertNames(path: string, value: unknown): void {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return
  throw new ToolwellError('invalid-option', `${path} must be a list of names.`, { path })
}

export function invalid(path: string, message: string): ToolwellError {
  return new ToolwellError('invalid-option', message, { path })
}

export function assertOneOf<T extends string>(path: string, value: T, known: readonly T[]): void {
  if (known.includes(value)) return
  throw invalid(path, `${path} must be one of ${known.join(', ')}, not ${JSON.stringify(value)}.`)
}

export function assertFunction(path: string, value: unknown, required = false): void {
  if (typeof value === 'function' || (value === undefined && !required)) return
  throw invalid(path, `${path} must be a function, not ${describeKind(value)}.`)
}

/** Names the type of a value, for a message. */
export function describeKind(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}

export function assertMethods(path: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined) return
  for (const method of methods) {
    const found =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[method] : undefined
    if (typeof found !== 'function') throw invalid(path, `${path} needs a function ${method}().`)
  }
}
