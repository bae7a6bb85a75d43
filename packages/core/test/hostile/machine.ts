/** Plays steps on the real thing and on the reference, and compares them at every request and every answer. */
import {
  type Conversation,
  createToolwell,
  type LedgerStore,
  memoryStore,
  type Toolwell,
} from '@toolwell/core'
import fc from 'fast-check'
import { readLedger } from '../../src/ledger/log.js'
import { expectSame, RequestChecks } from './checks.js'
import { story } from './episodes.js'
import { asked, createCall, spell } from './model-calls.js'
import { Reference } from './reference-calls.js'
import { type Setup, type Step, setup, type TurnStep } from './steps.js'
import { type Line, type Turn, WIRES, type Wire } from './wires.js'
import {
  change,
  createWorld,
  hostTools,
  policyOf,
  publish,
  specOf,
  UNIVERSE,
  type World,
  type WorldStep,
} from './world.js'

interface Process {
  readonly well: Toolwell
  /** The process whose view of the servers it has. */
  readonly seat: 0 | 1
  conversation: Conversation
}

export class Machine {
  readonly world: World = createWorld()
  readonly ran: string[] = []
  readonly processes: Process[] = []
  private store: LedgerStore
  /** How many events each ledger holds. */
  private readonly lengths = new Map<string, number>()
  private crash: { left: number; stored: boolean } | undefined
  private reference: Reference
  private wire: Wire
  private messages: object[] = []
  private scope:
    | { readonly parent: Conversation; readonly options: Parameters<Conversation['child']>[0] }
    | undefined
  private snapshots = new Map<number, Reference>()
  private readonly checks = new RequestChecks()
  private count = { calls: 0, requests: 0, ids: 0, said: 0, lost: 0 }
  /** The last thing that happened is not in the history: a crash took it. */
  private adrift = false

  private constructor(private readonly setup: Setup) {
    const inner = memoryStore()
    this.store = {
      read: (ledger, from) => inner.read(ledger, from),
      append: async (ledger, expected, events) => {
        const fault = this.crash
        const isDue = fault?.left === 0
        if (!isDue || fault.stored) {
          await inner.append(ledger, expected, events)
          this.lengths.set(ledger, expected + events.length)
        }
        // An append that met a conflict was none.
        if (fault) fault.left--
        if (!isDue) return
        this.crash = undefined
        throw new Error('the process was killed')
      },
    }
    this.wire = WIRES[setup.wire] as Wire
    this.reference = new Reference(setup.rules, this.world)
    this.checks.hide(this.reference)
    this.messages.push(this.wire.user('Begin.'))
  }

  static async start(setup: Setup): Promise<Machine> {
    const machine = new Machine(setup)
    for (const index of [0, 1] as const) machine.processes[index] = await machine.process('thread', index)
    return machine
  }

  private async process(id: string, seat: 0 | 1): Promise<Process> {
    const { mode, delivery, maxLoaded, hiddenCalls, cards, cardPlace, schemas } = this.setup.rules
    const well = createToolwell({
      tools: hostTools(this.world, this.ran),
      mode: mode.startsWith('auto') ? 'auto' : (mode as 'on' | 'off'),
      ...(mode.startsWith('auto') ? { costs: { threshold: mode === 'auto-on' ? 0 : 1e9 } } : {}),
      delivery,
      surface: { hiddenCalls, ...(cards && { cards }), ...(cardPlace && { cardPlace }) },
      ...(maxLoaded === undefined ? {} : { limits: { maxLoaded } }),
      ...(schemas === undefined ? {} : { search: { schemas } }),
      policy: policyOf(this.world),
      store: this.store,
    })
    publish(this.world, well, this.ran, seat)
    return { well, seat, conversation: await this.open(well, id) }
  }

  /** A child resumes as a child, with its own allowlist. */
  private async open(well: Toolwell, id: string): Promise<Conversation> {
    if (!this.scope) return well.open({ id })
    const parent = await well.open({ id: this.scope.parent.id })
    return parent.child({ ...this.scope.options, id })
  }

  private line(process: Process): Line {
    return this.wire.open(process.conversation)
  }
  private at(index: 0 | 1): Process {
    return this.processes[index] as Process
  }

  async take(step: Step): Promise<void> {
    this.world.acting = this.at('process' in step ? step.process : 0).seat
    switch (step.kind) {
      case 'turn':
        return this.turn(step)
      case 'world':
        return this.alter(step.change)
      case 'load':
        this.reference.load(step.names.map(asked))
        await this.at(step.process).conversation.load(step.names.map(spell))
        return this.mark()
      case 'unload':
        this.reference.unload(step.names.map(asked))
        await this.at(step.process).conversation.unload(step.names.map(spell))
        return this.mark()
      case 'compact':
        return this.compact(step.keep, step.trim)
      case 'clear':
        this.reference.clear()
        await this.at(0).conversation.clear()
        this.checks.hide(this.reference)
        this.renew([this.wire.user(`Begin anew ${++this.count.said}.`)])
        return
      case 'fork':
        return this.fork(step.back)
      case 'resume':
        this.processes[step.process] = await this.process(this.at(0).conversation.id, step.process)
        return
      case 'switch':
        return this.move(step.wire)
      case 'child':
        return this.child(step)
    }
  }

  private alter(what: WorldStep): void {
    change(this.world, what)
    if (what.kind === 'deny') {
      this.checks.allow(this.reference)
      return
    }
    const source = 'source' in what ? what.source : specOf(what.id).source
    for (const { well, seat } of this.processes) publish(this.world, well, this.ran, seat, source)
  }

  private renew(messages: readonly object[]): void {
    this.messages = [...messages]
    this.checks.restart()
    this.mark()
  }

  /** A step by the host belongs to the last event: forks of earlier places may contain it too. */
  private mark(): void {
    this.snapshots.clear()
    if (!this.adrift) this.snapshots.set(this.messages.length, this.reference.clone())
  }

  private async compact(keep: number, trim: boolean): Promise<void> {
    const keeps = (wire: string) => !trim || wire.length % 3 !== 0
    const start = Math.max(0, this.messages.length - keep)
    const after = [this.wire.user(`Summary ${++this.count.said}.`), ...this.messages.slice(start)]
    this.reference.compact(keeps)
    await this.line(this.at(0)).compact(
      this.messages,
      after,
      trim ? { trim: (active) => active.filter(keeps) } : {},
    )
    this.renew(after)
  }

  private async fork(back: number): Promise<void> {
    const lengths = [...this.snapshots.keys()].sort((a, b) => b - a)
    const length = lengths[Math.min(back, lengths.length - 1)]
    const part = length === undefined ? this.messages : this.messages.slice(0, length)
    const snapshot = length === undefined ? undefined : this.snapshots.get(length)
    if (snapshot === undefined) return
    const id = `fork ${++this.count.ids}`
    const conversation = await this.line(this.at(0)).fork(part, { id })
    // It asks what the origin asks; a second process learns that by opening the same way.
    this.reference = snapshot.clone()
    this.renew([...part, this.wire.user(`Go another way ${++this.count.said}.`)])
    this.processes[0] = { ...this.at(0), conversation }
    this.processes[1] = this.scope ? this.at(0) : await this.process(id, 1)
  }

  private async child({ inherit, allow }: Extract<Step, { kind: 'child' }>): Promise<void> {
    if (this.scope) return
    const id = `child ${++this.count.ids}`
    const ids =
      allow === 'names'
        ? ['read', 'alpha/create', 'beta/watch', 'beta/unwatch']
        : UNIVERSE.filter(({ source }) => source === 'beta').map((each) => each.id)
    const names = allow === 'names' ? ids.map((each) => specOf(each).wire) : ['beta__*']
    const options = { id, inherit, ...(allow === 'none' ? {} : { allow: names }) }
    const parent = this.at(0).conversation
    this.scope = { parent, options }
    const child = {
      allow: allow === 'none' ? undefined : ids,
      named: allow === 'names' ? ids : [],
      all: inherit === 'all',
    }
    this.reference = this.reference.child({ ...this.setup.rules, child }, inherit === 'snapshot')
    this.checks.hide(this.reference)
    const conversation = await parent.child(options)
    this.renew([this.wire.user('Do a part of it.')])
    this.processes[0] = { ...this.at(0), conversation }
    this.processes[1] = await this.process(id, 1)
  }

  private move(wire: number): void {
    const next = WIRES.filter((each) => each !== WIRES[this.setup.wire === 2 ? 1 : 2])[wire] as Wire
    if (next === this.wire) return
    const thread = this.line(this.at(0)).thread(this.messages)
    this.wire = next
    const adopted = this.line(this.at(0)).adopt(thread)
    // Responses has no place for a notice after its own search; see `answer`.
    const hasPlace = next.name !== 'openai-responses' || !endsWithSearch(adopted)
    this.renew(hasPlace ? adopted : [...adopted, this.wire.user(`Go on ${++this.count.said}.`)])
  }

  /** Begins a request that is cancelled, and edits its last message, which no provider has answered. */
  private async edit({ process }: TurnStep): Promise<void> {
    const last = JSON.stringify(this.messages.at(-1))
    // The summary marks the place of a compaction. Without it, call ids from before count as used.
    const isUser = last.includes('"role":"user"') && !/tool_result|functionResponse|"Summary /.test(last)
    if (!isUser) this.messages.push(this.wire.user(`Wait ${++this.count.said}.`))
    const { conversation } = this.at(process)
    this.reference.begin(this.wire.name, this.wire.native)
    const requestId = `request ${++this.count.requests}`
    const turn = await this.line(this.at(process)).begin(this.messages, { requestId })
    this.checks.request(this.wire, turn, conversation, this.reference)
    this.checks.edit(this.messages.at(-1))
    this.messages[this.messages.length - 1] = this.wire.user(`Edited ${++this.count.said}.`)
    this.snapshots.clear()
  }

  private async turn(step: TurnStep): Promise<void> {
    if (step.edited) await this.edit(step)
    const { crash } = step
    const here = this.at(step.process)
    const requestId = `request ${++this.count.requests}`
    if (crash?.at === 'begin') {
      this.crash = { left: 0, stored: crash.stored }
      const died = await this.line(here)
        .begin(this.messages, { requestId })
        .then(
          () => false,
          () => true,
        )
      if (!died || this.crash) throw new Error('a begin that could not be recorded was answered')
      // A process that died returns with the same view of the servers and retries what it began.
      this.processes[step.process] = await this.process(here.conversation.id, here.seat)
    }
    const process = this.at(step.process)
    this.world.acting = process.seat
    const before = this.lengths.get(process.conversation.id)
    this.reference.begin(this.wire.name, this.wire.native)
    const turn = await this.line(process).begin(this.messages, { requestId })
    if (crash?.at === 'begin' && crash.stored)
      expectSame('events of a retry', this.lengths.get(process.conversation.id), before)
    this.adrift = false
    this.checks.request(this.wire, turn, process.conversation, this.reference)
    const asked = [...this.messages]
    const { retried } = step
    if (retried === 'here' || retried === 'there') await this.retry(step, asked, turn, requestId)
    this.snapshots.set(asked.length, this.reference.clone())
    await this.answer(step, turn, process)
    if (retried === 'late') await this.retry(step, asked, turn, requestId)
  }

  private async retry(
    step: TurnStep,
    asked: readonly object[],
    turn: Turn,
    requestId: string,
  ): Promise<void> {
    const other = this.at(step.retried === 'here' ? step.process : step.process === 0 ? 1 : 0)
    const { id } = other.conversation
    const before = this.lengths.get(id)
    const again = await this.line(other).begin(asked, { requestId })
    if (turn.view.mode === 'on') expectSame('the bytes of a retry', again.parts, turn.parts)
    expectSame('events of a retry', this.lengths.get(id), before)
    // It knows the request from before, and has no need to know what came of it.
    if (step.retried === 'late') return
    const live = this.at(step.process).conversation
    // Another process that has read the log knows what this one knows; what is hidden, in the order of its catalogue.
    const known = ({ conversation }: Pick<Process, 'conversation'>) => {
      const { visibleNames: _, accounting: __, deferredNames, ...rest } = conversation.inspect()
      return { ...rest, deferredNames: [...deferredNames].sort() }
    }
    expectSame('live and replayed', known(other), known({ conversation: live }))
    expectSame('stored and live', await readLedger(this.store, id), live.events)
  }

  /** The reply of the model, and what it comes to. */
  private async answer(step: TurnStep, turn: Turn, process: Process): Promise<void> {
    const { crash } = step
    const native = turn.view.delivery === 'native' && this.wire.name === 'openai-responses'
    const made = step.calls.map((call) => createCall(call, this.wire.text, native))
    // A call with the same id after a lost reply counts as the same call: see append-failure.test.ts.
    const base = this.setup.reuseIds ? this.count.lost * 100 : this.count.calls
    const calls = made.map(({ name, text }, index) => ({
      id: `call_${base + index}`,
      name,
      arguments: this.wire.text && !(native && name === 'tool_search') ? text : (JSON.parse(text) as unknown),
    }))
    this.count.calls += made.length
    const said = calls.length > 0 ? { calls } : { text: `Said ${++this.count.said}.` }
    const { reply, messages } = this.wire.reply(turn.parts, said, this.count.requests)
    this.checks.thought(messages, this.reference)
    const meanings = made.map(({ meaning }) => meaning)
    const ranBefore = this.ran.length
    let expected: string[]
    let died = false
    const intruded = calls.length > 0 && (await this.intrude(step))
    if (!intruded && crash && crash.at !== 'begin' && calls.length > 0) {
      const foreseen = this.reference.clone().run(meanings)
      const runs = foreseen.some((kind) => kind === 'result' || kind === 'error')
      const starts = runs && crash.at === 0
      died = runs || crash.at === 0
      if (died) this.crash = { left: crash.at, stored: crash.stored }
      const until = !died
        ? 'end'
        : starts
          ? crash.stored
            ? 'start'
            : 'nothing'
          : crash.stored
            ? 'end'
            : runs
              ? 'start'
              : 'nothing'
      this.reference.run(meanings, until)
      // Not recorded: a search did nothing; what ran has run.
      expected = !died
        ? foreseen
        : starts
          ? foreseen.map(() => 'not-recorded')
          : foreseen.map((kind) => (kind === 'search' ? 'not-recorded' : kind))
    } else expected = this.reference.run(meanings)
    const ran = await turn.run(reply)
    if (!died) {
      const { id, length } = process.conversation
      expectSame('events known after a batch', length, (await readLedger(this.store, id)).length)
    }
    if (died && this.crash) throw new Error('the append that was to fail did not happen')
    const found = ran.answers.map(({ outcome }) => outcome.kind)
    expectSame(
      `the outcomes of ${JSON.stringify(made.map(({ name, text }) => [name, text]))}`,
      this.settle(found, expected),
      expected,
    )
    if (turn.view.delivery === 'append') this.checks.answers(ran.answers, this.reference)
    const executed = expected.filter((kind) => kind === 'result' || kind === 'error').length
    expectSame('how many tools ran', this.ran.length - ranBefore, executed)
    if (!died) this.messages.push(...messages, ...ran.messages)
    else {
      if (crash?.kept) this.messages.push(...messages)
      else this.count.lost++
      this.processes[step.process] = await this.process(process.conversation.id, step.process)
      this.adrift = true
      this.snapshots.clear()
    }
    // A notice needs a place. There is none in a message that was already sent, in a search without words, or in a
    // call under an undeclared name, which becomes text.
    const { fixed, appended, aside, masked } = this.reference.declared
    const declared = new Set([...fixed, ...appended, ...aside].filter((name) => !masked.includes(name)))
    const isWordless = native && !calls.some(({ name }) => name !== 'tool_search' && declared.has(name))
    if (calls.length === 0 || isWordless || (died && !crash?.kept))
      this.messages.push(this.wire.user(`Go on ${++this.count.said}.`))
  }

  /** Where the reference leaves a choice, the real outcome counts as the expected one. */
  private settle(found: readonly string[], expected: readonly string[]): string[] {
    const refusals = ['denied', 'unknown', 'unavailable']
    return found.map((kind, index) => (expected[index] === 'gone' && refusals.includes(kind) ? 'gone' : kind))
  }

  private async intrude({ process, intruder }: TurnStep): Promise<boolean> {
    if (!intruder) return false
    const other = this.at(process === 0 ? 1 : 0)
    if (intruder.loads) await other.conversation.load([spell(intruder.named)])
    else await other.conversation.unload([spell(intruder.named)])
    this.world.acting = other.seat
    this.reference[intruder.loads ? 'load' : 'unload']([asked(intruder.named)])
    this.world.acting = this.at(process).seat
    this.snapshots.clear()
    return true
  }
}

/** True if the items of Responses end with answers to searches, and to nothing else. */
function endsWithSearch(items: readonly object[]): boolean {
  const all = items as readonly {
    readonly type?: string
    readonly call_id?: string
    readonly name?: string
  }[]
  const ended = all.slice(all.findLastIndex(({ type }) => !type?.endsWith('_output')) + 1)
  const called = ended.map(({ call_id }) =>
    all.findLast((item) => item.call_id === call_id && !item.type?.endsWith('_output')),
  )
  const isSearch = called.map((call) => call?.name === 'tool_search' || call?.type === 'tool_search_call')
  return isSearch.length > 0 && isSearch.every(Boolean)
}

/** The law: whatever happens, every request and every answer is what the reference says, and nothing throws. */
export function conversationProperty(
  longest: number,
  onEnd: (steps: number) => void = () => {},
): fc.IAsyncProperty<unknown[]> {
  return fc.asyncProperty(setup, story(longest), async (given, taken) => {
    const machine = await Machine.start(given)
    for (const each of taken) await machine.take(each)
    onEnd(taken.length)
  }) as unknown as fc.IAsyncProperty<unknown[]>
}

/** Finds the same failure with fewer steps and fewer calls. */
export async function shortest(
  setup: Setup,
  story: readonly Step[],
): Promise<{ readonly setup: Setup; readonly steps: readonly Step[]; readonly error: string }> {
  const errorOf = async (steps: readonly Step[]): Promise<string | undefined> => {
    try {
      const machine = await Machine.start(setup)
      for (const each of steps) await machine.take(each)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  let steps = story
  let error = (await errorOf(steps)) ?? 'it did not fail again'
  for (let before = -1; before !== JSON.stringify(steps).length; ) {
    before = JSON.stringify(steps).length
    for (const fewer of reductions(steps)) {
      const found = await errorOf(fewer)
      if (found === undefined) continue
      steps = fewer
      error = found
      break
    }
  }
  return { setup, steps, error }
}

function* reductions(steps: readonly Step[]): Generator<readonly Step[]> {
  for (const [index, step] of steps.entries()) {
    yield steps.toSpliced(index, 1)
    if (step.kind !== 'turn') continue
    for (let call = 0; call < step.calls.length; call++)
      yield steps.with(index, { ...step, calls: step.calls.toSpliced(call, 1) })
    const { crash: _, intruder: __, edited: ___, ...calm } = step
    if (step.crash ?? step.intruder ?? step.edited) yield steps.with(index, calm)
  }
}
