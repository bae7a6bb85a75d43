/** The small parts below results: image headers, base64, pieces of a text. */
import { mcpResult, toolResult } from '@toolwell/core/result'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.js'
import { byteLength, decodeStart, readImageSize, toBase64 } from '../src/result/part.js'
import {
  findMatches,
  measureText,
  readResult,
  takeCharacters,
  takeHead,
  takeLines,
} from '../src/result/read.js'
import { GIF, JPEG, PNG, pngOf } from './support/media.js'

const webp = (chunk: string, rest: string) => btoa(`RIFF\x00\x00\x00\x00WEBP${chunk}${rest}`)

describe('the size of an image', () => {
  it.each([
    ['PNG', PNG, 'image/png', 1, 1],
    ['a large PNG', pngOf(70_000, 3), 'image/png', 70_000, 3],
    ['GIF', GIF, 'image/gif', 1, 1],
    ['JPEG', JPEG, 'image/jpeg', 16, 8],
    [
      'WebP with extras',
      webp('VP8X', '\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x04\x00\xcf\x02\x00\x00\x00'),
      'image/webp',
      1280,
      720,
    ],
    [
      'WebP, lossless',
      webp('VP8L', '\x00\x00\x00\x00\x2f\xff\xc4\xb3\x00\x00\x00\x00\x00\x00'),
      'image/webp',
      1280,
      720,
    ],
    [
      'WebP, plain',
      webp('VP8 ', '\x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x00\x05\xd0\x02'),
      'image/webp',
      1280,
      720,
    ],
  ])('%s', (_, data, mediaType, width, height) => {
    expect(readImageSize(data)).toEqual({ mediaType, width, height })
  })

  it('is not known of anything else, and nothing throws', () => {
    for (const data of [
      'AAAA',
      btoa('%PDF'),
      PNG.slice(0, 16),
      btoa('\xff\xd8\xff'),
      btoa('\xff\xd8\xff\xe0\x00\x00\x00\x00\x00\x00\x00'),
    ])
      expect(readImageSize(data)).toBeUndefined()
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.constantFrom(PNG, GIF, JPEG),
        (bytes, start) => {
          readImageSize(toBase64(bytes) ?? '')
          const head = start.slice(0, 16)
          readImageSize(head + (toBase64(bytes) ?? ''))
        },
      ),
      { numRuns: runs(300) },
    )
  })
})

describe('base64', () => {
  it('of bytes and of any usual spelling is the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (bytes) => {
        const plain = Buffer.from(bytes).toString('base64')
        expect(toBase64(bytes)).toBe(plain)
        expect(toBase64(`data:image/png;base64,${plain}`)).toBe(plain)
        expect(toBase64(Buffer.from(bytes).toString('base64url'))).toBe(plain)
        expect(toBase64(plain.replace(/(.{7})/g, '$1\r\n'))).toBe(plain)
        expect(byteLength(plain)).toBe(bytes.length)
        expect([...decodeStart(plain, bytes.length)]).toEqual([...bytes])
      }),
      { numRuns: runs(200) },
    )
  })
  it('is rejected if invalid', () => {
    for (const text of ['', '?', 'A', 'AAAAA', 'data:,', 'AA=A', 'ÄÄÄÄ'])
      expect(toBase64(text)).toBeUndefined()
  })
})

describe('pieces of a text', () => {
  it('put together are the text, by lines and by characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', 'ä', '\ud83d\ude00'), maxLength: 200 }),
        fc.integer({ min: 2, max: 30 }),
        (text, most) => {
          const { lines, characters } = measureText(text)
          let whole = ''
          for (let from = 1; from <= characters; ) {
            const piece = takeCharacters(text, from, characters, most)
            expect(piece.text.isWellFormed()).toBe(true)
            whole += piece.text
            from = piece.to + 1
          }
          expect(whole).toBe(text)
          const all = text.split('\n')
          expect(lines).toBe(all.length)
          for (let line = 1; line <= lines; line++) {
            const piece = takeLines(text, line, line, 1000)
            expect(piece?.text).toBe(all[line - 1])
          }
          expect(takeLines(text, 1, lines, 10_000)?.text).toBe(text)
          expect(text.startsWith(takeHead(text, most))).toBe(true)
        },
      ),
      { numRuns: runs(300) },
    )
  })
  it('holds all places of a word, also within one long line', () => {
    const line = `${'x'.repeat(1000)}Word${'y'.repeat(1000)}word`
    const { found, total } = findMatches(`first\n${line}`, 'WORD', 10)
    expect(total).toBe(2)
    expect(found.map(({ line: at, character }) => [at, character])).toEqual([
      [2, 1007],
      [2, 2011],
    ])
    expect(found[0]?.text.length).toBeLessThan(300)
    expect(findMatches('a(a)+$', '(a)+$', 10).total).toBe(1)
  })
})

describe('a result of MCP', () => {
  it('becomes parts, kind by kind', () => {
    const result = mcpResult({
      content: [
        { type: 'text', text: 'words' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inner' } },
        {
          type: 'resource',
          resource: { uri: 'file:///b.pdf?x#y', blob: 'AAAA', mimeType: 'application/pdf' },
        },
        { type: 'resource_link', uri: 'file:///c', name: 'c', mimeType: 'text/plain' },
        null,
        7,
      ],
      structuredContent: { a: 1 },
    })
    expect(result.parts).toEqual([
      { type: 'text', text: 'words' },
      { type: 'image', data: PNG, mediaType: 'image/png' },
      { type: 'audio', data: 'AAAA', mediaType: 'audio/wav' },
      { type: 'text', text: 'inner' },
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'b.pdf' },
      { type: 'link', uri: 'file:///c', name: 'c', mediaType: 'text/plain' },
    ])
  })
  it('is its structured content if there is no text', () => {
    expect(mcpResult({ content: [], structuredContent: { a: 1 } }).parts).toEqual([
      { type: 'structured', value: { a: 1 } },
    ])
    expect(mcpResult({ structuredContent: { a: 1 }, isError: true }).isError).toBe(true)
  })
  it('is read whatever it holds', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        readResult(value)
        readResult(toolResult([value as never]))
        readResult(mcpResult({ content: [value], structuredContent: value }))
      }),
      { numRuns: runs(300) },
    )
  })
})
