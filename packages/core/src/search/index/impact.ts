/** How much one occurrence of a term says, as a byte: seven bits of strength on a logarithmic scale, one bit for its place. */

/** Set where the term occurs in the name, an alias, the server, the domain or the group. */
export const identityBit = 0x80
const strengthMask = 0x7f

/** k1 of BM25: how soon further occurrences stop counting. */
export const saturation = 1.2
export const strongest = saturation + 1
/** The weakest strength that is told from none: a step of the scale is then 4 %. */
const weakest = strongest / 170
const stepsPerUnit = strengthMask / Math.log(strongest / weakest)

/** A weighted, length-normalised frequency, saturated, as the byte that is stored. */
export function impactByte(frequency: number, identity: boolean): number {
  const strength = (strongest * frequency) / (saturation + frequency)
  const step = Math.round(Math.log(strength / weakest) * stepsPerUnit)
  return Math.max(0, Math.min(strengthMask, step)) | (identity ? identityBit : 0)
}

/** Strength by byte, so that scoring a posting is one lookup and one addition. */
export function impactTable(): Float64Array {
  return Float64Array.from(
    { length: 256 },
    (_, byte) => weakest * Math.exp((byte & strengthMask) / stepsPerUnit),
  )
}
