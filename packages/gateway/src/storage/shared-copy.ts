/**
 * A copy in memory of values that replicas share in PostgreSQL: tokens, approvals and logins. It is read again every two seconds, so
 * a change counts everywhere within five.
 */
import type { Database, Query, Row } from '@toolwell/postgres/internal'

export type Kind = 'token' | 'first-use' | 'read-only' | 'login'

interface Entry {
  /** Grows with every change of any value. 0 if the value was never written. */
  readonly change: number
  /** Undefined: deleted. */
  readonly value: string | undefined
}

interface Unwritten {
  readonly kind: Kind
  readonly key: string
  readonly value: string | undefined
  /** The change that it replaces. */
  readonly over: number
}

const INTERVAL = 2000
/** Milliseconds without an answer of the database after which the copy no longer counts. */
const LONGEST_SILENCE = 30_000

export class SharedCopy {
  readonly #database: Database
  readonly #known = new Map<string, Entry>()
  readonly #unwritten = new Map<string, Unwritten>()
  /** Names whose row this process holds in a transaction. */
  readonly #held = new Set<string>()
  /** The newest change that was read. */
  #newest = 0
  #readAt = 0
  #failure = ''
  #revision = 0
  /** A value of `putSoon` was dropped, because another replica had written first. */
  #wasSlower = false
  #reading: Promise<void> | undefined
  #flushing: Promise<void> = Promise.resolve()
  #polling: NodeJS.Timeout | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Reads everything, then looks for changes. Throws if the database cannot be used. */
  async open(): Promise<void> {
    await this.#read()
    this.#polling = setInterval(() => void this.refresh(), INTERVAL)
    this.#polling.unref()
  }

  /** Why the copy is out of date. */
  get problem(): string | undefined {
    if (performance.now() - this.#readAt <= LONGEST_SILENCE) return undefined
    return this.#failure || 'The database does not answer.'
  }

  /** Changes with every value. */
  get revision(): number {
    return this.#revision
  }

  get(kind: Kind, key: string): string | undefined {
    const name = nameOf(kind, key)
    const unwritten = this.#unwritten.get(name)
    return unwritten ? unwritten.value : this.#known.get(name)?.value
  }

  /** Changes whenever the value changes; empty if there is none. */
  stamp(kind: Kind, key: string): string {
    if (this.get(kind, key) === undefined) return ''
    const name = nameOf(kind, key)
    return this.#unwritten.has(name) ? `unwritten ${this.#revision}` : String(this.#known.get(name)?.change)
  }

  values(kind: Kind): string[] {
    const start = nameOf(kind, '')
    return [...this.#known].flatMap(([name, { value }]) =>
      name.startsWith(start) && value !== undefined ? [value] : [],
    )
  }

  /** Writes if the stored value passes `isExpected`. Returns whether it did. */
  async put(
    kind: Kind,
    key: string,
    value: string | undefined,
    isExpected: (stored: string | undefined) => boolean,
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      await this.#read()
      const entry = this.#known.get(nameOf(kind, key))
      // The answer to an earlier attempt may have been lost.
      if (attempt > 1 && entry?.value === value) return true
      if (!isExpected(entry?.value)) return false
      if (await this.#write(this.#database.query, { kind, key, value, over: entry?.change ?? 0 })) return true
    }
  }

  /** Counts at once in this process. If another replica was faster, its value wins. */
  putSoon(kind: Kind, key: string, value: string | undefined): void {
    const name = nameOf(kind, key)
    const over = this.#unwritten.get(name)?.over ?? this.#known.get(name)?.change ?? 0
    this.#revision++
    this.#unwritten.set(name, { kind, key, value, over })
    void this.flush().catch(() => undefined)
  }

  /** Writes what `putSoon` left. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing
      .catch(() => undefined)
      .then(async () => {
        for (const [name, unwritten] of this.#unwritten) {
          if (this.#held.has(name)) continue
          if (!(await this.#write(this.#database.query, unwritten))) {
            await this.#read()
            this.#wasSlower ||= this.#known.get(name)?.value !== unwritten.value
          }
          this.#settle(name, unwritten)
        }
      })
    return this.#flushing
  }

  /** Throws unless everything of `putSoon` was written. */
  async written(): Promise<void> {
    await this.flush()
    if (this.#wasSlower)
      throw new Error('Another gateway changed the same value at the same moment. Run this command again.')
  }

  /**
   * Holds the row of the value in a transaction, so that one replica at a time does the work. A value from `putSoon` is written at
   * its end, even if the work fails.
   */
  async exclusively<T>(
    transaction: <R>(work: (query: Query) => Promise<R>) => Promise<R>,
    kind: Kind,
    key: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const { schema, query: queryOutside } = this.#database
    const name = nameOf(kind, key)
    await queryOutside(
      `insert into ${schema}.state (kind, key, change) values ($1, $2, 0) on conflict do nothing`,
      [kind, key],
    )
    this.#held.add(name)
    try {
      const done = await transaction(async (query) => {
        this.#take(
          await query(
            `select kind, key, change, value from ${schema}.state where kind = $1 and key = $2 for update`,
            [kind, key],
          ),
        )
        const outcome = await work().then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        const unwritten = this.#unwritten.get(name)
        if (unwritten) {
          await this.#write(query, { ...unwritten, over: this.#known.get(name)?.change ?? 0 })
          this.#settle(name, unwritten)
        }
        return outcome
      })
      if ('error' in done) throw done.error
      return done.value
    } finally {
      this.#held.delete(name)
    }
  }

  /** Never throws. Without an answer, the copy does not change. */
  async refresh(): Promise<void> {
    try {
      await this.#read()
      await this.flush()
    } catch {
      // `problem` says why.
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#polling)
    await this.flush()
  }

  /** Forgets a value that was written. A later one replaces it. */
  #settle(name: string, written: Unwritten): void {
    const later = this.#unwritten.get(name)
    if (later === written) this.#unwritten.delete(name)
    else if (later) this.#unwritten.set(name, { ...later, over: this.#known.get(name)?.change ?? 0 })
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readChanges().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Fails on a read-only server, where approvals and calls could not be recorded. */
  async #readChanges(): Promise<void> {
    const { schema, query } = this.#database
    try {
      const rows = await query(
        `with writable as (update ${schema}.clock set change = change where false)
         select kind, key, change, value from ${schema}.state where change > $1::bigint order by change`,
        [this.#newest],
      )
      this.#take(rows)
      this.#newest = Number(rows.at(-1)?.change ?? this.#newest)
      this.#readAt = performance.now()
    } catch (error) {
      this.#failure = (error as Error).message
      throw error
    }
  }

  #take(rows: readonly Row[]): void {
    if (rows.length > 0) this.#revision++
    for (const { kind, key, change, value } of rows) {
      const name = nameOf(kind as Kind, String(key))
      const entry = { change: Number(change), value: value === null ? undefined : String(value) }
      if (entry.change >= (this.#known.get(name)?.change ?? 0)) this.#known.set(name, entry)
    }
  }

  /** The row of `clock` is locked until the commit, so changes become visible in the order of their numbers. */
  async #write(query: Query, { kind, key, value, over }: Unwritten): Promise<boolean> {
    const { schema } = this.#database
    const rows = await query(
      `with tick as (update ${schema}.clock set change = change + 1 returning change)
       insert into ${schema}.state as known (kind, key, change, value) select $1, $2, change, $3 from tick
       on conflict (kind, key) do update set change = excluded.change, value = excluded.value
       where known.change = $4::bigint returning kind, key, change, value`,
      [kind, key, value ?? null, over],
    )
    this.#take(rows)
    return rows.length > 0
  }
}

/** A kind contains no space. */
const nameOf = (kind: Kind, key: string) => `${kind} ${key}`
