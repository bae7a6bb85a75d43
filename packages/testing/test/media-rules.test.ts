/** Images and files in tool results that real servers refuse. The source of each rule is next to it, in `media.ts` of each wire. */
import { describe, expect, it } from 'vitest'
import { findAnthropicViolation } from '../src/anthropic/rules.js'
import { findGoogleViolation } from '../src/google/rules.js'
import { findChatViolation } from '../src/openai-chat/rules.js'
import { findResponsesViolation } from '../src/openai-responses/rules.js'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='
const gif = 'R0lGODlhAQABAAAAACwAAAAAAQABAAA='

type Rule = readonly [rule: string, accepted: object, rejected: object, code: string]

const table = (judge: (part: object) => unknown, rules: readonly Rule[]) =>
  it.each(rules)('%s', (_rule, accepted, rejected, code) => {
    expect(judge(accepted)).toBeUndefined()
    expect(judge(rejected)).toMatchObject({ code })
  })

describe('Anthropic holds of a part of a result that', () => {
  const judge = (content: object, more: object = {}) =>
    findAnthropicViolation({
      model: 'scripted',
      max_tokens: 1,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [content], ...more }] },
      ],
    })
  const image = (source: object) => ({ type: 'image', source: { type: 'base64', ...source } })
  const fine = image({ media_type: 'image/png', data: png })
  table(judge, [
    ['an image has a source', fine, { type: 'image' }, 'missing_required_parameter'],
    ['its source is of a known kind', fine, image({ type: 'bytes', data: png }), 'invalid_value'],
    [
      'its media type is one of four',
      fine,
      image({ media_type: 'image/svg+xml', data: png }),
      'invalid_value',
    ],
    ['its data is base64', fine, image({ media_type: 'image/png', data: 'not base64' }), 'invalid_base64'],
    [
      'its data has no prefix',
      fine,
      image({ media_type: 'image/png', data: `data:image/png;base64,${png}` }),
      'invalid_base64',
    ],
    ['its bytes are an image', fine, image({ media_type: 'image/png', data: 'AAAA' }), 'unreadable_image'],
    [
      'its bytes are what the media type says',
      fine,
      image({ media_type: 'image/jpeg', data: png }),
      'wrong_media_type',
    ],
    [
      'an image has at most 5 MB of base64',
      fine,
      image({ media_type: 'image/png', data: png.slice(0, 40) + 'A'.repeat(6_000_000) }),
      'image_too_large',
    ],
    [
      'a document in base64 is a PDF',
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', media_type: 'text/csv', data: 'AAAA' } },
      'invalid_value',
    ],
    ['audio is no part of it', fine, { type: 'audio', source: {} }, 'invalid_value'],
  ])
  it('an error contains only text', () => {
    expect(judge({ type: 'text', text: 'no' }, { is_error: true })).toBeUndefined()
    expect(judge(fine, { is_error: true })).toMatchObject({ code: 'media_in_error' })
  })
})

describe('Responses holds of a part of an output that', () => {
  const judge = (part: object) =>
    findResponsesViolation({
      model: 'scripted',
      tools: [{ type: 'function', name: 'look' }],
      input: [
        { role: 'user', content: 'Hello' },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [part] },
      ],
    })
  const fine = { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' }
  const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }
  const { filename: _, ...nameless } = file
  table(judge, [
    ['an image has an address or an id', fine, { type: 'input_image' }, 'missing_required_parameter'],
    ['its detail is one of four', fine, { ...fine, detail: 'huge' }, 'invalid_value'],
    ['its address can be read', fine, { ...fine, image_url: png }, 'invalid_value'],
    ['its data is base64', fine, { ...fine, image_url: 'data:image/png;base64,?' }, 'invalid_base64'],
    [
      'its media type is one of four',
      fine,
      { ...fine, image_url: `data:image/svg+xml;base64,${png}` },
      'invalid_image_format',
    ],
    [
      'its bytes are an image',
      fine,
      { ...fine, image_url: 'data:image/png;base64,AAAA' },
      'invalid_image_format',
    ],
    ['a file with data has a name', file, nameless, 'missing_required_parameter'],
    ['the data of a file is base64', file, { ...file, file_data: '?' }, 'invalid_base64'],
    ['audio is no part of it', fine, { type: 'input_audio', data: 'AAAA' }, 'invalid_value'],
  ])
})

describe('Gemini holds of the media of a response that', () => {
  const judge = (more: object, options: object = {}) =>
    findGoogleViolation(
      {
        tools: [{ functionDeclarations: [{ name: 'look' }] }],
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'look', response: { result: '' }, ...more } }],
          },
        ],
      },
      options,
    )
  const blob = (more: object = {}) => ({ inlineData: { mimeType: 'image/png', data: png, ...more } })
  const fine = { parts: [blob()] }
  const named = { parts: [blob({ displayName: 'a.png' })], response: { shot: { $ref: 'a.png' } } }
  table(judge, [
    ['it is data or a file', fine, { parts: [{ text: 'words' }] }, 'unknown_field'],
    ['it is something', fine, { parts: [{}] }, 'missing_required_field'],
    ['it has a media type', fine, { parts: [blob({ mimeType: '' })] }, 'missing_required_field'],
    [
      'its media type is taken',
      fine,
      { parts: [blob({ mimeType: 'image/gif', data: gif })] },
      'unsupported_media_type',
    ],
    [
      'it is no audio',
      fine,
      { parts: [blob({ mimeType: 'audio/wav', data: 'AAAA' })] },
      'unsupported_media_type',
    ],
    ['its data is base64', fine, { parts: [blob({ data: '?' })] }, 'invalid_base64'],
    ['a reference names a part', named, { ...named, parts: [blob()] }, 'unknown_display_name'],
    [
      'no two have one name',
      named,
      { ...named, parts: [...named.parts, ...named.parts] },
      'duplicate_display_name',
    ],
  ])
  it('models before Gemini 3 take none', () => {
    expect(judge({}, { mediaResponses: false })).toBeUndefined()
    expect(judge(fine, { mediaResponses: false })).toMatchObject({ code: 'media_response' })
  })
})

describe('Chat Completions holds of a tool message that', () => {
  const judge = (part: object, options: object = {}) =>
    findChatViolation(
      {
        model: 'scripted',
        tools: [{ type: 'function', function: { name: 'look' } }],
        messages: [
          { role: 'user', content: 'Hello' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: [part] },
        ],
      },
      options,
    )
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }
  it('it has text only, unless the server takes images', () => {
    expect(judge({ type: 'text', text: 'words' })).toBeUndefined()
    expect(judge(image)).toMatchObject({ code: 'invalid_value' })
    expect(judge(image, { imageResults: true })).toBeUndefined()
  })
  it('an image can be read', () => {
    const broken = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    expect(judge(broken, { imageResults: true })).toMatchObject({ code: 'invalid_image_url' })
  })
})
