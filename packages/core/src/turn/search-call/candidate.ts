/** A tool on its way through one search: what may be loaded of it, and how it is shown. */

import { dropUndefined } from '../../base/data.js'
import type { Entry } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import type { Match, SearchResult } from '../../search/result.js'
import type { Context } from '../../surface/context.js'
import { answerForm, deliveries, isInArray } from '../../surface/deliveries.js'
import type { Dropped, DropReason } from '../../tool/notice.js'
import { writeShortSignature, writeSignature } from '../../tool/signature.js'
import { inferRisk } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { type Batch, type LoadRequest, listGroupMembers, load } from '../load.js'

/** One tool on its way through the search. */
export interface Candidate {
  readonly entry: Entry
  readonly asked: string
  readonly alias: string | undefined
  readonly deprecated: boolean
  /** Asked for by exact name: no limit, size or cut-off applies. */
  readonly explicit: boolean
  /** Its exact name stands in the query: no rival displaces it. */
  readonly named: boolean
  /** It may be loaded. Otherwise it is offered by its signature, whatever room there is. */
  readonly sure: boolean
  /** It accounts for enough of what was asked for, or nothing does. */
  readonly clear: boolean
  readonly score: number
}

/** What becomes of a candidate: it is loaded, offered by its signature, or left out for a limit that is named. */
export type LoadDecision = 'load' | 'offer' | DropReason

/** Tokens that a search loads of what is only the nearest there is; and, where something is clear, of what is not. */
const UNCLEAR_TOKENS = 200
const EXTRA_TOKENS = 500

/**
 * Decides, in order, what of the found tools one answer loads. What is asked for by name always is; of keyword hits the first, if
 * it is not too large, and each next one that still fits the budget: one that does not is passed over, not the end. Where several
 * servers fit equally well, each has its share of the places first (`diversity`); what is then left is for those set aside.
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
  const rivals = new Set(fresh.filter(({ score }) => score >= best * 0.9).map(({ entry }) => entry.source))
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
      // What does less of what was asked for is not loaded in place of what does it.
      if (!clear && (hasSkipped || added > extraLeft)) return 'offer'
      if (added > (wasFirst ? budget.first : tokensLeft)) {
        hasSkipped ||= clear && !unclear
        return wasFirst && !unclear ? 'too-large' : 'offer'
      }
      return 'load'
    },
    /** Of what was loaded; what a cap refused takes nothing from the next. */
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
 * An answer that holds the schemas holds the names of what it only offers, too: loading adds the rest. Where the next request
 * declares them, the answer names them besides.
 */
function countNameTokens(unit: readonly Entry[], { settings }: Context): number {
  return unit.reduce((sum, { wireName }) => sum + settings.tokenizer.count(wireName), 0)
}

const unlimited = Number.POSITIVE_INFINITY

interface Budget {
  /** Of the first answer alone, of all, and of those that are less than clear beside one that is. */
  readonly first: number
  readonly tokens: number
  readonly extra: number
}

function readBudget({ autoLoad }: Context['settings'], unclear: boolean, { frozen }: LedgerState): Budget {
  if (typeof autoLoad !== 'object') return { first: unlimited, tokens: unlimited, extra: unlimited }
  const { first, tokens = deliveries[frozen?.delivery ?? 'append'].loads } = autoLoad
  const most = unclear ? UNCLEAR_TOKENS : unlimited
  return { first: Math.min(first, most), tokens: Math.min(tokens, most), extra: EXTRA_TOKENS }
}

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
  // Only through the bridge is a tool called by what this answer says of it.
  const signature = bridged ? writeSignature : writeShortSignature
  return {
    name: candidate?.deprecated && candidate.alias !== undefined ? candidate.alias : entry.wireName,
    canonicalName: entry.wireName,
    status: candidate?.deprecated ? 'deprecated_alias' : loaded ? 'loaded' : 'available_lazy',
    fresh,
    bridged,
    title: tool.title ?? tool.annotations?.title ?? tool.name,
    description: definition.description,
    domain: tool.domain ?? entry.source,
    aliases: context.catalogue.aliasesOf(entry.id),
    ...dropUndefined({ risk }),
    ...(withSchema
      ? dropUndefined({
          schemaPreview: definition.inputSchema,
          strict: definition.strict,
          inputExamples: definition.inputExamples,
          source: entry.source || undefined,
        })
      : {}),
    signature: signature(entry.wireName, definition.inputSchema),
    loadToken: context.loadToken(entry),
  }
}

// Where a search becomes loaded tools: one candidate after the other, as far as limits and budgets allow.

export interface LoadedFoundTools {
  readonly facts: readonly LedgerFact[]
  /** Ids. */
  readonly loaded: readonly string[]
  readonly evicted: readonly string[]
  readonly dropped: readonly Dropped[]
}

/** `unclear`: they are only the nearest there is. */
export function loadFoundTools(
  candidates: readonly Candidate[],
  unclear: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): LoadedFoundTools {
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
    // Members of one group are refused together, once for each that was found.
    const isNew = ({ tool }: Dropped) => !outcome.dropped.some((known) => known.tool === tool)
    outcome.dropped.push(...made.dropped.filter(isNew))
  }
  // What is asked for by name makes no room for its neighbour in the list.
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

// What a search answer brings into sight.

/** The found tools that an answer shows in full, or refers to. */
export function listRevealed(result: SearchResult): readonly WireTool[] {
  return result.matches.flatMap(
    ({ canonicalName: name, description, schemaPreview, strict, inputExamples, source }) =>
      schemaPreview === undefined
        ? []
        : [
            {
              name,
              description,
              inputSchema: schemaPreview,
              ...dropUndefined({ strict, inputExamples, source }),
            },
          ],
  )
}
