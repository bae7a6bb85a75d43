/** One search call from the model's arguments to the text it reads and the facts that are recorded. */
import { isRecord } from '../base/data.js'
import { safeJson } from '../base/text.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import { answerForm, deliveries } from '../surface/deliveries.js'
import type { SearchRequest } from '../surface/meta-tools.js'
import type { Batch } from './load.js'
import { listRevealed } from './search-call/candidate.js'
import { cutQuery, findTools } from './search-call/find.js'
import type { MachineLine } from './search-call/machine-line.js'
import { renderSearch } from './search-call/render.js'
import type { AnswerVerdict, ModelCall } from './verdict.js'

export async function answerSearch(
  call: ModelCall,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<AnswerVerdict> {
  const { tokenizer } = context.settings
  const request = readRequest(call, context)
  const found = await findTools(request, state, context, batch)
  const references = deliveries[state.frozen?.delivery ?? 'append'].answers === 'reference'
  const text = renderSearch(found.result, createMachineLine(found, state, context), context, references)
  const shown = references ? listRevealed(found.result) : []
  const shownTokens = shown.reduce((sum, tool) => sum + tokenizer.count(JSON.stringify(tool)), 0)
  const searched: LedgerFact = {
    kind: 'searched',
    query: cutQuery(request.query),
    loaded: found.loaded,
    ...(found.shown.length > 0 ? { shown: found.shown } : {}),
    dropped: found.result.dropped.map(({ name, reason }) => ({ tool: name, reason })),
    missed: found.missed,
    tokens: tokenizer.count(text) + tokenizer.count(JSON.stringify(request)),
    ...(shown.length > 0 ? { revealed: shownTokens } : {}),
    ...(found.again.length > 0 ? { again: found.again } : {}),
  }
  const facts = found.facts.map((fact) =>
    fact.kind === 'loaded' && fact.shown && !references
      ? { ...fact, shown: isSchemaShown(fact.tool.id, text, context) }
      : fact,
  )
  return {
    kind: 'answer',
    call,
    outcome: { kind: 'search', result: found.result, text },
    facts: [searched, ...facts],
  }
}

function createMachineLine(
  found: { readonly loaded: readonly string[]; readonly unloaded: readonly string[] },
  state: LedgerState,
  { catalogue, settings }: Context,
): MachineLine {
  const loaded = found.loaded.flatMap((id) => catalogue.get(id) ?? [])
  const { unloaded } = found
  return answerForm(state, settings) === 'name'
    ? { loaded: [], named: loaded.map(({ wireName }) => wireName), unloaded }
    : { loaded, named: [], unloaded }
}

/** A search tool renders as it likes. A schema counts as shown only if its answer contains it. */
function isSchemaShown(id: string, text: string, context: Context): boolean {
  const entry = context.catalogue.get(id)
  if (!entry || !context.settings.searchTool.render) return true
  const { inputSchema } = context.definition(entry)
  return (
    text.includes(safeJson(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema, null, 2))
  )
}

/** A search tool is the host's code. If it fails on the model's input, the query is empty. */
function readRequest(call: ModelCall, context: Context): SearchRequest {
  const input = 'value' in call.input && isRecord(call.input.value) ? call.input.value : {}
  try {
    const request = context.settings.searchTool.read(input)
    if (typeof request.query === 'string') return request
    throw new Error('it gave no query')
  } catch (error) {
    context.notify({ kind: 'hook-failed', hook: 'search.tool.read', detail: String(error) })
    return { query: '' }
  }
}
