/** A tool on its way through one search: what may be raised of it, and how it is shown. */
import type { Batch } from '../activation.js'
import type { Entry } from '../catalogue.js'
import type { Context } from '../context.js'
import { isLoaded, type LedgerState } from '../ledger.js'
import type { DropReason } from '../ledger-event.js'
import { answerForm, isInArray } from '../placement.js'
import { signatureOf } from '../signature.js'
import { riskOf } from '../tool.js'
import type { Match } from './result.js'

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
  /** Surely meant: it is loaded. Otherwise it is offered by its signature. */
  readonly sure: boolean
  readonly score: number
}

/** Decides, in order, what keyword hits may still be raised by this one answer. */
export function createAllowance(candidates: readonly Candidate[], state: LedgerState, context: Context) {
  const { activationLimit, largeTool, resultBudget } = context.settings
  const withSchemas = answerForm(state, context.settings) !== 'signature'
  const fresh = candidates.filter((candidate) => !candidate.explicit && !isLoaded(state, candidate.entry.id))
  const best = fresh[0]?.score ?? 0
  const rivals = new Set(fresh.filter(({ score }) => score >= best * 0.9).map(({ entry }) => entry.source))
  const perSource = new Map<string, number>()
  let left = activationLimit
  let budget = resultBudget
  return {
    refuse({ entry, explicit, named }: Candidate, unit: readonly Entry[]): DropReason | undefined {
      const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
      if (explicit) return undefined
      if (cost > largeTool) return 'too-large'
      if (named) return undefined
      if (left < unit.length && left < activationLimit) return 'activation-limit'
      const taken = perSource.get(entry.source) ?? 0
      if (rivals.size > 1 && taken >= Math.max(1, Math.floor(activationLimit / rivals.size)))
        return 'diversity'
      if (withSchemas && cost > budget) return 'result-budget'
      left -= unit.length
      budget -= cost
      perSource.set(entry.source, taken + 1)
      return undefined
    },
  }
}

export function toMatch(
  entry: Entry,
  candidate: Candidate | undefined,
  fresh: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Match {
  const { tool } = entry
  const definition = context.definition(entry)
  const loaded = (isLoaded(state, entry.id) && !batch.lowered.has(entry.id)) || batch.raised.has(entry.id)
  const pin = state.eager.get(entry.id) ?? state.tail.get(entry.id)?.pin
  const { schemas } = context.settings
  const withSchema =
    answerForm(state, context.settings) !== 'signature' &&
    (fresh || (loaded && candidate?.explicit === true && (schemas === 'twice' || !(pin && isInArray(pin)))))
  const risk = riskOf(tool)
  return {
    name: candidate?.deprecated && candidate.alias !== undefined ? candidate.alias : entry.wireName,
    canonicalName: entry.wireName,
    status: candidate?.deprecated ? 'deprecated_alias' : loaded ? 'loaded' : 'available_lazy',
    fresh,
    bridged: state.latch?.delivery === 'bridge' && !state.eager.has(entry.id),
    title: tool.title ?? tool.annotations?.title ?? tool.name,
    description: definition.description,
    domain: tool.domain ?? entry.source,
    aliases: context.catalogue.aliasesOf(entry.id),
    ...(risk === undefined ? {} : { risk }),
    ...(withSchema ? { schemaPreview: definition.inputSchema } : {}),
    signature: signatureOf(entry.wireName, definition.inputSchema),
    loadToken: context.loadToken(entry),
  }
}
