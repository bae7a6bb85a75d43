/** A second, small model of a conversation: sets and rules from the contract, none of its code. This file: the tools a request declares. */
import {
  type Action,
  type Delivery,
  type Rules,
  type Spec,
  specOf,
  stateOf,
  UNIVERSE,
  type World,
} from './world.js'

export interface Held {
  live: boolean
  /** Not loaded by anyone: an eager tool that came after the latch. */
  readonly late: boolean
  readonly place: 'array' | 'aside' | 'text'
}

export const wireOf = (id: string) => specOf(id).wire
const byWire = (a: string, b: string) => (wireOf(a) < wireOf(b) ? -1 : 1)
const IDS = UNIVERSE.map(({ id }: Spec) => id)

export class Surface {
  mode: 'none' | 'off' | 'on' = 'none'
  delivery: Delivery = 'append'
  wire = ''
  latches = 0
  due: 'clear' | 'compaction' | undefined
  eager: string[] = []
  /** Loaded under this latch, in order, unloaded ones too where their place is kept. */
  tail = new Map<string, Held>()
  /** Loaded, and off the surface since a latch. */
  parked = new Map<string, Held>()
  told = new Set<string>()
  mentioned = new Set<string>()
  sources = new Map<string, string>()
  /** The tools the list of hidden tools was built from, if it is kept current. */
  listed = ''
  /** Whom the list names. */
  cards: string[] = []
  /** Known here, and not to be used as of the last request. */
  suspended = new Set<string>()
  /** Least recently used first. */
  recent: string[] = []
  distrusted = false
  reserveCalled = false
  constructor(
    readonly rules: Rules,
    readonly world: World,
  ) {}

  exists(id: string): boolean {
    return this.world.sources.get(specOf(id).source)?.tools.has(id) === true
  }
  denies(id: string, action: Action): boolean {
    const { allow } = this.rules.child ?? {}
    if (['see', action].some((each) => this.world.denied.has(`${each} ${id}`))) return true
    return allow !== undefined && !allow.includes(id) && !id.startsWith('toolwell/')
  }
  private stateOf(source: string) {
    return stateOf(this.world, source, this.world.acting)
  }
  may(id: string, action: Action = 'see'): boolean {
    return this.exists(id) && this.stateOf(specOf(id).source) === 'ready' && !this.denies(id, action)
  }
  /** May be in a request: whether its source is in reach makes no difference. */
  shows(id: string, action: Action = 'see'): boolean {
    const state = this.stateOf(specOf(id).source)
    return this.exists(id) && state !== undefined && state !== 'disabled' && !this.denies(id, action)
  }
  /** True if nothing is known about the tool from here. */
  isAway(id: string): boolean {
    return this.stateOf(specOf(id).source) === 'failed' && (!this.exists(id) || this.shows(id))
  }
  isDeferred(id: string): boolean {
    const { all = false, named = [] } = this.rules.child ?? {}
    return !specOf(id).eager && !all && !named.includes(id)
  }
  /** Without a search, or by its nature. */
  isSent(id: string): boolean {
    return !this.searches || !this.isDeferred(id)
  }
  isLive(id: string): boolean {
    return this.tail.get(id)?.live === true
  }
  isLoaded(id: string): boolean {
    return this.eager.includes(id) || this.isLive(id)
  }
  get searches(): boolean {
    return this.mode === 'on' && this.delivery !== 'eager'
  }
  get meta(): string[] {
    return !this.searches ? [] : this.delivery === 'bridge' ? ['tool_search', 'tool_call'] : ['tool_search']
  }

  /** Names the request declares: in this order, after it in any order, hidden, and not callable now. */
  get declared() {
    const placed = (place: string) => [...this.tail].filter(([, held]) => held.place === place)
    const array = placed('array').filter(([id]) => !this.eager.includes(id))
    const gone = this.eager.filter((id) => this.suspended.has(id))
    const dead = array.filter(([id, { live }]) => !live || this.suspended.has(id)).map(([id]) => id)
    const unseen = placed('aside').filter(([id, { live }]) => live && this.suspended.has(id))
    return {
      fixed: [...this.eager.map(wireOf), ...this.meta],
      appended: array.map(([id]) => wireOf(id)),
      aside: placed('aside').map(([id]) => wireOf(id)),
      masked: [...gone, ...dead, ...unseen.map(([id]) => id)].map(wireOf),
    }
  }

  begin(wire: string, native: boolean): void {
    const isNew = this.mode === 'none' || this.due !== undefined || wire !== this.wire
    const isDoubted = this.mode === 'on' && this.delivery === 'native' && this.reserveCalled
    const noLoader = this.meta.some((name) => this.denies(`toolwell/${name}`, 'see'))
    const live = [...this.tail.keys()].filter((id) => this.isLive(id))
    const known = new Set([...this.suspended, ...live, ...this.parked.keys()])
    const isOnlyStale = !isNew && !noLoader && this.isStale
    const refrozen = isNew || noLoader || isOnlyStale
    if (refrozen) this.frozen(wire, native, isOnlyStale)
    else if (this.mode === 'on') {
      for (const id of [...this.told, ...this.eager]) known.add(id)
      this.follow(known)
    }
    if (this.mode === 'on')
      for (const id of known)
        if (this.may(id)) this.suspended.delete(id)
        else if (!this.isAway(id) || (!this.exists(id) && this.parked.has(id) && refrozen))
          this.suspended.add(id)
    if (isDoubted) [this.distrusted, this.reserveCalled] = [true, false]
    for (const id of [...this.told, ...this.eager, ...this.tail.keys()]) this.mentioned.add(id)
  }

  /** Decides everything again, from the current state. */
  private frozen(wire: string, native: boolean, isOnlyStale: boolean): void {
    const { rules } = this
    const restarts = this.mode === 'none' || this.due === 'clear'
    const held = new Map([...this.tail, ...this.parked])
    const hidden = IDS.filter((id) => this.shows(id) && this.isDeferred(id))
    const stays = this.searches && (this.due === 'compaction' || isOnlyStale)
    const lonely = rules.child !== undefined && hidden.every((id) => held.has(id))
    const goesOn = !restarts && this.mode === 'on'
    const on = rules.mode !== 'off' && (goesOn || (!lonely && rules.mode !== 'auto-off'))
    this.delivery = on ? this.choose(stays ? this.delivery : rules.delivery, native) : 'eager'
    this.mode = on ? 'on' : 'off'
    const isSameWire = this.wire === wire
    this.wire = wire
    this.due = undefined
    this.latches++
    this.eager = on ? IDS.filter((id) => this.shows(id) && this.isSent(id)).sort(byWire) : []
    const place = this.delivery === 'bridge' ? 'text' : 'array'
    // A tool that is no longer known here keeps its old text and place.
    const stands = (id: string, was: Held) =>
      this.shows(id) || (this.isAway(id) && isSameWire && (place === 'text' || was.place !== 'text'))
    const loaded = [...held].filter(
      ([id, each]) => each.live && on && stands(id, each) && !this.eager.includes(id),
    )
    this.tail = new Map(loaded.map(([id, each]) => [id, { ...each, place }]))
    const isOff = ([id, { live, late }]: [string, Held]) =>
      live && !this.tail.has(id) && !(late && this.eager.includes(id))
    this.parked = new Map([...held].filter(isOff))
    this.told = new Set(this.searches ? hidden.filter((id) => !this.tail.has(id)) : [])
    this.sources.clear()
    for (const name of this.world.sources.keys()) this.know(name, true)
    this.listed = this.list
    this.cards = [...this.told]
  }

  /** Whom a list of hidden tools would be about now. */
  private get list(): string {
    const hidden = IDS.filter((id) => this.shows(id) && this.isDeferred(id))
    return JSON.stringify([hidden, [...this.tail.keys()].filter((id) => this.isLive(id)).sort()])
  }
  private get isStale(): boolean {
    if (this.rules.cards !== 'live' || !this.searches) return false
    const isOther = (name: string) =>
      this.members(name) !== undefined && this.members(name) !== this.sources.get(name)
    return this.list !== this.listed || [...this.world.sources.keys()].some(isOther)
  }

  private choose(wanted: Delivery | 'auto', native: boolean): Delivery {
    if (this.rules.delivery === 'eager' || this.denies('toolwell/tool_search', 'see')) return 'eager'
    const best = native && !this.distrusted ? 'native' : 'bridge'
    const chosen = wanted === 'auto' || wanted === 'native' ? best : wanted
    return chosen === 'bridge' && this.denies('toolwell/tool_call', 'see') ? 'append' : chosen
  }

  /** Follows tools that came, left and returned since the last request. */
  private follow(known: ReadonlySet<string>): void {
    const hasPlace = (id: string) => this.eager.includes(id) || this.tail.has(id) || this.parked.has(id)
    // An eager tool that a latch has passed over needs a place when it is back.
    const passed = [...this.suspended].filter((id) => this.may(id) && !hasPlace(id) && this.isSent(id))
    const back = [...this.parked].filter(([id]) => this.may(id) && !this.eager.includes(id))
    for (const [id, held] of back) {
      this.parked.delete(id)
      this.tail.set(id, { ...held, place: this.placeFor(id) })
    }
    for (const id of this.suspended) if (this.may(id)) this.told.add(id)
    for (const id of passed) this.hold(id, true)
    for (const name of this.world.sources.keys()) {
      const isOther = this.members(name) !== undefined && this.members(name) !== this.sources.get(name)
      const fresh = isOther
        ? IDS.filter((id) => specOf(id).source === name && !known.has(id) && !this.tail.has(id))
        : []
      const usable = fresh.filter((id) => this.may(id))
      for (const id of usable) {
        if (this.isSent(id)) this.hold(id, true)
        this.told.add(id)
      }
      if (usable.length > 0 || this.sources.get(name) === '') this.know(name)
    }
    for (const name of this.sources.keys())
      if (
        (this.stateOf(name) ?? 'disabled') === 'disabled' &&
        [...known].some((id) => specOf(id).source === name && name !== '')
      )
        this.sources.set(name, '')
  }

  /** The set of tools of a source, or undefined if it is not ready. */
  private members(name: string): string | undefined {
    return this.stateOf(name) === 'ready' ? this.membership(name) : undefined
  }
  private membership(name: string): string {
    return `has ${[...(this.world.sources.get(name)?.tools.keys() ?? [])].sort()}`
  }
  /** `atLatch`: a list that is known counts, whether or not the source is in reach. */
  private know(name: string, atLatch = false): void {
    const state = this.stateOf(name)
    const hasList = atLatch && state === 'failed' && this.membership(name) !== 'has '
    if (state === 'ready' || hasList) this.sources.set(name, this.membership(name))
  }

  protected placeFor(id: string): Held['place'] {
    const kept = this.tail.get(id)
    if (kept && kept.place !== 'text') return kept.place
    if (this.mode !== 'on') return 'array'
    return this.delivery === 'bridge' ? 'text' : this.delivery === 'native' ? 'aside' : 'array'
  }
  protected hold(id: string, late: boolean): void {
    this.tail.set(id, { live: true, late, place: this.placeFor(id) })
    this.parked.delete(id)
    this.touch(id)
  }
  protected touch(id: string): void {
    if (this.tail.has(id)) this.recent = [...this.recent.filter((each) => each !== id), id]
  }
}
