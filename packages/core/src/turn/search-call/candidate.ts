/** A tool on its way through one search: what may be loaded of it, and how it is shown. */

import { defined } from '../../base/guards.js'
import type { Entry } from '../../catalogue/catalogue.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import type { Match } from '../../search/result.js'
import type { Context } from '../../surface/context.js'
import { answerForm, isInArray } from '../../surface/placement.js'
import type { DropReason } from '../../tool/reasons.js'
import { signatureOf } from '../../tool/signature.js'
import { riskOf } from '../../tool/tool.js'
import type { Batch } from '../load/batch.js'

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

/** Decides, in order, what keyword hits may still be loaded by this one answer. */
export function createAllowance(candidates: readonly Candidate[], state: LedgerState, context: Context) {
  const { loadLimit, largeTool, resultBudget } = context.settings
  const withSchemas = answerForm(state, context.settings) !== 'signature'
  const fresh = candidates.filter(
    (candidate) => !candidate.explicit && !isOnSurface(state, candidate.entry.id),
  )
  const best = fresh[0]?.score ?? 0
  const rivals = new Set(fresh.filter(({ score }) => score >= best * 0.9).map(({ entry }) => entry.source))
  const perSource = new Map<string, number>()
  let left = loadLimit
  let budget = resultBudget
  return {
    refuse({ entry, explicit, named }: Candidate, unit: readonly Entry[]): DropReason | undefined {
      const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
      if (explicit) return undefined
      if (cost > largeTool) return 'too-large'
      if (named) return undefined
      if (left < unit.length && left < loadLimit) return 'load-limit'
      const taken = perSource.get(entry.source) ?? 0
      if (rivals.size > 1 && taken >= Math.max(1, Math.floor(loadLimit / rivals.size))) return 'diversity'
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
  const loaded = (isOnSurface(state, entry.id) && !batch.unloaded.has(entry.id)) || batch.loaded.has(entry.id)
  const pin = state.tools.eager.get(entry.id) ?? state.tools.loaded.get(entry.id)?.pin
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
    bridged: state.latch?.delivery === 'bridge' && !state.tools.eager.has(entry.id),
    title: tool.title ?? tool.annotations?.title ?? tool.name,
    description: definition.description,
    domain: tool.domain ?? entry.source,
    aliases: context.catalogue.aliasesOf(entry.id),
    ...defined({ risk }),
    ...(withSchema
      ? defined({
          schemaPreview: definition.inputSchema,
          strict: definition.strict,
          inputExamples: definition.inputExamples,
          source: entry.source || undefined,
        })
      : {}),
    signature: signatureOf(entry.wireName, definition.inputSchema),
    loadToken: context.loadToken(entry),
  }
}
