/** Everything that must hold of one request: what the reference says, what may not leave, and which bytes may not change. */
import type { Conversation } from '@toolwell/core'
import type { Reference } from './reference-calls.js'
import type { Turn, Wire } from './wires.js'
import { cardMark, schemaMark, specOf, UNIVERSE } from './world.js'

/** Throws where the two accounts differ; the message says what was expected. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}\n  found    ${a}\n  expected ${b}`)
}

export class RequestChecks {
  /** Tools that policy has denied ever since this history began. */
  private readonly unseen = new Set<string>()
  /** The latch under which the model thought something, by its seal. */
  private readonly thoughtUnder = new Map<string, number>()
  private last: { rendered: string; tools: string; latches: number; appended: readonly string[] } | undefined

  /** A history begins: what is denied now may not leave until it is allowed. */
  hide(reference: Reference): void {
    this.unseen.clear()
    for (const { id } of UNIVERSE) if (reference.denies(id, 'see')) this.unseen.add(id)
  }
  allow(reference: Reference): void {
    for (const id of this.unseen) if (!reference.denies(id, 'see')) this.unseen.delete(id)
  }
  /** The next request need not begin as the last one did. */
  restart(): void {
    this.last = undefined
    this.thoughtUnder.clear()
  }

  /** The host edits the last message of the last request: everything before it is settled. */
  edit(message: object | undefined): void {
    const [, text = ''] = /"(?:text|content)":"([^"]*)"/.exec(JSON.stringify(message)) ?? []
    const { rendered } = this.last ?? { rendered: '' }
    if (this.last) this.last = { ...this.last, rendered: rendered.slice(0, rendered.lastIndexOf(text)) }
  }

  /** Thinking of the model in answer to the last request. */
  thought(messages: readonly object[], { latches }: Reference): void {
    for (const [, seal = ''] of JSON.stringify(messages).matchAll(/"signature":"([^"]*)"/g))
      this.thoughtUnder.set(seal, latches)
  }

  /** Where no load touches a byte before the last message, what was thought stays valid until the next latch. */
  private thinking(
    wire: Wire,
    parts: object,
    { delivery, mode }: Turn['view'],
    { latches }: Reference,
  ): void {
    if (mode === 'off' || (delivery !== 'native' && delivery !== 'bridge')) return
    const stale = wire.staleThinking?.(parts).find((seal) => this.thoughtUnder.get(seal) === latches)
    if (stale !== undefined) throw new Error(`what was thought under this latch is invalid: ${stale}`)
  }

  request(wire: Wire, { parts, view }: Turn, conversation: Conversation, reference: Reference): void {
    const refused = wire.violationOf(parts)
    if (refused !== undefined) throw new Error(`a strict endpoint refuses this request: ${refused}`)
    expectSame('mode and delivery', [view.mode, view.delivery], [reference.mode, reference.delivery])
    this.surface(view, conversation, reference)
    if (reference.searches) this.cards(view, reference)
    this.schemas(JSON.stringify(parts), JSON.stringify(wire.toolsOf(parts)), view.mode, reference)
    this.secrets(JSON.stringify(parts))
    this.prefix(wire.rendered(parts), JSON.stringify(wire.toolsOf(parts)), view, reference)
    this.thinking(wire, parts, view, reference)
  }

  private surface(view: Turn['view'], conversation: Conversation, reference: Reference): void {
    const ready = UNIVERSE.filter(({ id }) => reference.shows(id))
    const isOff = view.mode === 'off'
    const { fixed, appended, aside, masked } = reference.declared
    const tools = view.tools.map(({ name }) => name)
    // A notice may have said that a tool is denied, before the cap unloaded it. If policy allows it again while its source is out
    // of reach, no request says so, and it stays suspended until the source is back. The reference does not know of notices.
    const maySuspend = (id: string) => reference.suspended.has(id) || !reference.isAway(id)
    const wires = new Map(UNIVERSE.map(({ id, wire }) => [wire, id]))
    if (isOff) expectSame('tools when off', [...tools].sort(), ready.map((each) => each.wire).sort())
    else {
      expectSame('eager and meta-tools, in order', tools.slice(0, fixed.length), fixed)
      expectSame('what is appended', tools.slice(fixed.length).sort(), [...appended].sort())
      expectSame(
        'what is declared aside',
        view.declaredHidden.map(({ name }) => name).sort(),
        [...aside].sort(),
      )
      const hidden = view.masked.filter((name) => masked.includes(name) || maySuspend(wires.get(name) ?? ''))
      expectSame('what is masked', hidden.sort(), [...new Set(masked)].sort())
    }
    const { loadedLazyTools, suspended, visibleNames } = conversation.inspect()
    const live = [...reference.tail].filter(([, held]) => held.live)
    const loaded = live.filter(([id, { late }]) => !late && (isOff || !reference.suspended.has(id)))
    expectSame('loaded tools', [...loadedLazyTools].sort(), loaded.map(([id]) => specOf(id).wire).sort())
    const held = new Set([...reference.eager, ...live.map(([id]) => id)])
    for (const id of reference.parked.keys()) held.add(id)
    const gone = (ids: Iterable<string>, isGone: (id: string) => boolean) =>
      isOff ? [] : [...ids].filter(isGone).sort()
    expectSame(
      'suspended tools',
      gone(Object.keys(suspended), (id) => held.has(id) && maySuspend(id)),
      gone(held, (id) => reference.suspended.has(id)),
    )
    const offered = UNIVERSE.filter(
      ({ id }) => reference.shows(id) || (!reference.exists(id) && reference.isAway(id)),
    )
    const callable = isOff ? ready : offered.filter(({ id }) => reference.isLoaded(id))
    expectSame(
      'what can be called',
      visibleNames.map(({ name }) => name).sort(),
      [...callable.map((each) => each.wire), ...reference.meta].sort(),
    )
  }

  /** Where the array shows what was found, an answer shows it a second time only if the host wants that. */
  answers(answers: Awaited<ReturnType<Turn['run']>>['answers'], { rules, world }: Reference): void {
    for (const { outcome, text } of answers) {
      if (outcome.kind !== 'search') continue
      for (const { canonicalName, fresh } of outcome.result.matches) {
        const each = UNIVERSE.find(({ wire }) => wire === canonicalName)
        const version = each && world.sources.get(each.source)?.tools.get(each.id)
        if (!each || version === undefined || !fresh) continue
        const isShown = text.includes(schemaMark(each, version))
        expectSame(`the schema of ${each.id} in an answer`, isShown, rules.schemas === 'twice')
      }
    }
  }

  /** The list names its tools, a group as one entry, in its own place and nowhere else outside the messages. */
  private cards({ section, tools }: Turn['view'], { cards, rules }: Reference): void {
    const loader = JSON.stringify(tools.find(({ name }) => name === 'tool_search'))
    const unitsOf = (ids: readonly string[]) => [...new Set(ids.map((id) => specOf(id).group ?? id))].sort()
    const listed = (text: string) =>
      unitsOf(UNIVERSE.filter((each) => text.includes(cardMark(each))).map(({ id }) => id))
    const [place, other] = rules.cardPlace === 'section' ? [section, loader] : [loader, section]
    expectSame('the list of hidden tools', listed(place), unitsOf(cards))
    expectSame('the other place of the list', listed(other), [])
  }

  /** A loaded schema appears somewhere in its newest form; a hidden tool is not declared. */
  private schemas(raw: string, declared: string, mode: string, reference: Reference): void {
    for (const each of UNIVERSE) {
      const { id, source } = each
      const mark = schemaMark(each, reference.world.sources.get(source)?.tools.get(id) ?? 0)
      const isShown = reference.may(id) && (mode === 'off' || reference.isLoaded(id))
      if (isShown && !raw.includes(mark))
        throw new Error(`the schema of ${id} (${mark}) is missing from the request`)
      const { place = 'text' } = reference.tail.get(id) ?? {}
      const isSent = mode === 'off' || reference.eager.includes(id) || place !== 'text'
      if (!isSent && declared.includes(mark))
        throw new Error(`the schema of ${id} is sent though it is hidden`)
    }
  }

  private secrets(raw: string): void {
    for (const id of this.unseen) {
      const each = specOf(id)
      const [schema = ''] = schemaMark(each, 1).split('-version')
      // Models of this test call what is denied, but never what is secret: its very name may not leave.
      const marks = [cardMark(each), `${schema}-version`, ...(each.secret ? [each.wire, id] : [])]
      const leaked = marks.find((mark) => raw.includes(mark))
      if (leaked !== undefined) throw new Error(`${leaked} was denied from the beginning, and leaves`)
    }
  }

  /** Where the array may grow, nothing changes as long as it does not. */
  private prefix(
    rendered: string,
    tools: string,
    view: Turn['view'],
    { latches, declared }: Reference,
  ): void {
    const appended = view.tools.slice(declared.fixed.length).map(({ name }) => name)
    const before = this.last?.latches === latches && view.mode === 'on' ? this.last : undefined
    if (before)
      expectSame('what was appended before', appended.slice(0, before.appended.length), before.appended)
    const isStable = view.delivery === 'native' || view.delivery === 'bridge' || before?.tools === tools
    // Behind the last message the answers and notes of its turn follow; everything before it is settled.
    const settled = before && isStable ? settledPart(before.rendered) : ''
    if (!rendered.startsWith(settled)) {
      let at = 0
      while (rendered[at] === settled[at]) at++
      const near = (text: string) => text.slice(Math.max(0, at - 60), at + 80)
      throw new Error(`a byte of the prefix changed\n  before ${near(settled)}\n  after  ${near(rendered)}`)
    }
    this.last = { rendered, tools, latches, appended }
  }
}

/** The part that cannot change any more: all but the last message, and but a system message that Anthropic wants after the user's last. */
function settledPart(rendered: string): string {
  const system = rendered.lastIndexOf('\nsystem\n')
  const isLast = system >= 0 && !rendered.slice(system + 8).includes('\nassistant\n')
  const part = isLast ? rendered.slice(0, system) : rendered
  return part.slice(0, part.lastIndexOf('{"'))
}
