/** The other half of the reference: what each call must come to, and what a batch or a step of the host leaves behind. */
import { Surface, wireOf } from './reference.js'
import { type Rules, specOf, UNIVERSE } from './world.js'

/** The tools that a name can mean; `exact`: it is the name on the wire. */
export interface Asked {
  readonly ids: readonly string[]
  readonly exact: boolean
  readonly group?: true
}
export type Input = 'fits' | 'misfits' | 'no-object' | 'unparsable'
export type Call =
  | { readonly kind: 'target'; readonly asked: Asked; readonly input: Input; readonly bridged: boolean }
  | { readonly kind: 'nobody'; readonly input: Input; readonly reserve: boolean; readonly bridged: boolean }
  | {
      readonly kind: 'search'
      readonly input: Input
      readonly unload: readonly Asked[]
      readonly select: readonly Asked[]
      readonly found: readonly string[]
    }
type Batch = Record<'loaded' | 'unloaded' | 'inUse', Set<string>>
type Effect = () => void

const createBatch = (): Batch => ({ loaded: new Set(), unloaded: new Set(), inUse: new Set() })
const isRun = (outcome: string | undefined) => outcome === 'result' || outcome === 'error'

export class Reference extends Surface {
  clone(): Reference {
    const { rules, world, ...data } = this
    return Object.assign(new Reference(rules, world), structuredClone(data))
  }
  child(rules: Rules, snapshot: boolean): Reference {
    const made = new Reference(rules, this.world)
    for (const id of snapshot ? this.held : [])
      if (made.shows(id, 'load') && made.isDeferred(id)) made.hold(id, false)
    return made
  }

  /** Loaded, on the surface or away from it. */
  private get held(): string[] {
    return [...[...this.tail.keys()].filter((id) => this.isLive(id)), ...this.parked.keys()]
  }
  private counts(id: string): boolean {
    return (this.isLive(id) ? this.tail.get(id) : this.parked.get(id))?.late === false
  }
  private mates(id: string): string[] {
    const { group } = specOf(id)
    if (group === undefined || !this.exists(id)) return [id]
    const mates = UNIVERSE.filter((each) => each.group === group && this.exists(each.id))
    return mates.map((each) => each.id).sort()
  }
  private unit(id: string): string[] {
    const usable = this.mates(id).filter((each) => this.may(each, 'load'))
    return usable.includes(id) ? usable : [id]
  }
  private drop(id: string): void {
    const held = this.tail.get(id)
    if (!held?.live) this.parked.delete(id)
    else if (held.place === 'text') this.tail.delete(id)
    else held.live = false
    this.recent = this.recent.filter((each) => each !== id)
  }

  /** Loads all of these or none, within the cap; the units that were not used for longest make room. */
  private loadUnit(unit: readonly string[], batch: Batch): Effect[] {
    const missing = unit.filter((id) => !this.isLoaded(id) && !batch.loaded.has(id))
    for (const id of unit) batch.inUse.add(id)
    const counted = new Set([...this.tail.keys(), ...this.parked.keys()].filter((id) => this.counts(id)))
    for (const id of batch.unloaded) counted.delete(id)
    for (const id of [...batch.loaded, ...missing]) counted.add(id)
    const out: string[] = []
    for (const id of this.recent) {
      if (counted.size - out.length <= (this.rules.maxLoaded ?? UNIVERSE.length)) break
      const mates = this.mates(id).filter((each) => this.counts(each))
      const isFree = (each: string) =>
        !batch.inUse.has(each) && !batch.unloaded.has(each) && !out.includes(each)
      if (mates.every(isFree)) out.push(...mates)
    }
    if (missing.length === 0 || counted.size - out.length > (this.rules.maxLoaded ?? UNIVERSE.length))
      return []
    for (const id of out) if (batch.unloaded.add(id)) batch.loaded.delete(id)
    for (const id of missing) if (batch.loaded.add(id)) batch.unloaded.delete(id)
    return [...out.map((id) => () => this.drop(id)), ...missing.map((id) => () => this.hold(id, false))]
  }

  load(names: readonly Asked[]): void {
    const batch = createBatch()
    for (const asked of names) {
      const ids = asked.ids.filter((id) => this.exists(id))
      for (const id of asked.group || ids.length === 1 ? ids : []) if (this.isLoaded(id)) batch.inUse.add(id)
    }
    const effects = names.flatMap((asked) => {
      const [first, ...others] = asked.ids.filter((id) => this.exists(id))
      if (first === undefined || (others.length > 0 && !asked.group)) return []
      const unit = asked.group ? [first, ...others] : [...new Set([first, ...this.unit(first)])]
      if (!unit.every((id) => this.may(id, 'load'))) return []
      return this.loadUnit(
        unit.filter((id) => this.isDeferred(id)),
        batch,
      )
    })
    for (const effect of effects) effect()
  }
  unload(names: readonly Asked[]): void {
    for (const id of new Set(names.flatMap((asked) => this.loadedUnit(asked, new Set())))) this.drop(id)
  }
  private loadedUnit({ ids, group }: Asked, unloaded: ReadonlySet<string>): string[] {
    const live = ids.filter((id) => this.exists(id) && this.isLive(id) && !unloaded.has(id))
    const [first] = live
    if (group || first === undefined || live.length > 1) return group ? live : []
    return [...new Set([first, ...this.mates(first).filter((id) => this.counts(id))])]
  }
  compact(keeps: (wire: string) => boolean): void {
    const out = this.held.filter((id) => !keeps(wireOf(id)))
    for (const id of new Set(out.flatMap((each) => this.mates(each)))) if (this.counts(id)) this.drop(id)
    if (this.mode !== 'none') this.due ??= 'compaction'
  }
  clear(): void {
    const { distrusted, latches, mode } = this
    const due = mode === 'none' ? this.due : 'clear'
    Object.assign(this, new Reference(this.rules, this.world), { distrusted, latches, due })
  }

  /** `until`: how far the batch was written down. */
  run(calls: readonly Call[], until: 'nothing' | 'start' | 'end' = 'end'): string[] {
    const batch = createBatch()
    const outcomes = calls.map((call) => this.judge(call))
    const ran = calls.map((call, index) =>
      call.kind === 'target' && isRun(outcomes[index]) ? (this.meant(call.asked) ?? '') : '',
    )
    const loads = ran.map((id, index) => outcomes[index] === 'result' && this.searches && !this.isLoaded(id))
    for (const id of ran) batch.inUse.add(id)
    const effects = calls.flatMap((call, index) =>
      call.kind === 'search' && outcomes[index] === 'search' ? this.search(call, batch) : [],
    )
    if (until !== 'nothing') for (const id of ran) this.touch(id)
    ran.forEach((id, index) => {
      effects.push(() => this.touch(id))
      if (loads[index] && this.may(id, 'load')) effects.push(...this.loadUnit(this.unit(id), batch))
    })
    if (until !== 'end') return outcomes
    for (const effect of effects) effect()
    this.reserveCalled ||= calls.some(
      (call) => call.kind === 'nobody' && call.reserve && this.delivery === 'native',
    )
    return outcomes
  }

  /** The one tool a call's name means: declared, available, or announced. */
  private meant({ ids, exact }: Asked): string | undefined {
    const [first = ''] = ids
    if (exact && (this.eager.includes(first) || this.tail.has(first))) return first
    const usable = ids.filter((id) => this.may(id))
    const known = ids.filter((id) => this.exists(id) && (!this.denies(id, 'see') || this.mentioned.has(id)))
    const some = usable.length > 0 ? usable : known
    return some.length === 1 ? some[0] : undefined
  }
  /** `gone`: it cannot be used, and the model may or may not know why. */
  private judge(call: Call): string {
    const { kind, input } = call
    const isBridged = kind !== 'search' && call.bridged && this.searches && this.delivery === 'bridge'
    const isSearch = kind === 'search' && this.searches
    if (isSearch && this.denies('toolwell/tool_search', 'call')) return 'denied'
    if (input === 'unparsable' || (input === 'no-object' && !isSearch)) return 'invalid'
    if (isSearch) return 'search'
    if (isBridged && this.denies('toolwell/tool_call', 'call')) return 'denied'
    if (kind !== 'target' || (call.bridged && !isBridged)) return 'unknown'
    const id = this.meant(call.asked)
    if (id === undefined) return call.asked.ids.some((each) => this.mentioned.has(each)) ? 'gone' : 'unknown'
    if (!this.may(id)) return 'gone'
    const isHidden = this.searches && !this.isLoaded(id)
    if (isHidden && !this.may(id, 'load')) return 'denied'
    if (isHidden && this.rules.hiddenCalls !== 'load-and-run')
      return this.rules.hiddenCalls === 'hint' ? 'hint' : 'refused'
    if (input === 'misfits') return isHidden || this.mode === 'none' ? 'schema-needed' : 'invalid'
    if (!this.may(id, 'call')) return 'denied'
    return specOf(id).fails ? 'error' : 'result'
  }
  private search({ unload, select, found }: Extract<Call, { kind: 'search' }>, batch: Batch): Effect[] {
    const effects: Effect[] = []
    for (const asked of unload) {
      const unit = this.loadedUnit(asked, batch.unloaded)
      // A group goes as a whole, and not while one of it is in use.
      if (unit.some((id) => batch.inUse.has(id))) continue
      for (const id of unit) if (batch.unloaded.add(id)) effects.push(() => this.drop(id))
    }
    const chosen = select.flatMap(({ ids, group }) => {
      const known = ids.filter((id) => this.exists(id) && !this.denies(id, 'see'))
      return group || known.length === 1 ? known : []
    })
    for (const id of chosen)
      if (this.may(id, 'load') && this.isLoaded(id)) {
        batch.inUse.add(id)
        // Asked for by name is used.
        effects.push(() => this.touch(id))
      }
    const hits = [...found.filter((id) => !this.isLoaded(id)), ...found.filter((id) => this.isLoaded(id))]
    for (const id of new Set([...chosen, ...hits])) {
      if (!this.may(id, 'load')) continue
      const unit = this.unit(id)
      if (unit.every((each) => this.isLoaded(each) || batch.loaded.has(each))) batch.inUse.add(id)
      else effects.push(...this.loadUnit(unit, batch))
    }
    return effects
  }
}
