/** Replaces default sentences by those of a host, and survives mistakes in them. */
import { defaultPrompts, type Prompts } from './prompts.js'

/** Overrides default sentences. If one throws or returns no string, reports that and uses the default. */
export function guardPrompts(
  own: Partial<Prompts>,
  report: (prompt: string, error: unknown) => void,
): Prompts {
  const guarded: Record<string, unknown> = { ...defaultPrompts }
  for (const [key, sentence] of Object.entries(own)) {
    if (typeof sentence !== 'function') {
      guarded[key] = { ...defaultPrompts.dropReason, ...(sentence as object) }
      continue
    }
    const standard = defaultPrompts[key as keyof Prompts] as (facts: unknown) => string
    guarded[key] = (facts: unknown) => {
      try {
        const text: unknown = (sentence as (facts: unknown) => unknown)(facts)
        if (typeof text === 'string') return text
        report(key, new Error(`it gave ${typeof text} instead of a text`))
      } catch (error) {
        report(key, error)
      }
      return standard(facts)
    }
  }
  return guarded as unknown as Prompts
}
