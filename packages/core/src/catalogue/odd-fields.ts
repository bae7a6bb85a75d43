/** Fields of a tool that nobody reads, where another was probably meant: a typing error must not be silent. */
import { nearest } from '../base/nearest.js'
import type { Tool } from '../tool/tool.js'

const FIELDS: Readonly<Record<keyof Tool, true>> = {
  name: true,
  description: true,
  inputSchema: true,
  title: true,
  outputSchema: true,
  strict: true,
  inputExamples: true,
  annotations: true,
  validate: true,
  execute: true,
  forwards: true,
  defer: true,
  alwaysLoad: true,
  role: true,
  dynamicDescription: true,
  domain: true,
  group: true,
  aliases: true,
  canonicalName: true,
  searchHint: true,
  card: true,
  promptSnippet: true,
  guidelines: true,
  examples: true,
  maxResultTokens: true,
  timeout: true,
  risk: true,
  insteadOf: true,
  source: true,
}

/** What other libraries call it. */
const SYNONYMS: Readonly<Record<string, keyof Tool>> = {
  eager: 'alwaysLoad',
  lazy: 'defer',
  deferred: 'defer',
  defer_loading: 'defer',
  parameters: 'inputSchema',
  input_schema: 'inputSchema',
  hint: 'searchHint',
  keywords: 'searchHint',
  handler: 'execute',
}

/** What a tool of an MCP server has besides. */
const OF_MCP: ReadonlySet<string> = new Set(['_meta', 'icons', 'execution'])

/** Each as a sentence behind the tool's name. Fields that are like none of ours are the owner's business. */
export function oddFields(tool: Tool): string[] {
  return Object.keys(tool).flatMap((key) => {
    if (Object.hasOwn(FIELDS, key) || OF_MCP.has(key)) return []
    const meant = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : nearest(key, Object.keys(FIELDS), 1)[0]
    return meant === undefined
      ? []
      : [`has a field ${JSON.stringify(key)} that means nothing here; is ${meant} meant?`]
  })
}
