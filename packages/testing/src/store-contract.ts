/** The rules of a ledger store as test cases for any test runner, for the built-in stores and for your own. */
import { strict as assert } from 'node:assert'
import type { LedgerEvent, LedgerStore } from '@toolwell/core'
import { ToolwellError, type ToolwellErrorCode } from '@toolwell/core'

export interface ContractCase {
  readonly title: string
  /**
   * Rejects with an `AssertionError` when the store breaks the contract. Resolves with a reason if the case does not apply, such as
   * `the store has no list`: skip the test then.
   */
  run(): Promise<string | undefined>
}

export interface StoreUnderTest {
  readonly store: LedgerStore
  /** Gives a second store on the same data, as after a restart. Omit it if no data outlives the process. */
  readonly reopen?: () => Promise<LedgerStore>
  /** For stores behind a network. */
  readonly network?: {
    /** Lets the server do the next append, and cuts the connection before its answer arrives. Resolves when it has done so. */
    loseNextAnswer(): Promise<void>
    /** Cuts every connection. */
    cut(): Promise<void>
  }
  readonly dispose: () => Promise<void>
}

export interface StoreContractOptions {
  /** Gives an empty store. Every case calls it once and then `dispose`, even after a failure. */
  readonly create: () => Promise<StoreUnderTest>
}

/** Gives the cases for any runner: `for (const { title, run } of storeContract({ create })) test(title, async () => void (await run()))`. */
export function storeContract(options: StoreContractOptions): ContractCase[] {
  return Object.entries(cases).map(([title, check]) => ({
    title,
    async run() {
      const subject = await options.create()
      try {
        return (await check(subject)) ?? undefined
      } finally {
        await subject.dispose()
      }
    },
  }))
}

/** Ids that file systems, collations or object keys may confuse. */
const STRANGE_IDS: readonly string[] = [
  'Thread',
  'thread',
  'THREAD',
  'thread ',
  ' thread',
  'thread.',
  'thread.jsonl',
  'thread%41',
  'threadA',
  '.',
  '..',
  '../thread',
  '../../etc/passwd',
  '/thread',
  'a/b',
  'a\\b',
  'a:b',
  'a*b?',
  'con',
  'NUL',
  '__proto__',
  'constructor',
  "it's; drop table ledgers --",
  'line\nbreak',
  'gespräch',
  'gespra\u0308ch',
  '会话',
  '🧰',
  'x'.repeat(200),
  'X'.repeat(200),
  `${'x'.repeat(199)}y`,
  '会'.repeat(200),
  `${'会'.repeat(199)}话`,
]

/** The reasons why a case does not apply. */
const NO_REOPEN = 'the store cannot be reopened'
const NO_NETWORK = 'the store has no network'

const cases: Readonly<
  Record<string, (subject: StoreUnderTest) => Promise<string | undefined> | Promise<void>>
> = {
  async 'reads a ledger nobody wrote to as empty'({ store }) {
    assert.deepEqual(await store.read('nobody'), [])
  },

  async 'reads events in the order in which they were appended'({ store }) {
    const events = numbered(0, 5)
    await store.append('thread', 0, events.slice(0, 1))
    await store.append('thread', 1, events.slice(1, 4))
    await store.append('thread', 4, events.slice(4))
    assert.deepEqual(await store.read('thread'), events)
  },

  async 'returns every field of an event as it was written'({ store }) {
    await store.append('thread', 0, detailed)
    assert.deepEqual(await store.read('thread'), detailed)
  },

  async 'accepts an empty append and changes nothing'({ store }) {
    await store.append('thread', 0, [])
    assert.deepEqual(await store.read('thread'), [])
    await store.append('thread', 0, numbered(0, 2))
    await store.append('thread', 2, [])
    assert.deepEqual(await store.read('thread'), numbered(0, 2))
  },

  async 'writes nothing of a batch that meets a conflict'({ store }) {
    await store.append('thread', 0, numbered(0, 3))
    const behind = await refusal(store.append('thread', 1, numbered(1, 4)), 'ledger-conflict')
    assert.equal(behind.data.expected, 1)
    assert.equal(behind.data.found, 3)
    await refusal(store.append('thread', 0, numbered(0, 1)), 'ledger-conflict')
    await refusal(store.append('thread', 9, numbered(9, 1)), 'ledger-conflict')
    await refusal(store.append('other', 1, numbered(1, 1)), 'ledger-conflict')
    assert.deepEqual(await store.read('thread'), numbered(0, 3))
    assert.deepEqual(await store.read('other'), [])
    await store.append('thread', 3, numbered(3, 1))
    assert.deepEqual(await store.read('thread'), numbered(0, 4))
  },

  async 'lets exactly one of several simultaneous appends win'({ store }) {
    for (let round = 0; round < 5; round += 1) {
      const rivals = Array.from({ length: 4 }, (_, rival) => numbered(round * 2, 2, `rival ${rival}`))
      const outcomes = await Promise.allSettled(
        rivals.map((events) => store.append('thread', round * 2, events)),
      )
      const winners = rivals.filter((_, rival) => outcomes[rival]?.status === 'fulfilled')
      assert.equal(winners.length, 1, 'exactly one of the appends with an equal expected count succeeds')
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assertCode(outcome.reason, 'ledger-conflict')
      }
      assert.deepEqual((await store.read('thread')).slice(round * 2), winners[0])
    }
  },

  async 'never shows a part of a batch to a reader'({ store }) {
    const appended = store.append('thread', 0, numbered(0, 200))
    const seen = await Promise.all(Array.from({ length: 10 }, () => store.read('thread')))
    await appended
    for (const events of seen)
      assert.ok(events.length === 0 || events.length === 200, `saw ${events.length} events`)
  },

  async 'keeps stored events apart from the objects of its callers'({ store }) {
    const given = structuredClone(detailed) as unknown as Mutable[]
    await store.append('thread', 0, given as unknown as LedgerEvent[])
    for (const event of given) event.anchor = 'changed after it was written'
    given.length = 0
    assert.deepEqual(await store.read('thread'), detailed)
    const read = await store.read('thread')
    try {
      for (const event of read as unknown as Mutable[]) {
        event.anchor = 'changed after it was read'
        for (const value of Object.values(event)) if (Array.isArray(value)) value.push('more')
      }
      read.length = 0
    } catch (error) {
      assert.ok(error instanceof TypeError, 'only a frozen object may refuse the change')
    }
    assert.deepEqual(await store.read('thread'), detailed)
  },

  async 'keeps ledgers apart'({ store }) {
    await store.append('a', 0, numbered(0, 2, 'a'))
    await store.append('b', 0, numbered(0, 3, 'b'))
    await store.append('a', 2, numbered(2, 1, 'a'))
    await Promise.all([store.append('a', 3, numbered(3, 1, 'a')), store.append('b', 3, numbered(3, 2, 'b'))])
    assert.deepEqual(await store.read('a'), numbered(0, 4, 'a'))
    assert.deepEqual(await store.read('b'), numbered(0, 5, 'b'))
  },

  async 'keeps ledgers with strange ids, and ids that differ only in case or form, apart'({ store, reopen }) {
    for (const id of STRANGE_IDS) await store.append(id, 0, numbered(0, 1, id))
    const stores = reopen ? [store, await reopen()] : [store]
    for (const each of stores) {
      for (const id of STRANGE_IDS)
        assert.deepEqual(await each.read(id), numbered(0, 1, id), `ledger ${JSON.stringify(id)}`)
    }
  },

  async 'reads from any event on, and refuses one that is not there yet'({ store, reopen }) {
    await store.append('thread', 0, numbered(0, 3))
    await store.append('thread', 3, numbered(3, 2))
    const stores = reopen ? [store, await reopen()] : [store]
    for (const each of stores) {
      for (let from = 0; from <= 5; from += 1)
        assert.deepEqual(await each.read('thread', from), numbered(0, 5).slice(from), `from ${from}`)
      const { data } = await refusal(each.read('thread', 6), 'ledger-conflict')
      assert.equal(data.found, 5)
      await refusal(each.read('nobody', 1), 'ledger-conflict')
    }
    await store.append('thread', 5, numbered(5, 1))
    for (const each of stores) assert.deepEqual(await each.read('thread', 5), numbered(5, 1))
  },

  async 'lists the ledgers that hold an event, if it can'({ store, reopen }) {
    if (!store.list) return 'the store has no list'
    assert.deepEqual(await store.list(), [])
    for (const id of STRANGE_IDS) await store.append(id, 0, numbered(0, 1))
    await store.append('empty', 0, [])
    const stores = reopen ? [store, await reopen()] : [store]
    for (const each of stores) assert.deepEqual((await each.list?.())?.sort(), [...STRANGE_IDS].sort())
  },

  async 'removes a ledger and no other, if it can'({ store, reopen }) {
    if (!store.delete) return 'the store has no delete'
    await store.delete('thread')
    for (const id of ['thread', 'Thread', 'thread2']) await store.append(id, 0, numbered(0, 2))
    await store.delete('thread')
    const stores = reopen ? [store, await reopen()] : [store]
    for (const each of stores) {
      assert.deepEqual(await each.read('thread'), [])
      assert.deepEqual(await each.read('Thread'), numbered(0, 2))
      assert.deepEqual(await each.read('thread2'), numbered(0, 2))
    }
    await refusal(store.append('thread', 2, numbered(2, 1)), 'ledger-conflict')
    await store.append('thread', 0, numbered(0, 1, 'again'))
    assert.deepEqual(await store.read('thread'), numbered(0, 1, 'again'))
  },

  async 'refuses an empty id and one of more than 200 characters'({ store }) {
    for (const id of ['', 'x'.repeat(201)]) {
      await refusal(store.read(id), 'invalid-ledger-id')
      await refusal(store.append(id, 0, numbered(0, 1)), 'invalid-ledger-id')
    }
  },

  async 'sees everything after it is reopened, and goes on from there'({ store, reopen }) {
    if (!reopen) return NO_REOPEN
    await store.append('thread', 0, detailed)
    const second = await reopen()
    assert.deepEqual(await second.read('thread'), detailed)
    const count = detailed.length
    await second.append('thread', count, numbered(count, 2))
    const third = await reopen()
    assert.deepEqual(await third.read('thread'), [...detailed, ...numbered(count, 2)])
  },

  async 'notices what another store on the same data appended'({ store, reopen }) {
    if (!reopen) return NO_REOPEN
    await store.append('thread', 0, numbered(0, 1))
    const second = await reopen()
    await second.append('thread', 1, numbered(1, 2, 'second'))
    const { data } = await refusal(store.append('thread', 1, numbered(1, 1, 'first')), 'ledger-conflict')
    assert.equal(data.found, 3)
    await store.append('thread', 3, numbered(3, 1))
    assert.equal((await second.read('thread')).length, 4)
  },

  async 'takes batches of a thousand events'({ store }) {
    await store.append('thread', 0, numbered(0, 1000))
    await store.append('thread', 1000, numbered(1000, 1000))
    assert.deepEqual(await store.read('thread'), numbered(0, 2000))
  },

  async 'keeps unusual texts'({ store, reopen }) {
    const texts = [
      '',
      'a\nb\r\nc',
      '\u2028\u2029',
      'nul \u0000 bell \u0007',
      '"\\"',
      '🧰 e\u0301',
      '\ufeff',
      '{"v":1}\n',
    ]
    const events = texts.map((text, id) => ({ ...searched(id, text), anchor: text }))
    await store.append('thread', 0, events)
    const stores = reopen ? [store, await reopen()] : [store]
    for (const each of stores) assert.deepEqual(await each.read('thread'), events)
  },

  async 'survives lone surrogates'({ store, reopen }) {
    await store.append('thread', 0, [
      searched(0, 'before'),
      searched(1, 'a\ud800b\udc00'),
      searched(2, 'after'),
    ])
    await store.append('thread', 3, numbered(3, 1))
    const events = await (reopen ? await reopen() : store).read('thread')
    const queries = events.map((event) => (event.kind === 'searched' ? event.query : ''))
    assert.equal(events.length, 4)
    assert.deepEqual([queries[0], queries[2]], ['before', 'after'])
    assert.match(queries[1] ?? '', /^a(?:\ud800|\ufffd+)b(?:\udc00|\ufffd+)$/, 'kept, or replaced in place')
  },

  async 'keeps ids with U+0000 and lone surrogates apart'({ store }) {
    const ids = ['a\u0000b', 'ab', 'a\\u0000b', 'a\ud800', 'a\udc00', 'a\ufffd']
    for (const id of ids) await store.append(id, 0, numbered(0, 1, JSON.stringify(id)))
    for (const id of ids) assert.deepEqual(await store.read(id), numbered(0, 1, JSON.stringify(id)))
  },

  async 'takes an event of 10 MB'({ store }) {
    const events = numbered(0, 1, '🧰\u0000'.repeat(1_100_000))
    await store.append('thread', 0, events)
    await store.append('thread', 1, numbered(1, 1))
    assert.deepEqual(await store.read('thread'), [...events, ...numbered(1, 1)])
  },

  async 'does not depend on the clock of its host'({ store, reopen }) {
    const { now } = Date
    const stores = [store, reopen ? await reopen() : store]
    try {
      for (let count = 0; count < 6; count += 1) {
        const hours = count % 2 === 0 ? 1 : -1
        Date.now = () => now() + hours * 3_600_000
        await stores[count % 2]?.append('thread', count, numbered(count, 1))
      }
    } finally {
      Date.now = now
    }
    for (const each of stores) assert.deepEqual(await each.read('thread'), numbered(0, 6))
  },

  async 'recognises an append whose answer was lost, and appends it once'({ store, network }) {
    if (!network) return NO_NETWORK
    for (let count = 0; count < 4; count += 1) {
      const lost = network.loseNextAnswer()
      await store.append('thread', count, numbered(count, 1))
      await lost
    }
    assert.deepEqual(await store.read('thread'), numbered(0, 4))
  },

  async 'goes on when its connections are cut between and during appends'({ store, network }) {
    if (!network) return NO_NETWORK
    for (let count = 0; count < 8; count += 1) {
      if (count % 2 === 0) await network.cut()
      const appended = store.append('thread', count, numbered(count, 1))
      if (count % 2 === 1) await network.cut()
      await appended
    }
    assert.deepEqual(await store.read('thread'), numbered(0, 8))
  },
}

interface Mutable {
  anchor: string
  [field: string]: unknown
}

function searched(id: number, query: string): LedgerEvent {
  return {
    id,
    anchor: `message-${id}`,
    kind: 'searched',
    query,
    loaded: [],
    dropped: [],
    missed: true,
    tokens: 12,
  }
}

function numbered(from: number, count: number, query = 'query'): LedgerEvent[] {
  return Array.from({ length: count }, (_, index) => searched(from + index, query))
}

const detailed: readonly LedgerEvent[] = [
  { id: 0, anchor: '', kind: 'measured', requestId: 'request-1', messageTokens: 0, inputTokens: 1.5e3 },
  {
    id: 1,
    anchor: 'call-1',
    kind: 'searched',
    query: 'graph',
    loaded: ['graph'],
    dropped: [{ tool: 'graph_admin', reason: 'below-cut-off' }],
    missed: false,
    tokens: 40,
  },
  {
    id: 2,
    anchor: 'call-1',
    kind: 'loaded',
    tool: {
      id: 'graph',
      wireName: 'graph',
      fingerprint: 'f1',
      definition: {
        name: 'graph',
        description: 'Shows records.\nOne per line.',
        inputSchema: { type: 'object', properties: { id: { type: 'string', default: null } } },
      },
    },
    source: 'search',
    asked: 'Graph',
    shown: false,
  },
  { id: 3, anchor: 'call-2', kind: 'compacted', kept: { 'call-1': 'summary', '': '' } },
]

async function refusal(attempt: Promise<unknown>, code: ToolwellErrorCode): Promise<ToolwellError> {
  let reason: unknown
  try {
    await attempt
  } catch (error) {
    reason = error
  }
  return assertCode(reason, code)
}

function assertCode(reason: unknown, code: ToolwellErrorCode): ToolwellError {
  assert.ok(ToolwellError.is(reason), `rejects with a ToolwellError of code ${code}, not ${String(reason)}`)
  assert.equal(reason.code, code)
  return reason
}
