/**
 * One list of journeys for the official clients: the same host loop, the real client of each wire, and the strict endpoint
 * of its protocol at the other end. A client says how it asks and what it understood; the journeys are the same for all.
 */

import type { Tool, ToolwellOptions } from '@toolwell/core'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { someOf } from '../../../../test/setup/tier.ts'
import { adapterPort } from '../../src/conversation.js'
import { mixed, server, tool } from '../support/tools.js'
import type { Script, WireHarness, WireHost } from '../support/wire-harness.js'

type Delivery = WireHarness['deliveries'][number]

/** Whole replies, the client's own way to add a stream up, and `assemble` over the events that the client gives. */
export type Mode = 'whole' | 'helper' | 'assembled'

/** A reply in the words of the client that read it. */
export interface Seen {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly complete: boolean
}

export interface Session {
  readonly mode: Mode
  /** How often the client may repeat a request by itself. */
  readonly retries: number
  /** Every reply the client gave, oldest first. */
  readonly seen: Seen[]
  /** The only tool the model may call, by the request's own choice. */
  choice?: string | undefined
}

export interface SdkHost extends WireHost {
  readonly session: Session
}

export interface SdkClient {
  readonly name: string
  /** Those of its wire in the scenarios. */
  readonly deliveries: readonly Delivery[]
  readonly modes: readonly Mode[]
  open(session: Session, options: ToolwellOptions, script: Script): Promise<SdkHost>
  /** Whether this is what the client throws at a status. */
  isStatus(error: unknown, status: number): boolean
  /** How a failed tool is marked in a request, where the wire has a mark. */
  readonly failure: string
  /**
   * The model's notice after arguments that are not JSON: that they cannot be read, or nothing because the reply had no
   * call.
   */
  readonly broken: 'told' | 'no call'
}

interface Scene {
  readonly client: SdkClient
  readonly delivery: Delivery
  readonly mode: Mode
  /** A call of a found tool in the way of the delivery. */
  use(name: string, input?: object): ScriptedCall
  open(script: Script, options?: ToolwellOptions, retries?: number): Promise<SdkHost>
}

/** Over the bridge a found tool is named in the arguments; elsewhere it is called by its name. */
const callThrough = (delivery: Delivery, name: string, input: object): ScriptedCall =>
  delivery === 'bridge'
    ? { name: 'tool_call', arguments: { name, arguments: input } }
    : { name, arguments: input }

const search = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done: ScriptedReply = { text: 'It is done, and well.' }
const failing: Tool = tool('fail', {
  execute: () => {
    throw new Error('the printer is on fire')
  },
})

const journeys: Record<string, (scene: Scene) => Promise<void>> = {
  'finds a tool, calls it and answers': async ({ open, use, delivery }) => {
    const call = use('tracker__create_issue', { value: 'x' })
    const host = await open([search('create an issue'), { calls: [call] }, done])
    expect(await host.ask('file it')).toBe('It is done, and well.')
    expect(host.session.seen).toEqual([
      { text: '', calls: [{ name: 'tool_search', input: { query: 'create an issue' } }], complete: true },
      { text: '', calls: [{ name: call.name, input: call.arguments }], complete: true },
      { text: 'It is done, and well.', calls: [], complete: true },
    ])
    expect(host.requests.map(({ violation }) => violation)).toEqual([undefined, undefined, undefined])
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(host.requests.at(-1)?.raw).toContain('The value for create_issue')
    expect(host.toolsJson(-1) !== host.toolsJson(0)).toBe(delivery === 'append')
    expect(host.conversation.inspect().loadedLazyTools).toContain('tracker__create_issue')
  },

  'answers parallel calls together and in their order': async ({ open, use }) => {
    const calls = [
      { name: 'write_file', arguments: { value: 'first' } },
      { name: 'tool_search', arguments: { query: 'select:calendar__find_slot' } },
      use('tracker__close_issue', { value: 'second' }),
      { name: 'read_file', arguments: { value: 'third' } },
    ]
    const host = await open([search('select:tracker__close_issue'), { text: 'Four things.', calls }, done])
    host.say('go')
    await host.step()
    const texts = await host.step()
    await host.step()
    expect(host.session.seen[1]).toEqual({
      text: 'Four things.',
      calls: calls.map(({ name, arguments: input }) => ({ name, input })),
      complete: true,
    })
    const ran = texts.filter((text) => text.includes(' ran with '))
    expect(ran.map((text) => text.split(' ')[0])).toEqual(['write_file', 'close_issue', 'read_file'])
    const raw = host.requests.at(-1)?.raw ?? ''
    const places = ran.map((text) => raw.indexOf(JSON.stringify(text)))
    expect(Math.min(...places)).toBeGreaterThan(0)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(2)
  },

  'throws the typed error at a request the endpoint refuses, and repeats the same bytes': async ({
    open,
    client,
  }) => {
    const host = await open([search('select:tracker__create_issue'), done])
    host.say('go')
    await host.step()
    const { length } = host
    host.session.choice = 'nobody'
    for (const time of [1, 2]) {
      const error = await host.step('choosy').catch((thrown: unknown) => thrown)
      expect(client.isStatus(error, 400), `time ${time}: ${error}`).toBe(true)
      expect(String(error)).toContain('nobody')
    }
    expect(host.requests[1]?.violation).toBeDefined()
    expect(host.requests[2]?.raw).toBe(host.requests[1]?.raw)
    expect(host.length).toBe(length)
    host.session.choice = undefined
    expect(await host.step('choosy')).toEqual([])
    expect(host.session.seen.at(-1)?.text).toBe('It is done, and well.')
  },

  'sends the same bytes again after a server that was busy': async ({ open, client }) => {
    const busy: ScriptedReply = { status: 503, error: 'overloaded' }
    const host = await open([search('select:tracker__create_issue'), busy, done])
    host.say('go')
    await host.step()
    const error = await host.step('again').catch((thrown: unknown) => thrown)
    expect(client.isStatus(error, 503), String(error)).toBe(true)
    await host.step('again')
    expect(host.requests).toHaveLength(3)
    expect(host.requests[2]?.raw).toBe(host.requests[1]?.raw)
  },

  'lets the client repeat a request by itself': async ({ open }) => {
    const busy: ScriptedReply = { status: 503, error: 'overloaded', headers: { 'retry-after-ms': '1' } }
    const host = await open([busy, done], {}, 1)
    expect(await host.ask('go')).toBe('It is done, and well.')
    expect(host.requests).toHaveLength(2)
    expect(host.requests[1]?.raw).toBe(host.requests[0]?.raw)
    expect(host.session.seen).toHaveLength(1)
  },

  'asks again with the same bytes when the connection breaks half-way': async ({ open, mode }) => {
    const cut: ScriptedReply = { cutAfter: 12, text: 'This sentence is never finished.' }
    const host = await open([search('select:tracker__create_issue'), cut, done])
    host.say('go')
    await host.step()
    const { length } = host
    if (mode === 'assembled') {
      expect(await host.step('again')).toEqual([])
      expect(host.session.seen.at(-1)).toMatchObject({ calls: [], complete: false })
    } else {
      await expect(host.step('again')).rejects.toThrow()
    }
    expect(host.length).toBe(length)
    await host.step('again')
    expect(host.session.seen.at(-1)).toEqual({ text: 'It is done, and well.', calls: [], complete: true })
    expect(host.requests[2]?.raw).toBe(host.requests[1]?.raw)
  },

  'tells the model that a tool failed': async ({ open, client }) => {
    const host = await open([{ calls: [{ name: 'fail', arguments: {} }] }, done], {
      tools: [...mixed(), failing],
    })
    await host.ask('print')
    const raw = host.requests.at(-1)?.raw
    expect(raw).toContain('the printer is on fire')
    expect(raw).toContain(client.failure)
  },

  'continues after arguments that are not JSON': async ({ open, client: { broken } }) => {
    const host = await open([{ calls: [{ name: 'read_file', arguments: '{"value": "ha", "va' }] }, done])
    host.say('go')
    const texts = await host.step()
    expect(texts).toEqual(broken === 'told' ? [expect.stringMatching(/JSON/)] : [])
    expect(await host.ask('and now?')).toBe('It is done, and well.')
    expect(host.requests.map(({ violation }) => violation)).toEqual([undefined, undefined])
  },

  'resumes from a history that was stored as JSON': async ({ open, use }) => {
    const script = [
      search('select:tracker__create_issue'),
      { text: 'Found it.', calls: [use('tracker__create_issue', { value: 'x' })] },
      done,
      { calls: [use('tracker__create_issue', { value: 'y' })] },
      done,
    ]
    const straight = await open(script)
    await straight.ask('one')
    await straight.ask('two')
    const stopped = await open(script)
    await stopped.ask('one')
    const resumed = await stopped.resume()
    expect(await resumed.ask('two')).toBe('It is done, and well.')
    expect(resumed.requests.map(({ raw }) => raw)).toEqual(straight.requests.map(({ raw }) => raw))
    expect(resumed.requests).toHaveLength(5)
  },

  'sends every tool while deferral is off': async ({ open }) => {
    const call = { name: 'tracker__create_issue', arguments: { value: 'x' } }
    const host = await open([{ thinking: 'One call.', calls: [call] }, done], { mode: 'off' })
    expect(await host.ask('file it')).toBe('It is done, and well.')
    expect(host.session.seen[0]?.calls).toEqual([{ name: call.name, input: call.arguments }])
    expect(host.toolNames(0)).not.toContain('tool_search')
    expect(host.toolsJson(1)).toBe(host.toolsJson(0))
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(host.requests.map(({ violation }) => violation)).toEqual([undefined, undefined])
  },

  'crosses the threshold with a compaction, with thinking before and after': async ({ open, use }) => {
    const call = { name: 'tracker__create_issue', arguments: { value: 'x' } }
    const query = 'select:late__tool_7'
    const host = await open(
      [
        { thinking: 'All tools are here.', calls: [call] },
        { thinking: 'Done.', ...done },
        { thinking: 'The same again.', calls: [call] },
        { thinking: 'Done again.', ...done },
        { thinking: 'I have to search.', calls: [{ name: 'tool_search', arguments: { query } }] },
        { thinking: 'Found.', calls: [use('late__tool_7', { value: 'y' })] },
        { thinking: 'Well.', ...done },
        done,
      ],
      { mode: 'auto', costs: { threshold: 2000 } },
    )
    await host.ask('file it')
    const names = Array.from({ length: 40 }, (_, index) => `tool_${index}`)
    const late = server('late', names, { description: 'word '.repeat(60) })
    host.well.catalogue.setSource('late', { tools: late })
    await host.ask('file another one')
    expect(host.conversation.inspect().mode).toBe('off')
    await host.compact('We filed two issues.', 0)
    await host.ask('use the seventh')
    expect(host.conversation.inspect().mode).toBe('on')
    expect(host.requests.at(-1)?.raw).toContain('tool_7 ran with')
    await host.ask('thanks')
    expect(host.requests.map(({ violation }) => violation)).toEqual(Array(8).fill(undefined))
  },

  'compacts, and what was found stays usable': async ({ open, use }) => {
    const host = await open([
      search('select:tracker__create_issue'),
      done,
      { calls: [use('tracker__create_issue', { value: 'x' })] },
      done,
    ])
    await host.ask('one')
    const { epoch } = adapterPort(host.conversation)
    await host.compact('We talked.', 0)
    expect(adapterPort(host.conversation).epoch).toBe(epoch + 1)
    expect(await host.ask('two')).toBe('It is done, and well.')
    const raw = host.requests.at(-1)?.raw
    expect(raw).toContain('create_issue ran with')
    expect(raw).toContain('The value for create_issue')
    expect(raw).not.toContain('select:tracker__create_issue')
  },

  'forks, and each side knows what it found itself': async ({ open, use }) => {
    const host = await open([
      search('select:tracker__create_issue'),
      done,
      search('select:calendar__find_slot'),
      done,
      { calls: [use('tracker__create_issue', { value: 'x' })] },
      done,
    ])
    await host.ask('one')
    const { length } = host
    await host.ask('two')
    const fork = await host.fork('fork', length)
    expect(fork.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(await fork.ask('other')).toBe('It is done, and well.')
    expect(fork.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(fork.requests.at(-1)?.raw).not.toContain('select:calendar__find_slot')
    expect(fork.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(2)
  },
}

export function runJourneys(client: SdkClient): void {
  describe.each(client.deliveries)(`${client.name} over %s`, (delivery) => {
    describe.each(client.modes)('%s replies', (mode) => {
      const row = client.deliveries.indexOf(delivery)
      // In a run for a change, every journey over every delivery, in one of the modes.
      const due = Object.entries(journeys).filter((_, index) =>
        someOf(client.modes, row + index).includes(mode),
      )
      const scene: Scene = {
        client,
        delivery,
        mode,
        use: (name, input = {}) => callThrough(delivery, name, input),
        open: (script, options = {}, retries = 0) =>
          client.open(
            { mode, retries, seen: [] },
            { tools: mixed(), mode: 'on', delivery, ...options },
            script,
          ),
      }
      it.each(due)('%s', (_, journey) => journey(scene))
    })
  })
}
