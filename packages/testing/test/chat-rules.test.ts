import { describe, expect, it } from 'vitest'
import { chatRenderOrder } from '../src/openai-chat/answer.js'
import type { ChatRequestBody } from '../src/openai-chat/request.js'
import { findChatViolation } from '../src/openai-chat/rules.js'

const user = { role: 'user', content: 'Hello' }
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const call = (id: string, name = 'read', text: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const calling = (...calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const answer = (id: string, content: unknown = 'done') => ({ role: 'tool', tool_call_id: id, content })
const request = (more: object = {}) => ({ model: 'scripted', messages: [user], ...more })
const withTool = (parameters: unknown) => request({ tools: [tool('read', { parameters })] })
/** A history in which `read` is declared. */
const history = (...messages: unknown[]) => request({ messages: [user, ...messages], tools: [tool('read')] })
const choosing = (tool_choice: unknown) => request({ tools: [tool('read')], tool_choice })
const saying = (content: unknown, role = 'user') => request({ messages: [{ role, content }] })
const textPart = { type: 'text', text: 'Hello' }
const imagePart = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }

type Rule = readonly [rule: string, accepted: unknown, rejected: unknown, code: string, param: string | null]

const rules: readonly Rule[] = [
  ['a body is an object', request(), [], 'invalid_type', null],
  [
    'text is whole characters',
    request(),
    request({ messages: [{ role: 'user', content: 'cut \ud83d' }] }),
    'invalid_json',
    null,
  ],
  ['a body is not null', request(), null, 'invalid_type', null],
  ['a model is named', request(), { messages: [user] }, 'missing_required_parameter', 'model'],
  ['a model is named by a string', request(), request({ model: 7 }), 'invalid_type', 'model'],
  ['messages are given', request(), { model: 'scripted' }, 'missing_required_parameter', 'messages'],
  ['messages are an array', request(), request({ messages: 'Hello' }), 'invalid_type', 'messages'],
  ['there is a message', request(), request({ messages: [] }), 'empty_array', 'messages'],
  ['a message is an object', request(), request({ messages: ['Hello'] }), 'invalid_type', 'messages[0]'],
  [
    'a role is known',
    saying('Hi', 'developer'),
    saying('Hi', 'function'),
    'invalid_value',
    'messages[0].role',
  ],
  [
    'a role is given',
    request(),
    request({ messages: [{}] }),
    'missing_required_parameter',
    'messages[0].role',
  ],
  ['a user says text', saying(''), saying(null), 'invalid_type', 'messages[0].content'],
  ['a user says something', saying('Hi'), saying(undefined), 'invalid_type', 'messages[0].content'],
  ['parts are not empty', saying([textPart]), saying([]), 'empty_array', 'messages[0].content'],
  [
    'a part has a type',
    saying([textPart]),
    saying([{}]),
    'missing_required_parameter',
    'messages[0].content[0].type',
  ],
  ['a part is an object', saying([textPart]), saying(['Hi']), 'invalid_type', 'messages[0].content[0]'],
  [
    'a text part has text',
    saying([textPart]),
    saying([{ type: 'text' }]),
    'invalid_type',
    'messages[0].content[0].text',
  ],
  [
    'a system prompt is text',
    saying('Hi', 'system'),
    saying(7, 'system'),
    'invalid_type',
    'messages[0].content',
  ],
  [
    'only a user sends images',
    saying([imagePart]),
    saying([imagePart], 'system'),
    'invalid_value',
    'messages[0].content[0].type',
  ],
  [
    'an assistant without calls says something',
    saying('Hi', 'assistant'),
    saying(null, 'assistant'),
    'invalid_type',
    'messages[0].content',
  ],
  [
    'an assistant may refuse in parts',
    saying([{ type: 'refusal', refusal: 'No' }], 'assistant'),
    saying([imagePart], 'assistant'),
    'invalid_value',
    'messages[0].content[0].type',
  ],
  [
    'an assistant with calls may stay silent',
    history({ role: 'assistant', tool_calls: [call('a')] }, answer('a')),
    history({ role: 'assistant', content: 7, tool_calls: [call('a')] }, answer('a')),
    'invalid_type',
    'messages[1].content',
  ],
  [
    'calls are an array',
    history(calling(call('a')), answer('a')),
    history({ role: 'assistant', content: 'Hi', tool_calls: null }),
    'invalid_type',
    'messages[1].tool_calls',
  ],
  [
    'calls are not empty',
    history({ role: 'assistant', content: 'Hi' }),
    history({ role: 'assistant', content: 'Hi', tool_calls: [] }),
    'empty_array',
    'messages[1].tool_calls',
  ],
  [
    'a call is an object',
    history(calling(call('a')), answer('a')),
    history(calling('a'), answer('a')),
    'invalid_type',
    'messages[1].tool_calls[0]',
  ],
  [
    'a call has an id',
    history(calling(call('a')), answer('a')),
    history(calling(call('')), answer('')),
    'missing_required_parameter',
    'messages[1].tool_calls[0].id',
  ],
  [
    'a call id has at most 40 characters',
    history(calling(call('a'.repeat(40))), answer('a'.repeat(40))),
    history(calling(call('a'.repeat(41))), answer('a'.repeat(41))),
    'string_above_max_length',
    'messages[1].tool_calls[0].id',
  ],
  [
    'a call is of a function or of a custom tool',
    history(calling(call('a')), answer('a')),
    history(calling({ ...call('a'), type: 'plugin' }), answer('a')),
    'invalid_value',
    'messages[1].tool_calls[0].type',
  ],
  [
    'a call of a custom tool has its input as text; the tool is not asked for',
    history(calling({ id: 'a', type: 'custom', custom: { name: 'patch', input: 'x' } }), answer('a')),
    history(calling({ id: 'a', type: 'custom', custom: { name: 'patch', input: {} } }), answer('a')),
    'invalid_type',
    'messages[1].tool_calls[0].custom.input',
  ],
  [
    'a called name is legal',
    history(calling(call('a')), answer('a')),
    history(calling(call('a', 'files.read')), answer('a')),
    'invalid_value',
    'messages[1].tool_calls[0].function.name',
  ],
  [
    'arguments are text, not an object',
    history(calling(call('a', 'read', '{}')), answer('a')),
    history(calling(call('a', 'read', {})), answer('a')),
    'invalid_type',
    'messages[1].tool_calls[0].function.arguments',
  ],
  [
    'a called tool is declared',
    history(calling(call('a')), answer('a')),
    history(calling(call('a', 'write')), answer('a')),
    'undeclared_tool',
    'messages[1].tool_calls[0].function.name',
  ],
  [
    'a called tool is declared although no tools are sent',
    request({ messages: [user] }),
    request({ messages: [user, calling(call('a')), answer('a')] }),
    'undeclared_tool',
    'messages[1].tool_calls[0].function.name',
  ],
  [
    'ids differ within a message',
    history(calling(call('a'), call('b')), answer('a'), answer('b')),
    history(calling(call('a'), call('a')), answer('a')),
    'duplicate_tool_call_id',
    'messages[1].tool_calls[1].id',
  ],
  [
    'a call at the end is answered',
    history(calling(call('a')), answer('a')),
    history(calling(call('a'))),
    'unanswered_tool_calls',
    'messages',
  ],
  [
    'all parallel calls are answered, in any order',
    history(calling(call('a'), call('b')), answer('b'), answer('a'), user),
    history(calling(call('a'), call('b')), answer('b'), user),
    'unanswered_tool_calls',
    'messages[3].role',
  ],
  [
    'no user speaks between a call and its answer',
    history(calling(call('a')), answer('a'), user),
    history(calling(call('a')), user, answer('a')),
    'unanswered_tool_calls',
    'messages[2].role',
  ],
  [
    'no system message comes between the answers of a batch',
    history(calling(call('a'), call('b')), answer('a'), answer('b'), { role: 'system', content: 'Note' }),
    history(calling(call('a'), call('b')), answer('a'), { role: 'system', content: 'Note' }, answer('b')),
    'unanswered_tool_calls',
    'messages[3].role',
  ],
  [
    'no assistant speaks before the answer',
    history(calling(call('a')), answer('a'), { role: 'assistant', content: 'Done' }),
    history(calling(call('a')), { role: 'assistant', content: 'Done' }, answer('a')),
    'unanswered_tool_calls',
    'messages[2].role',
  ],
  [
    'a call is answered once',
    history(calling(call('a'), call('b')), answer('a'), answer('b')),
    history(calling(call('a'), call('b')), answer('a'), answer('a'), answer('b')),
    'duplicate_tool_answer',
    'messages[3].tool_call_id',
  ],
  [
    'an id may return in a later message, and is answered there again',
    history(calling(call('a')), answer('a'), calling(call('a')), answer('a')),
    history(calling(call('a')), answer('a'), calling(call('a'))),
    'unanswered_tool_calls',
    'messages',
  ],
  [
    'an answer follows a call',
    history(calling(call('a')), answer('a')),
    history(answer('a')),
    'orphan_tool_answer',
    'messages[1].role',
  ],
  [
    'an answer names a call of the message before it',
    history(calling(call('a')), answer('a'), calling(call('b')), answer('b')),
    history(calling(call('a')), answer('a'), calling(call('b')), answer('a')),
    'orphan_tool_answer',
    'messages[4].role',
  ],
  [
    'an answer does not come after the user has spoken',
    history(calling(call('a')), answer('a'), user),
    history(calling(call('a')), answer('a'), user, answer('a')),
    'orphan_tool_answer',
    'messages[4].role',
  ],
  [
    'an answer names its call',
    history(calling(call('a')), answer('a')),
    history(calling(call('a')), { role: 'tool', content: 'done' }),
    'missing_required_parameter',
    'messages[2].tool_call_id',
  ],
  [
    'an answer has content',
    history(calling(call('a')), answer('a', '')),
    history(calling(call('a')), answer('a', null)),
    'invalid_type',
    'messages[2].content',
  ],
  [
    'an answer has text parts only',
    history(calling(call('a')), answer('a', [textPart])),
    history(calling(call('a')), answer('a', [imagePart])),
    'invalid_value',
    'messages[2].content[0].type',
  ],
  [
    'tools are an array',
    request({ tools: [tool('read')] }),
    request({ tools: null }),
    'invalid_type',
    'tools',
  ],
  ['tools are absent rather than empty', request(), request({ tools: [] }), 'empty_array', 'tools'],
  [
    'a tool is an object',
    request({ tools: [tool('a')] }),
    request({ tools: ['a'] }),
    'invalid_type',
    'tools[0]',
  ],
  [
    'a tool is a function',
    request({ tools: [tool('read')] }),
    request({ tools: [{ name: 'read', parameters: {} }] }),
    'invalid_value',
    'tools[0].type',
  ],
  [
    'a tool wraps its function',
    request({ tools: [tool('read')] }),
    request({ tools: [{ type: 'function', name: 'read' }] }),
    'invalid_type',
    'tools[0].function',
  ],
  [
    'a tool has a name',
    request({ tools: [tool('read')] }),
    request({ tools: [{ type: 'function', function: {} }] }),
    'missing_required_parameter',
    'tools[0].function.name',
  ],
  [
    'a name has legal characters',
    request({ tools: [tool('Read_a-file2')] }),
    request({ tools: [tool('read'), tool('lire é')] }),
    'invalid_value',
    'tools[1].function.name',
  ],
  [
    'a name ends without a line break',
    request({ tools: [tool('read')] }),
    request({ tools: [tool('read\n')] }),
    'invalid_value',
    'tools[0].function.name',
  ],
  [
    'a name is not empty',
    request({ tools: [tool('r')] }),
    request({ tools: [tool('')] }),
    'invalid_value',
    'tools[0].function.name',
  ],
  [
    'a name has at most 64 characters',
    request({ tools: [tool('a'.repeat(64))] }),
    request({ tools: [tool('a'.repeat(65))] }),
    'string_above_max_length',
    'tools[0].function.name',
  ],
  [
    'names differ, if only in case',
    request({ tools: [tool('read'), tool('Read')] }),
    request({ tools: [tool('read'), tool('write'), tool('read')] }),
    'duplicate_tool',
    'tools[2].function.name',
  ],
  [
    'a description is text',
    request({ tools: [tool('read', { description: '' })] }),
    request({ tools: [tool('read', { description: null })] }),
    'invalid_type',
    'tools[0].function.description',
  ],
  [
    'strict is a boolean',
    request({ tools: [tool('read', { strict: false })] }),
    request({ tools: [tool('read', { strict: 'yes' })] }),
    'invalid_type',
    'tools[0].function.strict',
  ],
  [
    'parameters are an object',
    withTool({ type: 'object', properties: {} }),
    withTool([]),
    'invalid_type',
    'tools[0].function.parameters',
  ],
  [
    'parameters have a type',
    withTool({ type: 'object', properties: {} }),
    withTool({ properties: {} }),
    'invalid_function_parameters',
    'tools[0].function.parameters',
  ],
  [
    'parameters have the type object alone',
    withTool({ type: 'object', properties: {} }),
    withTool({ type: ['object', 'null'], properties: {} }),
    'invalid_function_parameters',
    'tools[0].function.parameters',
  ],
  [
    'parameters name their properties, if none',
    withTool({ type: 'object', properties: { free: { type: 'object' } } }),
    withTool({ type: 'object', additionalProperties: true }),
    'invalid_function_parameters',
    'tools[0].function.parameters',
  ],
  [
    'what is required is a list',
    withTool({ type: 'object', properties: { a: { required: ['b'] } } }),
    withTool({ type: 'object', properties: { a: { required: null } } }),
    'invalid_function_parameters',
    'tools[0].function.parameters',
  ],
  [
    'an array names its items, at every depth',
    withTool({ type: 'object', properties: { a: { anyOf: [{ type: 'array', items: {} }] } } }),
    withTool({ type: 'object', properties: { a: { anyOf: [{ type: 'array' }] } } }),
    'invalid_function_parameters',
    'tools[0].function.parameters',
  ],
  ...Object.entries({ oneOf: [{}], anyOf: [{}], allOf: [{}], enum: ['a'], const: 'a', not: {} }).map(
    ([keyword, value]): Rule => [
      `${keyword} is below the top of parameters`,
      withTool({ type: 'object', properties: { choice: { [keyword]: value } } }),
      withTool({ type: 'object', [keyword]: value }),
      'invalid_function_parameters',
      'tools[0].function.parameters',
    ],
  ),
  ['a choice is a known word', choosing('required'), choosing('any'), 'invalid_value', 'tool_choice'],
  ['a choice is a word or an object', choosing('auto'), choosing(null), 'invalid_type', 'tool_choice'],
  [
    'a choice comes with tools',
    choosing('none'),
    request({ tool_choice: 'none' }),
    'invalid_value',
    'tool_choice',
  ],
  [
    'a chosen tool is declared',
    choosing(tool('read')),
    choosing(tool('write')),
    'invalid_value',
    'tool_choice.function.name',
  ],
  [
    'a choice of one tool names it',
    choosing(tool('read')),
    choosing({ type: 'function', name: 'read' }),
    'missing_required_parameter',
    'tool_choice.function.name',
  ],
  [
    'a choice has a known type',
    choosing(tool('read')),
    choosing({ type: 'tool', name: 'read' }),
    'invalid_value',
    'tool_choice.type',
  ],
  [
    'allowed tools are declared',
    choosing({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('read')] } }),
    choosing({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('write')] } }),
    'invalid_value',
    'tool_choice.allowed_tools.tools[0].function.name',
  ],
  [
    'parallel calls are governed only with tools',
    request({ tools: [tool('read')], parallel_tool_calls: false }),
    request({ parallel_tool_calls: false }),
    'invalid_value',
    'parallel_tool_calls',
  ],
  ['stream is a boolean', request({ stream: false }), request({ stream: 'true' }), 'invalid_type', 'stream'],
  [
    'stream options come with a stream',
    request({ stream: true, stream_options: { include_usage: true } }),
    request({ stream_options: { include_usage: true } }),
    'invalid_value',
    'stream_options',
  ],
  [
    'stream options are an object',
    request({ stream: true, stream_options: {} }),
    request({ stream: true, stream_options: true }),
    'invalid_type',
    'stream_options',
  ],
]

describe('a strict server holds that', () => {
  it.each(rules)('%s', (_rule, accepted, rejected, code, param) => {
    expect(findChatViolation(accepted)).toBeUndefined()
    expect(findChatViolation(rejected)).toMatchObject({ code, param })
  })
})

const block = (index: number) => ({ type: 'reasoning.text', text: 'So.', index })

describe('a strict server', () => {
  it('lists the unanswered ids, and only those, in the words hosts know', () => {
    const body = history(calling(call('a'), call('b'), call('c')), answer('b'), user)
    expect(findChatViolation(body)?.message).toBe(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        'The following tool_call_ids did not have response messages: a, c',
    )
  })

  it.each([
    ['openai', { content: '' }, undefined],
    ['mistral', { content: '' }, 'empty_message'],
    ['mistral', { content: null }, 'empty_message'],
    ['mistral', { content: 'Yes.' }, undefined],
    ['mistral', { content: [{ type: 'thinking', thinking: [] }] }, undefined],
    ['openai', { content: [{ type: 'thinking', thinking: [] }] }, 'invalid_value'],
    ['openai', { content: 'Yes.', reasoning_details: [block(0), block(1)] }, undefined],
    ['openai', { content: 'Yes.', reasoning_details: [block(0), block(0)] }, 'reasoning_in_pieces'],
  ] as const)('judges, as %s, the reply %j', (family, reply, code) => {
    const messages = [
      { role: 'user', content: 'Well?' },
      { role: 'assistant', ...reply },
    ]
    expect(findChatViolation({ model: 'x', messages }, { family })?.code).toBe(code)
  })

  it('judges the schema of a strict function', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' } } }
    const tools = (schema: object, strict: boolean) => [
      { type: 'function', function: { name: 'book', parameters: { ...parameters, ...schema }, strict } },
    ]
    const codeOf = (given: object) =>
      findChatViolation({ model: 'x', messages: [{ role: 'user', content: 'Book.' }], tools: given })?.code
    expect(codeOf(tools({}, false))).toBeUndefined()
    expect(codeOf(tools({}, true))).toBe('invalid_function_parameters')
    expect(codeOf(tools({ additionalProperties: false }, true))).toBe('invalid_function_parameters')
    expect(codeOf(tools({ additionalProperties: false, required: ['a'] }, true))).toBeUndefined()
  })

  it.each([
    ['', 'invalid_arguments'],
    ['{}', undefined],
    ['not JSON', 'invalid_arguments'],
    ['[1]', 'invalid_arguments'],
    ['{"open":', 'invalid_arguments'],
  ])('judges the arguments %j of a call as servers do that parse them', (text, code) => {
    expect(findChatViolation(history(calling(call('a', 'read', text)), answer('a')))?.code).toBe(code)
  })

  it.each(['user', 'system', 'developer'])('refuses a %s behind a result where the family does', (role) => {
    const body = history(calling(call('a')), answer('a'), { role, content: 'By the way' })
    expect(findChatViolation(body)).toBeUndefined()
    expect(findChatViolation(body, { family: 'template' })).toBeUndefined()
    expect(findChatViolation(body, { family: 'mistral' })).toEqual({
      message: `Unexpected role '${role}' after role 'tool'`,
      param: 'messages[3].role',
      code: 'unexpected_role',
    })
    const said = { role: 'assistant', content: 'Done.' }
    const legal = history(calling(call('a'), call('b')), answer('a'), answer('b'), said, user)
    expect(findChatViolation(legal, { family: 'mistral' })).toBeUndefined()
  })

  it('renders no reasoning before the last user message where the family drops it', () => {
    const thinking = { ...calling(call('a')), reasoning_content: 'Let me see.' }
    const inLoop = history(thinking, answer('a')) as ChatRequestBody
    const behind = history(thinking, answer('a'), { role: 'user', content: 'More' }) as ChatRequestBody
    expect(chatRenderOrder(inLoop, 'template')).toBe(chatRenderOrder(inLoop))
    expect(chatRenderOrder(behind)).toContain('Let me see.')
    expect(chatRenderOrder(behind, 'template')).not.toContain('Let me see.')
  })

  it('limits tools and descriptions only if configured', () => {
    const many = request({ tools: Array.from({ length: 129 }, (_, index) => tool(`tool_${index}`)) })
    expect(findChatViolation(many)).toBeUndefined()
    expect(findChatViolation(many, { maxTools: 129 })).toBeUndefined()
    expect(findChatViolation(many, { maxTools: 128 })).toMatchObject({
      code: 'array_above_max_length',
      param: 'tools',
    })

    const long = request({ tools: [tool('read', { description: 'a'.repeat(1025) })] })
    expect(findChatViolation(long)).toBeUndefined()
    expect(findChatViolation(long, { maxDescription: 1025 })).toBeUndefined()
    expect(findChatViolation(long, { maxDescription: 1024 })).toMatchObject({
      code: 'string_above_max_length',
    })
  })
})

describe('ids of nine characters', () => {
  const request = (id: string) => ({
    model: 'x',
    tools: [
      { type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: {} } } },
    ],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'read_file', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ],
  })

  it.each(['call_1', 'abc12345', 'abc1234567', 'abc-12345'])(
    '%s is rejected if the option asks for it',
    (id) => {
      expect(findChatViolation(request(id), { nineCharacterIds: true })).toMatchObject({
        code: '3280',
        message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
      })
      expect(findChatViolation(request(id))).toBeUndefined()
    },
  )

  it('are taken', () => {
    expect(findChatViolation(request('abc123DEF'), { nineCharacterIds: true })).toBeUndefined()
  })
})
