/** What stands where text should, as text: nothing for nothing, JSON for what is no text. Never throws. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? ''
  } catch {
    // In a circle, or no JSON at all: such a value cannot be sent in any form.
    return ''
  }
}

/** The same, but an object without anything in it says nothing. */
export function wordsOf(value: unknown): string {
  const text = plainText(value)
  return text === '{}' && typeof value === 'object' ? '' : text
}
