/** The permission rules of a stdio client, as its bridge hands them to the daemon. Uses only Node. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export type RuleAction = 'allow' | 'ask' | 'deny'

/**
 * The action and a pattern for the client's full name of a tool, in which `*` matches any characters. With a third part, the
 * pattern is for the name of the tool, and the third part for the name of its server.
 */
export type Rule = readonly [action: RuleAction, tool: string, server?: string]

export interface ClientRules {
  /** Before the server in the client's full names, such as `mcp__`. */
  readonly prefix: string
  /** Between server and tool in the client's full names. */
  readonly separator: '__' | '_'
  /** In each layer the last rule that matches counts. A tool is denied if any layer denies it. */
  readonly layers: readonly (readonly Rule[])[]
  /** Servers that moved from the client to toolwell.json, by their names there, with their names in the client. */
  readonly own: Readonly<Record<string, readonly string[]>>
}

export const RULES_HEADER = 'X-Toolwell-Rules'
/** Node refuses requests with more than 16 KB of headers. */
const LONGEST_HEADER = 12_000
const MOST_BYTES = 1024 * 1024

/** Throws if there are too many rules to send. */
export function writeRules(rules: ClientRules): string {
  const text = deflateRawSync(JSON.stringify(rules)).toString('base64url')
  if (text.length <= LONGEST_HEADER) return text
  throw new Error(
    'This client has too many permission rules for MCP tools. Replace rules for single tools by rules with wildcards.',
  )
}

/** Throws if the header is invalid: a client whose rules are unknown must not be served. */
export function readRules(header: string | undefined): ClientRules | undefined {
  if (header === undefined) return undefined
  try {
    const text = inflateRawSync(Buffer.from(header, 'base64url'), { maxOutputLength: MOST_BYTES }).toString()
    const rules = JSON.parse(text) as ClientRules
    if (isClientRules(rules)) return rules
  } catch {
    // The error below says it.
  }
  throw new Error(`The header ${RULES_HEADER} is invalid. Restart the client.`)
}

function isClientRules({ prefix, separator, layers, own }: Partial<ClientRules>): boolean {
  const isStrings = (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string')
  return (
    typeof prefix === 'string' &&
    (separator === '_' || separator === '__') &&
    Array.isArray(layers) &&
    layers.every((layer) => Array.isArray(layer) && layer.every(isStrings)) &&
    typeof own === 'object' &&
    Object.values(own).every(isStrings)
  )
}
