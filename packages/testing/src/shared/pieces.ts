/** How the scripted endpoints cut what they stream: so small that a client has to join. */

const SIZE = 8

/** Eight characters each, one more where a surrogate pair would be parted, and the rest. */
export function pieces(text: string): string[] {
  return cut(text, SIZE)
}

/** Two or more wherever there are two characters: even `{}` has to be joined. */
export function argumentFragments(text: string): string[] {
  return cut(text, Math.min(SIZE, Math.ceil(text.length / 3)))
}

/** No server parts a surrogate pair either. */
function cut(text: string, size: number): string[] {
  const list: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = start + size
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++
    list.push(text.slice(start, end))
    start = end
  }
  return list
}
