import { describe, expect, it } from 'vitest'
import { type AnthropicRuleOptions, findAnthropicViolation } from '../src/anthropic/rules.js'

const schema = { type: 'object', properties: {} }
const mark = { type: 'ephemeral' }
const user = (content: unknown = 'Hello') => ({ role: 'user', content })
const assistant = (content: unknown = 'Hi') => ({ role: 'assistant', content })
const system = (content: unknown, more: object = {}) => ({ role: 'system', content, ...more })
const text = (words = 'Hello', more: object = {}) => ({ type: 'text', text: words, ...more })
const call = (id: string, name = 'read', input: unknown = {}) => ({ type: 'tool_use', id, name, input })
const result = (id: string, content: unknown = 'done', more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})
const ran = (id: string, type = 'server_tool_use') => ({ type, id, name: 'web_search', input: {} })
const ranResult = (id: string, type = 'web_search_tool_result') => ({ type, tool_use_id: id, content: [] })
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' }
const reference = (tool_name: unknown) => ({ type: 'tool_reference', tool_name })
const tool = (name: unknown, more: object = {}) => ({ name, input_schema: schema, ...more })
const deferred = (name: string, more: object = {}) => tool(name, { defer_loading: true, ...more })
const searchTool = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }
const server = { type: 'mcp_toolset', mcp_server_name: 'files' }

const request = (more: object = {}) => ({
  model: 'scripted',
  max_tokens: 1024,
  messages: [user()],
  ...more,
})
/** A history in which `read` and `search` are at hand and `write` is deferred. */
const tools = [tool('read'), tool('search'), deferred('write')]
const history = (...messages: unknown[]) => request({ messages: [user(), ...messages], tools })
const withTool = (...list: unknown[]) => request({ tools: list })
const withSchema = (input_schema: unknown) => withTool(tool('read', { input_schema }))
const saying = (content: unknown) => request({ messages: [user(content)] })
const resulting = (content: unknown, more: object = {}) =>
  history(assistant([call('a')]), user([result('a', content, more)]))
const choosing = (tool_choice: unknown) => request({ tools, tool_choice })
const marked = (count: number) =>
  saying(Array.from({ length: count }, () => text('Hi', { cache_control: mark })))
/** A search whose result is the content, and a call after it. */
const searched = (content: unknown, name = 'write') =>
  history(
    assistant([call('a', 'search')]),
    user([result('a', content)]),
    assistant([call('b', name)]),
    user([result('b')]),
  )
const adding = (...references: unknown[]) =>
  references.map((entry) => ({ type: 'tool_addition', tool: entry }))
const removing = (name: string) => [{ type: 'tool_removal', tool: { type: 'tool_reference', name } }]
const byName = (name: string) => ({ type: 'tool_reference', name })
const defining = (definition: unknown) => ({ type: 'tool_definition', definition })
/** `write` called after what a system message said. */
const changed = (content: unknown, name = 'write') =>
  history(system(content), assistant([call('a', name)]), user([result('a')]))

type Rule = readonly [rule: string, accepted: unknown, rejected: unknown, code: string, param: string | null]

function holds(rules: readonly Rule[], options: AnthropicRuleOptions = {}): void {
  it.each(rules)('%s', (_rule, accepted, rejected, code, param) => {
    expect(findAnthropicViolation(accepted, options)).toBeUndefined()
    expect(findAnthropicViolation(rejected, options)).toMatchObject({ code, param })
  })
}

describe('the request', () => {
  holds([
    ['a body is an object', request(), [], 'invalid_type', null],
    ['text is whole characters', request(), saying('cut \ud83d'), 'invalid_json', null],
    ['a model is named', request(), request({ model: '' }), 'missing_required_parameter', 'model'],
    ['a model is named by a string', request(), request({ model: 7 }), 'invalid_type', 'model'],
    [
      'an answer has a limit',
      request(),
      { model: 'scripted', messages: [user()] },
      'missing_required_parameter',
      'max_tokens',
    ],
    [
      'the limit is a whole number',
      request({ max_tokens: 1 }),
      request({ max_tokens: 1.5 }),
      'invalid_type',
      'max_tokens',
    ],
    [
      'the limit is not below 0, which warms the cache',
      request({ max_tokens: 0 }),
      request({ max_tokens: -1 }),
      'invalid_value',
      'max_tokens',
    ],
    [
      'a stream is asked for by a boolean',
      request({ stream: true }),
      request({ stream: 1 }),
      'invalid_type',
      'stream',
    ],
    [
      'fields without a rule pass',
      request({ stop_sequences: ['x'], thinking: {} }),
      null,
      'invalid_type',
      null,
    ],
    [
      'a system prompt is text',
      request({ system: 'Be brief.' }),
      request({ system: { text: 'Be brief.' } }),
      'invalid_type',
      'system',
    ],
    [
      'a system prompt in blocks is text',
      request({ system: [text()] }),
      request({ system: [{ type: 'image' }] }),
      'invalid_value',
      'system.0.type',
    ],
    [
      'a block of the system prompt is not empty',
      request({ system: [] }),
      request({ system: [text('')] }),
      'empty_text',
      'system.0.text',
    ],
  ])
})

describe('messages', () => {
  holds([
    [
      'messages are given',
      request(),
      request({ messages: undefined }),
      'missing_required_parameter',
      'messages',
    ],
    ['messages are a list', request(), request({ messages: 'Hello' }), 'invalid_type', 'messages'],
    ['there is a message', request(), request({ messages: [] }), 'empty_array', 'messages'],
    ['a message is an object', request(), request({ messages: ['Hello'] }), 'invalid_type', 'messages.0'],
    [
      'a role is given',
      request(),
      request({ messages: [{ content: 'Hi' }] }),
      'missing_required_parameter',
      'messages.0.role',
    ],
    [
      'a role is known',
      request(),
      history({ role: 'tool', content: 'x' }),
      'invalid_value',
      'messages.1.role',
    ],
    [
      'the user speaks first',
      request({ messages: [user(), assistant()] }),
      request({ messages: [assistant(), user()] }),
      'first_role',
      'messages',
    ],
    [
      'one role may speak twice',
      history(user(), assistant(), assistant(), user()),
      history(system('Hi')),
      'unsupported_role',
      'messages.1',
    ],
    [
      'content is given',
      saying('Hi'),
      request({ messages: [{ role: 'user' }] }),
      'missing_required_parameter',
      'messages.0.content',
    ],
    ['content is text or blocks', saying([text()]), saying(null), 'invalid_type', 'messages.0.content'],
    ['content is not an empty string', saying('Hi'), saying(''), 'empty_content', 'messages.0'],
    [
      'content is not an empty list, but for a last answer that is to be continued',
      history(assistant([])),
      history(assistant([]), user()),
      'empty_content',
      'messages.1',
    ],
    ['content is not white space', saying(' Hi '), saying(' \n'), 'empty_text', 'messages.0.text'],
    [
      'a text block is not empty',
      saying([text()]),
      saying([text('')]),
      'empty_text',
      'messages.0.content.0.text',
    ],
    [
      'a text block is not white space',
      saying([text()]),
      saying([text(' ')]),
      'empty_text',
      'messages.0.content.0.text',
    ],
    [
      'a text block has text',
      saying([text()]),
      saying([{ type: 'text' }]),
      'invalid_type',
      'messages.0.content.0.text',
    ],
    ['a block is an object', saying([text()]), saying(['Hi']), 'invalid_type', 'messages.0.content.0'],
    [
      'a block has a type, which need not be known',
      saying([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]),
      saying([{ text: 'Hi' }]),
      'missing_required_parameter',
      'messages.0.content.0.type',
    ],
    [
      'only the assistant calls',
      history(assistant([call('a')]), user([result('a')])),
      history(user([call('a')])),
      'misplaced_block',
      'messages.1.content.0',
    ],
    [
      'only the user answers',
      history(assistant([call('a')]), user([result('a')])),
      history(assistant([call('a')]), assistant([result('a')])),
      'misplaced_block',
      'messages.2.content.0',
    ],
    [
      'thinking is the assistant’s and passes',
      history(assistant([{ type: 'thinking', thinking: '', signature: 'x' }, text()])),
      saying([{ type: 'thinking', thinking: '', signature: 'x' }]),
      'misplaced_block',
      'messages.0.content.0',
    ],
    [
      'a reference is in a result',
      resulting([reference('write')]),
      history(user([reference('write')])),
      'misplaced_block',
      'messages.1.content.0',
    ],
    [
      'a change of tools is in a system message',
      saying([text()]),
      saying(adding(byName('write'))),
      'misplaced_block',
      'messages.0.content.0',
    ],
  ])
})

describe('calls and results', () => {
  const calling = (block: unknown) => history(assistant([block]), user([result('a')]))
  const answered = calling(call('a'))
  const at = 'messages.1.content.0.tool_use'
  holds([
    [
      'a call has an id',
      answered,
      calling({ ...call('a'), id: undefined }),
      'missing_required_parameter',
      `${at}.id`,
    ],
    ['an id has legal characters', calling(call('a')), calling(call('a.b')), 'invalid_value', `${at}.id`],
    ['a call has a name', answered, calling(call('a', '')), 'missing_required_parameter', `${at}.name`],
    [
      'input is an object, not its text',
      answered,
      calling(call('a', 'read', '{}')),
      'invalid_type',
      `${at}.input`,
    ],
    ['a called tool is declared', answered, calling(call('a', 'delete')), 'undeclared_tool', `${at}.name`],
    [
      'tools are declared when the history has calls',
      answered,
      { ...answered, tools: undefined },
      'tools_required',
      'tools',
    ],
    [
      'an empty list declares no tool',
      request({ tools: [] }),
      { ...answered, tools: [] },
      'tools_required',
      'tools',
    ],
    [
      'every call is answered',
      history(assistant([call('a'), call('b')]), user([result('b'), result('a')])),
      history(assistant([call('a'), call('b')]), user([result('a')])),
      'unanswered_tool_use',
      'messages.1',
    ],
    [
      'the last call is answered',
      answered,
      history(assistant([call('a')])),
      'unanswered_tool_use',
      'messages.1',
    ],
    [
      'a call is answered at once',
      history(assistant([call('a')]), user([result('a')]), user('Go on.')),
      history(assistant([call('a')]), user('Go on.'), assistant(), user([result('a')])),
      'unanswered_tool_use',
      'messages.1',
    ],
    [
      'a call may be followed by words of the same turn',
      history(assistant([call('a'), text()]), assistant('More.'), user([result('a')])),
      history(assistant([call('a')]), assistant('More.')),
      'unanswered_tool_use',
      'messages.2',
    ],
    [
      'results come first in their turn',
      history(assistant([call('a')]), user([result('a'), text()])),
      history(assistant([call('a')]), user([text(), result('a')])),
      'misplaced_tool_result',
      'messages.2.content.1',
    ],
    [
      'results come first in the merged turn',
      history(assistant([call('a'), call('b')]), user([result('a')]), user([result('b'), text()])),
      history(assistant([call('a'), call('b')]), user([result('a'), text()]), user([result('b')])),
      'misplaced_tool_result',
      'messages.3.content.0',
    ],
    [
      'a result belongs to a call',
      answered,
      history(user([result('a')])),
      'orphan_tool_result',
      'messages.1.content.0',
    ],
    [
      'a result belongs to a call of the turn before',
      answered,
      history(assistant([call('a')]), user([result('a')]), assistant(), user([result('a')])),
      'orphan_tool_result',
      'messages.4.content.0',
    ],
    [
      'a call has one result',
      answered,
      history(assistant([call('a')]), user([result('a'), result('a')])),
      'duplicate_tool_result',
      'messages.2.content.1',
    ],
    [
      'an id is used once in a conversation',
      history(assistant([call('a')]), user([result('a')]), assistant([call('b')]), user([result('b')])),
      history(assistant([call('a')]), user([result('a')]), assistant([call('a')]), user([result('a')])),
      'duplicate_tool_use_id',
      'messages.3.content.0',
    ],
    [
      'a result names its call',
      answered,
      history(assistant([call('a')]), user([{ type: 'tool_result', content: 'done' }])),
      'missing_required_parameter',
      'messages.2.content.0.tool_result.tool_use_id',
    ],
    [
      'a result may be empty, but not an empty list',
      history(assistant([call('a')]), user([{ type: 'tool_result', tool_use_id: 'a' }])),
      resulting([]),
      'empty_content',
      'messages.2.content.0.tool_result.content',
    ],
    [
      'an error says something',
      resulting('No such file.', { is_error: true }),
      resulting('', { is_error: true }),
      'empty_content',
      'messages.2.content.0.tool_result.content',
    ],
    [
      'a result is an error or not',
      resulting('', { is_error: false }),
      resulting('x', { is_error: 'no' }),
      'invalid_type',
      'messages.2.content.0.tool_result.is_error',
    ],
    [
      'a result is text or parts',
      resulting([text()]),
      resulting({ files: [] }),
      'invalid_type',
      'messages.2.content.0.tool_result.content',
    ],
    [
      'a part of a result is an object',
      resulting([text()]),
      resulting(['done']),
      'invalid_type',
      'messages.2.content.0.tool_result.content.0',
    ],
    [
      'a part of a result is of a known kind',
      resulting([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]),
      resulting([{ type: 'json', json: {} }]),
      'invalid_value',
      'messages.2.content.0.tool_result.content.0.type',
    ],
    [
      'text in a result is not empty',
      resulting([text()]),
      resulting([text('')]),
      'empty_text',
      'messages.2.content.0.tool_result.content.0.text',
    ],
  ])

  it('passes an undeclared call when the history need not be strict, but never one without tools', () => {
    const undeclared = calling(call('a', 'delete'))
    expect(findAnthropicViolation(undeclared, { strictHistory: false })).toBeUndefined()
    expect(findAnthropicViolation({ ...undeclared, tools: [] }, { strictHistory: false })).toMatchObject({
      code: 'tools_required',
    })
  })

  it('takes a call of a toolset’s member as declared with it', () => {
    const member = { ...call('a', 'click'), toolset_name: 'browser' }
    const body = request({
      messages: [user(), assistant([member]), user([result('a')])],
      tools: [{ type: 'browser_toolset_20260801' }],
    })
    expect(findAnthropicViolation(body)).toBeUndefined()
  })

  it('words the pairing as Anthropic does', () => {
    expect(findAnthropicViolation(history(assistant([call('a'), call('b')])))?.message).toBe(
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. ' +
        'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    )
  })
})

describe('what the API ran itself, and what the model thought', () => {
  const asked = [ran('s'), call('a')]
  const byCode = { ...call('b'), caller: { type: 'code_execution_20260120', tool_id: 's' } }
  holds([
    [
      'a call comes with its result',
      history(assistant([ran('s'), ranResult('s'), text()]), user()),
      history(assistant([ran('s'), text()]), user()),
      'unanswered_server_call',
      'messages.1',
    ],
    [
      'a call to a server of the host does, too',
      history(assistant([ran('s', 'mcp_tool_use'), ranResult('s', 'mcp_tool_result')]), user()),
      history(assistant([ran('s', 'mcp_tool_use')]), user()),
      'unanswered_server_call',
      'messages.1',
    ],
    [
      'a call may wait in a turn that is not over',
      history(assistant(asked), user([result('a')])),
      history(assistant(asked), user([result('a')]), assistant(), user()),
      'unanswered_server_call',
      'messages.1',
    ],
    [
      'a call waits for what it calls itself',
      history(assistant(asked), user([result('a')]), assistant([byCode]), user([result('b')])),
      history(assistant(asked), user([result('a')]), assistant([call('b')]), user([result('b')])),
      'unanswered_server_call',
      'messages.1',
    ],
    [
      'its result may follow those of the client',
      history(assistant(asked), user([result('a')]), assistant([ranResult('s'), text()])),
      history(assistant(asked), user([result('a')]), assistant([ranResult('t'), text()])),
      'orphan_server_result',
      'messages.3.content.0',
    ],
    [
      'an id is used again only behind its result',
      history(assistant([ran('s'), ranResult('s'), ran('s'), ranResult('s')]), user()),
      history(assistant([ran('s'), ran('s'), ranResult('s')]), user()),
      'unanswered_server_call',
      'messages.1',
    ],
    [
      'a result comes after its call',
      history(assistant([ran('s'), ranResult('s')])),
      history(assistant([ranResult('s'), ran('s')])),
      'orphan_server_result',
      'messages.1.content.0',
    ],
    [
      'thinking leads to something',
      history(assistant([thinking, text()])),
      history(assistant([text(), thinking]), user()),
      'final_thinking',
      'messages.1',
    ],
    ...['signature', 'thinking'].map(
      (field): Rule => [
        `thinking has its ${field}`,
        history(assistant([thinking, text()])),
        history(assistant([{ ...thinking, [field]: undefined }, text()])),
        'missing_required_parameter',
        `messages.1.content.0.thinking.${field}`,
      ],
    ),
    [
      'secret thinking has its data',
      history(assistant([{ type: 'redacted_thinking', data: 'x' }, text()])),
      history(assistant([{ type: 'redacted_thinking' }, text()])),
      'missing_required_parameter',
      'messages.1.content.0.redacted_thinking.data',
    ],
    [
      'so does thinking that is kept secret',
      history(assistant([{ type: 'redacted_thinking', data: 'x' }, text()])),
      history(assistant([{ type: 'redacted_thinking', data: 'x' }])),
      'final_thinking',
      'messages.1',
    ],
  ])
})

describe('tools', () => {
  holds([
    ['tools are a list', withTool(tool('read')), request({ tools: {} }), 'invalid_type', 'tools'],
    ['a tool is an object', withTool(tool('read')), withTool('read'), 'invalid_type', 'tools.0'],
    [
      'a tool is of the host or of Anthropic',
      withTool(tool('read', { type: 'custom' }), searchTool, server, { type: 'bash_20250124', name: 'bash' }),
      withTool({ type: 'function', function: { name: 'read' } }),
      'invalid_value',
      'tools.0',
    ],
    [
      'a tool has a name',
      withTool(tool('r')),
      withTool(tool(undefined)),
      'missing_required_parameter',
      'tools.0.custom.name',
    ],
    ['a name is a string', withTool(tool('read')), withTool(tool(7)), 'invalid_type', 'tools.0.custom.name'],
    ...[
      { required: null },
      { required: [7] },
      { properties: null },
      { properties: { a: null } },
      { properties: { a: { type: null } } },
      { properties: { a: { type: 'array', items: null } } },
      { additionalProperties: { required: {} } },
      { properties: { a: 5 } },
      { properties: { a: { type: 'strin' } } },
      { properties: { a: { type: [] } } },
      { properties: { a: { items: [true] } } },
      { properties: { a: { enum: 'a' } } },
      { properties: { a: { enum: ['a', 'a'] } } },
      { properties: { a: { minimum: '3' } } },
      { properties: { a: { exclusiveMinimum: true } } },
      { properties: { a: { minLength: -1 } } },
      { properties: { a: { pattern: '[' } } },
      { properties: { a: { anyOf: [] } } },
      { properties: { a: { not: [{ type: 'string' }] } } },
      { properties: { a: { $ref: '#/$defs/Missing' } } },
      { properties: { a: { $ref: 'https://example.com/schema.json' } } },
      { patternProperties: { '(': {} } },
      { dependentRequired: { a: 'b' } },
      { required: ['a', 'a'] },
    ].map(
      (wrong): Rule => [
        `keywords hold what they may: ${JSON.stringify(wrong)}`,
        withSchema({
          type: 'object',
          properties: {
            required: { type: ['string', 'null'] },
            a: { prefixItems: [true], items: false },
            b: true,
          },
          required: ['a'],
          additionalProperties: false,
        }),
        withSchema({ type: 'object', ...wrong }),
        'invalid_value',
        'tools.0.custom.input_schema',
      ],
    ),
    [
      'a name has legal characters',
      withTool(tool('Read_a-file2')),
      withTool(tool('files.read')),
      'invalid_value',
      'tools.0.custom.name',
    ],
    [
      'a name has at most 128 characters',
      withTool(tool('a'.repeat(128))),
      withTool(tool('a'.repeat(129))),
      'invalid_value',
      'tools.0.custom.name',
    ],
    [
      'names differ, if only in case',
      withTool(tool('read'), tool('Read')),
      withTool(tool('read'), deferred('read')),
      'duplicate_tool',
      'tools.1.name',
    ],
    [
      'a description is text',
      withTool(tool('read', { description: '' })),
      withTool(tool('read', { description: null })),
      'invalid_type',
      'tools.0.custom.description',
    ],
    [
      'a schema is given',
      withSchema(schema),
      withTool({ name: 'read', parameters: schema }),
      'missing_required_parameter',
      'tools.0.custom.input_schema',
    ],
    [
      'a schema is an object',
      withSchema(schema),
      withSchema([]),
      'invalid_type',
      'tools.0.custom.input_schema',
    ],
    [
      'a schema has a type',
      withSchema({ type: 'object' }),
      withSchema({}),
      'missing_required_parameter',
      'tools.0.custom.input_schema.type',
    ],
    [
      'a schema has the type object alone',
      withSchema({ type: 'object' }),
      withSchema({ type: ['object', 'null'] }),
      'invalid_value',
      'tools.0.custom.input_schema.type',
    ],
    ...['oneOf', 'anyOf', 'allOf'].map(
      (keyword): Rule => [
        `${keyword} is below the top of a schema`,
        withSchema({ type: 'object', properties: { choice: { [keyword]: [{}] } } }),
        withSchema({ type: 'object', [keyword]: [{}] }),
        'invalid_value',
        'tools.0.custom.input_schema',
      ],
    ),
    ['a choice is an object', choosing({ type: 'auto' }), choosing('auto'), 'invalid_type', 'tool_choice'],
    [
      'a choice is of a known kind',
      choosing({ type: 'any' }),
      choosing({ type: 'required' }),
      'invalid_value',
      'tool_choice.type',
    ],
    [
      'a choice comes with tools, unless of none',
      request({ tool_choice: { type: 'none' } }),
      request({ tool_choice: { type: 'auto' } }),
      'invalid_value',
      'tool_choice',
    ],
    [
      'a choice of a tool names it',
      choosing({ type: 'tool', name: 'read' }),
      choosing({ type: 'tool' }),
      'missing_required_parameter',
      'tool_choice.name',
    ],
    [
      'a chosen tool is declared',
      choosing({ type: 'tool', name: 'read' }),
      choosing({ type: 'tool', name: 'delete' }),
      'invalid_value',
      'tool_choice.name',
    ],
    [
      'a chosen tool is not deferred',
      choosing({ type: 'tool', name: 'read' }),
      choosing({ type: 'tool', name: 'write' }),
      'invalid_value',
      'tool_choice.name',
    ],
  ])
})

describe('deferral', () => {
  const found = [{ type: 'tool_search_tool_search_result', tool_references: [reference('write')] }]
  const serverSearch = (content: unknown, name = 'write') =>
    history(
      assistant([
        { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: {} },
        { type: 'tool_search_tool_result', tool_use_id: 's', content },
        call('a', name),
      ]),
      user([result('a')]),
    )
  holds([
    [
      'a tool is deferred by a boolean',
      withTool(tool('read'), deferred('write')),
      withTool(tool('read'), tool('write', { defer_loading: 'yes' })),
      'invalid_type',
      'tools.1.defer_loading',
    ],
    [
      'not every tool is deferred',
      withTool(searchTool, deferred('write')),
      withTool(deferred('read'), deferred('write')),
      'all_tools_deferred',
      'tools',
    ],
    [
      'Anthropic’s search tool is not deferred',
      withTool(tool('read'), searchTool),
      withTool(tool('read'), { ...searchTool, defer_loading: true }),
      'deferred_search_tool',
      'tools.1.defer_loading',
    ],
    [
      'a tool whose results hold references is not deferred, not even once it is revealed',
      searched([reference('write')]),
      {
        ...history(
          assistant([call('a', 'read')]),
          user([result('a', [reference('search')])]),
          assistant([call('b', 'search')]),
          user([result('b', [reference('write')])]),
        ),
        tools: [tool('read'), deferred('search'), deferred('write')],
      },
      'deferred_search_tool',
      'messages.4.content.0',
    ],
    [
      'a deferred tool has no cache mark',
      withTool(tool('read', { cache_control: mark }), deferred('write', { cache_control: null })),
      withTool(tool('read'), deferred('write', { cache_control: mark })),
      'deferred_cache_control',
      'tools.1.cache_control',
    ],
    [
      'a reference names a declared tool, deferred or not',
      searched([reference('write'), reference('read')]),
      searched([reference('delete')]),
      'tool_reference_unresolved',
      'messages.2.content.0',
    ],
    [
      'a reference says tool_name',
      searched([reference('write')]),
      searched([{ type: 'tool_reference', name: 'write' }]),
      'missing_required_parameter',
      'messages.2.content.0.tool_result.content.0.tool_name',
    ],
    [
      'a reference from Anthropic’s search names a declared tool',
      serverSearch(found[0]),
      serverSearch({ ...found[0], tool_references: [reference('delete')] }, 'read'),
      'tool_reference_unresolved',
      'messages.1.content.1',
    ],
    [
      'references stand alone in their result',
      searched([reference('write'), reference('read')]),
      searched([reference('write'), text('Found.')]),
      'mixed_references',
      'messages.2.content.0.tool_result.content',
    ],
    [
      'a deferred tool is revealed before it is called (PI-1)',
      searched([reference('write')]),
      history(assistant([call('a', 'write')]), user([result('a')])),
      'unrevealed_tool',
      'messages.1.content.0.tool_use.name',
    ],
    [
      'a reveal does not reach back (PI-1)',
      searched([reference('write')]),
      history(
        assistant([call('a', 'write'), call('b', 'search')]),
        user([result('a'), result('b', [reference('write')])]),
      ),
      'unrevealed_tool',
      'messages.1.content.0.tool_use.name',
    ],
    [
      'an error of Anthropic’s search reveals nothing',
      serverSearch(found[0]),
      serverSearch({ type: 'tool_search_tool_result_error', error_code: 'unavailable' }),
      'unrevealed_tool',
      'messages.1.content.2.tool_use.name',
    ],
  ])

  it('passes a call before its reveal when reveals need not be strict', () => {
    const body = history(assistant([call('a', 'write')]), user([result('a')]))
    expect(findAnthropicViolation(body, { strictReveal: false })).toBeUndefined()
  })
})

describe('cache marks', () => {
  holds([
    [
      'a mark is an object',
      request({ cache_control: null }),
      request({ cache_control: 'ephemeral' }),
      'invalid_type',
      'cache_control',
    ],
    [
      'a mark is ephemeral',
      saying([text('Hi', { cache_control: mark })]),
      saying([text('Hi', { cache_control: { type: 'permanent' } })]),
      'invalid_value',
      'messages.0.content.0.cache_control.type',
    ],
    [
      'a mark lives five minutes or an hour',
      withTool(tool('read', { cache_control: { ...mark, ttl: '1h' } })),
      withTool(tool('read', { cache_control: { ...mark, ttl: '1d' } })),
      'invalid_value',
      'tools.0.cache_control.ttl',
    ],
    [
      'a mark of an hour comes before those of five minutes: tools, system, messages',
      {
        ...withTool(tool('read', { cache_control: { ...mark, ttl: '1h' } })),
        system: [text('Hi', { cache_control: mark })],
      },
      {
        ...withTool(tool('read', { cache_control: mark })),
        system: [text('Hi', { cache_control: { ...mark, ttl: '1h' } })],
      },
      'cache_marks_order',
      null,
    ],
    ['there are at most four marks', marked(4), marked(5), 'too_many_cache_marks', null],
    [
      'the mark on the request counts',
      { ...marked(3), cache_control: mark },
      { ...marked(4), cache_control: mark },
      'too_many_cache_marks',
      null,
    ],
    [
      'marks count wherever they stand',
      { ...resulting([text('Hi', { cache_control: mark })], { cache_control: mark }), system: [text('Hi')] },
      {
        ...resulting([text('Hi', { cache_control: mark })], { cache_control: mark }),
        system: [text('Hi', { cache_control: mark }), text('Hi', { cache_control: mark })],
        tools: [tool('read', { cache_control: mark })],
      },
      'too_many_cache_marks',
      null,
    ],
    [
      'a property of a schema is not a mark',
      withTool(
        ...['a', 'b', 'c', 'd', 'e'].map((name) =>
          tool(name, { input_schema: { type: 'object', properties: { cache_control: { title: 'mark' } } } }),
        ),
      ),
      withTool(...['a', 'b', 'c', 'd', 'e'].map((name) => tool(name, { cache_control: mark }))),
      'too_many_cache_marks',
      null,
    ],
  ])
})

describe('system messages, if they are allowed', () => {
  const serverResult = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
  holds(
    [
      [
        'one does not come first',
        history(system('Hi')),
        request({ messages: [system('Hi'), user()] }),
        'misplaced_system',
        'messages.0',
      ],
      [
        'one follows the user',
        history(system('Hi'), assistant(), user()),
        history(assistant(), system('Hi'), assistant(), user()),
        'misplaced_system',
        'messages.2',
      ],
      [
        'one follows a server’s result',
        history(assistant([ran('s'), serverResult]), system('Hi')),
        history(assistant([ran('s'), serverResult, text()]), system('Hi')),
        'misplaced_system',
        'messages.2',
      ],
      [
        'one comes before the assistant or last',
        history(system('Hi'), assistant(), user(), system('Hi')),
        history(system('Hi'), user()),
        'misplaced_system',
        'messages.1',
      ],
      [
        'several stand as one',
        history(system('One'), system('Two'), assistant(), user()),
        history(system('One'), system('Two'), user()),
        'misplaced_system',
        'messages.2',
      ],
      [
        'none comes between a call and its result',
        history(assistant([call('a')]), user([result('a')]), system('Hi')),
        history(assistant([call('a')]), system('Hi'), user([result('a')])),
        'misplaced_system',
        'messages.2',
      ],
      ['one says something', history(system([text()])), history(system([])), 'empty_content', 'messages.1'],
      [
        'text in one is not empty',
        history(system([text()])),
        history(system([text('')])),
        'empty_text',
        'messages.1.content.0.text',
      ],
      [
        'one without words sets an effort, anywhere',
        history(assistant(), system([], { output_config: { effort: 'low' } }), user()),
        history(system(undefined, { output_config: {} })),
        'empty_content',
        'messages.1',
      ],
      [
        'one is text and changes of tools',
        history(system([text(), ...adding(byName('write'))])),
        history(system([{ type: 'image', source: {} }])),
        'invalid_value',
        'messages.1',
      ],
      [
        'one is cleared at a known time',
        history(system('Hi', { clear_at: 'next_user_message' })),
        history(system('Hi', { clear_at: 'tomorrow' })),
        'invalid_value',
        'messages.1.clear_at',
      ],
      [
        'an addition reveals',
        changed(adding(byName('write'))),
        changed(adding(byName('read'))),
        'unrevealed_tool',
        'messages.2.content.0.tool_use.name',
      ],
      [
        'a removal withdraws',
        changed(removing('write'), 'read'),
        changed(removing('read'), 'read'),
        'unrevealed_tool',
        'messages.2.content.0.tool_use.name',
      ],
      [
        'a change names a declared tool',
        history(system(adding(byName('write')))),
        history(system(adding(byName('delete')))),
        'tool_reference_unresolved',
        'messages.1.content.0',
      ],
      [
        'a removal names a declared tool',
        history(system(removing('write'))),
        history(system(removing('delete'))),
        'tool_reference_unresolved',
        'messages.1.content.0',
      ],
      [
        'a change says name, not tool_name',
        history(system(adding(byName('write')))),
        history(system(adding(reference('write')))),
        'missing_required_parameter',
        'messages.1.content.0.tool_addition.tool.name',
      ],
      [
        'a change has a tool',
        history(system(adding(byName('write')))),
        history(system(adding('write'))),
        'missing_required_parameter',
        'messages.1.content.0.tool_addition.tool',
      ],
      [
        'a change names a declared server',
        {
          ...history(system(adding({ type: 'mcp_toolset_reference', server_name: 'files' }))),
          tools: [...tools, server],
        },
        history(system(adding({ type: 'mcp_toolset_reference', server_name: 'files' }))),
        'tool_reference_unresolved',
        'messages.1.content.0',
      ],
      [
        'a change of a server’s tool names both',
        {
          ...history(system(adding({ type: 'mcp_tool_reference', server_name: 'files', name: 'x' }))),
          tools: [...tools, server],
        },
        history(system(adding({ type: 'mcp_tool_reference', name: 'x' }))),
        'missing_required_parameter',
        'messages.1.content.0.tool_addition.tool.server_name',
      ],
      [
        'an addition refers, unless definitions are allowed',
        history(system(adding(byName('write')))),
        history(system(adding(defining(tool('delete'))))),
        'invalid_value',
        'messages.1.content.0.tool_addition.tool.type',
      ],
    ],
    { midConversationSystem: true },
  )
})

describe('tools defined in messages, if they are allowed', () => {
  const defined = (...definitions: unknown[]) =>
    system(definitions.flatMap((entry) => adding(defining(entry))))
  holds(
    [
      [
        'a definition declares and reveals',
        history(defined(tool('delete')), assistant([call('a', 'delete')]), user([result('a')])),
        history(assistant([call('a', 'delete')]), user([result('a')]), defined(tool('delete'))),
        'undeclared_tool',
        'messages.1.content.0.tool_use.name',
      ],
      [
        'a later change may name it',
        history(defined(tool('delete')), assistant(), user(), system(removing('delete'))),
        history(system(removing('delete')), assistant(), user(), defined(tool('delete'))),
        'tool_reference_unresolved',
        'messages.1.content.0',
      ],
      [
        'a definition is one of a tool',
        history(defined(tool('delete'))),
        history(defined({ name: 'delete' })),
        'missing_required_parameter',
        'messages.1.content.0.tool_addition.tool.definition.custom.input_schema',
      ],
      [
        'a definition may replace one of its kind only',
        history(defined(tool('read', { description: 'New.' }))),
        history(defined({ type: 'bash_20250124', name: 'read' })),
        'tool_name_conflict',
        'messages.1.content.0',
      ],
      [
        'only an addition defines',
        history(defined(tool('delete'))),
        history(system([{ type: 'tool_removal', tool: defining(tool('delete')) }])),
        'invalid_value',
        'messages.1.content.0.tool_removal.tool.type',
      ],
    ],
    { midConversationSystem: true, inlineTools: true },
  )
})
