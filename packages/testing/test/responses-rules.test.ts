import { describe, expect, it } from 'vitest'
import type { ResponsesItem } from '../src/openai-responses/request.js'
import { findResponsesViolation } from '../src/openai-responses/rules.js'
import { callableTools } from '../src/openai-responses/tools.js'

const user = { role: 'user', content: 'Hello' }
const open = { type: 'object', properties: { path: { type: 'string' } } }
const closed = { ...open, required: ['path'], additionalProperties: false }
const tool = (name: string, more: object = {}) => ({ type: 'function', name, ...more })
const deferred = (name: string, more: object = {}) => tool(name, { defer_loading: true, ...more })
const namespace = (name: string, ...tools: object[]) => ({ type: 'namespace', name, description: '', tools })
const search = { type: 'tool_search', execution: 'client', description: 'Find tools', parameters: open }
const hostedSearch = { type: 'tool_search' }
const call = (id: string, name = 'read', more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: '{}',
  ...more,
})
const answer = (id: string, output: unknown = 'done') => ({
  type: 'function_call_output',
  call_id: id,
  output,
})
const searching = (id: string, more: object = {}) => ({
  type: 'tool_search_call',
  execution: 'client',
  call_id: id,
  arguments: {},
  ...more,
})
const loading = (id: string, ...tools: unknown[]) => ({
  type: 'tool_search_output',
  execution: 'client',
  call_id: id,
  tools,
})
const adding = (...tools: unknown[]) => ({ type: 'additional_tools', role: 'developer', tools })
const thinking = { type: 'reasoning', id: 'rs_1', summary: [] }
const sealed = { ...thinking, encrypted_content: 'sealed' }
const spoken = { role: 'assistant', content: 'Yes.' }

const request = (more: object = {}) => ({ model: 'scripted', input: [user], ...more })
const withTools = (...tools: unknown[]) => request({ tools })
const withFunction = (more: object) => withTools(tool('read', more))
/** A history in which `read` is declared, and a search that the client runs. */
const history = (...items: unknown[]) => request({ input: [user, ...items], tools: [tool('read'), search] })
const choosing = (tool_choice: unknown) =>
  request({
    tools: [tool('read'), deferred('write'), namespace('crm', tool('list')), search, { type: 'web_search' }],
    tool_choice,
  })
const allowing = (...tools: unknown[]) => choosing({ type: 'allowed_tools', mode: 'auto', tools })
const saying = (content: unknown, role: unknown = 'user') => request({ input: [{ role, content }] })
const input = (...items: unknown[]) => request({ input: items })
const inputText = { type: 'input_text', text: 'Hello' }
const inputImage = { type: 'input_image', image_url: 'https://example.com/a.png' }
const outputText = { type: 'output_text', text: 'Hello', annotations: [] }

type Rule = readonly [rule: string, accepted: unknown, rejected: unknown, code: string, param: string | null]

const shapes: readonly Rule[] = [
  ['a body is an object', request(), [], 'invalid_type', null],
  ['text is whole characters', request(), request({ input: 'cut \ud83d' }), 'invalid_json', null],
  ['a body is not null', request(), null, 'invalid_type', null],
  ['a model is named', request(), { input: 'Hello' }, 'missing_required_parameter', 'model'],
  ['a model is named by a string', request(), request({ model: 7 }), 'invalid_type', 'model'],
  ['input is given', request(), { model: 'scripted' }, 'missing_required_parameter', 'input'],
  [
    'input may be text, but not empty',
    request({ input: 'Hello' }),
    request({ input: '' }),
    'missing_required_parameter',
    'input',
  ],
  ['input is text or items', request(), request({ input: user }), 'invalid_type', 'input'],
  ['there is an item', request(), request({ input: [] }), 'empty_array', 'input'],
  ['an item is an object', request(), input('Hello'), 'invalid_type', 'input[0]'],
  [
    'an item has a known type',
    input(user, { type: 'compaction', encrypted_content: 'x' }),
    input(user, { type: 'item_reference', id: 'msg_1' }),
    'invalid_value',
    'input[1].type',
  ],
  [
    'instructions are text',
    request({ instructions: null }),
    request({ instructions: [user] }),
    'invalid_type',
    'instructions',
  ],
  [
    'no earlier response is referred to',
    request({ previous_response_id: null }),
    request({ previous_response_id: 'resp_1' }),
    'unsupported_parameter',
    'previous_response_id',
  ],
  [
    'nothing runs in the background',
    request({ background: false }),
    request({ background: true }),
    'unsupported_parameter',
    'background',
  ],
  ['stream is a boolean', request({ stream: null }), request({ stream: 'true' }), 'invalid_type', 'stream'],
  [
    'stream options come with a stream',
    request({ stream: true, stream_options: { include_obfuscation: false } }),
    request({ stream_options: {} }),
    'invalid_value',
    'stream_options',
  ],
  [
    'stream options are an object',
    request({ stream: true, stream_options: null }),
    request({ stream: true, stream_options: true }),
    'invalid_type',
    'stream_options',
  ],
]

const messages: readonly Rule[] = [
  [
    'an item without a type is a message',
    input({ ...user, type: 'message' }),
    input({ content: 'Hello' }),
    'missing_required_parameter',
    'input[0].role',
  ],
  ['a role is known', saying('Hi', 'developer'), saying('Hi', 'tool'), 'invalid_value', 'input[0].role'],
  ['content is given', saying(''), saying(undefined), 'missing_required_parameter', 'input[0].content'],
  ['content is text or parts', saying([inputText]), saying(null), 'invalid_type', 'input[0].content'],
  ['a part is an object', saying([inputText]), saying(['Hi']), 'invalid_type', 'input[0].content[0]'],
  [
    'a user sends parts of input',
    saying([inputText, inputImage]),
    saying([inputText, outputText]),
    'invalid_value',
    'input[0].content[1].type',
  ],
  [
    'an assistant sends parts of output',
    saying([outputText, { type: 'refusal', refusal: 'No' }], 'assistant'),
    saying([inputText], 'assistant'),
    'invalid_value',
    'input[0].content[0].type',
  ],
  [
    'a text part has text',
    saying([inputText]),
    saying([{ type: 'input_text' }]),
    'invalid_type',
    'input[0].content[0].text',
  ],
  [
    'a refusal has text',
    saying([{ type: 'refusal', refusal: '' }], 'assistant'),
    saying([{ type: 'refusal', text: 'No' }], 'assistant'),
    'invalid_type',
    'input[0].content[0].refusal',
  ],
  [
    'the id of a message begins with msg',
    input({ ...user, id: 'msg_1' }),
    input({ ...user, id: 'fc_1' }),
    'invalid_value',
    'input[0].id',
  ],
  [
    'the id of a call is not its call id',
    history(call('call_1', 'read', { id: 'fc_1' }), answer('call_1')),
    history(call('call_1', 'read', { id: 'call_1' }), answer('call_1')),
    'invalid_value',
    'input[1].id',
  ],
  [
    'an id has legal characters, and some',
    input({ ...adding(), id: 'at_1' }),
    input({ ...adding(), id: '' }),
    'invalid_value',
    'input[0].id',
  ],
  [
    'an id has at most 64 characters',
    input({ ...user, id: `msg_${'a'.repeat(60)}` }),
    input({ ...user, id: `msg_${'a'.repeat(61)}` }),
    'string_above_max_length',
    'input[0].id',
  ],
  [
    'an id stands once',
    input({ ...user, id: 'msg_1' }, { ...user, id: 'msg_2' }),
    input({ ...user, id: 'msg_1' }, { ...user, id: 'msg_1' }),
    'duplicate_item',
    'input',
  ],
  [
    'reasoning keeps its id, or carries its content',
    input(user, thinking, spoken, { ...sealed, id: undefined }, spoken),
    input(user, { ...thinking, id: undefined }, spoken),
    'missing_required_parameter',
    'input[1].id',
  ],
  [
    "reasoning comes before the model's message",
    input(user, thinking, { ...thinking, id: 'rs_2' }, spoken),
    input(user, thinking, user),
    'lone_reasoning',
    'input',
  ],
  [
    "reasoning comes before the model's call",
    history(thinking, call('c1'), answer('c1')),
    history(call('c1'), thinking, answer('c1')),
    'lone_reasoning',
    'input',
  ],
  [
    'reasoning is not the last item',
    input(user, sealed, spoken),
    input(user, sealed),
    'lone_reasoning',
    'input',
  ],
  [
    'reasoning has a summary',
    input(user, thinking, spoken),
    input(user, { ...thinking, summary: undefined }, spoken),
    'missing_required_parameter',
    'input[1].summary',
  ],
  [
    'a summary is a list',
    input(user, thinking, spoken),
    input(user, { ...thinking, summary: 'Hm' }, spoken),
    'invalid_type',
    'input[1].summary',
  ],
  [
    'a compaction has content',
    input({ type: 'compaction', encrypted_content: 'x' }),
    input({ type: 'compaction' }),
    'missing_required_parameter',
    'input[0].encrypted_content',
  ],
]

const pairing: readonly Rule[] = [
  [
    'a call has a call id',
    history(call('a'), answer('a')),
    history({ ...call('a'), call_id: undefined }, answer('a')),
    'missing_required_parameter',
    'input[1].call_id',
  ],
  [
    'a call id has at most 64 characters',
    history(call('a'.repeat(64)), answer('a'.repeat(64))),
    history(call('a'.repeat(65)), answer('a'.repeat(65))),
    'string_above_max_length',
    'input[1].call_id',
  ],
  [
    'a call has no field that the official client adds',
    history(call('a'), answer('a')),
    history(call('a', 'read', { parsed_arguments: null }), answer('a')),
    'unknown_parameter',
    'input[1].parsed_arguments',
  ],
  [
    'a text has no field that the official client adds',
    saying([outputText], 'assistant'),
    saying([{ ...outputText, parsed: null }], 'assistant'),
    'unknown_parameter',
    'input[0].content[0].parsed',
  ],
  [
    'arguments are text',
    history(call('a'), answer('a')),
    history(call('a', 'read', { arguments: {} }), answer('a')),
    'invalid_type',
    'input[1].arguments',
  ],
  [
    'a call is answered, if only at the end',
    history(call('a'), user, answer('a')),
    history(call('a'), user),
    'unanswered_tool_calls',
    'input',
  ],
  [
    'every parallel call is answered',
    history(call('a'), call('b'), answer('b'), answer('a')),
    history(call('a'), call('b'), answer('b')),
    'unanswered_tool_calls',
    'input',
  ],
  [
    'an answer has a call',
    history(call('a'), answer('a')),
    history(call('a'), answer('a'), answer('b')),
    'orphan_tool_answer',
    'input',
  ],
  [
    'an answer comes after its call',
    history(call('a'), answer('a')),
    history(answer('a'), call('a')),
    'orphan_tool_answer',
    'input',
  ],
  [
    'a call is answered once',
    history(call('a'), answer('a')),
    history(call('a'), answer('a'), answer('a')),
    'duplicate_tool_answer',
    'input[3].call_id',
  ],
  [
    'a call id stands for one call',
    history(call('a'), answer('a'), call('b'), answer('b')),
    history(call('a'), answer('a'), call('a'), answer('a')),
    'duplicate_tool_call_id',
    'input[3].call_id',
  ],
  [
    'an answer has an output',
    history(call('a'), answer('a', '')),
    history(call('a'), { type: 'function_call_output', call_id: 'a' }),
    'missing_required_parameter',
    'input[2].output',
  ],
  [
    'an output is text or parts of input',
    history(call('a'), answer('a', [inputText, inputImage])),
    history(call('a'), answer('a', { ok: true })),
    'invalid_type',
    'input[2].output',
  ],
  [
    'a search that the client runs has a call id',
    history(searching('a'), loading('a')),
    history(searching('a', { call_id: null }), loading('a')),
    'missing_required_parameter',
    'input[1].call_id',
  ],
  [
    'a search that the client runs is answered',
    history(searching('a'), loading('a')),
    history(searching('a')),
    'unanswered_tool_calls',
    'input',
  ],
  [
    'a search is answered by loaded tools',
    history(searching('a'), loading('a')),
    history(searching('a'), answer('a')),
    'orphan_tool_answer',
    'input',
  ],
  [
    'loaded tools answer a search',
    history(searching('a'), loading('a')),
    history(call('a'), loading('a')),
    'orphan_tool_answer',
    'input',
  ],
  [
    'a search is answered once',
    history(searching('a'), loading('a')),
    history(searching('a'), loading('a'), loading('a')),
    'duplicate_tool_answer',
    'input[3].call_id',
  ],
  [
    'a search that the server ran has no call ids',
    history(
      { type: 'tool_search_call', execution: 'server', call_id: null, arguments: { paths: ['crm'] } },
      { type: 'tool_search_output', execution: 'server', call_id: null, tools: [tool('list')] },
    ),
    history(searching('a', { execution: 'both' }), loading('a')),
    'invalid_value',
    'input[1].execution',
  ],
  [
    'a search has arguments',
    history(searching('a'), loading('a')),
    history(searching('a', { arguments: undefined }), loading('a')),
    'missing_required_parameter',
    'input[1].arguments',
  ],
]

const definitions: readonly Rule[] = [
  ['tools are an array', withTools(), request({ tools: {} }), 'invalid_type', 'tools'],
  ['a tool is an object', withTools(tool('read')), withTools('read'), 'invalid_type', 'tools[0]'],
  [
    'a tool has a known type',
    withTools({ type: 'web_search' }),
    withTools({ type: 'retrieval' }),
    'invalid_value',
    'tools[0].type',
  ],
  [
    'a function is declared flat',
    withTools(tool('read')),
    withTools({ type: 'function', function: { name: 'read' } }),
    'missing_required_parameter',
    'tools[0].name',
  ],
  [
    'a name has legal characters',
    withTools(tool('read_File-2')),
    withTools(tool('fs.read')),
    'invalid_value',
    'tools[0].name',
  ],
  [
    'a name has at most 64 characters',
    withTools(tool('a'.repeat(64))),
    withTools(tool('a'.repeat(65))),
    'string_above_max_length',
    'tools[0].name',
  ],
  [
    'a custom tool has a name',
    withTools({ type: 'custom', name: 'run' }),
    withTools({ type: 'custom' }),
    'missing_required_parameter',
    'tools[0].name',
  ],
  [
    'a description is text',
    withFunction({ description: null }),
    withFunction({ description: 7 }),
    'invalid_type',
    'tools[0].description',
  ],
  [
    'strict is a boolean',
    withFunction({ strict: null }),
    withFunction({ strict: 'yes' }),
    'invalid_type',
    'tools[0].strict',
  ],
  [
    'deferral is a boolean',
    withTools(tool('read', { defer_loading: false })),
    withTools(tool('read', { defer_loading: 1 })),
    'invalid_type',
    'tools[0].defer_loading',
  ],
  [
    'parameters are a schema or null',
    withFunction({ parameters: null }),
    withFunction({ parameters: [] }),
    'invalid_type',
    'tools[0].parameters',
  ],
  [
    'parameters describe an object',
    withFunction({ parameters: { type: 'object', properties: {} } }),
    withFunction({ parameters: { properties: {} } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'parameters name their properties, if none',
    withFunction({ parameters: { type: 'object', properties: {} } }),
    withFunction({ parameters: { type: 'object', additionalProperties: true } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'what is required is a list',
    withFunction({ parameters: { type: 'object', properties: {}, required: [] } }),
    withFunction({ parameters: { type: 'object', properties: {}, required: null } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'an array names its items, at every depth',
    withFunction({ parameters: { type: 'object', properties: { a: { type: 'array', items: {} } } } }),
    withFunction({ parameters: { type: 'object', properties: { a: { type: ['array', 'null'] } } } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  ...Object.entries({ oneOf: [{}], anyOf: [{}], allOf: [{}], enum: ['a'], not: {} }).map(
    ([keyword, value]): Rule => [
      `${keyword} does not stand at the top of parameters`,
      withFunction({ parameters: { type: 'object', properties: { path: { [keyword]: value } } } }),
      withFunction({ parameters: { type: 'object', [keyword]: value } }),
      'invalid_function_parameters',
      'tools[0].parameters',
    ],
  ),
  [
    'strict objects are closed',
    withFunction({ strict: true, parameters: closed }),
    withFunction({ strict: true, parameters: { ...closed, additionalProperties: undefined } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'strict properties are all required',
    withFunction({ strict: false, parameters: open }),
    withFunction({ strict: true, parameters: { ...open, additionalProperties: false } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'tools of one name are one too many',
    withTools(tool('read'), tool('write')),
    withTools(tool('read'), tool('read')),
    'duplicate_tool',
    'tools[1].name',
  ],
  [
    'a custom tool does not share the name of a function',
    withTools(tool('read'), namespace('read', tool('read'))),
    withTools(tool('read'), { type: 'custom', name: 'read' }),
    'duplicate_tool',
    'tools[1].name',
  ],
  [
    'namespaces have different names',
    withTools(namespace('a', tool('read')), namespace('b', tool('read'))),
    withTools(namespace('a', tool('read')), namespace('a', tool('write'))),
    'duplicate_tool',
    'tools[1].name',
  ],
  [
    'members of a namespace have different names',
    withTools(namespace('a', tool('read'), tool('write'))),
    withTools(namespace('a', tool('read'), tool('read'))),
    'duplicate_tool',
    'tools[0].tools[1].name',
  ],
  [
    'a namespace has a description',
    withTools(namespace('a')),
    withTools({ ...namespace('a'), description: undefined }),
    'missing_required_parameter',
    'tools[0].description',
  ],
  [
    'a namespace has members',
    withTools(namespace('a')),
    withTools({ ...namespace('a'), tools: undefined }),
    'missing_required_parameter',
    'tools[0].tools',
  ],
  [
    'a namespace holds functions',
    withTools(namespace('a', { type: 'custom', name: 'run' })),
    withTools(namespace('a', namespace('b'))),
    'invalid_value',
    'tools[0].tools[0].type',
  ],
  [
    'members are judged like functions',
    withTools(namespace('a', tool('read', { parameters: open }))),
    withTools(namespace('a', tool('read', { parameters: {} }))),
    'invalid_function_parameters',
    'tools[0].tools[0].parameters',
  ],
  [
    'deferral is for members, not for the namespace',
    withTools(search, namespace('a', deferred('read'))),
    withTools(search, { ...namespace('a', tool('read')), defer_loading: true }),
    'unknown_parameter',
    'tools[1].defer_loading',
  ],
  [
    'a deferred function needs a search',
    withTools(deferred('read'), hostedSearch),
    withTools(deferred('read')),
    'invalid_value',
    'tools',
  ],
  [
    'a deferred member needs a search',
    withTools(namespace('a', deferred('read')), hostedSearch),
    withTools(namespace('a', deferred('read'))),
    'invalid_value',
    'tools',
  ],
  [
    'a search may be added later',
    request({ input: [user, adding(search)], tools: [deferred('read')] }),
    request({ input: [user, adding(deferred('read'))] }),
    'invalid_value',
    'tools',
  ],
  ['there is one search', withTools(search), withTools(search, hostedSearch), 'duplicate_tool', 'tools'],
  [
    'a search is run by the server or the client',
    withTools({ type: 'tool_search', execution: 'server' }),
    withTools({ ...search, execution: 'both' }),
    'invalid_value',
    'tools[0].execution',
  ],
  [
    "a client's search has a description",
    withTools(search),
    withTools({ ...search, description: null }),
    'missing_required_parameter',
    'tools[0].description',
  ],
  [
    "a client's search has parameters",
    withTools(search),
    withTools({ ...search, parameters: undefined }),
    'missing_required_parameter',
    'tools[0].parameters',
  ],
  [
    'the parameters of a search describe an object',
    withTools(search),
    withTools({ ...search, parameters: { type: 'string' } }),
    'invalid_function_parameters',
    'tools[0].parameters',
  ],
  [
    'the native search owns its name',
    withTools(tool('tool_search')),
    withTools(search, tool('tool_search')),
    'reserved_tool_name',
    'tools',
  ],
  [
    'no loaded function takes the name of the native search',
    history(searching('a'), loading('a', namespace('fs', tool('tool_search')))),
    history(searching('a'), loading('a', tool('tool_search'))),
    'reserved_tool_name',
    'tools',
  ],
  [
    'loaded tools are legal definitions',
    history(searching('a'), loading('a', deferred('write'), namespace('crm', deferred('list')))),
    history(searching('a'), loading('a', deferred('write', { parameters: {} }))),
    'invalid_function_parameters',
    'input[2].tools[0].parameters',
  ],
  [
    'a search does not load a search',
    history(searching('a'), loading('a', tool('write'))),
    history(searching('a'), loading('a', search)),
    'invalid_value',
    'input[2].tools[0].type',
  ],
  [
    'a search says what it loads',
    history(searching('a'), loading('a')),
    history(searching('a'), { ...loading('a'), tools: undefined }),
    'missing_required_parameter',
    'input[2].tools',
  ],
  [
    'a developer adds tools',
    input(user, adding(tool('write'))),
    input(user, { ...adding(tool('write')), role: 'user' }),
    'invalid_value',
    'input[1].role',
  ],
  [
    'added tools name a role',
    input(user, adding()),
    input(user, { ...adding(), role: undefined }),
    'missing_required_parameter',
    'input[1].role',
  ],
  [
    'added tools are legal definitions',
    input(user, adding(tool('write'))),
    input(user, adding(tool('write'), tool('write'))),
    'duplicate_tool',
    'input[1].tools[1].name',
  ],
]

/** The search of `loaded` brings the lone function `write` and the namespace `crm`. */
const loaded = (...items: unknown[]) =>
  history(searching('s'), loading('s', deferred('write'), namespace('crm', deferred('list'))), ...items)

const histories: readonly Rule[] = [
  [
    'a called function is declared',
    history(call('a'), answer('a')),
    history(call('a', 'gone'), answer('a')),
    'undeclared_tool',
    'input[1].name',
  ],
  [
    'a deferred function is loaded before its call',
    loaded(call('a', 'write', { namespace: 'write' }), answer('a')),
    request({
      input: [user, call('a', 'write'), answer('a')],
      tools: [deferred('write'), search],
    }),
    'undeclared_tool',
    'input[1].name',
  ],
  [
    'a function is loaded before its call, not after',
    loaded(call('a', 'write', { namespace: 'write' }), answer('a')),
    history(call('a', 'write'), answer('a'), searching('s'), loading('s', deferred('write'))),
    'undeclared_tool',
    'input[1].name',
  ],
  [
    'a loaded lone function is called in its own namespace',
    loaded(call('a', 'write', { namespace: 'write' }), answer('a')),
    loaded(call('a', 'write'), answer('a')),
    'missing_namespace',
    'input[3].namespace',
  ],
  [
    'a loaded member is called in its namespace',
    loaded(call('a', 'list', { namespace: 'crm' }), answer('a')),
    loaded(call('a', 'list', { namespace: null }), answer('a')),
    'missing_namespace',
    'input[3].namespace',
  ],
  [
    'a namespace exists',
    loaded(call('a', 'list', { namespace: 'crm' }), answer('a')),
    loaded(call('a', 'list', { namespace: 'list' }), answer('a')),
    'unknown_namespace',
    'input[3].namespace',
  ],
  [
    'a namespace has the function',
    loaded(call('a', 'list', { namespace: 'crm' }), answer('a')),
    loaded(call('a', 'write', { namespace: 'crm' }), answer('a')),
    'undeclared_tool',
    'input[3].name',
  ],
  [
    'a declared function is in no namespace',
    history(call('a'), answer('a')),
    history(call('a', 'read', { namespace: 'read' }), answer('a')),
    'unknown_namespace',
    'input[1].namespace',
  ],
  [
    'a namespace is a name',
    history(call('a', 'read', { namespace: null }), answer('a')),
    history(call('a', 'read', { namespace: '' }), answer('a')),
    'invalid_value',
    'input[1].namespace',
  ],
  [
    'a deferred member is loaded before its call',
    request({
      input: [user, call('a', 'list', { namespace: 'crm' }), answer('a')],
      tools: [namespace('crm', tool('list'), deferred('drop')), search],
    }),
    request({
      input: [user, call('a', 'drop', { namespace: 'crm' }), answer('a')],
      tools: [namespace('crm', tool('list'), deferred('drop')), search],
    }),
    'undeclared_tool',
    'input[1].name',
  ],
  [
    'an added function is in the default namespace from there on',
    history(adding(tool('write')), call('a', 'write'), answer('a')),
    history(call('a', 'write'), answer('a'), adding(tool('write'))),
    'undeclared_tool',
    'input[1].name',
  ],
  [
    'a namespace is declared once over all items',
    history(
      searching('a'),
      loading('a', namespace('crm', tool('list'))),
      adding(namespace('fs', tool('stat'))),
    ),
    history(
      searching('a'),
      loading('a', namespace('crm', tool('list'))),
      adding(namespace('crm', tool('drop'))),
    ),
    'duplicate_namespace',
    'input[3].tools[0]',
  ],
  [
    'an added namespace is one',
    history(adding(namespace('crm', tool('list'))), call('a', 'list', { namespace: 'crm' }), answer('a')),
    history(adding(namespace('crm', tool('list'))), call('a', 'list'), answer('a')),
    'missing_namespace',
    'input[2].namespace',
  ],
  [
    'a loaded function that is declared too can be called without a namespace',
    history(searching('s'), loading('s', deferred('read')), call('a', 'read'), answer('a')),
    history(searching('s'), loading('s', deferred('write')), call('a', 'write'), answer('a')),
    'missing_namespace',
    'input[3].namespace',
  ],
]

const choices: readonly Rule[] = [
  ['a choice is known', choosing('required'), choosing('any'), 'invalid_value', 'tool_choice'],
  ['a choice is text or an object', choosing('auto'), choosing(null), 'invalid_type', 'tool_choice'],
  [
    'what is required exists',
    request({ tool_choice: 'auto' }),
    request({ tool_choice: 'required' }),
    'invalid_value',
    'tool_choice',
  ],
  [
    'a chosen function is declared',
    choosing({ type: 'function', name: 'read' }),
    choosing({ type: 'function', name: 'gone' }),
    'invalid_value',
    'tool_choice.name',
  ],
  [
    'a chosen function is named flat',
    choosing({ type: 'function', name: 'read' }),
    choosing({ type: 'function', function: { name: 'read' } }),
    'missing_required_parameter',
    'tool_choice.name',
  ],
  [
    'a chosen function is not deferred',
    choosing({ type: 'function', name: 'read' }),
    choosing({ type: 'function', name: 'write' }),
    'deferred_tool_choice',
    'tool_choice.name',
  ],
  [
    'a chosen function is not in a namespace',
    choosing({ type: 'function', name: 'read' }),
    choosing({ type: 'function', name: 'list' }),
    'invalid_value',
    'tool_choice.name',
  ],
  [
    'a chosen hosted tool is declared',
    choosing({ type: 'web_search' }),
    choosing({ type: 'file_search' }),
    'invalid_value',
    'tool_choice.type',
  ],
  [
    'the search is not chosen',
    choosing({ type: 'web_search' }),
    choosing({ type: 'tool_search' }),
    'invalid_value',
    'tool_choice.type',
  ],
  [
    'allowed tools are declared',
    allowing({ type: 'function', name: 'read' }, { type: 'web_search' }),
    allowing({ type: 'function', name: 'read' }, { type: 'function', name: 'gone' }),
    'invalid_value',
    'tool_choice.tools[1].name',
  ],
  [
    'allowed tools are not deferred',
    allowing({ type: 'function', name: 'read' }),
    allowing({ type: 'function', name: 'write' }),
    'deferred_tool_choice',
    'tool_choice.tools[0].name',
  ],
  [
    'allowed tools are objects',
    allowing({ type: 'function', name: 'read' }),
    allowing('read'),
    'invalid_type',
    'tool_choice.tools[0]',
  ],
  [
    'allowed tools are a list',
    allowing(),
    choosing({ type: 'allowed_tools', mode: 'auto' }),
    'invalid_type',
    'tool_choice.tools',
  ],
  [
    'allowed tools have a mode',
    choosing({ type: 'allowed_tools', mode: 'required', tools: [] }),
    choosing({ type: 'allowed_tools', tools: [] }),
    'invalid_value',
    'tool_choice.mode',
  ],
]

describe('a strict Responses server holds that', () => {
  it.each([...shapes, ...messages, ...pairing, ...definitions, ...histories, ...choices])(
    '%s',
    (_rule, accepted, rejected, code, param) => {
      expect(findResponsesViolation(accepted)).toBeUndefined()
      expect(findResponsesViolation(rejected)).toMatchObject({ code, param })
    },
  )
})

describe('a strict Responses server', () => {
  it('refuses in the words hosts know', () => {
    const message = (body: unknown) => findResponsesViolation(body)?.message
    expect(message(loaded(call('a', 'write'), answer('a')))).toBe(
      "Missing namespace for function_call 'write'. It does not exist in the default namespace. " +
        "Round-trip the model's function_call item with its namespace field included.",
    )
    expect(message(history(call('a')))).toBe('No tool output found for function call a.')
    expect(message(history(answer('a')))).toBe('No tool call found for function call output with call_id a.')
    expect(message(withTools(deferred('read')))).toBe(
      "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.",
    )
    expect(message(input({ ...user, id: 'call_1' }))).toBe(
      "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'msg'.",
    )
  })

  it.each([
    ['', undefined],
    ['{}', undefined],
    ['not JSON', 'invalid_arguments'],
    ['[1]', 'invalid_arguments'],
    ['{"open":', 'invalid_arguments'],
  ])('judges the arguments %j of a call as servers do that parse them', (text, code) => {
    expect(findResponsesViolation(history(call('a', 'read', { arguments: text }), answer('a')))?.code).toBe(
      code,
    )
  })

  it.each([
    [
      'properties',
      { type: 'object', properties: { path: open }, required: ['path'] },
      "'properties', 'path'",
    ],
    ['items', { ...closed, properties: { path: { type: 'array', items: open } } }, "'path', 'items'"],
    ['anyOf', { ...closed, properties: { path: { anyOf: [{ type: 'null' }, open] } } }, "'anyOf', '1'"],
    ['$defs', { ...closed, $defs: { entry: { ...open, type: ['object', 'null'] } } }, "'$defs', 'entry'"],
  ])('finds what strict mode forbids under %s', (_keyword, schema, place) => {
    const parameters = { ...schema, additionalProperties: false }
    expect(findResponsesViolation(withFunction({ strict: false, parameters }))).toBeUndefined()
    const message = findResponsesViolation(withFunction({ strict: true, parameters }))?.message
    expect(message).toContain(`${place}), 'additionalProperties' is required to be supplied and to be false.`)
  })

  it('names the keyword and the property that strict mode misses', () => {
    const message = (parameters: object) =>
      findResponsesViolation(withFunction({ strict: true, parameters }))?.message
    expect(message({ ...closed, required: [] })).toContain("In context=(), 'required' is required")
    expect(message({ ...closed, required: [] })).toContain("Missing 'path'.")
    expect(message({ ...closed, properties: { path: { oneOf: [{}] } } })).toContain(
      "'oneOf' is not permitted.",
    )
  })

  it('accepts a function without strict as OpenAI does, unless it treats it as strict', () => {
    const absent = withFunction({ parameters: open })
    expect(findResponsesViolation(absent)).toBeUndefined()
    expect(findResponsesViolation(absent, { strictByDefault: true })).toMatchObject({
      code: 'invalid_function_parameters',
    })
    for (const strict of [false, null]) {
      const said = withFunction({ parameters: open, strict })
      expect(findResponsesViolation(said, { strictByDefault: true })).toBeUndefined()
    }
  })

  it.each([
    ['a result', [call('a'), answer('a')]],
    ['a search', [searching('a'), loading('a')]],
    ['results and tools', [call('a'), call('b'), answer('a'), answer('b'), adding(tool('late'))]],
  ])('refuses a message behind %s where the order is strict', (_, items) => {
    const body = (...more: object[]) => ({
      model: 'scripted',
      input: [user, ...items, ...more],
      tools: [tool('read'), search],
    })
    for (const role of ['user', 'developer', 'system']) {
      const late = body({ role, content: 'By the way' })
      expect(findResponsesViolation(late)).toBeUndefined()
      expect(findResponsesViolation(late, { strictOrder: true })).toMatchObject({
        code: 'message_behind_output',
        param: `input[${items.length + 1}]`,
      })
    }
    const said = { type: 'message', role: 'assistant', content: 'Done.' }
    expect(findResponsesViolation(body(said, user), { strictOrder: true })).toBeUndefined()
  })

  it('knows what can be called after the input, by namespace', () => {
    const items = [
      searching('s'),
      loading('s', deferred('write'), namespace('crm', deferred('list'))),
      adding(tool('late'), namespace('fs', tool('stat'), deferred('drop'))),
    ]
    const callable = callableTools({ input: items as ResponsesItem[], tools: [tool('read'), deferred('no')] })
    expect([...callable].map(([name, tools]) => [name, ...tools])).toEqual([
      ['', 'read', 'late'],
      ['write', 'write'],
      ['crm', 'list'],
      ['fs', 'stat'],
    ])
  })
})

describe('a server that does not know namespaces', () => {
  const body = {
    model: 'x',
    tools: [search],
    input: [user, searching('s'), loading('s', namespace('files', deferred('read')))],
  }

  it('rejects one, wherever it is', () => {
    expect(findResponsesViolation(body)).toBeUndefined()
    expect(findResponsesViolation(body, { namespaces: false })).toMatchObject({
      code: 'unknown_variant',
      param: 'input[2].tools[0].type',
    })
  })
})
