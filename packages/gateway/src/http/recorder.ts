/** Records every list, search and call: in the audit log, in the sums, and the latest ones in memory for the dashboard. */
import { estimate } from '@toolwell/core'
import type { Called } from '../answer/call-tool.js'
import { listDispatchTools } from '../answer/list-tools.js'
import type { Mode } from '../answer/mcp-server.js'
import type { CallDetail } from '../answer/measure-call.js'
import type { View } from '../servers/view.js'
import type { CallStats } from '../storage/call-stats.js'
import type { AuditLog, AuditRecord } from '../storage/storage.js'

export interface RecentCall extends AuditRecord {
  readonly id: number
}

/** A search and the tools that the same client called after it. */
export interface RecentSearch {
  readonly id: number
  readonly time: string
  readonly principal: string
  readonly client: string
  readonly folder: string
  readonly query: string
  readonly found: number
  readonly tokens: number
  readonly called: readonly string[]
}

export type Recorded =
  | { readonly kind: 'call'; readonly call: RecentCall }
  | { readonly kind: 'search'; readonly search: RecentSearch }

/** The sender of a request. */
export interface Sender {
  readonly principal: string
  /** The name that the client sent. */
  readonly client: string
  readonly folder: string
}

const MOST_CALLS = 2000
const MOST_SEARCHES = 500
/** Characters of the arguments and results that are kept. */
const MOST_DETAILS = 4 * 1024 * 1024
/** Tools whose searches are counted. */
const MOST_SEARCHED = 10_000
const MOST_CALLED = 5
const LONGEST_QUERY = 300
/** Same as core's estimate for English text. */
const CHARACTERS_PER_TOKEN = 4

export class Recorder {
  readonly #stats: readonly CallStats[]
  readonly #audit: AuditLog | undefined
  readonly #now: () => number
  readonly #calls: RecentCall[] = []
  readonly #searches: (RecentSearch & { readonly called: string[] })[] = []
  readonly #details = new Map<number, CallDetail>()
  readonly #searched = new Map<string, number>()
  #characters = 0
  readonly #listeners = new Set<(recorded: Recorded) => void>()
  #last = 0

  constructor(stats: readonly CallStats[], audit: AuditLog | undefined, now: () => number) {
    this.#stats = stats
    this.#audit = audit
    this.#now = now
  }

  /** Oldest first. */
  get calls(): readonly RecentCall[] {
    return this.#calls
  }

  get searches(): readonly RecentSearch[] {
    return this.#searches
  }

  /** The arguments and the result of a recent call. Undefined if they are no longer kept. */
  detail(id: number): CallDetail | undefined {
    return this.#details.get(id)
  }

  /** By `SERVER/TOOL`: how many searches were followed by a call of the tool. */
  get searched(): ReadonlyMap<string, number> {
    return this.#searched
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: (recorded: Recorded) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns the tokens of definitions that the client did not read. */
  recordList({ client, folder }: Sender, view: View, mode: Mode): number {
    const { all, list } = countDefinitions(view)
    const listTokens = mode === 'all' ? all : list
    const facts = { time: this.#now(), client, project: folder, listTokens, allTokens: all }
    for (const stats of this.#stats) stats.recordList(facts)
    return all - listTokens
  }

  recordCall(
    sender: Sender,
    { kind, inner, detail, isError, reason, ...called }: Omit<Called, 'tool'>,
  ): void {
    const at = this.#now()
    const { client, folder } = sender
    const time = new Date(at).toISOString()
    if (kind === 'search') {
      const tokens = Math.round(called.characters / CHARACTERS_PER_TOKEN)
      for (const stats of this.#stats) stats.recordSearch({ time: at, client, project: folder, tokens })
      const { query = '', found = 0 } = called
      const facts = { query: query.slice(0, LONGEST_QUERY), found, tokens, called: [] }
      const search = { id: ++this.#last, time, ...sender, ...facts }
      push(this.#searches, search, MOST_SEARCHES)
      this.#notify({ kind: 'search', search })
    }
    if (!inner) return
    const outcome = kind === 'refused' ? 'refused' : isError ? 'error' : 'ok'
    const facts = { time: at, client, project: folder, outcome, ...inner } as const
    for (const stats of this.#stats) stats.recordCall(facts)
    const record = {
      time,
      ...sender,
      outcome,
      ...(reason === undefined ? {} : { reason }),
      ...inner,
    } as const
    this.#audit?.append(record)
    const call = { id: ++this.#last, ...record }
    push(this.#calls, call, MOST_CALLS)
    if (detail) this.#keepDetail(call.id, detail)
    if (kind === 'run') this.#follow(sender, `${inner.server}/${inner.tool}`)
    this.#notify({ kind: 'call', call })
  }

  /** Adds a call to the last search of the same client. */
  #follow({ principal, client, folder }: Sender, tool: string): void {
    const last = this.#searches.findLast(
      (each) => each.principal === principal && each.client === client && each.folder === folder,
    )
    if (!last || last.called.length >= MOST_CALLED || last.called.includes(tool)) return
    last.called.push(tool)
    const count = this.#searched.get(tool)
    if (count !== undefined || this.#searched.size < MOST_SEARCHED) this.#searched.set(tool, (count ?? 0) + 1)
  }

  /** Drops the oldest details above the limit. */
  #keepDetail(id: number, detail: CallDetail): void {
    const sizeOf = (each: CallDetail) => each.arguments.text.length + each.result.text.length
    this.#details.set(id, detail)
    this.#characters += sizeOf(detail)
    for (const [oldest, each] of this.#details) {
      if (this.#characters <= MOST_DETAILS && this.#details.size <= MOST_CALLS) break
      this.#details.delete(oldest)
      this.#characters -= sizeOf(each)
    }
  }

  #notify(recorded: Recorded): void {
    for (const listener of this.#listeners) listener(recorded)
  }
}

function push<T>(list: T[], item: T, most: number): void {
  list.push(item)
  if (list.length > most) list.shift()
}

const counted = new WeakMap<
  View,
  { readonly revision: number; readonly all: number; readonly list: number }
>()

/** Tokens of all definitions, and of the list that clients get instead. Counted once for each change of the catalogue. */
export function countDefinitions(view: View): { readonly all: number; readonly list: number } {
  const { revision } = view.catalogue
  const known = counted.get(view)
  if (known?.revision === revision) return known
  const all = view.direct.tools().reduce((sum, entry) => sum + view.direct.cost(entry), 0)
  const list = estimate.count(JSON.stringify(listDispatchTools(view)))
  const made = { revision, all, list }
  counted.set(view, made)
  return made
}
