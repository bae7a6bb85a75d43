/** Content hashes: equal content gives an equal hash on every machine, in any order of keys. */

const encoder = new TextEncoder()

/** Writes JSON with sorted keys. Like `JSON.stringify`, it omits `undefined` members. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined || typeof member === 'function') continue
    members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** The first `length` hex digits of SHA-256. Sixteen are enough to distinguish definitions; no hash protects a secret. */
export function shortHash(text: string, length = 16): string {
  return hashSha256(encoder.encode(text)).slice(0, length)
}

const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const
const ROUNDS = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])
const BLOCK = 64
/** Scratch memory that all hashes share: no hash is computed within another. */
const words = new Int32Array(64)
const end = new Uint8Array(2 * BLOCK)

/**
 * SHA-256 (FIPS 180-4) in hex, synchronous on every runtime: `crypto.subtle` is asynchronous, and `node:crypto` exists only on Node.
 * Not constant-time; nothing hashed here is a secret.
 */
export function hashSha256(bytes: Uint8Array): string {
  const state = new Int32Array(START)
  let next = 0
  for (; next + BLOCK <= bytes.length; next += BLOCK) takeBlock(state, bytes, next)
  // Padding: a one bit, zeros, and the length in bits at the end of a block.
  const left = bytes.length - next
  const size = left + 9 > BLOCK ? 2 * BLOCK : BLOCK
  end.fill(0)
  end.set(bytes.subarray(next))
  end[left] = 0x80
  for (let at = size - 1, bits = bytes.length * 8; bits > 0; bits = Math.floor(bits / 256)) end[at--] = bits
  takeBlock(state, end, 0)
  if (size > BLOCK) takeBlock(state, end, BLOCK)
  let hex = ''
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, '0')
  return hex
}

function takeBlock(state: Int32Array, bytes: Uint8Array, from: number): void {
  for (let index = 0, at = from; index < 16; index++, at += 4) {
    const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16)
    words[index] = high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
  }
  for (let index = 16; index < 64; index++) {
    const early = words[index - 15] as number
    const late = words[index - 2] as number
    const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    words[index] = (s0 + s1 + (words[index - 16] as number) + (words[index - 7] as number)) | 0
  }
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let index = 0; index < 64; index++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const chosen = (e & f) ^ (~e & g)
    const first = (h + s1 + chosen + (ROUNDS[index] as number) + (words[index] as number)) | 0
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
    const most = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + s0 + most) | 0
  }
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}

const turn = (word: number, by: number) => (word >>> by) | (word << (32 - by))
