/** Asks like an agent: the same search, over the tools of a catalogue, with its verdict and its text. */
import { createToolwell, type DirectNames, type RankQuery, type Tool } from '@toolwell/core'
import { dropUndefined, findToolProblem, toolId } from '@toolwell/core/internal'
import type { Catalogue } from './catalogue.js'

export interface AgentAnswer {
  /** Keys of the catalogue, in the order of the answer. `loaded`: an agent can call the tool next. */
  readonly matches: readonly { readonly key: string; readonly loaded: boolean }[]
  /** Nothing clearly fits. */
  readonly unclear: boolean
  /** Names of further candidates. */
  readonly others: readonly string[]
  /** The answer exactly as an agent reads it. */
  readonly text: string
}

export type AskAgent = (query: string, limit: number | undefined) => Promise<AgentAnswer>

/**
 * Ranks with the index of the catalogue, so that nothing is indexed twice and learned uses count. `names`: what the agent calls the
 * search tool and the bridge.
 */
export function createAgent(
  { searcher, learned, entries }: Omit<Catalogue, 'askAgent'>,
  names?: DirectNames,
): AskAgent {
  const keys = new Map<string, string>()
  const tools: Tool[] = []
  for (const [key, { server, name, tool }] of entries()) {
    const id = toolId(server, name)
    if (!tool || keys.has(id)) continue
    keys.set(id, key)
    const whole = { ...tool, defer: true, ...(server === '' ? {} : { source: server }) }
    // A file may have less than a definition. The search needs no more than a name.
    const { description, source } = { source: undefined, ...whole }
    const bare = {
      name,
      description: typeof description === 'string' ? description : '',
      inputSchema: { type: 'object' },
      defer: true,
      ...dropUndefined({ source }),
    }
    tools.push(findToolProblem(whole) === undefined ? whole : bare)
  }
  const ids = new Map([...keys].map(([id, key]) => [key, id]))
  const translate = (test: ((id: string) => boolean) | undefined) =>
    test && ((key: string) => test(ids.get(key) ?? ''))
  const rank = ({ accept, hidden, learned: _, ...query }: RankQuery) =>
    searcher
      .rank({
        ...query,
        learned,
        accept: (key) => ids.has(key) && translate(accept)?.(key) !== false,
        ...(hidden ? { hidden: (key) => translate(hidden)?.(key) === true } : {}),
      })
      .map((hit) => ({ ...hit, id: ids.get(hit.id) ?? hit.id }))
  const well = createToolwell({ tools, mode: 'on', searcher: { update() {}, rank } })
  const direct = names ? well.direct().withNames(names) : well.direct()
  const byName = new Map(direct.tools().map(({ wireName, id }) => [wireName, id]))
  return async (query, limit) => {
    const { outcome, text } = await direct.search({ query, ...(limit === undefined ? {} : { limit }) })
    const { matches, others, unclear } =
      outcome.kind === 'search' ? outcome.result : { matches: [], others: [], unclear: false }
    return {
      matches: matches.flatMap(({ canonicalName, fresh }) => {
        const key = keys.get(byName.get(canonicalName) ?? '')
        return key === undefined ? [] : [{ key, loaded: fresh }]
      }),
      unclear,
      others: others.map(({ name }) => name),
      text,
    }
  }
}
