/** Anthropic's own deferral through the SDK: a search answer refers to tools that were declared out of the model's sight. */
import type { WireTool } from '../../ledger-event.js'
import { RESERVE_NAME } from '../../names.js'
import type { CallAnswer } from '../../run-calls.js'
import { revealed } from '../../search/render.js'
import { isRecord, referencesText } from '../shared/thread.js'
import type { AiFunction } from './wire.js'

/** What the loader gives the SDK where it refers to tools instead of describing them. */
interface Referring {
  readonly loaded: readonly string[]
  /** What else the search has to say. */
  readonly text: string
}

/** The output of the loader. It holds all that its history needs, however a host stores it. */
export function loaderOutput({ outcome, text }: CallAnswer, native: boolean): string | Referring {
  const found = native && outcome.kind === 'search' ? revealed(outcome.result) : []
  return found.length > 0 ? { loaded: found.map(({ name }) => name), text } : text
}

/** The same as a result in a history. */
export function loaderResult(output: unknown): object {
  if (!isRecord(output) || !Array.isArray(output.loaded)) return { type: 'text', value: String(output) }
  const text = typeof output.text === 'string' && output.text !== '' ? [output.text] : []
  const value = [...output.loaded.map(reference), ...text.map((each) => ({ type: 'text', text: each }))]
  return { type: 'content', value }
}

export function reference(name: unknown): object {
  return { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: name } } }
}

/** The names that a result refers to. */
export function referencesIn(output: unknown): readonly string[] {
  if (!isRecord(output) || !Array.isArray(output.value)) return []
  return output.value.flatMap((part: unknown) => {
    const options =
      isRecord(part) && isRecord(part.providerOptions) ? part.providerOptions.anthropic : undefined
    return isRecord(options) && options.type === 'tool-reference' ? [String(options.toolName)] : []
  })
}

/** A result with the references that can be followed, and no word beside them: the API takes none. */
export function referring(names: readonly string[], known: ReadonlySet<string>): object {
  const some = names.filter((name) => known.has(name))
  return some.length > 0
    ? { type: 'content', value: some.map(reference) }
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
