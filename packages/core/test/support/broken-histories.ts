/** Histories that something went wrong with, before any wire has written them down. For property tests. */
import fc from 'fast-check'

export interface BrokenCall {
  readonly id: string
  readonly name: string
  /** An object, or invalid JSON text. */
  readonly input: object | string
}

export type Element =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'reply'; readonly text: string; readonly calls: readonly BrokenCall[] }
  | { readonly kind: 'answer'; readonly id: string; readonly name: string; readonly text: string }
  /** One of the things that only a wire can write, by number. */
  | { readonly kind: 'odd'; readonly which: number }

type Change = (elements: readonly Element[]) => readonly Element[]

/** Declared, deferred, gone, Toolwell's own, and what no tool can be named. */
const NAMES = [
  'read_file',
  'tracker__create_issue',
  'gone',
  'tool_search',
  'tool_call',
  'bad name!',
  '',
  'cut\ud83d',
]
const INPUTS = [
  { value: 'x' },
  {},
  { query: 'select:tracker__create_issue' },
  { name: 'tracker__create_issue', arguments: { value: 'x' } },
  { name: 'nowhere', arguments: {} },
  '{"value":"cut sho',
  { value: 'cut \ud83d', '\udc00': 1 },
]
const IDS = [
  '',
  'call_1',
  'call_2',
  'x'.repeat(41),
  'x'.repeat(65),
  'with.dots and spaces',
  'é🎉',
  'call_1_2',
  'call',
  'call\ud83d',
]

const call = fc.record({ name: fc.constantFrom(...NAMES), input: fc.constantFrom(...INPUTS) })
const round = fc.record({
  asked: fc.option(fc.constantFrom('Do it.', 'And then?', 'Cut \ud83d'), { nil: undefined }),
  said: fc.constantFrom('', 'Let me see.', 'Cut \udc00'),
  calls: fc.array(call, { maxLength: 3 }),
  closing: fc.boolean(),
})

/** As a host keeps it while nothing goes wrong. */
const sound: fc.Arbitrary<readonly Element[]> = fc
  .array(round, { minLength: 1, maxLength: 5 })
  .map((rounds) => {
    let count = 0
    return rounds.flatMap(({ asked, said, calls, closing }): Element[] => {
      const made = calls.map((each) => ({ ...each, id: `call_${++count}` }))
      return [
        ...(asked === undefined ? [] : [{ kind: 'user' as const, text: asked }]),
        { kind: 'reply', text: made.length > 0 ? said : said || 'Yes.', calls: made },
        ...made.map(({ id, name }) => ({
          kind: 'answer' as const,
          id,
          name,
          text: `answer to ${id}${name === 'gone' ? ' \ud83d' : ''}`,
        })),
        ...(closing ? [{ kind: 'reply' as const, text: 'Done.', calls: [] }] : []),
      ]
    })
  })

const at = fc.nat({ max: 40 })
const change: fc.Arbitrary<Change> = fc.oneof(
  at.map(
    (n): Change =>
      (list) =>
        list.toSpliced(n % list.length, 1),
  ),
  at.map(
    (n): Change =>
      (list) =>
        list.toSpliced(n % list.length, 0, ...list.slice(n % list.length).slice(0, 1)),
  ),
  at.map(
    (n): Change =>
      (list) =>
        list.slice(n % list.length),
  ),
  at.map(
    (n): Change =>
      (list) =>
        list.slice(0, (n % list.length) + 1),
  ),
  fc.tuple(at, at).map(
    ([from, to]): Change =>
      (list) => {
        const moved = list[from % list.length]
        return moved ? list.toSpliced(from % list.length, 1).toSpliced(to % list.length, 0, moved) : list
      },
  ),
  fc.tuple(at, fc.constantFrom(...IDS), fc.boolean()).map(
    ([n, id, alone]): Change =>
      (list) =>
        renamed(list, n, id, alone),
  ),
  fc.tuple(at, at).map(
    ([n, which]): Change =>
      (list) =>
        list.toSpliced(n % list.length, 0, { kind: 'odd', which }),
  ),
)

/** Gives one id of the history another form, in the call and the answer or in one of them `alone`. */
function renamed(list: readonly Element[], n: number, id: string, alone: boolean): readonly Element[] {
  const ids = list.flatMap((each) =>
    each.kind === 'reply' ? each.calls.map((made) => made.id) : each.kind === 'answer' ? [each.id] : [],
  )
  const old = ids[n % Math.max(1, ids.length)]
  return list.map((each): Element => {
    if (each.kind === 'answer' && each.id === old && !alone) return { ...each, id }
    if (each.kind !== 'reply') return each
    return { ...each, calls: each.calls.map((made) => (made.id === old ? { ...made, id } : made)) }
  })
}

export const brokenHistory: fc.Arbitrary<readonly Element[]> = fc
  .tuple(sound, fc.array(change, { maxLength: 7 }))
  .map(([elements, changes]) =>
    changes.reduce((list, change) => (list.length > 0 ? change(list) : list), elements),
  )
