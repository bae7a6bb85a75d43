/** Possible steps in a conversation: model calls, host steps, accidents. All are data, so that a failure shrinks. */
import fc from 'fast-check'
import { META, type Rules, UNIVERSE, type WorldStep } from './world.js'

export type Spelling = 'wire' | 'cased' | 'id' | 'alias' | 'short' | 'group'
export interface Named {
  readonly id: string
  readonly how: Spelling
}
export type Model =
  | {
      readonly kind: 'call'
      readonly named: Named
      readonly input: 'fits' | 'misfits' | 'no-object' | 'unparsable'
      readonly bridged: boolean
    }
  | { readonly kind: 'lists'; readonly unload: readonly Named[]; readonly select: readonly Named[] }
  | { readonly kind: 'words'; readonly query: { readonly word: string } | { readonly server: string } }
  | { readonly kind: 'junk'; readonly input: 'no-object' | 'unparsable' | 'empty' }
  | { readonly kind: 'nobody'; readonly name: string; readonly bridged: boolean }

export interface TurnStep {
  readonly kind: 'turn'
  /** Which of two processes takes it. */
  readonly process: 0 | 1
  readonly calls: readonly Model[]
  /** By this process or the other one at once, or when the reply was already run. */
  readonly retried: 'no' | 'here' | 'there' | 'late'
  /** The n-th append of begin or run fails, before or after it was stored; and whether the host still has the reply. */
  readonly crash?: { readonly at: 'begin' | 0 | 1; readonly stored: boolean; readonly kept: boolean }
  /** The other process writes between request and reply. */
  readonly intruder?: { readonly loads: boolean; readonly named: Named }
  /** The user cancels a request and edits the last message, before this turn. */
  readonly edited?: boolean
}
export type Step =
  | TurnStep
  | { readonly kind: 'world'; readonly change: WorldStep }
  | { readonly kind: 'load' | 'unload'; readonly process: 0 | 1; readonly names: readonly Named[] }
  | { readonly kind: 'compact'; readonly keep: number; readonly trim: boolean }
  | { readonly kind: 'clear' }
  | { readonly kind: 'fork'; readonly back: number }
  | { readonly kind: 'resume'; readonly process: 0 | 1 }
  | {
      readonly kind: 'child'
      readonly inherit: 'snapshot' | 'none' | 'all'
      readonly allow: 'none' | 'names' | 'pattern'
    }
  | { readonly kind: 'switch'; readonly wire: number }

export interface Setup {
  readonly rules: Rules
  readonly wire: number
  /** The server restarts its call ids in every reply. */
  readonly reuseIds: boolean
}

const IDS = UNIVERSE.filter((each) => !each.secret).map(({ id }) => id)
const SOURCES = ['', 'alpha', 'beta', 'late']
const id = fc.constantFrom(...IDS)
const process = fc.constantFrom(0 as const, 1 as const)
const named: fc.Arbitrary<Named> = fc.record({
  id,
  how: fc.constantFrom<Spelling>('wire', 'wire', 'wire', 'cased', 'id', 'alias', 'short'),
})
const listed: fc.Arbitrary<Named> = fc.record({
  id,
  how: fc.constantFrom<Spelling>('wire', 'wire', 'cased', 'id', 'alias', 'short', 'group'),
})
export const model: fc.Arbitrary<Model> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      named,
      input: fc.constantFrom(
        'fits' as const,
        'fits' as const,
        'fits' as const,
        'misfits' as const,
        'no-object' as const,
        'unparsable' as const,
      ),
      bridged: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('lists' as const),
      unload: fc.array(listed, { maxLength: 2 }),
      select: fc.array(listed, { maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('words' as const),
      query: fc.oneof(
        fc.constantFrom(...UNIVERSE.map(({ word }) => word)).map((word) => ({ word })),
        fc.constantFrom('alpha', 'beta', 'late', 'nowhere').map((server) => ({ server })),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('junk' as const),
      input: fc.constantFrom('no-object' as const, 'unparsable' as const, 'empty' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('nobody' as const),
      name: fc.constantFrom(
        'no_such_tool',
        'alpha__vaultet',
        'beta__husk',
        'toolwell_reserve',
        'weird name!',
      ),
      bridged: fc.boolean(),
    }),
  },
)
const turn: fc.Arbitrary<TurnStep> = fc.record(
  {
    kind: fc.constant('turn' as const),
    process,
    calls: fc.array(model, { maxLength: 4 }),
    retried: fc.constantFrom(
      'no' as const,
      'no' as const,
      'here' as const,
      'there' as const,
      'late' as const,
    ),
    crash: fc.record({
      at: fc.constantFrom('begin' as const, 0 as const, 1 as const),
      stored: fc.boolean(),
      kept: fc.boolean(),
    }),
    intruder: fc.record({ loads: fc.boolean(), named }),
    edited: fc.boolean(),
  },
  { requiredKeys: ['kind', 'process', 'calls', 'retried'] },
)
/** Accidents are rarer than `requiredKeys` makes them. */
const calmTurn = fc.tuple(turn, fc.nat(9)).map(
  ([{ crash, intruder, edited, ...calm }, luck]): TurnStep => ({
    ...calm,
    ...(edited && luck > 6 ? { edited } : {}),
    ...(crash && luck === 0 ? { crash } : {}),
    ...(intruder && luck === 1 ? { intruder } : {}),
  }),
)
const change: fc.Arbitrary<WorldStep> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      'come' as const,
      'come' as const,
      'go' as const,
      'fail' as const,
      'heal' as const,
      'disable' as const,
      'redefine' as const,
    ),
    source: fc.constantFrom(...SOURCES),
  }),
  fc.record({ kind: fc.constant('cut-off' as const), source: fc.constantFrom(...SOURCES), process }),
  fc.record({ kind: fc.constantFrom('lose' as const, 'regain' as const, 'change' as const), id }),
  fc.record({
    kind: fc.constant('deny' as const),
    action: fc.constantFrom('see' as const, 'see' as const, 'load' as const, 'call' as const),
    id: fc.oneof({ weight: 6, arbitrary: id }, { weight: 1, arbitrary: fc.constantFrom(...META) }),
  }),
)
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: calmTurn },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('world' as const), change }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('load' as const, 'unload' as const),
      process,
      names: fc.array(listed, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('compact' as const), keep: fc.nat(6), trim: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fork' as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch' as const), wire: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('child' as const),
      inherit: fc.constantFrom('snapshot' as const, 'none' as const, 'all' as const),
      allow: fc.constantFrom('none' as const, 'names' as const, 'pattern' as const),
    }),
  },
)
export const setup: fc.Arbitrary<Setup> = fc.record({
  wire: fc.nat(4),
  reuseIds: fc.boolean(),
  rules: fc.record({
    mode: fc.constantFrom(
      'on' as const,
      'on' as const,
      'on' as const,
      'auto-on' as const,
      'off' as const,
      'auto-off' as const,
    ),
    delivery: fc.constantFrom(
      'auto' as const,
      'auto' as const,
      'append' as const,
      'bridge' as const,
      'native' as const,
      'eager' as const,
    ),
    maxLoaded: fc.constantFrom(undefined, undefined, 1, 2, 4),
    hiddenCalls: fc.constantFrom(
      'load-and-run' as const,
      'load-and-run' as const,
      'hint' as const,
      'refuse' as const,
    ),
    cards: fc.constantFrom('frozen' as const, 'frozen' as const, 'live' as const),
    cardPlace: fc.constantFrom('loader' as const, 'loader' as const, 'section' as const),
    schemas: fc.constantFrom('once' as const, 'once' as const, 'twice' as const),
  }),
})
