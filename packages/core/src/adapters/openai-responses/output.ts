/** What a function gave, as the output of its call: text, or parts where there is more. */
import type { MediaPart, ResultPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { Prompts } from '../../surface/prompts.js'
import { dataUrl, fileName, writeParts } from '../shared/media.js'
import { type ResponsesCallOutput, type ResponsesOutputPart, WIRE } from './types.js'

export function outputOf(parts: readonly ResultPart[], prompts: Prompts): ResponsesCallOutput['output'] {
  const made = writeParts(parts, mediaPart, prompts)
  if (made.every((each) => typeof each === 'string')) return made.join('\n')
  return made.map((each) => (typeof each === 'string' ? { type: 'input_text', text: each } : each))
}

function mediaPart(part: MediaPart): ResponsesOutputPart | undefined {
  if (!isTaken(WIRE, part)) return undefined
  return part.type === 'image'
    ? { type: 'input_image', image_url: dataUrl(part), detail: 'auto' }
    : { type: 'input_file', filename: fileName(part), file_data: dataUrl(part) }
}
