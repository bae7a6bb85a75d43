/** A result in parts as one wire writes it: what the wire takes in its own form, the rest in words. */

import { isMedia, type MediaPart, type ResultPart } from '../../result/part.js'
import type { Prompts } from '../../surface/prompts.js'
import { describePart } from '../../turn/describe-part.js'

/** `write` gives nothing for what the wire does not take. Words that stand side by side become one; blank ones are left out. */
export function writeParts<Native extends object>(
  parts: readonly ResultPart[],
  write: (part: MediaPart) => Native | undefined,
  prompts: Prompts,
): readonly (string | Native)[] {
  const made: (string | Native)[] = []
  for (const part of parts) {
    const native = isMedia(part) ? write(part) : undefined
    const words = native ? '' : describePart(part, prompts)
    const last = made.at(-1)
    if (native) made.push(native)
    else if (words.trim() === '') continue
    else if (typeof last === 'string') made[made.length - 1] = `${last}\n${words}`
    else made.push(words)
  }
  return made
}

export function dataUrl({ mediaType, data }: MediaPart): string {
  return `data:${mediaType};base64,${data}`
}

/** A name for a file that has none: servers tell by its ending how to read it. */
export function fileName({ name, mediaType }: MediaPart): string {
  return name ?? `file.${mediaType.slice(mediaType.lastIndexOf('/') + 1)}`
}
