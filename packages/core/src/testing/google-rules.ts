/**
 * What a strict Gemini server refuses with a 400 before any model runs: the gate of the scripted endpoint on this wire.
 * The fields are those of `@google/genai`; messages are worded as Google words them where its text is known, because
 * hosts and their logs match on it. Google sends no codes for these, so the codes are ours, for tests to tell rules
 * apart. One thing is stricter on purpose: only the camel-case spelling is known, which is what the official client
 * sends, while Google also reads `function_declarations`.
 */

import type { Violation } from './protocol.js'

export interface GoogleFunctionCall {
  readonly name: string
  readonly args?: { readonly [name: string]: unknown }
  readonly id?: string
}

export interface GoogleFunctionResponse {
  readonly name: string
  readonly response: { readonly [name: string]: unknown }
  readonly id?: string
  readonly [field: string]: unknown
}

/** Exactly one field of data, and any number that describe it. */
export interface GooglePart {
  readonly text?: string
  readonly functionCall?: GoogleFunctionCall
  readonly functionResponse?: GoogleFunctionResponse
  readonly thoughtSignature?: string
  readonly [field: string]: unknown
}

export interface GoogleContent {
  /** A user's when absent. */
  readonly role?: 'user' | 'model'
  readonly parts: readonly GooglePart[]
}

export interface GoogleFunctionDeclaration {
  readonly name: string
  readonly description?: string
  /** Google's subset of OpenAPI 3.0; `parametersJsonSchema` is the alternative. */
  readonly parameters?: { readonly [keyword: string]: unknown }
  readonly parametersJsonSchema?: { readonly [keyword: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleTool {
  readonly functionDeclarations?: readonly GoogleFunctionDeclaration[]
  readonly [field: string]: unknown
}

/** The shape of a body without violations. The model and whether to stream stand in the path. */
export interface GoogleRequestBody {
  readonly contents: readonly GoogleContent[]
  readonly systemInstruction?: { readonly role?: string; readonly parts: readonly GooglePart[] }
  readonly tools?: readonly GoogleTool[]
  readonly toolConfig?: { readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface GoogleRuleOptions {
  /** Characters of a function's name. 128 as the official types have it; in 2025 servers still stopped at 64. */
  readonly maxName?: number
  /**
   * Whether calls since the user last spoke need the signature they came with, as Gemini 3 demands. Off by default, as
   * earlier models send none. The scripted answers then carry them.
   */
  readonly thoughtSignatures?: boolean
}

type Found = Violation | undefined
type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown, at: string) => Found
type Table = Readonly<Record<string, Check>>

const PROTO = 'type.googleapis.com/google.ai.generativelanguage.v1beta'
const MAX_NAME = 128
const MAX_DECLARATIONS = 512
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/
const PARAMETER_NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']
const MODES: readonly unknown[] = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']
/** The modes that `allowedFunctionNames` narrows. */
const MASKED_MODES = ['ANY', 'VALIDATED']

const anything: Check = () => undefined
const text: Check = (value, at) =>
  typeof value === 'string' ? undefined : wrongType(at, 'TYPE_STRING', value)
const flag: Check = (value, at) =>
  typeof value === 'boolean' ? undefined : wrongType(at, 'TYPE_BOOL', value)
const number: Check = (value, at) =>
  typeof value === 'number' ? undefined : wrongType(at, 'TYPE_DOUBLE', value)
/** The types say text, as 64 bits need it in JSON; a number passes on the wire too. */
const count: Check = (value, at) =>
  Number.isInteger(value) || (typeof value === 'string' && /^\d+$/.test(value))
    ? undefined
    : wrongType(at, 'TYPE_INT64', value)
const object: Check = (value, at) => (isObject(value) ? undefined : wrongType(at, 'an object', value))

function listOf(check: Check): Check {
  return (value, at) =>
    Array.isArray(value)
      ? firstOf(value.entries(), ([index, entry]) => check(entry, `${at}[${index}]`))
      : wrongType(at, 'a list', value)
}

/** An object with these fields and no others. A field that is null counts as absent, as everywhere in this format. */
function fieldsOf(table: Table): Check {
  return (value, at) => {
    if (!isObject(value)) return wrongType(at, 'an object', value)
    return firstOf(given(value), ([name, entry]) =>
      Object.hasOwn(table, name) ? table[name]?.(entry, join(at, name)) : unknownField(at, name, table),
    )
  }
}

const FUNCTION_CALL: Table = { name: text, args: object, id: text }
const FUNCTION_RESPONSE: Table = {
  name: text,
  response: object,
  id: text,
  parts: listOf(object),
  scheduling: text,
  willContinue: flag,
}
const PART_DATA: Table = {
  text,
  functionCall: (value, at) => fieldsOf(FUNCTION_CALL)(value, at) ?? nameGiven(value, at),
  functionResponse: (value, at) =>
    fieldsOf(FUNCTION_RESPONSE)(value, at) ?? nameGiven(value, at) ?? responseGiven(value, at),
  inlineData: object,
  fileData: object,
  executableCode: object,
  codeExecutionResult: object,
  toolCall: object,
  toolResponse: object,
}
const PART: Table = {
  ...PART_DATA,
  thought: flag,
  thoughtSignature: text,
  videoMetadata: object,
  partMetadata: object,
  mediaResolution: anything,
  mediaProcessing: anything,
  audioTranscription: anything,
  speechMetadata: anything,
}

/** Without `additionalProperties`, `$ref`, `$schema`, `const` and whatever else the official type lacks. */
const SCHEMA: Table = {
  anyOf: (value, at) => listOf(schemaViolation)(value, at),
  default: anything,
  description: text,
  enum: listOf(text),
  example: anything,
  format: text,
  items: (value, at) => schemaViolation(value, at),
  maxItems: count,
  maxLength: count,
  maxProperties: count,
  maximum: number,
  minItems: count,
  minLength: count,
  minProperties: count,
  minimum: number,
  nullable: flag,
  pattern: text,
  properties: (value, at) =>
    object(value, at) ??
    firstOf(Object.entries(value as Fields), ([name, entry]) => schemaViolation(entry, `${at}[${name}]`)),
  propertyOrdering: listOf(text),
  required: listOf(text),
  title: text,
  type: typeViolation,
}

/** The tools that `@google/genai` lets pass to the Gemini API; the others belong to Vertex AI. */
const SERVER_TOOLS: Table = {
  googleSearch: object,
  googleSearchRetrieval: object,
  googleMaps: object,
  urlContext: object,
  codeExecution: object,
  computerUse: object,
  fileSearch: object,
  mcpServers: listOf(object),
}

/** The first rule that the body breaks, shapes before turns. Reads the body once; keeps and changes nothing. */
export function googleViolationOf(body: unknown, options: GoogleRuleOptions = {}): Violation | undefined {
  const shape = fieldsOf({
    contents: listOf(contentViolation),
    systemInstruction: systemViolation,
    tools: listOf(toolViolation(options)),
    toolConfig: fieldsOf({
      functionCallingConfig: fieldsOf({ mode: modeViolation, allowedFunctionNames: listOf(text) }),
      retrievalConfig: object,
      includeServerSideToolInvocations: flag,
    }),
    generationConfig: object,
    safetySettings: listOf(object),
    cachedContent: cacheViolation,
    model: text,
    serviceTier: text,
    labels: object,
    continuationToken: text,
    store: flag,
  })(body, '')
  if (shape) return shape
  // The shapes have been checked above, so the body is one, give or take its nulls.
  const request = body as GoogleRequestBody
  if (!request.contents?.length) return missing('contents', 'contents is not specified')
  return declarationsViolation(request) ?? callingViolation(request) ?? turnsViolation(request, options)
}

function contentViolation(content: unknown, at: string): Found {
  return (
    fieldsOf({ role: roleViolation, parts: listOf(partViolation) })(content, at) ?? partsGiven(content, at)
  )
}

/** The types know two roles. `function`, which older servers took for responses, is not among them. */
function roleViolation(role: unknown, at: string): Found {
  if (role === 'user' || role === 'model') return undefined
  return violation('Please use a valid role: user, model.', at, 'invalid_value')
}

/** Its role is ignored, so any will do. */
function systemViolation(content: unknown, at: string): Found {
  const textOnly = fieldsOf({ text, thought: flag, thoughtSignature: text })
  const part: Check = (value, place) => textOnly(value, place) ?? partViolation(value, place)
  return fieldsOf({ role: text, parts: listOf(part) })(content, at) ?? partsGiven(content, at)
}

function partsGiven(content: unknown, at: string): Found {
  const { parts } = content as Partial<GoogleContent>
  return parts?.length ? undefined : missing(`${at}.parts`, 'contents.parts must not be empty.')
}

function partViolation(part: unknown, at: string): Found {
  const inFields = fieldsOf(PART)(part, at)
  if (inFields) return inFields
  const [data, second] = given(part as Fields).filter(([name]) => Object.hasOwn(PART_DATA, name))
  if (!data) return unset(at, 'data', "required oneof field 'data' must have one initialized field")
  if (!second) return undefined
  const reason = `oneof field 'data' is already set. Cannot set '${second[0]}'`
  return violation(`Invalid value at '${spelled(at)}' (oneof), ${reason}`, at, 'invalid_value')
}

function toolViolation(options: GoogleRuleOptions): Check {
  const declaration: Check = (value, at) => declarationViolation(value, at, options)
  const fields = fieldsOf({ ...SERVER_TOOLS, functionDeclarations: listOf(declaration) })
  return (tool, at) => {
    const found = fields(tool, at)
    if (found) return found
    if (given(tool as Fields).some(([, value]) => !Array.isArray(value) || value.length > 0)) return undefined
    return unset(at, 'tool_type', "required one_of 'tool_type' must have one initialized field")
  }
}

function declarationViolation(declaration: unknown, at: string, options: GoogleRuleOptions): Found {
  const inFields = fieldsOf({
    name: (name, place) => functionNameViolation(name, place, options),
    description: text,
    parameters: parametersViolation,
    parametersJsonSchema: jsonSchemaViolation,
    response: schemaViolation,
    responseJsonSchema: object,
    behavior: text,
  })(declaration, at)
  return (
    inFields ??
    nameGiven(declaration, at) ??
    firstOf(['parameters', 'response'], (field) => eitherViolation(declaration as Fields, at, field))
  )
}

function functionNameViolation(name: unknown, at: string, { maxName = MAX_NAME }: GoogleRuleOptions): Found {
  if (typeof name !== 'string') return text(name, at)
  if (name.length <= maxName && (name === '' || FUNCTION_NAME.test(name))) return undefined
  const reason =
    'Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), ' +
    `underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of ${maxName}.`
  return invalid(at, reason, 'invalid_function_name')
}

function eitherViolation(declaration: Fields, at: string, field: string): Found {
  const other = `${field}JsonSchema`
  if (!isPresent(declaration[field]) || !isPresent(declaration[other])) return undefined
  const reason = `${spelled(other)} and ${field} are mutually exclusive and cannot both be set.`
  return invalid(join(at, other), reason, 'ambiguous_schema')
}

/** Only the names of the parameters themselves are restricted; those of nested properties are not. */
function parametersViolation(schema: unknown, at: string): Found {
  const found = schemaViolation(schema, at)
  if (found) return found
  const { type, properties } = schema as Fields
  if (String(type).toUpperCase() !== 'OBJECT') {
    return invalid(at, 'parameters schema should be of type OBJECT.', 'invalid_schema')
  }
  return firstOf(Object.keys(properties as Fields), (name) => {
    if (PARAMETER_NAME.test(name)) return undefined
    const reason =
      'Invalid parameter name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or underscores, ' +
      'with a maximum length of 64.'
    return invalid(`${at}.properties[${name}]`, reason, 'invalid_schema')
  })
}

/** Free JSON Schema, of an object. A schema that gives no type, such as a lone `$ref`, has the benefit of the doubt. */
function jsonSchemaViolation(schema: unknown, at: string): Found {
  const shape = object(schema, at)
  if (shape || [undefined, 'object'].includes((schema as { type?: string }).type)) return shape
  return invalid(at, 'the schema must describe an object.', 'invalid_schema')
}

/** What holds in every schema of the OpenAPI subset, nested ones included. */
function schemaViolation(schema: unknown, at: string): Found {
  const inFields = fieldsOf(SCHEMA)(schema, at)
  if (inFields) return inFields
  const { type, anyOf, properties, items, required, format, enum: values } = schema as Fields
  const refuse = (field: string, reason: string) => invalid(join(at, field), reason, 'invalid_schema')
  if (isPresent(type) && isPresent(anyOf)) return refuse('anyOf', 'type and any_of cannot be both populated.')
  if (!isPresent(type) && !isPresent(anyOf)) {
    return refuse('type', 'must be specified when not using one_of, any_of or all_of fields')
  }
  const kind = isPresent(type) ? String(type).toUpperCase() : ''
  const names = isObject(properties) ? Object.keys(properties) : []
  if (kind === 'OBJECT' && names.length === 0)
    return refuse('properties', 'should be non-empty for OBJECT type')
  if (kind === 'ARRAY' && !isPresent(items)) return refuse('items', 'missing field.')
  return (
    firstOf(((required ?? []) as string[]).entries(), ([index, name]) =>
      names.includes(name) ? undefined : refuse(`required[${index}]`, 'property is not defined'),
    ) ??
    firstOf(((values ?? []) as string[]).entries(), ([index, value]) => {
      // The types' own example has numbers written as strings, marked by the format.
      const allowed = kind === 'STRING' || (kind === 'INTEGER' && format === 'enum')
      if (!allowed) return refuse('enum', 'only allowed for STRING type')
      return value === '' ? refuse(`enum[${index}]`, 'cannot be empty') : undefined
    })
  )
}

/** Servers read `string` as they read `STRING`. */
function typeViolation(type: unknown, at: string): Found {
  if (typeof type === 'string' && TYPES.includes(type.toUpperCase())) return undefined
  return wrongType(at, `${PROTO}.Type`, type)
}

function modeViolation(mode: unknown, at: string): Found {
  return MODES.includes(mode) ? undefined : wrongType(at, `${PROTO}.FunctionCallingConfig.Mode`, mode)
}

/** Explicit caches are made on a path that this endpoint does not have, so every name is unknown here. */
function cacheViolation(_name: unknown, at: string): Found {
  return violation('CachedContent not found (or permission denied)', at, 'unknown_cache')
}

function declarationsViolation(request: GoogleRequestBody): Found {
  const names = new Set<string>()
  for (const [index, tool] of (request.tools ?? []).entries()) {
    for (const [position, { name }] of (tool.functionDeclarations ?? []).entries()) {
      const at = `tools[${index}].functionDeclarations[${position}].name`
      if (names.has(name))
        return invalid(at, `Duplicate function declaration found: ${name}`, 'duplicate_function')
      names.add(name)
      if (names.size > MAX_DECLARATIONS) {
        const reason = `at most ${MAX_DECLARATIONS} function declarations can be provided.`
        return invalid('tools', reason, 'too_many_functions')
      }
    }
  }
  return undefined
}

function callingViolation(request: GoogleRequestBody): Found {
  const config = request.toolConfig?.functionCallingConfig
  if (!isObject(config)) return undefined
  const at = 'toolConfig.functionCallingConfig'
  const declared = declaredNames(request)
  if (declared.size === 0 && request.toolConfig?.includeServerSideToolInvocations !== true) {
    return violation('Function calling config is set without function_declarations.', at, 'no_functions')
  }
  const allowed = (config.allowedFunctionNames ?? []) as readonly string[]
  if (allowed.length > 0 && !MASKED_MODES.includes(String(config.mode))) {
    const reason = 'allowed_function_names should only be set when mode is ANY or VALIDATED.'
    return invalid(`${at}.allowedFunctionNames`, reason, 'invalid_value')
  }
  return firstOf(allowed.entries(), ([index, name]) =>
    declared.has(name)
      ? undefined
      : invalid(
          `${at}.allowedFunctionNames[${index}]`,
          `'${name}' is not in function_declarations.`,
          'undeclared_function',
        ),
  )
}

/**
 * Every call is answered exactly once, in the turn directly after its own. Each content is a turn of its own: servers
 * do not join neighbours of one role, so responses spread over two contents fail, and so do parallel calls.
 */
function turnsViolation(request: GoogleRequestBody, options: GoogleRuleOptions): Found {
  const { contents } = request
  // The server adds functions of its own for this tool.
  const declared = request.tools?.some((tool) => isPresent(tool.computerUse))
    ? undefined
    : declaredNames(request)
  const spoken = contents.findLastIndex(
    (content) => content.role !== 'model' && responsesOf(content).length === 0,
  )
  for (const [index, content] of contents.entries()) {
    const at = `contents[${index}]`
    const previous = contents[index - 1]
    const found =
      responsesViolation(content, at, previous ? callsOf(previous) : []) ??
      callsViolation(content, at, previous, declared) ??
      (options.thoughtSignatures && index > spoken ? signatureViolation(content, at, index) : undefined)
    if (found) return found
  }
  if (contents[0]?.role === 'model') {
    const message = 'Please ensure that multiturn requests alternate between user and model.'
    return violation(message, 'contents[0].role', 'model_first')
  }
  const last = contents.length - 1
  const open = contents[last] ? callsOf(contents[last]) : []
  if (open.length > 0) return unequal('contents')
  if (contents[last]?.role !== 'model') return undefined
  // Newer models say so; earlier ones continue such a turn.
  const message = 'Requests ending with a model turn are not supported.'
  return violation(message, `contents[${last}].role`, 'model_last')
}

function responsesViolation(content: GoogleContent, at: string, calls: readonly GoogleFunctionCall[]): Found {
  const responses = responsesOf(content)
  if (calls.length === 0 && responses.length === 0) return undefined
  if (calls.length === 0 || content.role === 'model') {
    if (responses.length === 0) return unequal(at)
    const message = 'Please ensure that function response turn comes immediately after a function call turn.'
    return violation(message, at, 'orphan_function_response')
  }
  if (responses.length !== calls.length) return unequal(at)
  const open = [...calls]
  for (const [position, part] of content.parts.entries()) {
    const place = `${at}.parts[${position}].functionResponse`
    const response = part.functionResponse
    if (!response) {
      if (position >= responses.length) break
      const reason = 'function responses must come before the other parts of their turn.'
      return invalid(`${at}.parts[${position}]`, reason, 'misplaced_function_response')
    }
    const answered = open.findIndex(
      (call) => (call.id ?? '') === (response.id ?? '') && call.name === response.name,
    )
    if (answered === -1) {
      const id = response.id ? ` and id '${response.id}'` : ''
      const reason = `no open function call has the name '${response.name}'${id}.`
      return invalid(place, reason, 'mismatched_function_response')
    }
    open.splice(answered, 1)
  }
  return undefined
}

function callsViolation(
  content: GoogleContent,
  at: string,
  previous: GoogleContent | undefined,
  declared: ReadonlySet<string> | undefined,
): Found {
  const calls = callsOf(content)
  if (calls.length === 0) return undefined
  if (content.role !== 'model') {
    return invalid(
      `${at}.role`,
      "function calls belong to turns with role 'model'.",
      'misplaced_function_call',
    )
  }
  if (!previous || previous.role === 'model') {
    const message =
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    return violation(message, at, 'misplaced_function_call')
  }
  const ids = new Set<string>()
  return firstOf(content.parts.entries(), ([position, { functionCall }]) => {
    const place = `${at}.parts[${position}].functionCall`
    if (!functionCall) return undefined
    if (functionCall.id && ids.has(functionCall.id)) {
      return invalid(`${place}.id`, `Duplicate function call id: ${functionCall.id}`, 'duplicate_call_id')
    }
    if (functionCall.id) ids.add(functionCall.id)
    if (!declared || declared.has(functionCall.name)) return undefined
    // Stricter than Google, which takes any name here: a host that drops a function after its use shows the model
    // calls it can no longer make.
    const reason = `'${functionCall.name}' is not in function_declarations.`
    return invalid(`${place}.name`, reason, 'undeclared_function')
  })
}

/** Of parallel calls only the first has one. What it says is between the server and itself. */
function signatureViolation({ parts }: GoogleContent, at: string, index: number): Found {
  const position = parts.findIndex((part) => part.functionCall)
  const part = parts[position]
  if (!part?.functionCall || part.thoughtSignature) return undefined
  const message =
    `Function call \`${part.functionCall.name}\` in the ${index + 1}. content block is missing a ` +
    '`thought_signature`.'
  return violation(message, `${at}.parts[${position}].thoughtSignature`, 'missing_thought_signature')
}

function callsOf(content: GoogleContent): readonly GoogleFunctionCall[] {
  return content.parts.flatMap((part) => part.functionCall ?? [])
}

function responsesOf(content: GoogleContent): readonly GoogleFunctionResponse[] {
  return content.parts.flatMap((part) => part.functionResponse ?? [])
}

function declaredNames({ tools }: GoogleRequestBody): ReadonlySet<string> {
  return new Set(tools?.flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name))
}

/** Like `responseGiven` and `partsGiven`, runs after the fields were checked. */
function nameGiven(value: unknown, at: string): Found {
  return (value as Fields).name ? undefined : missing(`${at}.name`, 'Name cannot be empty.')
}

function responseGiven(value: unknown, at: string): Found {
  return (value as Fields).response ? undefined : missing(`${at}.response`, 'Response cannot be empty.')
}

function unequal(at: string): Violation {
  const message =
    'Please ensure that the number of function response parts is equal to the number of function call parts of the ' +
    'function call turn.'
  return violation(message, at, 'unanswered_function_calls')
}

function unknownField(at: string, name: string, table: Table): Violation {
  const camelCase = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
  const hint = Object.hasOwn(table, camelCase) ? ` (Hint: this endpoint knows it as "${camelCase}".)` : ''
  const place = at === '' ? '' : ` at '${spelled(at)}'`
  const message = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.${hint}`
  return violation(message, join(at, name), 'unknown_field')
}

function wrongType(at: string, expected: string, value: unknown): Violation {
  const unknown = (name: string, place: string, reason: string) =>
    violation(
      `Invalid JSON payload received. Unknown name "${name}"${place}: ${reason}`,
      at || null,
      'invalid_type',
    )
  if (at === '') return unknown('', '', 'Root element must be a message.')
  if (Array.isArray(value)) {
    const [, parent, name = at] = /^(.*)\.([^.]*)$/.exec(at) ?? []
    const place = parent === undefined ? '' : ` at '${spelled(parent)}'`
    return unknown(name, place, 'Proto field is not repeating, cannot start list.')
  }
  const written = JSON.stringify(value).slice(0, 100)
  return violation(`Invalid value at '${spelled(at)}' (${expected}), ${written}`, at, 'invalid_type')
}

/** Google names the choice, which is no field on the wire. */
function unset(at: string, choice: string, reason: string): Violation {
  return { ...missing(`${at}.${choice}`, reason), param: at }
}

function missing(at: string, reason: string): Violation {
  return invalid(at, reason, 'missing_required_field')
}

function invalid(at: string, reason: string, code: string): Violation {
  return violation(`* GenerateContentRequest.${spelled(at)}: ${reason}`, at, code)
}

function violation(message: string, param: string | null, code: string): Violation {
  return { message, param, code }
}

/** Google's messages name fields as its protocol buffers do. What stands in brackets is the host's. */
function spelled(at: string): string {
  return at.replace(/\[[^\]]*\]|[A-Z]/g, (match) =>
    match.startsWith('[') ? match : `_${match.toLowerCase()}`,
  )
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

function given(fields: Fields): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).filter(([, value]) => isPresent(value))
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function firstOf<Entry>(entries: Iterable<Entry>, check: (entry: Entry) => Found): Found {
  for (const entry of entries) {
    const found = check(entry)
    if (found) return found
  }
  return undefined
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
