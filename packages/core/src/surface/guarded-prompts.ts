/** Sentences of a host, which may fail: what a model reads never does. */
import { defaultPrompts, type Prompts } from './prompts.js'

/** The host's sentences over the default ones. One that throws, or gives no text, is reported and the default is used. */
export function guardedPrompts(
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
