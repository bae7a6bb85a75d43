/** Small real images and files, in base64. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='
export const GIF = 'R0lGODlhAQABAAAAACwAAAAAAQABAAA='
/** The start of a picture of 16 by 8: servers look no further here. */
export const JPEG = btoa(
  '\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xc0\x00\x11\x08\x00\x08\x00\x10\x03\x01\x11\x00\x02\x11\x01\x03\x11\x01',
)
export const PDF = btoa('%PDF-1.4\n%%EOF\n')

/** A header of a PNG of this size, followed by so many letters of base64. */
export function pngOf(width: number, height: number, letters = 0): string {
  const bytes = (value: number) =>
    String.fromCharCode((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
  return (
    btoa(`\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR${bytes(width)}${bytes(height)}\x08\x06\x00`) +
    'A'.repeat(letters)
  )
}
