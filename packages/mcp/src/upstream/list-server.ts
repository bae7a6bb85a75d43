/** Lists the tools, prompts and resources of a server page by page. An invalid entry does not affect the others. */
import {
  type Client,
  type ServerCapabilities,
  type StandardSchemaV1,
  specTypeSchemas,
} from '@modelcontextprotocol/client'
import type { ServerDefinition, ServerOffers } from '../definition/server-definition.js'
import { splitUsableTools } from '../definition/usable-tools.js'

/** Tools beyond this number are not read. */
const MOST_TOOLS = 20_000
/** Prompts, resources or templates beyond this number are not listed. Every client reads and every start parses the list. */
const MOST_OFFERS = 1000
const MOST_PAGES = 2000
/** Longer `ttlMs` count as one day. */
const LONGEST_TTL = 86_400_000
/** Milliseconds for the lists of prompts and resources. Tools do not wait longer for them. */
const OFFERS_TIMEOUT = 5000

/** Accepts any list. The SDK's schema would refuse a list because of one bad entry. Entries are checked later, one by one. */
const ANYTHING: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'toolwell',
    validate: (value) =>
      typeof value === 'object' && value !== null
        ? { value: value as Record<string, unknown> }
        : { issues: [{ message: 'the answer is not an object' }] },
  },
}

interface ListOptions {
  readonly timeout: number
  readonly signal: AbortSignal
}

interface Listed {
  readonly entries: readonly unknown[]
  readonly first: Readonly<Record<string, unknown>>
}

async function listPages(
  client: Client,
  method: 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list',
  key: string,
  most: number,
  options: ListOptions,
): Promise<Listed> {
  const entries: unknown[] = []
  const cursors = new Set<string>()
  let first: Record<string, unknown> | undefined
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      ANYTHING,
      options,
    )
    first ??= answer
    const found = answer[key]
    if (!Array.isArray(found)) throw new Error(`the server answered ${method} without a list of ${key}`)
    for (const entry of found) entries.push(entry)
    const next = answer.nextCursor
    // A repeated cursor would repeat pages forever.
    if (typeof next !== 'string' || cursors.has(next) || entries.length > most) break
    cursors.add(next)
    cursor = next
  }
  return { entries, first: first ?? {} }
}

export async function listServer(
  client: Client,
  capabilities: ServerCapabilities,
  options: ListOptions,
): Promise<Pick<ServerDefinition, 'tools' | 'unusable' | 'ttlMs' | 'cacheScope'> & Partial<ServerOffers>> {
  const hasTools = capabilities.tools !== undefined
  const [{ entries, first }, offers] = await Promise.all([
    hasTools
      ? listPages(client, 'tools/list', 'tools', MOST_TOOLS, options)
      : { entries: [], first: {} as Listed['first'] },
    listOffers(client, capabilities, options),
  ])
  const { tools, unusable } = splitUsableTools(entries.slice(0, MOST_TOOLS))
  if (entries.length > MOST_TOOLS)
    unusable.push({
      entry: MOST_TOOLS + 1,
      reason: `and all after it are skipped: the limit is ${MOST_TOOLS} entries`,
    })
  const { ttlMs, cacheScope } = first
  return {
    tools,
    unusable,
    ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? Math.min(ttlMs, LONGEST_TTL) : undefined,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    ...offers,
  }
}

/** A list that cannot be read counts as empty: the tools are usable without it. */
async function listOffers(
  client: Client,
  { prompts, resources }: ServerCapabilities,
  { timeout, signal }: ListOptions,
): Promise<Partial<ServerOffers>> {
  if (!prompts && !resources) return {}
  const options = {
    timeout: Math.min(timeout, OFFERS_TIMEOUT),
    signal: AbortSignal.any([signal, AbortSignal.timeout(OFFERS_TIMEOUT)]),
  }
  const list = async <Name extends 'Prompt' | 'Resource' | 'ResourceTemplate'>(
    isOffered: boolean,
    method: Parameters<typeof listPages>[1],
    key: string,
    name: Name,
  ) => {
    if (!isOffered) return []
    const { entries } = await listPages(client, method, key, MOST_OFFERS, options).catch(() => ({
      entries: [],
    }))
    const isValid = (entry: unknown) =>
      !('issues' in (specTypeSchemas[name]['~standard'].validate(entry) as object))
    return entries.slice(0, MOST_OFFERS).filter(isValid)
  }
  const [listedPrompts, listedResources, listedTemplates] = await Promise.all([
    list(prompts !== undefined, 'prompts/list', 'prompts', 'Prompt'),
    list(resources !== undefined, 'resources/list', 'resources', 'Resource'),
    list(resources !== undefined, 'resources/templates/list', 'resourceTemplates', 'ResourceTemplate'),
  ])
  return {
    prompts: listedPrompts as ServerOffers['prompts'],
    resources: listedResources as ServerOffers['resources'],
    templates: listedTemplates as ServerOffers['templates'],
  }
}
