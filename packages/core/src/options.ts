/** The check that every options and config object passes on its way in: no key is silently ignored. */
import { ToolwellError } from './errors.js'
import { nearest } from './nearest.js'

/** Throws `invalid-option` for the first unknown key. `path` says where the object was given: `createToolwell`, `config.search`. */
export function assertKnownKeys(value: object, known: readonly string[], path: string): void {
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
