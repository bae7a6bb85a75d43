/** Rules about tools on the Gemini wire: function declarations, server tools and `toolConfig`. */
import { type Fields, type Found, firstOf, isObject, violation } from '../shared/guards.js'
import {
  type Check,
  fieldsOf,
  flag,
  given,
  invalid,
  isPresent,
  join,
  listOf,
  nameGiven,
  object,
  PROTO,
  spelled,
  type Table,
  text,
  unset,
  wrongType,
} from './refusals.js'
import { declaredNames, type GoogleRequestBody, type GoogleRuleOptions } from './request.js'
import { jsonSchemaViolation, parametersViolation, schemaViolation } from './schema.js'

const MAX_NAME = 128
const MAX_DECLARATIONS = 512
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/
const MODES: readonly unknown[] = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']
/** Modes in which `allowedFunctionNames` applies. */
const MASKED_MODES = ['ANY', 'VALIDATED']

/** Tools that `@google/genai` sends to the Gemini API. The others belong to Vertex AI. */
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

export const toolConfigViolation: Check = fieldsOf({
  functionCallingConfig: fieldsOf({ mode: modeViolation, allowedFunctionNames: listOf(text) }),
  retrievalConfig: object,
  includeServerSideToolInvocations: flag,
})

export function toolViolation(options: GoogleRuleOptions): Check {
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

function modeViolation(mode: unknown, at: string): Found {
  return MODES.includes(mode) ? undefined : wrongType(at, `${PROTO}.FunctionCallingConfig.Mode`, mode)
}

export function declarationsViolation(request: GoogleRequestBody): Found {
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

export function callingViolation(request: GoogleRequestBody): Found {
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
