import { describe, expect, it } from 'vitest'
import { findGoogleViolation } from '../src/google/rules.js'

const says = (text: string, role = 'user') => ({ role, parts: [{ text }] })
const user = says('Hello')
const call = (name = 'read', more: object = {}) => ({ functionCall: { name, args: {}, ...more } })
const response = (name = 'read', more: object = {}) => ({
  functionResponse: { name, response: { output: 'done' }, ...more },
})
const model = (...parts: unknown[]) => ({ role: 'model', parts })
const turn = (...parts: unknown[]) => ({ role: 'user', parts })
const declare = (...declarations: unknown[]) => ({ functionDeclarations: declarations })
const read = { name: 'read', description: 'Reads a file.' }
const write = { name: 'write' }
const request = (more: object = {}) => ({ contents: [user], ...more })
const contents = (...list: unknown[]) => request({ contents: list })
const parts = (...list: unknown[]) => contents(turn(...list))
/** A history in which `read` and `write` are declared. */
const history = (...list: unknown[]) => ({ contents: [user, ...list], tools: [declare(read, write)] })
const withDeclaration = (more: object) => request({ tools: [declare({ ...read, ...more })] })
const withParameters = (parameters: unknown) => withDeclaration({ parameters })
/** A parameter `path` with this schema. */
const withProperty = (path: unknown) => withParameters({ type: 'OBJECT', properties: { path } })
const string = { type: 'STRING' }
const config = (functionCallingConfig: unknown, more: object = {}) =>
  request({ tools: [declare(read, write)], toolConfig: { functionCallingConfig, ...more } })
const declaration = 'tools[0].functionDeclarations[0]'
const property = `${declaration}.parameters.properties[path]`
const calling = 'toolConfig.functionCallingConfig'
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `function_${index}` }))

type Rule = readonly [rule: string, accepted: unknown, rejected: unknown, code: string, param: string | null]

const rules: readonly Rule[] = [
  ['a body is an object', request(), [], 'invalid_type', null],
  [
    'text is whole characters',
    request(),
    request({ contents: [{ role: 'user', parts: [{ text: 'cut \udc00' }] }] }),
    'invalid_json',
    null,
  ],
  ['a body is not null', request(), null, 'invalid_type', null],
  [
    'a field is known',
    request({ generationConfig: {} }),
    request({ messages: [] }),
    'unknown_field',
    'messages',
  ],
  [
    'null stands for absence',
    request({ tools: null }),
    { contents: null },
    'missing_required_field',
    'contents',
  ],
  ['contents are given', request(), {}, 'missing_required_field', 'contents'],
  ['contents are a list', request(), request({ contents: 'Hello' }), 'invalid_type', 'contents'],
  ['there is a content', request(), contents(), 'missing_required_field', 'contents'],
  ['a content is an object', request(), contents('Hello'), 'invalid_type', 'contents[0]'],
  [
    'a content has known fields',
    request(),
    contents({ ...user, name: 'A' }),
    'unknown_field',
    'contents[0].name',
  ],
  [
    'a role is user or model',
    contents(user, says('Hi', 'model'), user),
    contents(user, says('Hi', 'assistant'), user),
    'invalid_value',
    'contents[1].role',
  ],
  [
    'responses come from the user, not from a function',
    history(model(call()), turn(response())),
    history(model(call()), { role: 'function', parts: [response()] }),
    'invalid_value',
    'contents[2].role',
  ],
  [
    'a missing role is a user',
    contents({ parts: [{ text: 'Hello' }] }),
    contents({ role: 7, parts: [{ text: 'Hello' }] }),
    'invalid_value',
    'contents[0].role',
  ],
  ['parts are given', request(), contents({ role: 'user' }), 'missing_required_field', 'contents[0].parts'],
  ['there is a part', request(), parts(), 'missing_required_field', 'contents[0].parts'],
  ['a part is an object', request(), parts('Hello'), 'invalid_type', 'contents[0].parts[0]'],
  [
    'a part has data',
    parts({ text: '', thought: true }),
    parts({ thought: true }),
    'missing_required_field',
    'contents[0].parts[0]',
  ],
  [
    'a part has no more than one kind of data',
    parts({ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: '' } }),
    parts({ text: 'Hi', inlineData: { mimeType: 'image/png', data: '' } }),
    'invalid_value',
    'contents[0].parts[0]',
  ],
  [
    'a part has known fields',
    parts({ text: 'Hi', partMetadata: {} }),
    parts({ type: 'text', text: 'Hi' }),
    'unknown_field',
    'contents[0].parts[0].type',
  ],
  ['text is text', parts({ text: '7' }), parts({ text: 7 }), 'invalid_type', 'contents[0].parts[0].text'],
  [
    'a system instruction is a content',
    request({ systemInstruction: { parts: [{ text: 'Be brief.' }] } }),
    request({ systemInstruction: 'Be brief.' }),
    'invalid_type',
    'systemInstruction',
  ],
  [
    'a system instruction may have any role, and has parts',
    request({ systemInstruction: says('Be brief.', 'system') }),
    request({ systemInstruction: { role: 'system', parts: [] } }),
    'missing_required_field',
    'systemInstruction.parts',
  ],
  [
    'a system instruction is text',
    request({ systemInstruction: { parts: [{ text: 'A' }, { text: 'B' }] } }),
    request({ systemInstruction: { parts: [{ inlineData: {} }] } }),
    'unknown_field',
    'systemInstruction.parts[0].inlineData',
  ],
  [
    'an explicit cache is known, which none is',
    request(),
    request({ cachedContent: 'cachedContents/a' }),
    'unknown_cache',
    'cachedContent',
  ],

  // Calls and responses
  [
    'the first turn is a user’s',
    contents(user, says('Hi', 'model'), user),
    contents(says('Hi', 'model'), user),
    'model_first',
    'contents[0].role',
  ],
  [
    'the last turn is a user’s',
    contents(user, says('Hi', 'model'), user),
    contents(user, says('Hi', 'model')),
    'model_last',
    'contents[1].role',
  ],
  [
    'a call has a name',
    history(model(call()), turn(response())),
    history(model({ functionCall: { args: {} } }), turn(response())),
    'missing_required_field',
    'contents[1].parts[0].functionCall.name',
  ],
  [
    'a call has arguments that are an object, if any',
    history(model({ functionCall: { name: 'read' } }), turn(response())),
    history(model(call('read', { args: '{}' })), turn(response())),
    'invalid_type',
    'contents[1].parts[0].functionCall.args',
  ],
  [
    'a call has the fields of the Gemini API',
    history(model(call('read', { id: 'a' })), turn(response('read', { id: 'a' }))),
    history(model(call('read', { willContinue: true })), turn(response())),
    'unknown_field',
    'contents[1].parts[0].functionCall.willContinue',
  ],
  [
    'a response has a name',
    history(model(call()), turn(response())),
    history(model(call()), turn(response(''))),
    'missing_required_field',
    'contents[2].parts[0].functionResponse.name',
  ],
  [
    'a response has a body',
    history(model(call()), turn(response('read', { response: {} }))),
    history(model(call()), turn(response('read', { response: undefined }))),
    'missing_required_field',
    'contents[2].parts[0].functionResponse.response',
  ],
  [
    'a response is an object, not text',
    history(model(call()), turn(response())),
    history(model(call()), turn(response('read', { response: 'done' }))),
    'invalid_type',
    'contents[2].parts[0].functionResponse.response',
  ],
  [
    'a response is an object, not a list',
    history(model(call()), turn(response('read', { parts: [] }))),
    history(model(call()), turn(response('read', { response: ['done'] }))),
    'invalid_type',
    'contents[2].parts[0].functionResponse.response',
  ],
  [
    'the model makes the calls',
    history(model({ text: 'Wait.' }, call()), turn(response())),
    history(turn(call()), turn(response())),
    'misplaced_function_call',
    'contents[1].role',
  ],
  [
    'calls follow a user or a response',
    history(model(call()), turn(response()), model(call()), turn(response())),
    history(model({ text: 'Wait.' }), model(call()), turn(response())),
    'misplaced_function_call',
    'contents[2]',
  ],
  [
    'a history does not open with calls',
    history(model(call()), turn(response())),
    { ...history(), contents: [model(call()), turn(response())] },
    'misplaced_function_call',
    'contents[0]',
  ],
  [
    'calls are answered',
    history(model(call()), turn(response())),
    history(model(call())),
    'unanswered_function_calls',
    'contents',
  ],
  [
    'calls are answered in the next turn',
    history(model(call()), turn(response()), user),
    history(model(call()), user, turn(response())),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'calls are answered before the model continues',
    history(model(call()), turn(response()), says('Done', 'model'), user),
    history(model(call()), says('Done', 'model'), user),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'all calls are answered',
    history(model(call(), call('write')), turn(response(), response('write'))),
    history(model(call(), call('write')), turn(response())),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'parallel calls are answered in one turn',
    history(model(call(), call('write')), turn(response('write'), response())),
    history(model(call(), call('write')), turn(response()), turn(response('write'))),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'parallel calls are made in one turn',
    history(model(call(), call()), turn(response(), response())),
    history(model(call()), model(call()), turn(response(), response())),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'there are no more responses than calls',
    history(model(call(), call()), turn(response(), response())),
    history(model(call()), turn(response(), response())),
    'unanswered_function_calls',
    'contents[2]',
  ],
  [
    'a response answers a call',
    history(model(call()), turn(response()), user),
    history(turn(response())),
    'orphan_function_response',
    'contents[1]',
  ],
  [
    'a response answers a call once',
    history(model(call()), turn(response())),
    history(model(call()), turn(response()), turn(response())),
    'orphan_function_response',
    'contents[3]',
  ],
  [
    'the user sends the responses',
    history(model(call()), turn(response())),
    history(model(call()), model(response()), user),
    'orphan_function_response',
    'contents[2]',
  ],
  [
    'a response has the name of its call',
    history(model(call(), call('write')), turn(response('write'), response())),
    history(model(call(), call('write')), turn(response(), response())),
    'mismatched_function_response',
    'contents[2].parts[1].functionResponse',
  ],
  [
    'a response has the id of its call',
    history(
      model(call('read', { id: 'a' }), call('read', { id: 'b' })),
      turn(response('read', { id: 'b' }), response('read', { id: 'a' })),
    ),
    history(
      model(call('read', { id: 'a' }), call('read', { id: 'b' })),
      turn(response('read', { id: 'b' }), response('read', { id: 'b' })),
    ),
    'mismatched_function_response',
    'contents[2].parts[1].functionResponse',
  ],
  [
    'an id is given back',
    history(model(call('read', { id: 'a' })), turn(response('read', { id: 'a' }))),
    history(model(call('read', { id: 'a' })), turn(response())),
    'mismatched_function_response',
    'contents[2].parts[0].functionResponse',
  ],
  [
    'an id is not made up',
    history(model(call()), turn(response())),
    history(model(call()), turn(response('read', { id: 'a' }))),
    'mismatched_function_response',
    'contents[2].parts[0].functionResponse',
  ],
  [
    'an id is of one call in its turn',
    history(
      model(call('read', { id: 'a' })),
      turn(response('read', { id: 'a' })),
      model(call('read', { id: 'a' })),
      turn(response('read', { id: 'a' })),
    ),
    history(model(call('read', { id: 'a' }), call('write', { id: 'a' })), turn(response(), response())),
    'duplicate_call_id',
    'contents[1].parts[1].functionCall.id',
  ],
  [
    'responses come before other parts',
    history(model(call()), turn(response(), { text: 'Go on.' })),
    history(model(call()), turn({ text: 'Go on.' }, response())),
    'misplaced_function_response',
    'contents[2].parts[0]',
  ],
  [
    'a called function is declared',
    history(model(call('write')), turn(response('write'))),
    { ...history(model(call('write')), turn(response('write'))), tools: [declare(read)] },
    'undeclared_function',
    'contents[1].parts[0].functionCall.name',
  ],
  [
    'a called function is declared, or the server may have done so',
    { ...history(model(call('click')), turn(response('click'))), tools: [{ computerUse: {} }] },
    { ...history(model(call('click')), turn(response('click'))), tools: undefined },
    'undeclared_function',
    'contents[1].parts[0].functionCall.name',
  ],

  // Declarations
  ['tools are a list', request({ tools: [] }), request({ tools: declare(read) }), 'invalid_type', 'tools'],
  [
    'a tool has a kind',
    request({ tools: [{ googleSearch: {} }] }),
    request({ tools: [{}] }),
    'missing_required_field',
    'tools[0]',
  ],
  [
    'a tool declares functions',
    request({ tools: [declare(read)] }),
    request({ tools: [declare()] }),
    'missing_required_field',
    'tools[0]',
  ],
  [
    'a tool has the fields of the Gemini API',
    request({ tools: [declare(read), { urlContext: {} }] }),
    request({ tools: [{ retrieval: {} }] }),
    'unknown_field',
    'tools[0].retrieval',
  ],
  [
    'fields are spelled as the official client spells them',
    request({ tools: [declare(read)] }),
    request({ tools: [{ function_declarations: [read] }] }),
    'unknown_field',
    'tools[0].function_declarations',
  ],
  [
    'a declaration is bare',
    withDeclaration({}),
    request({ tools: [declare({ type: 'function', function: read })] }),
    'unknown_field',
    `${declaration}.type`,
  ],
  [
    'a function has a name',
    withDeclaration({}),
    withDeclaration({ name: undefined }),
    'missing_required_field',
    `${declaration}.name`,
  ],
  [
    'a name is text',
    withDeclaration({ name: 'seven' }),
    withDeclaration({ name: 7 }),
    'invalid_type',
    `${declaration}.name`,
  ],
  [
    'a name starts with a letter or an underscore',
    withDeclaration({ name: '_read' }),
    withDeclaration({ name: '1read' }),
    'invalid_function_name',
    `${declaration}.name`,
  ],
  [
    'a name has letters, digits, underscores, dots, colons and dashes',
    withDeclaration({ name: 'files.v2:read-all_Now' }),
    withDeclaration({ name: 'files/read' }),
    'invalid_function_name',
    `${declaration}.name`,
  ],
  [
    'a name has at most 128 characters',
    withDeclaration({ name: 'a'.repeat(128) }),
    withDeclaration({ name: 'a'.repeat(129) }),
    'invalid_function_name',
    `${declaration}.name`,
  ],
  [
    'a function is declared once',
    request({ tools: [declare(read, write)] }),
    request({ tools: [declare(read, read)] }),
    'duplicate_function',
    'tools[0].functionDeclarations[1].name',
  ],
  [
    'a function is declared once, over all tools',
    request({ tools: [declare(read), declare(write)] }),
    request({ tools: [declare(read), declare(read)] }),
    'duplicate_function',
    'tools[1].functionDeclarations[0].name',
  ],
  [
    'there are at most 512 functions',
    request({ tools: [declare(...numbered(512))] }),
    request({ tools: [declare(...numbered(512)), declare(read)] }),
    'too_many_functions',
    'tools',
  ],
  [
    'a description is text',
    withDeclaration({ description: '' }),
    withDeclaration({ description: 7 }),
    'invalid_type',
    `${declaration}.description`,
  ],
  [
    'parameters come in one language',
    withDeclaration({ parametersJsonSchema: { type: 'object' } }),
    withDeclaration({
      parameters: { type: 'OBJECT', properties: { path: string } },
      parametersJsonSchema: { type: 'object' },
    }),
    'ambiguous_schema',
    `${declaration}.parametersJsonSchema`,
  ],
  [
    'a response comes in one language',
    withDeclaration({ response: string }),
    withDeclaration({ response: string, responseJsonSchema: {} }),
    'ambiguous_schema',
    `${declaration}.responseJsonSchema`,
  ],
  [
    'what is required is a list',
    withDeclaration({ parametersJsonSchema: { type: 'object', required: [] } }),
    withDeclaration({ parametersJsonSchema: { type: 'object', required: null } }),
    'invalid_schema',
    `${declaration}.parametersJsonSchema`,
  ],
  [
    'JSON Schema is free',
    withDeclaration({
      parametersJsonSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {},
        additionalProperties: false,
      },
    }),
    withDeclaration({ parametersJsonSchema: 'object' }),
    'invalid_type',
    `${declaration}.parametersJsonSchema`,
  ],
  [
    'JSON Schema describes an object',
    withDeclaration({ parametersJsonSchema: { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } } }),
    withDeclaration({ parametersJsonSchema: { type: 'string' } }),
    'invalid_schema',
    `${declaration}.parametersJsonSchema`,
  ],

  // The OpenAPI subset
  [
    'parameters are an object',
    withParameters({ type: 'object', properties: { path: string } }),
    withParameters(string),
    'invalid_schema',
    `${declaration}.parameters`,
  ],
  [
    'parameters have properties, or are omitted',
    withParameters(undefined),
    withParameters({ type: 'OBJECT', properties: {} }),
    'invalid_schema',
    `${declaration}.parameters.properties`,
  ],
  [
    'parameters are named like variables',
    withParameters({ type: 'OBJECT', properties: { [`_${'a'.repeat(63)}`]: string } }),
    withParameters({ type: 'OBJECT', properties: { 'file-path': string } }),
    'invalid_schema',
    `${declaration}.parameters.properties[file-path]`,
  ],
  [
    'nested objects have properties, with names of any kind',
    withProperty({ type: 'OBJECT', properties: { 'file-path': string } }),
    withProperty({ type: 'OBJECT' }),
    'invalid_schema',
    `${property}.properties`,
  ],
  ['a schema is an object', withProperty(string), withProperty(true), 'invalid_type', property],
  [
    'a type is known',
    withProperty({ type: 'integer' }),
    withProperty({ type: 'any' }),
    'invalid_type',
    `${property}.type`,
  ],
  [
    'there is one type',
    withProperty({ ...string, nullable: true }),
    withProperty({ type: ['string', 'null'] }),
    'invalid_type',
    `${property}.type`,
  ],
  [
    'there is a type',
    withProperty({ anyOf: [string, { type: 'NULL' }], description: 'Either.' }),
    withProperty({ description: 'Anything.' }),
    'invalid_schema',
    `${property}.type`,
  ],
  [
    'a choice has no separate type',
    withProperty({ anyOf: [string] }),
    withProperty({ ...string, anyOf: [string] }),
    'invalid_schema',
    `${property}.anyOf`,
  ],
  [
    'a choice is among schemas',
    withProperty({ anyOf: [string] }),
    withProperty({ anyOf: [{ const: 'a' }] }),
    'unknown_field',
    `${property}.anyOf[0].const`,
  ],
  [
    'an array has items',
    withProperty({ type: 'ARRAY', items: string, minItems: '1', maxItems: 3 }),
    withProperty({ type: 'ARRAY' }),
    'invalid_schema',
    `${property}.items`,
  ],
  [
    'items are one schema',
    withProperty({ type: 'ARRAY', items: string }),
    withProperty({ type: 'ARRAY', items: [string] }),
    'invalid_type',
    `${property}.items`,
  ],
  [
    'required properties exist',
    withParameters({ type: 'OBJECT', properties: { path: string }, required: ['path'] }),
    withParameters({ type: 'OBJECT', properties: { path: string }, required: ['path', 'mode'] }),
    'invalid_schema',
    `${declaration}.parameters.required[1]`,
  ],
  [
    'an enum is of texts',
    withProperty({ ...string, format: 'enum', enum: ['a', 'b'] }),
    withProperty({ ...string, enum: ['a', 7] }),
    'invalid_type',
    `${property}.enum[1]`,
  ],
  [
    'an enum is for strings, and for integers that say so',
    withProperty({ type: 'INTEGER', format: 'enum', enum: ['101', '201'] }),
    withProperty({ type: 'INTEGER', enum: ['101', '201'] }),
    'invalid_schema',
    `${property}.enum`,
  ],
  [
    'an enum has no empty text',
    withProperty({ ...string, enum: ['a'] }),
    withProperty({ ...string, enum: ['a', ''] }),
    'invalid_schema',
    `${property}.enum[1]`,
  ],
  [
    'a length is whole',
    withProperty({ ...string, maxLength: 3 }),
    withProperty({ ...string, maxLength: 1.5 }),
    'invalid_type',
    `${property}.maxLength`,
  ],
  [
    'a limit is a number',
    withProperty({ type: 'NUMBER', minimum: 0.5 }),
    withProperty({ type: 'NUMBER', minimum: '0.5' }),
    'invalid_type',
    `${property}.minimum`,
  ],

  // The mode of calling
  [
    'a calling config has functions',
    config({ mode: 'AUTO' }),
    request({ toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }),
    'no_functions',
    calling,
  ],
  [
    'a calling config has functions, or the server’s tools are declared',
    request({
      tools: [{ googleSearch: {} }],
      toolConfig: { functionCallingConfig: {}, includeServerSideToolInvocations: true },
    }),
    request({ tools: [{ googleSearch: {} }], toolConfig: { functionCallingConfig: {} } }),
    'no_functions',
    calling,
  ],
  ['a mode is known', config({ mode: 'NONE' }), config({ mode: 'auto' }), 'invalid_type', `${calling}.mode`],
  [
    'allowed names need a mode that calls',
    config({ mode: 'ANY', allowedFunctionNames: ['read'] }),
    config({ mode: 'AUTO', allowedFunctionNames: ['read'] }),
    'invalid_value',
    `${calling}.allowedFunctionNames`,
  ],
  [
    'allowed names need a mode',
    config({ mode: 'VALIDATED', allowedFunctionNames: ['read'] }),
    config({ allowedFunctionNames: ['read'] }),
    'invalid_value',
    `${calling}.allowedFunctionNames`,
  ],
  [
    'allowed names are declared',
    config({ mode: 'ANY', allowedFunctionNames: ['read', 'write'] }),
    config({ mode: 'ANY', allowedFunctionNames: ['read', 'delete'] }),
    'undeclared_function',
    `${calling}.allowedFunctionNames[1]`,
  ],
  [
    'a calling config has the fields of the Gemini API',
    config({}),
    config({ streamFunctionCallArguments: true }),
    'unknown_field',
    `${calling}.streamFunctionCallArguments`,
  ],
]

describe('a strict Gemini server holds that', () => {
  it.each(rules)('%s', (_rule, accepted, rejected, code, param) => {
    expect(findGoogleViolation(accepted)).toBeUndefined()
    expect(findGoogleViolation(rejected)).toMatchObject({ code, param })
  })

  it.each([
    '$schema',
    '$ref',
    '$defs',
    'additionalProperties',
    'const',
    'oneOf',
    'allOf',
    'exclusiveMinimum',
  ])('a schema of the OpenAPI subset has no %s', (keyword) => {
    expect(findGoogleViolation(withProperty({ ...string, [keyword]: 'a' }))).toMatchObject({
      code: 'unknown_field',
      param: `${property}.${keyword}`,
    })
  })
})

describe('a strict Gemini server', () => {
  const messages: readonly (readonly [body: unknown, message: string])[] = [
    [
      withParameters({ type: 'OBJECT', properties: { userId: { type: 'OBJECT' } } }),
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[userId].properties: ' +
        'should be non-empty for OBJECT type',
    ],
    [
      withProperty({ ...string, const: 'a' }),
      'Invalid JSON payload received. Unknown name "const" at ' +
        "'tools[0].function_declarations[0].parameters.properties[path]': Cannot find field.",
    ],
    [
      withProperty({ type: ['string', 'null'] }),
      'Invalid JSON payload received. Unknown name "type" at ' +
        "'tools[0].function_declarations[0].parameters.properties[path]': " +
        'Proto field is not repeating, cannot start list.',
    ],
    [
      withProperty({ ...string, enum: [0] }),
      "Invalid value at 'tools[0].function_declarations[0].parameters.properties[path].enum[0]' (TYPE_STRING), 0",
    ],
    [
      request({ system_instruction: user }),
      'Invalid JSON payload received. Unknown name "system_instruction": Cannot find field. ' +
        '(Hint: this endpoint knows it as "systemInstruction".)',
    ],
    ['Hello', 'Invalid JSON payload received. Unknown name "": Root element must be a message.'],
    [
      history(model(call(), call()), turn(response())),
      'Please ensure that the number of function response parts is equal to the number of function call parts of ' +
        'the function call turn.',
    ],
  ]

  it.each(messages)('words its refusals as hosts know them', (body, message) => {
    expect(findGoogleViolation(body)?.message).toBe(message)
  })

  it('limits names further if configured', () => {
    const long = withDeclaration({ name: 'a'.repeat(65) })
    expect(findGoogleViolation(long, { maxName: 65 })).toBeUndefined()
    expect(findGoogleViolation(long, { maxName: 64 })).toMatchObject({ code: 'invalid_function_name' })
  })

  it('requires the signature of the first call in each turn since the last user message, if configured', () => {
    const signed = { ...call(), thoughtSignature: 'dGhvdWdodA==' }
    const old = [model(call()), turn(response()), says('Done', 'model'), user]
    const accepted = history(...old, model(signed, call('write')), turn(response(), response('write')))
    expect(findGoogleViolation(accepted, { thoughtSignatures: true })).toBeUndefined()

    const rejected = history(...old, model(signed), turn(response()), model(call()), turn(response()))
    expect(findGoogleViolation(rejected)).toBeUndefined()
    expect(findGoogleViolation(rejected, { thoughtSignatures: true })).toMatchObject({
      code: 'missing_thought_signature',
      param: 'contents[7].parts[0].thoughtSignature',
    })
  })
})
