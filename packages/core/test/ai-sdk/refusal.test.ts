/** Which refusals mean that tools cannot be deferred natively here: in the words of real servers and proxies. */
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../../src/adapters/ai-sdk/protocol.js'

const refused = (statusCode: number, message: string, responseBody = '') =>
  Object.assign(new Error(message), { statusCode, responseBody })

describe('a refusal', () => {
  it.each<[string, number, string]>([
    ['OpenAI, older models', 400, "Tool 'tool_search' is not supported with this model."],
    ['OpenAI, in words', 400, 'Tool search is not supported with gpt-5.4-nano.'],
    ['Anthropic, older models', 400, 'tools.3.custom.defer_loading: Extra inputs are not permitted'],
    // maximhq/bifrost#5428
    ['xAI', 422, 'unknown variant `namespace`, expected one of `function`, `web_search`, `x_search`'],
    // router-for-me/CLIProxyAPI#4224
    ['a proxy', 400, "Unknown parameter: 'input[494].namespace'."],
    // coder/coder#28656
    ['AI Bridge', 400, 'malformed request: failed to parse JSON for /v1/responses: unknown tool type'],
    // CommandCodeAI/command-code#885
    ['a gateway', 400, 'Only `type:"function"` tools are supported on this endpoint.'],
  ])('of %s is one', (_, status, message) => {
    expect(isRefusal(refused(status, message))).toBe(true)
    expect(isRefusal(refused(status, 'Bad Request', JSON.stringify({ error: { message } })))).toBe(true)
  })

  it.each<[number, string]>([
    [400, 'This model has a maximum context length of 128000 tokens.'],
    [400, 'messages.1.content.0: Invalid `signature` in `thinking` block.'],
    [401, 'tool_search needs another key'],
    [429, 'Too many requests with tool_search.'],
    [500, 'tool_search broke'],
    [404, 'The model `gpt-9` does not exist.'],
  ])('%i %s is none', (status, message) => {
    expect(isRefusal(refused(status, message))).toBe(false)
  })

  it('is an error of the SDK, and nothing else', () => {
    expect(isRefusal('tool_search')).toBe(false)
    expect(isRefusal(new Error('tool_search'))).toBe(false)
  })
})
