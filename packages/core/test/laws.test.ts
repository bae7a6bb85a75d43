/** Laws that random hosts broke, each as the shortest way to it, on the wires where it showed. */
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { WIRES, type Wire } from './hostile/wires.js'
import { mixed, server, tool } from './support/tools.js'

const NAME = 'tracker__create_issue'
const wires = WIRES.map((wire, index) => ({ wire, label: `${wire.name} ${index}` }))
const native = wires.filter(({ wire }) => wire.native)
const reworded = () => server('tracker', ['create_issue'], { description: 'Files with more care' })

async function open(wire: Wire, options: ToolwellOptions) {
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  const conversation = await well.open({ id: 'a' })
  const line = wire.open(conversation)
  const messages: object[] = [wire.user('Go.')]
  let count = 0
  const begin = async () => {
    const turn = await line.begin(messages, {})
    expect(wire.violationOf(turn.parts)).toBeUndefined()
    return turn
  }
  /** One exchange. `lost`: what of it never reaches the history. */
  const exchange = async (
    said: { readonly text?: string; readonly calls?: readonly { name: string; arguments: object }[] },
    lost?: 'results' | 'reply',
  ) => {
    const turn = await begin()
    const calls = said.calls?.map(({ name, arguments: given }, index) => ({
      id: `call_${count++}_${index}`,
      name,
      arguments: wire.text && !(wire.native && name === 'tool_search') ? JSON.stringify(given) : given,
    }))
    const { reply, messages: replied } = wire.reply(
      turn.parts,
      calls ? { calls } : { text: said.text ?? '' },
      count,
    )
    const ran = await turn.run(reply)
    if (lost !== 'reply') messages.push(...replied)
    if (lost === undefined) messages.push(...ran.messages)
    return turn
  }
  const say = (text: string) => void messages.push(wire.user(text))
  return { well, conversation, line, messages, begin, exchange, say }
}

const call = { calls: [{ name: NAME, arguments: { value: 'x' } }] }
const select = { calls: [{ name: 'tool_search', arguments: { query: `select:${NAME}` } }] }

/** The rendered request before the last message. */
function settled(wire: Wire, parts: object): string {
  const rendered = wire.rendered(parts)
  return rendered.slice(0, rendered.lastIndexOf('{"'))
}

describe.each(wires)('$label: a definition that changes after an import', ({ wire }) => {
  it.each(['append', 'bridge', ...(wire.native ? (['native'] as const) : [])] as const)(
    'before the first request is shown (%s)',
    async (delivery) => {
      const first = await open(wire, { delivery })
      await first.exchange(select)
      first.say('And then?')
      const again = await open(wire, { delivery })
      again.messages.splice(0, 1, ...first.messages)
      expect((await again.line.importHistory(again.messages)).recovered).toEqual(['tracker/create_issue'])
      again.well.catalogue.setSource('tracker', { tools: reworded() })
      const { parts } = await again.begin()
      expect(JSON.stringify(parts)).toContain('Files with more care')
    },
  )
})

describe.each(native)('$label: a guessed tool whose results were lost', ({ wire }) => {
  it.each(['results', 'reply'] as const)('leaves every later request legal (%s)', async (lost) => {
    const { exchange, say, begin } = await open(wire, {})
    await exchange(call, lost)
    if (lost === 'reply') say('Go on.')
    await exchange(call, lost)
    if (lost === 'reply') say('Go on.')
    await exchange(select)
    say('Now use it.')
    await exchange(call)
    say('Done?')
    await exchange({ text: 'Yes.' })
    say('Good.')
    await begin()
  })

  it('together with a tool that the host loaded meanwhile', async () => {
    const { conversation, exchange, say, begin } = await open(wire, {})
    await exchange(call, 'results')
    await conversation.load(['calendar__find_slot'])
    await begin()
    await exchange({ text: 'Hm.' })
    say('Go on.')
    await begin()
  })
})

describe.each(wires)('$label: results lost twice in a row', ({ wire }) => {
  it.each(['append', 'bridge', ...(wire.native ? (['native'] as const) : [])] as const)(
    'move no notice (%s)',
    async (delivery) => {
      const { well, exchange, say, begin } = await open(wire, { delivery })
      await exchange({ text: 'Hello.' })
      say('Read.')
      const read = { calls: [{ name: 'read_file', arguments: { value: 'x' } }] }
      await exchange(read, 'results')
      well.catalogue.setSource('mail', { tools: [tool('send_mail')] })
      const one = await exchange(read, 'results')
      well.catalogue.setSource('chat', { tools: [tool('send_chat')] })
      const two = await exchange(read, 'results')
      expect(wire.rendered(two.parts).startsWith(settled(wire, one.parts))).toBe(true)
      const three = await begin()
      expect(wire.rendered(three.parts).startsWith(settled(wire, two.parts))).toBe(true)
      const sent = JSON.stringify(three.parts)
      for (const name of ['mail__send_mail', 'chat__send_chat'])
        expect(sent.split(`- ${name}:`)).toHaveLength(2)
    },
  )
})

describe.each(native)('$label: a redefinition', ({ wire }) => {
  it.each(['found', 'guessed'] as const)('rewrites nothing of a tool that was %s', async (how) => {
    const { well, exchange, say, begin } = await open(wire, {})
    await exchange(how === 'found' ? select : call)
    say('Well?')
    const before = await exchange(call)
    well.catalogue.setSource('tracker', { tools: reworded() })
    say('And now?')
    const after = await exchange({ text: 'Now.' })
    expect(wire.rendered(after.parts).startsWith(settled(wire, before.parts))).toBe(true)
    expect(JSON.stringify(after.parts)).toContain('Files with more care')
    say('Once more?')
    const { parts } = await begin()
    expect(wire.rendered(parts).startsWith(settled(wire, after.parts))).toBe(true)
    expect(JSON.stringify(parts).split('Files with more care')).toHaveLength(2)
  })
})

describe.each(wires)('$label: a server that restarts its call ids', ({ wire }) => {
  /** The same call under the same id, in a new reply. */
  const read = (index: number, parts: object) => {
    const given = { value: 'x' }
    const calls = [{ id: 'call_0', name: 'read_file', arguments: wire.text ? JSON.stringify(given) : given }]
    return wire.reply(parts, { calls }, index)
  }

  it.each([0, 2])('has its calls run after a compaction that keeps %i messages', async (keep) => {
    let ran = 0
    const tools = [tool('read_file', { execute: () => ++ran }), ...server('mail', ['send_mail'])]
    const { line, messages, begin, say } = await open(wire, { tools })
    for (const index of [0, 1]) {
      const turn = await begin()
      const { reply, messages: replied } = read(index, turn.parts)
      messages.push(...replied, ...(await turn.run(reply)).messages)
    }
    expect(ran).toBe(2)
    const before = [...messages]
    messages.splice(0, messages.length, wire.user('So far: read.'), ...messages.slice(messages.length - keep))
    await line.compact(before, messages)
    say('Read it again.')
    const turn = await begin()
    const { reply } = read(2, turn.parts)
    const [answer] = (await turn.run(reply)).answers
    expect(answer?.outcome.kind).toBe('result')
    expect(ran).toBe(3)
    // The same reply a second time: that is not a new call.
    const [again] = (await (await begin()).run(structuredClone(reply) as never)).answers
    expect(again?.outcome.kind).toBe('already-started')
    expect(ran).toBe(3)
  })
})
