/** Rules about single input items on the OpenAI Responses wire, including images and files. */
import {
  detectImageType,
  type Fields,
  type Found,
  firstOf,
  isBase64,
  isObject,
  readDataUrl,
  violation,
} from '../shared/guards.js'
import {
  argumentsViolation,
  arrayViolation,
  eachOf,
  missing,
  nameViolation,
  tooLong,
  wrongType,
  wrongValue,
} from '../shared/openai.js'
import { optional, type ResponsesRuleOptions, stringViolation } from './request.js'
import { EXECUTIONS, LOADABLE_TOOLS, TOOLS, toolListViolation } from './tools.js'

const ID = /^[a-zA-Z0-9_-]+$/
const MAX_ID = 64
const ROLES = ['user', 'assistant', 'system', 'developer']
const INPUT_PARTS = ['input_text', 'input_image', 'input_file']
const OUTPUT_PARTS = ['output_text', 'refusal']

/** Items of tools that the provider defines or runs. Only their type is checked (SDK type `ResponseInputItem`). */
const HOSTED_ITEMS = [
  ...['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'].map(
    (kind) => `${kind}_call`,
  ),
  ...['computer', 'local_shell', 'shell', 'apply_patch', 'custom_tool'].flatMap((kind) => [
    `${kind}_call`,
    `${kind}_call_output`,
  ]),
  ...['mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response'],
]

interface ItemCheck {
  /** Prefix that ids of such items have. */
  readonly prefix?: string
  readonly check: (item: Fields, at: string) => Found
}

export function inputViolation(input: unknown, options: ResponsesRuleOptions): Found {
  if (input === undefined || input === '') return missing('input')
  if (typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrongType('input', 'a string or an array of items', input)
  const checks = itemChecks(options)
  return (
    arrayViolation('input', input) ?? eachOf(input, 'input', (item, at) => itemViolation(item, at, checks))
  )
}

function itemChecks(options: ResponsesRuleOptions): ReadonlyMap<unknown, ItemCheck> {
  return new Map<unknown, ItemCheck>([
    ['message', { prefix: 'msg', check: messageViolation }],
    ['function_call', { prefix: 'fc', check: callViolation }],
    ['function_call_output', { prefix: 'fc', check: outputViolation }],
    ['reasoning', { prefix: 'rs', check: reasoningViolation }],
    ['tool_search_call', { prefix: 'tsc', check: searchCallViolation }],
    ['tool_search_output', { prefix: 'tso', check: (item, at) => searchOutputViolation(item, at, options) }],
    ['additional_tools', { check: (item, at) => additionalViolation(item, at, options) }],
    ['compaction', { check: ({ encrypted_content }, at) => compactionViolation(encrypted_content, at) }],
    ['program', { check: stringsViolation('id', 'call_id', 'code', 'fingerprint') }],
    ['program_output', { check: stringsViolation('id', 'call_id', 'result', 'status') }],
    ...HOSTED_ITEMS.map((type): [string, ItemCheck] => [type, { check: () => undefined }]),
  ])
}

function itemViolation(item: unknown, at: string, checks: ReadonlyMap<unknown, ItemCheck>): Found {
  if (!isObject(item)) return wrongType(at, 'an object', item)
  const known = checks.get(item.type ?? 'message')
  if (known === undefined) return wrongValue(`${at}.type`, item.type, [...checks.keys()])
  return (
    optional(item.id, `${at}.id`, (id, place) => itemIdViolation(id, place, known.prefix)) ??
    known.check(item, at)
  )
}

function stringsViolation(...fields: readonly string[]): ItemCheck['check'] {
  return (item, at) => firstOf(fields, (field) => stringViolation(item[field], `${at}.${field}`))
}

function itemIdViolation(id: unknown, at: string, prefix = ''): Found {
  if (typeof id !== 'string') return wrongType(at, 'a string', id)
  if (id.length > MAX_ID) return tooLong(at, MAX_ID, id)
  if (!ID.test(id)) {
    const reason = 'Expected an ID that contains letters, numbers, underscores, or dashes'
    const message = `Invalid '${at}': '${id}'. ${reason}, but this value contained additional characters.`
    return violation(message, at, 'invalid_value')
  }
  if (id.startsWith(prefix)) return undefined
  return violation(
    `Invalid '${at}': '${id}'. Expected an ID that begins with '${prefix}'.`,
    at,
    'invalid_value',
  )
}

function messageViolation({ role, content }: Fields, at: string): Found {
  if (role === undefined) return missing(`${at}.role`)
  if (!ROLES.includes(role as string)) return wrongValue(`${at}.role`, role, ROLES)
  return contentViolation(content, `${at}.content`, role === 'assistant' ? OUTPUT_PARTS : INPUT_PARTS)
}

/** Fields that the official client adds to a reply and that are not on the wire. OpenAI refuses unknown fields. */
function addedViolation(fields: Fields, at: string, name: string): Found {
  if (!Object.hasOwn(fields, name)) return undefined
  return violation(`Unknown parameter: '${at}.${name}'.`, `${at}.${name}`, 'unknown_parameter')
}

function contentViolation(content: unknown, at: string, allowed: readonly string[]): Found {
  if (content === undefined) return missing(at)
  if (typeof content === 'string') return undefined
  if (!Array.isArray(content)) return wrongType(at, 'a string or an array of parts', content)
  return eachOf(content, at, (part, place) => {
    if (!isObject(part)) return wrongType(place, 'an object', part)
    if (!allowed.includes(part.type as string)) return wrongValue(`${place}.type`, part.type, allowed)
    const added = addedViolation(part, place, 'parsed')
    if (added) return added
    if (part.type === 'refusal') return stringViolation(part.refusal, `${place}.refusal`)
    return part.type === allowed[0]
      ? stringViolation(part.text, `${place}.text`)
      : mediaViolation(part, place)
  })
}

function callViolation(item: Fields, at: string): Found {
  return (
    addedViolation(item, at, 'parsed_arguments') ??
    callIdViolation(item.call_id, `${at}.call_id`) ??
    nameViolation(item.name, `${at}.name`) ??
    optional(item.namespace, `${at}.namespace`, nameViolation) ??
    argumentsViolation(item.arguments, `${at}.arguments`)
  )
}

function outputViolation(item: Fields, at: string): Found {
  return (
    callIdViolation(item.call_id, `${at}.call_id`) ??
    contentViolation(item.output, `${at}.output`, INPUT_PARTS)
  )
}

/** Reasoning with encrypted content needs no lookup. */
function reasoningViolation({ id, summary, encrypted_content: sealed }: Fields, at: string): Found {
  if ((id === undefined || id === null) && typeof sealed !== 'string') return missing(`${at}.id`)
  if (summary === undefined) return missing(`${at}.summary`)
  return Array.isArray(summary) ? undefined : wrongType(`${at}.summary`, 'an array', summary)
}

function searchCallViolation(item: Fields, at: string): Found {
  if (item.arguments === undefined) return missing(`${at}.arguments`)
  return searchPairViolation(item, at)
}

function searchOutputViolation(item: Fields, at: string, options: ResponsesRuleOptions): Found {
  return (
    searchPairViolation(item, at) ?? toolListViolation(item.tools, `${at}.tools`, LOADABLE_TOOLS, options)
  )
}

/** A search run by the client is paired by its call id. A search run by the server has none. */
function searchPairViolation({ execution, call_id: id }: Fields, at: string): Found {
  if (execution !== undefined && !EXECUTIONS.includes(execution as string)) {
    return wrongValue(`${at}.execution`, execution, EXECUTIONS)
  }
  return execution === 'client' || (id !== undefined && id !== null)
    ? callIdViolation(id, `${at}.call_id`)
    : undefined
}

function additionalViolation({ role, tools }: Fields, at: string, options: ResponsesRuleOptions): Found {
  if (role === undefined) return missing(`${at}.role`)
  if (role !== 'developer') return wrongValue(`${at}.role`, role, ['developer'])
  return toolListViolation(tools, `${at}.tools`, TOOLS, options)
}

function compactionViolation(content: unknown, at: string): Found {
  if (content === undefined) return missing(`${at}.encrypted_content`)
  return stringViolation(content, `${at}.encrypted_content`)
}

function callIdViolation(id: unknown, at: string): Found {
  if (id === undefined || id === null || id === '') return missing(at)
  if (typeof id !== 'string') return wrongType(at, 'a string', id)
  return id.length > MAX_ID ? tooLong(at, MAX_ID, id) : undefined
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const DETAILS = ['low', 'high', 'auto', 'original']

/**
 * Checks images and files, in messages and function outputs. Fields follow the official types (`ResponseInputImageContent`,
 * `ResponseInputFileContent`), image types the guide (platform.openai.com/docs/guides/images-vision: PNG, JPEG, WEBP,
 * non-animated GIF).
 */
function mediaViolation(part: Fields, at: string): Found {
  if (part.type === 'input_image') return imageViolation(part, at)
  return part.type === 'input_file' ? fileViolation(part, at) : undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function imageViolation({ image_url: url, file_id: id, detail }: Fields, at: string): Found {
  if (isGiven(detail) && !DETAILS.includes(String(detail))) return wrongValue(`${at}.detail`, detail, DETAILS)
  if (!isGiven(url)) return isGiven(id) ? stringViolation(id, `${at}.file_id`) : missing(`${at}.image_url`)
  const place = `${at}.image_url`
  if (typeof url !== 'string') return stringViolation(url, place)
  if (/^https?:\/\//.test(url)) return undefined
  const data = readDataUrl(url)
  if (!data) {
    const reason = `Expected a valid URL, but got a value with an invalid format.`
    return violation(`Invalid '${place}'. ${reason}`, place, 'invalid_value')
  }
  if (!isBase64(data.data)) return badBase64(place)
  const found = detectImageType(data.data)
  if (IMAGE_TYPES.includes(data.mediaType) && found !== undefined) return undefined
  const message =
    `You uploaded an unsupported image. Please make sure your image has of one the following formats: ` +
    `['png', 'jpeg', 'gif', 'webp'].`
  return violation(message, place, 'invalid_image_format')
}

/** Data needs a file name, because its ending tells the server how to read it. */
function fileViolation(part: Fields, at: string): Found {
  const { file_data: data, file_id: id, file_url: url, filename } = part
  if (!isGiven(data)) return isGiven(id) || isGiven(url) ? undefined : missing(`${at}.file_data`)
  if (typeof data !== 'string') return stringViolation(data, `${at}.file_data`)
  if (typeof filename !== 'string' || filename === '') return missing(`${at}.filename`)
  return isBase64(readDataUrl(data)?.data ?? data) ? undefined : badBase64(`${at}.file_data`)
}

function badBase64(at: string): Found {
  return violation(`Invalid '${at}'. Expected base64-encoded data.`, at, 'invalid_base64')
}
