/** Lists the tools of a server page by page. An invalid entry does not affect the others. */
import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { ServerDefinition } from '../definition/server-definition.js'
import { splitUsableTools } from '../definition/usable-tools.js'

/** Tools beyond this number are not read. */
const MOST_TOOLS = 20_000
const MOST_PAGES = 2000
/** Longer `ttlMs` count as one day. */
const LONGEST_TTL = 86_400_000

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

export async function listTools(
  client: Client,
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<Pick<ServerDefinition, 'tools' | 'unusable' | 'ttlMs' | 'cacheScope'>> {
  const nothing = { tools: [], unusable: [], ttlMs: undefined, cacheScope: 'private' as const }
  if (!client.getServerCapabilities()?.tools) return nothing
  const entries: unknown[] = []
  const cursors = new Set<string>()
  let ttlMs: number | undefined
  let cacheScope: ServerDefinition['cacheScope'] = 'private'
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ANYTHING,
      options,
    )
    if (!Array.isArray(answer.tools))
      throw new Error('the server answered tools/list without a list of tools')
    for (const entry of answer.tools) entries.push(entry)
    if (page === 0) {
      if (typeof answer.ttlMs === 'number' && answer.ttlMs >= 0) ttlMs = Math.min(answer.ttlMs, LONGEST_TTL)
      if (answer.cacheScope === 'public') cacheScope = 'public'
    }
    const next = answer.nextCursor
    // A repeated cursor would repeat pages forever.
    if (typeof next !== 'string' || cursors.has(next) || entries.length > MOST_TOOLS) break
    cursors.add(next)
    cursor = next
  }
  const { tools, unusable } = splitUsableTools(entries.slice(0, MOST_TOOLS))
  if (entries.length > MOST_TOOLS)
    unusable.push({
      entry: MOST_TOOLS + 1,
      reason: `and all after it are skipped: the limit is ${MOST_TOOLS} entries`,
    })
  return { tools, unusable, ttlMs, cacheScope }
}
