/** Can the right tool be called after one search? Measured through conversations, over every delivery with different answers. */
import {
  type Conversation,
  createToolwell,
  type DeliveryName,
  loadTokenizer,
  type Tool,
  type Toolwell,
} from '@toolwell/core'
import { fitWire } from '@toolwell/core/internal'
import type { BenchQuery, BenchTool, Dataset } from './datasets.ts'
import { sampleOf } from './datasets.ts'

const DELIVERIES = ['append', 'native', 'bridge'] as const satisfies readonly DeliveryName[]
/** A wire with all three deliveries. */
const WIRE = 'anthropic'

export interface CallableRow {
  readonly dataset: string
  readonly delivery: DeliveryName
  readonly queries: number
  /** Share of queries that load a right tool with the first search. */
  readonly loaded: number
  /** The same, also counting tools that are offered with a signature. */
  readonly callable: number
  /** The same, also counting tools that are only named. */
  readonly named: number
  /** Mean tokens of the loaded definitions, and of the whole answer with them. */
  readonly loadedTokens: number
  readonly answerTokens: number
  /** Tokens loaded after the right tools were removed. */
  readonly wastedTokens: number
}

/** Cost of answers to agents' queries on servers that mostly have no such tool. */
export interface CatalogueRow {
  readonly delivery: DeliveryName
  readonly tools: number
  readonly queries: number
  readonly answerTokens: number
}

export async function measureCallable(datasets: readonly Dataset[]): Promise<CallableRow[]> {
  const rows: CallableRow[] = []
  for (const { name: dataset, tools, queries } of datasets) {
    const asked = sampleOf(queries)
    const groups = new Map(tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
    for (const delivery of DELIVERIES) {
      const ask = await asker(distinct(tools).map(toolOf), delivery)
      const sums = { loaded: 0, callable: 0, named: 0, loadedTokens: 0, answerTokens: 0, wastedTokens: 0 }
      for (const query of asked) {
        const wanted = rightTools(query, groups)
        const answer = await ask(query.query)
        if (answer.loaded.some((id) => wanted.has(id))) sums.loaded += 1
        if (answer.callable.some((id) => wanted.has(id))) sums.callable += 1
        if (answer.named.some((id) => wanted.has(id))) sums.named += 1
        sums.loadedTokens += answer.loadedTokens
        sums.answerTokens += answer.answerTokens
        sums.wastedTokens += (await ask(query.query, wanted)).loadedTokens
      }
      const mean = (sum: number) => round(sum / Math.max(1, asked.length))
      rows.push({
        dataset,
        delivery,
        queries: asked.length,
        loaded: mean(sums.loaded),
        callable: mean(sums.callable),
        named: mean(sums.named),
        loadedTokens: mean(sums.loadedTokens),
        answerTokens: mean(sums.answerTokens),
        wastedTokens: mean(sums.wastedTokens),
      })
    }
  }
  return rows
}

export async function measureAnswers(
  tools: readonly Tool[],
  queries: readonly string[],
): Promise<CatalogueRow[]> {
  const rows: CatalogueRow[] = []
  for (const delivery of DELIVERIES) {
    const ask = await asker(
      tools.map((tool) => ({ ...tool, source: tool.source ?? 'own', benchId: '', about: '' })),
      delivery,
    )
    let sum = 0
    for (const query of queries) sum += (await ask(query)).answerTokens
    rows.push({
      delivery,
      tools: tools.length,
      queries: queries.length,
      answerTokens: round(sum / Math.max(1, queries.length)),
    })
  }
  return rows
}

interface Asked {
  /** Ids of the dataset. */
  readonly loaded: readonly string[]
  readonly callable: readonly string[]
  readonly named: readonly string[]
  readonly loadedTokens: number
  readonly answerTokens: number
}

/** One conversation per query over one catalogue. `without` lists denied tools. */
async function asker(tools: readonly ServerTool[], delivery: DeliveryName) {
  const tokenizer = await loadTokenizer()
  const well = createToolwell({ mode: 'on', delivery, costs: { tokenizer }, limits: { cardBudget: 0 } })
  const servers = bySource(tools)
  for (const [source, own] of servers)
    well.catalogue.setSource(source, {
      description: own[0]?.about ?? '',
      tools: own.map(({ benchId: _, about: __, source: ___, ...tool }) => tool),
    })
  const ids = idsOf(well, tools)
  const idOf = new Map([...well.catalogue.entries()].map(({ wireName, id }) => [wireName, ids.get(id) ?? '']))
  /** A further name has its server only if another tool has the same name. */
  const findId = (name: string): string => {
    const found = well.catalogue.resolve(name, () => true)
    return idOf.get(name) ?? (found.kind === 'found' ? (ids.get(found.entry.id) ?? '') : '')
  }
  let opened = 0
  return async (query: string, without: ReadonlySet<string> = new Set()): Promise<Asked> => {
    opened += 1
    const conversation = await well.open({
      id: `query-${opened}`,
      policy: ({ id }) => !without.has(ids.get(id) ?? ''),
    })
    const answer = await searchIn(conversation, query)
    const { outcome, text } = answer
    if (outcome.kind !== 'search') throw new Error(`no search: ${text}`)
    const matches = outcome.result.matches.map((match) => ({
      ...match,
      id: idOf.get(match.canonicalName) ?? '',
    }))
    const loaded = matches.filter(({ fresh }) => fresh)
    const isCallable = (match: (typeof matches)[number]) => match.fresh || match.bridged
    const loadedTokens = conversation.events.reduce((sum, event) => sum + tokensOf(event, well, tokenizer), 0)
    return {
      loaded: loaded.map(({ id }) => id),
      callable: matches.filter(isCallable).map(({ id }) => id),
      named: [...matches.map(({ id }) => id), ...outcome.result.others.map(({ name }) => findId(name))],
      loadedTokens,
      // The bridge writes schemas into the answer itself.
      answerTokens: tokenizer.count(text) + (delivery === 'bridge' ? 0 : loadedTokens),
    }
  }
}

async function searchIn(conversation: Conversation, query: string) {
  await conversation.begin({
    requestId: 'first',
    anchor: 'message',
    wire: WIRE,
    support: { native: 'references' },
  })
  const [answer] = await conversation.run([
    { callId: 'call', anchor: 'call', name: conversation.loader, input: { value: { query } } },
  ])
  if (!answer) throw new Error('no answer')
  return answer
}

/** Tokens of a sent definition, with its wire name. */
function tokensOf(
  event: Conversation['events'][number],
  { catalogue }: Toolwell,
  tokenizer: { count(text: string): number },
): number {
  if (event.kind !== 'loaded') return 0
  const definition = event.tool.definition ?? catalogue.get(event.tool.id)?.tool
  if (!definition) return 0
  const { description = '', inputSchema } = definition
  const { tool } = fitWire({ name: event.tool.wireName, description, inputSchema }, WIRE)
  return tokenizer.count(JSON.stringify(tool))
}

interface ServerTool extends Tool {
  readonly source: string
  readonly benchId: string
  /** The server's description. */
  readonly about: string
}

function toolOf({ id, name, description, inputSchema, server, serverDescription }: BenchTool): ServerTool {
  const isObject = (inputSchema as { type?: unknown }).type === 'object'
  return {
    name,
    description,
    inputSchema: isObject ? inputSchema : { type: 'object', properties: {} },
    source: server || 'own',
    benchId: id,
    about: serverDescription,
  }
}

function bySource(tools: readonly ServerTool[]): Map<string, ServerTool[]> {
  const sources = new Map<string, ServerTool[]>()
  for (const tool of tools) sources.set(tool.source, [...(sources.get(tool.source) ?? []), tool])
  return sources
}

/** Variants of a function count as one answer, so a catalogue has one tool per name and server. */
function distinct(tools: readonly BenchTool[]): BenchTool[] {
  return [
    ...new Map([...tools].reverse().map((tool) => [`${tool.server}\n${tool.name}`, tool])).values(),
  ].reverse()
}

/** Catalogue id → id of the dataset. */
function idsOf(well: Toolwell, tools: readonly ServerTool[]): Map<string, string> {
  const byName = new Map(tools.map(({ source, name, benchId }) => [`${source}\n${name}`, benchId]))
  return new Map(
    [...well.catalogue.entries()].map(({ id, source, tool }) => [
      id,
      byName.get(`${source}\n${tool.name}`) ?? '',
    ]),
  )
}

function rightTools({ relevant }: BenchQuery, groups: ReadonlyMap<string, string>): Set<string> {
  const wanted = new Set(relevant.map((id) => groups.get(id)))
  return new Set([...groups].filter(([, group]) => wanted.has(group)).map(([id]) => id))
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
