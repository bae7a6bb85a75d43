/** Describes parts of a result in words, if a wire does not support them or they are not sent. */
import { quote } from '../base/text.js'
import type { LinkPart, ResultPart } from '../result/part.js'
import { createWithheld, type Withheld } from '../result/wire-media.js'
import type { Prompts } from '../surface/prompts.js'

export function describePart(part: ResultPart, prompts: Prompts): string {
  if (part.type === 'text') return part.text
  if (part.type === 'structured') return JSON.stringify(part.value) ?? ''
  return part.type === 'link'
    ? describeLink(part, prompts)
    : describeWithheld(createWithheld(part, 'not-taken'), prompts)
}

/** Quotes all text that comes from the source. */
function describeLink(
  { uri, name = '', mediaType = '', description = '' }: LinkPart,
  prompts: Prompts,
): string {
  const quoted = (words: string, limit: number) => (words === '' ? '' : quote(words, limit))
  return prompts.link({
    uri: quote(uri, 2000),
    name: quoted(name, 200),
    mediaType: quoted(mediaType, 100),
    description: quoted(description, 500),
  })
}

export function describeWithheld(
  { kind, mediaType, name = '', size, bytes, why }: Withheld,
  prompts: Prompts,
): string {
  return prompts.notShown({
    kind,
    mediaType,
    name: name === '' ? '' : quote(name, 200),
    size,
    bytes,
    why,
  })
}
