/** What a wire cannot carry as it is, and how it is carried instead. Deterministic; used for surfaces and answers alike. */

import { plainJson } from '../base/plain-json.js'
import { wholeStart } from '../base/text.js'
import type { WireTool } from '../tool/wire-tool.js'
import { wholeSchema } from './complete.js'
import { legalKeys } from './property-keys.js'
import { normaliseSchema, schemaProblems } from './repair.js'

export interface Dialect {
  /** The longest description a tool may have. Descriptions inside a schema are not limited. */
  readonly description?: number
  /** The same for the loader, where only its long list of what is hidden is at stake: what does not fit goes into its schema. */
  readonly loader?: number
  /** The most tools that one request may declare. */
  readonly tools?: number
  /** Keywords that are refused at the top of a schema, and nowhere else. */
  readonly notAtTop?: readonly string[]
  /** Names that parameters may have. */
  readonly keys?: RegExp
  /** Objects have to name their properties, if none, and arrays their items. */
  readonly whole?: boolean
}

/** What servers of the Chat Completions family take. */
const CHAT: Dialect = {
  description: 1024,
  notAtTop: ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'],
  whole: true,
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  anthropic: { notAtTop: ['oneOf', 'allOf', 'anyOf'], keys: /^[a-zA-Z0-9_.-]{1,64}$/ },
  'openai-chat': { ...CHAT, tools: 128 },
  // A provider of the AI SDK that is not known: most have a server of that family behind them.
  'ai-sdk': CHAT,
  'openai-responses': { notAtTop: ['oneOf', 'anyOf', 'allOf', 'enum', 'not'], whole: true },
  google: { tools: 512 },
  // Claude Code cuts the description of an MCP tool at 2 kB; what a schema says is whole.
  mcp: { loader: 1900 },
}

/** What a wire demands; nothing where it is not known. */
export function dialectOf(wire: string): Dialect {
  return DIALECTS[wire] ?? {}
}

/** The longest description a tool may have on a wire. */
export function descriptionLimit(wire: string): number {
  return dialectOf(wire).description ?? Number.POSITIVE_INFINITY
}

/** The longest description that the loader may have on a wire. */
export function loaderLimit(wire: string): number {
  return dialectOf(wire).loader ?? descriptionLimit(wire)
}

/** The most tools that one request may declare on a wire. */
export function toolLimit(wire: string): number {
  return dialectOf(wire).tools ?? Number.POSITIVE_INFINITY
}

export interface Fitted {
  /** As it is sent. */
  readonly tool: WireTool
  /** What arguments are checked against, with the tool's own names: every rule. */
  readonly own: WireTool
  /** The same with the names that are sent: a problem is told in these. */
  readonly checked: WireTool
  /** What of the schema cannot be used, in words; undefined where all of it can. */
  readonly unusable: string | undefined
  /** Legal names of parameters that stand for others. */
  readonly keys: ReadonlyMap<string, string>
}

/** The description that `fitWire` gives, without a look at the schema. */
export function fitDescription(description: string, wire: string): string {
  return beginning(plainJson(description), dialectOf(wire))
}

/** Fits a definition to a wire. One that fits is given back as it is. */
export function fitWire(tool: WireTool, wire: string): Fitted {
  const dialect = dialectOf(wire)
  const plain = plainJson(tool)
  const inputSchema = normaliseSchema(plain.inputSchema)
  const given = inputSchema === plain.inputSchema ? plain : { ...plain, inputSchema }
  const { schema, keys } = dialect.keys
    ? legalKeys(given.inputSchema, dialect.keys)
    : { schema: given.inputSchema, keys: new Map<string, string>() }
  // A reference may go by a name that is another one now.
  const checked = schema === given.inputSchema ? given : { ...given, inputSchema: normaliseSchema(schema) }
  return {
    tool: shortened(movedFromTop(completed(checked, dialect), dialect), dialect),
    own: given,
    checked,
    unusable: given === plain ? undefined : problemsIn(plain.inputSchema),
    keys,
  }
}

/** What is wrong with a schema, in words; empty where nothing is. */
export function problemsIn(schema: WireTool['inputSchema']): string {
  const problems = schemaProblems(schema).map(({ path, problem }) => `${path} ${problem}`)
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : ''
  return problems.slice(0, 3).join('; ') + more
}

function completed(tool: WireTool, { whole = false }: Dialect): WireTool {
  const inputSchema = whole ? wholeSchema(tool.inputSchema) : tool.inputSchema
  return inputSchema === tool.inputSchema ? tool : { ...tool, inputSchema }
}

/** Says nothing to a model, costs some 15 tokens in every second definition, and Google refuses it. */
const DIALECT = '$schema'

/** Rules that may not stand at the top of the schema are told to the model in its description instead. */
function movedFromTop(tool: WireTool, { notAtTop = [] }: Dialect): WireTool {
  const entries = Object.entries(tool.inputSchema)
  const moved = entries.filter(([keyword]) => notAtTop.includes(keyword))
  const kept = entries.filter(([keyword]) => !notAtTop.includes(keyword) && keyword !== DIALECT)
  if (kept.length === entries.length) return tool
  const schema = Object.fromEntries(kept)
  if (moved.length === 0) return { ...tool, inputSchema: schema }
  const own = schema.description
  const said = typeof own === 'string' && own !== '' ? [own] : []
  const rule = `The input also has to match ${JSON.stringify(Object.fromEntries(moved))}`
  // References may lead to what is in words now.
  return { ...tool, inputSchema: normaliseSchema({ ...schema, description: [...said, rule].join('\n\n') }) }
}

/** Of a description that is too long the beginning stays, and the rest goes into the schema: nothing is sent twice. */
function shortened(tool: WireTool, { description: limit = Number.POSITIVE_INFINITY }: Dialect): WireTool {
  const { description: whole } = tool
  if (whole.length <= limit) return tool
  const start = beginningOf(whole, limit)
  const rest = `… ${whole.slice(start.length).trimStart()}`
  const own = tool.inputSchema.description
  const description = typeof own === 'string' && own !== '' ? `${rest}\n\n${own}` : rest
  return { ...tool, description: start + CONTINUED, inputSchema: { ...tool.inputSchema, description } }
}

const CONTINUED = ' … (continued in the description of the parameters)'

function beginning(description: string, { description: limit = Number.POSITIVE_INFINITY }: Dialect): string {
  if (description.length <= limit) return description
  return beginningOf(description, limit) + CONTINUED
}

/** As much as fits beside the note, cut between two words where there are any. */
function beginningOf(description: string, limit: number): string {
  const start = wholeStart(description, limit - CONTINUED.length)
  const blank = start.search(/\s\S*$/)
  return blank > start.length / 2 ? start.slice(0, blank) : start
}
