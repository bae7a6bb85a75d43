/** What a call came to, as pi takes it: text and images, and an error as something that is thrown. */
import type { FrameworkAnswer } from '@toolwell/core/framework'
import { nativeBlocks } from './native-results.js'
import type { Content } from './pi.js'

/** Outcomes that are no fault of the call: everything else is shown as an error. */
const FINE = new Set(['search', 'result'])

export function contentOf(answer: FrameworkAnswer): { content: Content[]; details: unknown } {
  const { text, parts, outcome } = answer
  if (!FINE.has(outcome.kind)) throw new Error(text)
  const images = (parts ?? []).flatMap((part): Content[] =>
    part.type === 'image' ? [{ type: 'image', data: part.data, mimeType: part.mediaType }] : [],
  )
  const native = nativeBlocks(answer.messages)
  const words =
    images.length === 0 ? [text] : (parts ?? []).flatMap((part) => (part.type === 'text' ? part.text : []))
  return {
    content: [...words.map((word): Content => ({ type: 'text', text: word })), ...images],
    details: { toolwell: outcome.kind, ...(native ? { native } : {}) },
  }
}
