/** The permission rules of a stdio client, as its bridge hands them to the daemon. Uses only Node. */
import { createHash } from 'node:crypto'
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
  /** Servers that moved from the client to toolwell.json, by their names there. */
  readonly own: Readonly<Record<string, OwnServer>>
}

export interface OwnServer {
  /** Its name in the client. */
  readonly name: string
  /** From `identifyProgram`, when the server moved. Finds the server after its entry was renamed. */
  readonly program: readonly string[]
}

export const RULES_HEADER = 'X-Toolwell-Rules'
/** Node refuses requests with more than 16 KB of headers. */
const LONGEST_HEADER = 12_000
const MOST_BYTES = 1024 * 1024
/** Every tool is compared with every rule, and the rules may come from a project of a stranger. */
const MOST_RULES = 5000
/** In all rules. Each may be searched in every name. */
const MOST_WILDCARDS = 5000
/** Above the names of every client. */
export const LONGEST_RULE = 1000

/** Throws if there are too many rules to send. */
export function writeRules(rules: ClientRules): string {
  const text = deflateRawSync(JSON.stringify(rules)).toString('base64url')
  if (text.length <= LONGEST_HEADER && !isTooMuch(rules)) return text
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

/** Words of a command line that any server may have. */
const COMMON =
  /^(?:node|nodejs|npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|tsx|ts-node|uv|uvx|pipx|python[\d.]*|docker|podman|env|sh|bash|zsh|cmd|cmd\.exe|powershell|pwsh|exec|run|dlx|tool|start|serve|server|stdio|mcp|mcp-remote|supergateway|tsx\/esm)$/i

/**
 * Digests of the words that say which server an endpoint starts or reaches: its package, script, image or address, without
 * versions and options. Two endpoints with a common digest may be the same server.
 */
export function identifyProgram(
  endpoint: { readonly command: string; readonly args: readonly string[] } | { readonly url: string },
): string[] {
  const words =
    'url' in endpoint
      ? [endpoint.url]
      : // A shell takes the whole command as one argument.
        [endpoint.command, ...endpoint.args].flatMap((word) =>
          /^[[{]/.test(word) ? [] : word.split(/[\s'"]+/),
        )
  const names = words.flatMap((word, at) => nameProgram(word, at === 0))
  return [...new Set(names)].map((name) => createHash('sha256').update(name).digest('base64url').slice(0, 8))
}

/** `isCommand`: the first word, which names the program. */
function nameProgram(given: string, isCommand: boolean): string[] {
  const word = given.replace(/^-+[\w-]*=?/, '')
  if (URL.canParse(word) && word.includes('://')) {
    const { host, pathname } = new URL(word)
    return [`${host}${pathname.replace(/\/$/, '')}`]
  }
  const path = word.replaceAll('\\', '/')
  const [, ofPackage] = /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  const isPath = /^(?:[./~]|[a-z]:\/)/i.test(path)
  // Folders are arguments of many servers.
  if (isPath && !ofPackage && !isCommand && !/\.(?:[cm]?[jt]s|py|pyz|rb|php|sh|jar|exe|dll)$/i.test(path))
    return []
  const parts = path.split('/')
  const name =
    ofPackage ??
    (isPath
      ? isCommand
        ? (parts.at(-1) ?? '').replace(/\.(?:exe|cmd|bat)$/i, '')
        : parts.slice(-3).join('/')
      : path.replace(/(?<=.)(?:@|==|:).*$/, ''))
  return name.length < 3 || COMMON.test(name) || /^\d+$/.test(name) ? [] : [name.toLowerCase()]
}

function isTooMuch({ layers }: Pick<ClientRules, 'layers'>): boolean {
  const rules = layers.flat()
  return rules.length > MOST_RULES || rules.flat().join('').split('*').length > MOST_WILDCARDS
}

function isClientRules({ prefix, separator, layers, own }: Partial<ClientRules>): boolean {
  const isStrings = (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string' && each.length <= LONGEST_RULE)
  return (
    typeof prefix === 'string' &&
    (separator === '_' || separator === '__') &&
    Array.isArray(layers) &&
    layers.every((layer) => Array.isArray(layer) && layer.every(isStrings)) &&
    !isTooMuch({ layers }) &&
    typeof own === 'object' &&
    Object.values(own).every(({ name, program }) => typeof name === 'string' && isStrings(program))
  )
}
