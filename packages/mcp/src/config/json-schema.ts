/** Creates the JSON Schema of config files for editors. `toolwell.schema.json` in the package is its output. */
import { SCAN_RULES } from '../trust/scan/rules.js'
import { HOST_TOOLS_KEYS, type Key, PROFILE_KEYS, SERVER_KEYS } from './keys.js'

type Schema = { readonly [keyword: string]: unknown }

export function configSchema(): Schema {
  const server = {
    type: 'object',
    properties: propertiesOf(SERVER_KEYS),
    additionalProperties: false,
    // An entry without command and url changes the entry of the same name in a weaker file.
    not: {
      anyOf: [
        { required: ['command', 'url'] },
        { required: ['command', 'type'], properties: { type: { not: { const: 'stdio' } } } },
        { required: ['url', 'type'], properties: { type: { const: 'stdio' } } },
      ],
    },
  }
  const names = { pattern: NOT_BLANK, maxLength: 200, not: { const: 'toolwell' } }
  const servers = { type: 'object', propertyNames: names, additionalProperties: server }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Toolwell config',
    description: 'MCP servers and how their tools are offered. Comments and trailing commas are allowed.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      mcpServers: { ...servers, description: 'Servers by name.' },
      servers: { ...servers, description: 'Same as mcpServers, under the name that VS Code uses.' },
      inputs: { type: 'array', description: 'Questions that VS Code asks its user. Ignored here.' },
      profiles: {
        type: 'object',
        description: 'Selections of servers and tools, by name.',
        propertyNames: { pattern: NOT_BLANK, not: { pattern: '^(all|\\.\\.?)$|[/\\\\]' } },
        additionalProperties: {
          type: 'object',
          properties: propertiesOf(PROFILE_KEYS),
          additionalProperties: false,
        },
      },
      hostTools: {
        type: 'object',
        description: "The agent's own tools.",
        properties: propertiesOf(HOST_TOOLS_KEYS),
        additionalProperties: false,
      },
      scan: {
        type: 'object',
        description: 'The scan for poisoned definitions.',
        properties: {
          rules: {
            type: 'object',
            description: 'Rules that are switched off, by id.',
            propertyNames: { enum: Object.keys(SCAN_RULES).filter((id) => id !== 'not-scanned') },
            additionalProperties: { const: 'off' },
          },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  }
}

function propertiesOf(keys: Readonly<Record<string, Key>>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, { description: key.about, ...valueSchema(key) }]),
  )
}

const NOT_BLANK = '\\S'
const STRINGS = { type: 'array', items: { type: 'string' } }
const DURATIONS = [
  { type: 'number', minimum: 1000 },
  { type: 'string', pattern: '^\\s*(?=[\\d.]*[1-9])\\d+(\\.\\d+)?\\s*(ms|s|m|h)\\s*$' },
]

/** An http or https address without credentials, or a text that begins with a variable. */
const ADDRESS = '^\\s*(?:[hH][tT][tT][pP][sS]?://[^/?#@]+(?:[/?#]|$)|\\$\\{)'

function valueSchema(key: Key): Schema {
  switch (key.kind) {
    case 'string':
      return { type: 'string', pattern: NOT_BLANK }
    case 'path':
      return { type: 'string', pattern: '^[^\\u0000-\\u001f]*[^\\u0000-\\u0020][^\\u0000-\\u001f]*$' }
    case 'url':
      return { type: 'string', pattern: ADDRESS }
    case 'boolean':
      return { type: 'boolean' }
    case 'strings':
      return STRINGS
    case 'texts':
      return { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }
    case 'choice':
      return { enum: key.values }
    case 'lists':
      return { type: 'object', additionalProperties: STRINGS }
    case 'words':
      return { anyOf: [STRINGS, { type: 'string' }] }
    case 'count':
      return { type: 'integer', minimum: 0 }
    case 'port':
      return { type: 'integer', minimum: 1, maximum: 65_535 }
    case 'object':
      return { type: 'object', properties: propertiesOf(key.keys), additionalProperties: false }
    case 'boolean-or-strings':
      return { anyOf: [{ type: 'boolean' }, STRINGS] }
    case 'duration':
      return { anyOf: DURATIONS }
    case 'duration-or-false':
      return { anyOf: [...DURATIONS, { const: false }] }
  }
}
