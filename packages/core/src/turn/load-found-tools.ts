/** Decides which found tools a search loads, loads them, and describes each as a match. */

import { dropUndefined } from '../base/data.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import { isOnSurface, type LedgerState } from '../ledger/fold.js'
import type { Match, SearchResult } from '../search/result.js'
import { extraTokens, rivalServerShare, unclearTokens } from '../search/tuning.js'
import type { Context } from '../surface/context.js'
import { answerForm, deliveries, isInArray } from '../surface/deliveries.js'
import type { Dropped, DropReason } from '../tool/notice.js'
import { writeShortSignature, writeSignature } from '../tool/signature.js'
import { inferRisk } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import { type Batch, type LoadOutcome, type LoadRequest, listGroupMembers, load } from './load.js'

/** A tool that a search found. */
export interface Candidate {
  readonly entry: Entry
  readonly asked: string
  readonly alias: string | undefined
  readonly deprecated: boolean
  /** Named in `select:`. Limit, size and cut-off do not apply. */
  readonly explicit: boolean
  /** The query contains its exact name. Other hits do not displace it. */
  readonly named: boolean
  /** It may be loaded. Otherwise the answer only offers its signature. */
  readonly sure: boolean
  /** It covers enough of the words in the query, or no hit does. */
  readonly clear: boolean
  readonly score: number
}

/** Loads candidates as far as limits and budgets allow. `unclear`: no candidate is a clear answer. */
export function loadFoundTools(
  candidates: readonly Candidate[],
  unclear: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): LoadOutcome {
  const outcome = {
    facts: [] as LedgerFact[],
    loaded: [] as string[],
    evicted: [] as string[],
    dropped: [] as Dropped[],
  }
  const allowance = createAllowance(candidates, unclear, state, context)
  const shown = answerForm(state, context.settings) !== 'name'
  const loadCandidate = (candidate: Candidate, unit: readonly Entry[]) => {
    const { explicit, asked, alias } = candidate
    const source = explicit ? 'select' : 'search'
    const requests = unit.map(
      (member): LoadRequest => ({ entry: member, source, asked, ...dropUndefined({ alias }), shown }),
    )
    const made = load(state, context, batch, requests)
    if (made.loaded.length > 0) allowance.spend(candidate, unit)
    outcome.facts.push(...made.facts)
    outcome.loaded.push(...made.loaded)
    outcome.evicted.push(...made.evicted)
    // A group is refused once for each member that was found. List each member once.
    const isNew = ({ tool }: Dropped) => !outcome.dropped.some((known) => known.tool === tool)
    outcome.dropped.push(...made.dropped.filter(isNew))
  }
  // No tool that was asked for by name is evicted to make room for another one.
  for (const { entry, explicit } of candidates)
    if (explicit && isOnSurface(state, entry.id)) batch.inUse.add(entry.id)
  const postponed: Candidate[] = []
  for (const [round, waiting] of [candidates, postponed].entries())
    for (const candidate of waiting) {
      const unit = listGroupMembers(context, candidate.entry)
      if (unit.every(({ id }) => isOnSurface(state, id) || batch.loaded.has(id))) {
        batch.inUse.add(candidate.entry.id)
        continue
      }
      const verdict = allowance.decide(candidate, unit, round > 0)
      if (verdict === 'load') loadCandidate(candidate, unit)
      else if (verdict === 'diversity') postponed.push(candidate)
      else if (verdict !== 'offer') {
        const reason = round > 0 ? 'diversity' : verdict
        outcome.dropped.push({ tool: candidate.entry.id, reason })
      }
    }
  return outcome
}

/** Load the candidate, offer its signature, or drop it for a reason. */
type LoadDecision = 'load' | 'offer' | DropReason

/**
 * Decides, in order, which found tools one answer loads: all tools asked for by name; the first keyword hit if it is not too
 * large; and each further hit that fits the remaining budget. If several servers match equally well, each first gets an equal
 * share of the places (`diversity`). The second round fills the places that are left.
 */
function createAllowance(
  candidates: readonly Candidate[],
  unclear: boolean,
  state: LedgerState,
  context: Context,
) {
  const { loadLimit, largeTool, resultBudget } = context.settings
  const form = answerForm(state, context.settings)
  const withSchemas = form !== 'name'
  const fresh = candidates.filter(
    (candidate) => !candidate.explicit && !isOnSurface(state, candidate.entry.id),
  )
  const best = fresh[0]?.score ?? 0
  const rivals = new Set(
    fresh.filter(({ score }) => score >= best * rivalServerShare).map(({ entry }) => entry.source),
  )
  const perSource = new Map<string, number>()
  const budget = readBudget(context.settings, unclear, state)
  let tokensLeft = budget.tokens
  let extraLeft = budget.extra
  let hasSkipped = false
  let isFirst = true
  let left = loadLimit
  let schemaRoom = resultBudget
  const costs = (unit: readonly Entry[]) => {
    const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
    const names = countNameTokens(unit, context)
    return { cost, added: form === 'schema' ? cost - names : form === 'name' ? cost + names : cost }
  }
  return {
    decide(
      { entry, explicit, named, sure, clear }: Candidate,
      unit: readonly Entry[],
      isSecondRound = false,
    ): LoadDecision {
      const { cost, added } = costs(unit)
      if (explicit) return 'load'
      const wasFirst = isFirst && sure && !named
      if (wasFirst) isFirst = false
      if (cost > largeTool) {
        hasSkipped ||= sure && clear && !unclear
        return 'too-large'
      }
      if (named) return 'load'
      if (!sure) return 'offer'
      if (left < unit.length && left < loadLimit) return 'load-limit'
      const taken = perSource.get(entry.source) ?? 0
      const share = rivals.size > 1 ? Math.max(1, Math.floor(loadLimit / rivals.size)) : loadLimit
      if (!isSecondRound && taken >= share) return 'diversity'
      if (withSchemas && cost > schemaRoom) return 'result-budget'
      // An unclear hit must not replace a clear hit that was too large.
      if (!clear && (hasSkipped || added > extraLeft)) return 'offer'
      if (added > (wasFirst ? budget.first : tokensLeft)) {
        hasSkipped ||= clear && !unclear
        return wasFirst && !unclear ? 'too-large' : 'offer'
      }
      return 'load'
    },
    /** Subtracts a loaded unit from the budget. Units that a cap refused cost nothing. */
    spend({ entry, explicit, named, clear }: Candidate, unit: readonly Entry[]): void {
      if (explicit || named) return
      const { cost, added } = costs(unit)
      tokensLeft -= added
      if (!clear) extraLeft -= added
      left -= unit.length
      schemaRoom -= cost
      perSource.set(entry.source, (perSource.get(entry.source) ?? 0) + 1)
    },
  }
}

/**
 * Counts the tokens of the names. An answer with schemas names offered tools anyway, so loading adds only the rest. If the
 * next request declares the tools, the answer names them in addition.
 */
function countNameTokens(unit: readonly Entry[], { settings }: Context): number {
  return unit.reduce((sum, { wireName }) => sum + settings.tokenizer.count(wireName), 0)
}

const unlimited = Number.POSITIVE_INFINITY

interface Budget {
  /** Tokens of the first hit. */
  readonly first: number
  /** Tokens of all hits. */
  readonly tokens: number
  /** Tokens of unclear hits in addition to clear ones. */
  readonly extra: number
}

function readBudget({ autoLoad }: Context['settings'], unclear: boolean, { frozen }: LedgerState): Budget {
  if (typeof autoLoad !== 'object') return { first: unlimited, tokens: unlimited, extra: unlimited }
  const { first, tokens = deliveries[frozen?.delivery ?? 'append'].loads } = autoLoad
  const most = unclear ? unclearTokens : unlimited
  return { first: Math.min(first, most), tokens: Math.min(tokens, most), extra: extraTokens }
}

/** Describes a tool as a search result lists it. */
export function createMatch(
  entry: Entry,
  candidate: Candidate | undefined,
  fresh: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Match {
  const { tool } = entry
  const definition = context.definition(entry)
  const loaded = (isOnSurface(state, entry.id) && !batch.unloaded.has(entry.id)) || batch.loaded.has(entry.id)
  const pin = state.tools.eager.get(entry.id) ?? state.tools.loaded.get(entry.id)?.pin
  const { schemas } = context.settings
  const withSchema =
    answerForm(state, context.settings) !== 'name' &&
    (fresh || (loaded && candidate?.explicit === true && (schemas === 'twice' || !(pin && isInArray(pin)))))
  const risk = inferRisk(tool)
  const bridged = state.frozen?.delivery === 'bridge' && !state.tools.eager.has(entry.id)
  // Complete on the bridge, where the model calls the tool by its signature, and for a search tool with its own rendering.
  const signature = bridged || context.settings.searchTool.render ? writeSignature : writeShortSignature
  return {
    name: candidate?.deprecated && candidate.alias !== undefined ? candidate.alias : entry.wireName,
    canonicalName: entry.wireName,
    status: candidate?.deprecated ? 'deprecated_alias' : loaded ? 'loaded' : 'available_lazy',
    fresh,
    bridged,
    title: tool.title ?? tool.annotations?.title ?? tool.name,
    description: definition.description,
    domain: tool.domain ?? entry.source,
    aliases: context.catalogue.listAliases(entry.id),
    ...dropUndefined({ risk }),
    ...(withSchema
      ? dropUndefined({
          schemaPreview: definition.inputSchema,
          strict: definition.strict,
          inputExamples: definition.inputExamples,
          callers: definition.callers,
          source: entry.source || undefined,
        })
      : {}),
    signature: signature(entry.wireName, definition.inputSchema),
    loadToken: context.loadToken(entry),
  }
}

/** Lists the tools whose definitions an answer shows or refers to. */
export function listRevealed(result: SearchResult): readonly WireTool[] {
  return result.matches.flatMap(
    ({ canonicalName: name, description, schemaPreview, strict, inputExamples, callers, source }) =>
      schemaPreview === undefined
        ? []
        : [
            {
              name,
              description,
              inputSchema: schemaPreview,
              ...dropUndefined({ strict, inputExamples, callers, source }),
            },
          ],
  )
}
