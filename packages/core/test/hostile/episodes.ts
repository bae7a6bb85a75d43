/** Steps that belong together: what a host really lives through, and what steps by chance seldom become. */
import fc from 'fast-check'
import { type Model, model, type Named, type Step, step, type TurnStep } from './steps.js'
import { specOf, UNIVERSE, type WorldStep } from './world.js'

const turn = (...calls: readonly Model[]): TurnStep => ({ kind: 'turn', process: 0, calls, retried: 'no' })
const select = (...names: readonly Named[]): Model => ({ kind: 'lists', unload: [], select: names })
const unload = (...names: readonly Named[]): Model => ({ kind: 'lists', unload: names, select: [] })
const call = (named: Named): Model => ({ kind: 'call', named, input: 'fits', bridged: false })
const world = (change: WorldStep): Step => ({ kind: 'world', change })
const wire = (id: string): Named => ({ id, how: 'wire' })

const deferred = UNIVERSE.filter((each) => !each.eager && !each.secret).map(({ id }) => id)
const any = fc.constantFrom(...UNIVERSE.filter((each) => !each.secret).map(({ id }) => id))
const hidden = fc.constantFrom(...deferred)
const frozen: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('compact' as const), keep: fc.nat(4), trim: fc.boolean() }),
  fc.record({ kind: fc.constant('switch' as const), wire: fc.nat(3) }),
  fc.constant(world({ kind: 'deny', action: 'see', id: 'toolwell/tool_search' })),
)
/** A way to lose a tool, and the way back. */
const absence = (id: string): fc.Arbitrary<readonly [Step, Step]> => {
  const { source } = specOf(id)
  const deny = world({ kind: 'deny', action: 'see', id })
  return fc.constantFrom<readonly [Step, Step]>(
    [deny, deny],
    [world({ kind: 'fail', source }), world({ kind: 'heal', source })],
    [world({ kind: 'disable', source }), world({ kind: 'heal', source })],
    [world({ kind: 'go', source }), world({ kind: 'come', source })],
    [world({ kind: 'lose', id }), world({ kind: 'regain', id })],
  )
}

/** Loaded or eager, away over a latch, and back. */
const away = any.chain((id) =>
  fc
    .tuple(absence(id), frozen, fc.boolean(), fc.boolean())
    .map(([[lose, find], refrozen, told, again]) => [
      turn(select(wire(id))),
      turn(),
      lose,
      ...(told ? [turn(call(wire(id)))] : []),
      refrozen,
      turn(call(wire(id))),
      find,
      turn(),
      ...(again ? [refrozen, turn(call(wire(id)))] : []),
    ]),
)
/** More than fits under a cap, with some of it in use. */
const crowd = fc
  .tuple(fc.array(hidden, { minLength: 3, maxLength: 6 }), fc.nat(2))
  .map(([ids, used]) => [
    ...ids.slice(0, -1).flatMap((id) => [turn(select(wire(id)))]),
    turn(call(wire(ids[used] ?? 'note'))),
    turn(select(wire(ids.at(-1) ?? 'note')), call(wire(ids[0] ?? 'note'))),
    turn(),
  ])
/** A server that comes late, used, changed, unloaded, and used again. */
const late = fc
  .constantFrom('late/fetch', 'late/tab_open', 'late/tick')
  .chain((id) =>
    frozen.map((refrozen) => [
      turn(),
      world({ kind: 'come', source: 'late' }),
      turn(select(wire(id))),
      turn(),
      world({ kind: 'change', id }),
      turn(unload(wire(id))),
      turn(call(wire(id))),
      refrozen,
      turn(unload(wire(id))),
      turn(),
    ]),
  )
/** Two tools of one short name, of which one goes. */
const twins = fc.constantFrom('alpha/open', 'beta/open').chain((id) =>
  absence(id).map(([lose, find]) => {
    const short: Named = { id: 'beta/open', how: 'short' }
    return [
      turn(select(short)),
      lose,
      turn(select(short)),
      turn(call(short)),
      find,
      turn(call(short)),
      turn(unload(short)),
      turn(),
    ]
  }),
)
/** A sub-agent that may have less than its parent has loaded. */
const heir = fc
  .tuple(
    hidden,
    fc.constantFrom('see' as const, 'load' as const),
    fc.constantFrom('none' as const, 'names' as const, 'pattern' as const),
  )
  .map(([id, action, allow]): Step[] => [
    turn(select(wire(id), wire('beta/watch'), wire('alpha/create'))),
    world({ kind: 'deny', action, id }),
    { kind: 'child', inherit: 'snapshot', allow },
    turn(call(wire(id))),
    turn(),
  ])

/** A model that says the same again and again, in one reply and in many. */
const loop = fc.tuple(model, fc.integer({ min: 2, max: 5 }), fc.boolean()).map(([same, times, atOnce]) => {
  const again = Array.from({ length: times }, () => same)
  return [...(atOnce ? [turn(...again)] : again.map((each) => turn(each))), turn()]
})

/** Results that never reach the history, several times in a row, while servers change. */
const losses = fc
  .tuple(
    fc.array(fc.tuple(hidden, fc.boolean(), fc.boolean(), fc.boolean()), { minLength: 2, maxLength: 4 }),
    fc.constantFrom<Step>(
      world({ kind: 'come', source: 'late' }),
      world({ kind: 'redefine', source: 'alpha' }),
      world({ kind: 'go', source: 'beta' }),
    ),
    hidden,
  )
  .map(([lost, change, id]) => [
    turn(),
    ...lost.flatMap(([each, isSearch, kept, isFirst], index): Step[] => [
      ...(index === 1 ? [change] : []),
      {
        ...turn(isSearch ? select(wire(each)) : call(wire(each)), ...(isFirst ? [] : [call(wire('read'))])),
        crash: { at: isSearch && isFirst ? 0 : 1, stored: true, kept },
      },
    ]),
    turn(),
    turn(call(wire(lost[0]?.[0] ?? id))),
    turn(select(wire(id))),
    turn(),
    world({ kind: 'redefine', source: specOf(id).source }),
    turn(call(wire(id))),
    turn(),
    turn(),
  ])

/** News, a request that carries it, and an edit of the message before the model has answered. */
const edit = any.chain((id) =>
  absence(id).map(([lose, find]) => [
    turn(select(wire(id))),
    turn(),
    turn(),
    lose,
    { ...turn(), edited: true },
    find,
    { ...turn(), edited: true },
    turn(),
  ]),
)

const episode: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 4, arbitrary: away },
  { weight: 2, arbitrary: crowd },
  { weight: 2, arbitrary: late },
  { weight: 1, arbitrary: twins },
  { weight: 1, arbitrary: heir },
  { weight: 1, arbitrary: loop },
  { weight: 2, arbitrary: losses },
  { weight: 2, arbitrary: edit },
)

/** Steps by chance, with episodes among them, at most so many. */
export function story(longest: number): fc.Arbitrary<readonly Step[]> {
  const single = step.map((each): readonly Step[] => [each])
  const part = fc.oneof({ weight: 6, arbitrary: single }, { weight: 1, arbitrary: episode })
  return fc
    .array(part, { minLength: 1, maxLength: longest, size: 'max' })
    .map((parts) => parts.flat().slice(0, longest * 2))
}
