/** Bytes as base64 that every server decodes: the standard alphabet, padded, nothing around it. */

const CHUNK = 0x8000

/** Undefined where the text is no base64. A `data:` prefix, line breaks and the alphabet of addresses are put right. */
export function plainBase64(data: string | Uint8Array): string | undefined {
  if (typeof data !== 'string') return encoded(data)
  const comma = data.startsWith('data:') ? data.indexOf(',') : -1
  const body = comma < 0 ? data : data.slice(comma + 1)
  const text = /[\s_-]/.test(body) ? body.replace(/\s+/g, '').replace(/-/g, '+').replace(/_/g, '/') : body
  const bare = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text
  if (bare === '' || bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) return undefined
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
}

function encoded(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined
  let text = ''
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK))
  return btoa(text)
}

/** The first bytes. */
export function decodedStart(base64: string, bytes: number): Uint8Array {
  const text = base64.slice(0, Math.ceil(bytes / 3) * 4)
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).subarray(0, bytes)
}

/** How many bytes it stands for. */
export function byteLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

/** The text that it stands for; undefined where that is no UTF-8. */
export function decodedText(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodedStart(base64, byteLength(base64)))
  } catch {
    return undefined
  }
}
