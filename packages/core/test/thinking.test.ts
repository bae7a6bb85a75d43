/**
 * Thinking that is bound to the content before it (Anthropic, from Claude Fable 5.1 on): Toolwell's changes never make it
 * invalid between two latches. If a latch does, it is omitted once and permanently. The strict endpoint refuses the rest.
 */
import { anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed, server } from './support/tools.js'
import { DROPPING, startThinking } from './support/wires/anthropic.js'

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const calling = (...calls: readonly ScriptedCall[]) => ({ calls })
const said = { text: 'Well.' }
const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const created = { name: 'tracker__create_issue', arguments: { value: 'x' } }
/** How many thinking blocks a request carries. */
const thoughts = (raw: string) => raw.split('"type":"thinking"').length - 1
const rewordedTracker = (more: object = {}) =>
  server('tracker', ['create_issue', 'close_issue'], { description: 'Quite another thing.', ...more })

describe('a reply that only calls an unknown tool, without a search tool', () => {
  it('is never sent, because thinking may not come last; all other thinking stays', async () => {
    const policy = ({ id }: { readonly id: string }) => id !== 'toolwell/tool_search'
    const unknown = calling(search('unload:tracker__create_issue'))
    const host = await startThinking({ ...options, policy }, [calling(created), unknown, said, said])
    await host.ask('Begin.')
    await host.ask('Go on.')
    const thought = host.requests.map(({ raw }) => raw.match(/Thought \d/g) ?? [])
    expect(thought).toEqual([[], ['Thought 0'], ['Thought 0'], ['Thought 0', 'Thought 2']])
    expect(host.requests.at(-1)?.raw).toContain('An earlier call of \\"tool_search\\"')
  })
})

describe('a definition that a reference has brought in', () => {
  it.each([false, true])(
    'stays as it was sent when its owner changes it (tool changes: %s)',
    async (toolChanges) => {
      const script = [calling(search('select:tracker__create_issue')), said, calling(created), said]
      const host = await startThinking(options, script, { toolChanges })
      await host.ask('Find it.')
      const sent = host.body().tools
      const inputSchema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
      host.well.catalogue.setSource('tracker', { tools: rewordedTracker({ inputSchema }) })
      host.say('Use it.')
      const [answer] = await host.step()
      expect(host.body().tools).toEqual(sent)
      // The change is announced once, with the new schema, and the call is checked against that.
      expect(host.requests.at(-1)?.raw).toContain('Quite another thing.')
      expect(answer).toContain('title')
      await host.step()
      expect(host.requests.at(-1)?.raw.split('Quite another thing.')).toHaveLength(
        (host.requests.at(-2)?.raw.split('Quite another thing.').length ?? 0) + 1,
      )
      expect(host.body().tools).toEqual(sent)
      expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(3)
    },
  )

  it('can be called by its new schema', async () => {
    const call = { name: 'tracker__create_issue', arguments: { title: 'x' } }
    const script = [calling(search('select:tracker__create_issue')), said, calling(call), said]
    const host = await startThinking(options, script)
    await host.ask('Find it.')
    const inputSchema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
    host.well.catalogue.setSource('tracker', { tools: rewordedTracker({ inputSchema }) })
    host.say('Use it.')
    expect(await host.step()).toEqual(['create_issue ran with {"title":"x"}'])
    await host.step()
  })

  it('stays as it was sent when the tool is unloaded, changed and found again', async () => {
    const found = calling(search('select:tracker__create_issue'))
    const host = await startThinking(options, [
      found,
      calling(search('unload:tracker__create_issue')),
      said,
      found,
      said,
    ])
    await host.ask('Find it.')
    host.well.catalogue.setSource('tracker', { tools: rewordedTracker() })
    await host.ask('Find it again.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(4)
    expect(host.requests.at(-1)?.raw).toContain('Quite another thing.')
  })

  it('is the new one from the next latch on', async () => {
    const host = await startThinking(options, [calling(search('select:tracker__create_issue')), said, said])
    await host.ask('Find it.')
    host.well.catalogue.setSource('tracker', { tools: rewordedTracker() })
    await host.compact('A summary.', 0)
    await host.ask('Go on.')
    expect(host.toolsJson()).toContain('Quite another thing.')
  })
})

describe('thinking before a latch', () => {
  const play = async () => {
    const host = await startThinking(options, (index) =>
      index === 0 || index === 4 ? calling(search('create an issue')) : said,
    )
    await host.ask('One.')
    await host.ask('Two.')
    return host
  }

  it('is omitted permanently after a compaction that keeps it, and later thinking stays', async () => {
    const host = await play()
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(2)
    await host.compact('A summary.', 3)
    await host.ask('Three.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
    await host.ask('Four.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(2)
    const { events } = host.conversation
    expect(events.filter(({ kind }) => kind === 'thinking-stripped')).toHaveLength(1)
  })

  it('is omitted in the same way by a retry, a fork and another process', async () => {
    const host = await play()
    await host.compact('A summary.', 3)
    host.say('Three.')
    await host.step('the one')
    const raw = host.requests.at(-1)?.raw
    const before = host.length - 1
    const fork = await host.fork('a fork', before)
    await fork.step('the one')
    expect(host.requests.at(-1)?.raw).toBe(raw)
    const other = await host.resume()
    other.messages.splice(before)
    await other.step('the one')
    expect(host.requests.at(-1)?.raw).toBe(raw)
    const next = await host.fork('another fork', host.length)
    next.say('Four.')
    await next.step('the next')
    const forked = host.requests.at(-1)?.raw
    host.say('Four.')
    await host.step('the next')
    expect(host.requests.at(-1)?.raw).toBe(forked)
  })

  it('is kept where the API is asked to drop it', async () => {
    const host = await startThinking(options, [said, said, said], {
      more: DROPPING,
      options: { thinking: 'keep' },
    })
    await host.ask('One.')
    await host.compact('A summary.', 1)
    await host.ask('Two.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
  })

  it('is omitted if a ledger begins after it', async () => {
    const host = await play()
    const fresh = host.with(await host.well.open({ id: 'a new ledger' }), host.messages)
    await fresh.ask('Three.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
  })

  it('is omitted within a tool loop too, and later thinking in that loop stays', async () => {
    const script = [said, calling(search('create an issue')), calling(created), said, said]
    const host = await startThinking(options, script)
    await host.ask('One.')
    host.say('Two.')
    await host.step()
    // The host shortens its history in the middle of the loop.
    await host.compact('A summary.', 2)
    await host.step()
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
    await host.step()
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
    expect(host.requests.at(-1)?.raw).toContain('Thought 2.')
    await host.ask('Three.')
    expect(host.requests.every(({ status }) => status === 200)).toBe(true)
  })

  it('is kept within a tool loop for a fixed budget, where models do not check it and want it', async () => {
    const more = { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 1024 } }
    const script = [calling(search('create an issue')), said]
    const host = await startThinking(options, script, { more, options: { thinking: 'keep' } })
    host.say('One.')
    await host.step()
    await host.compact('A summary.', 2)
    await host.step()
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
  })
})

describe('live cards', () => {
  it('wait for the end of a tool loop in which something was thought', async () => {
    const script = [calling(search('select:tracker__create_issue')), said, said]
    const host = await startThinking({ ...options, surface: { cards: 'live' } }, script)
    await host.ask('Find it.')
    expect(host.toolsJson(1)).toBe(host.toolsJson(0))
    await host.ask('Go on.')
    expect(host.toolsJson(2)).not.toBe(host.toolsJson(1))
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
  })
})

describe('append', () => {
  it('omits thinking from before the array grew', async () => {
    const script = [calling(search('select:tracker__create_issue')), calling(created), said, said]
    const host = await startThinking({ ...options, delivery: 'append' }, script)
    await host.ask('Find it.')
    await host.ask('Go on.')
    expect(host.requests.map(({ raw }) => thoughts(raw))).toEqual([0, 0, 1, 2])
  })
})

describe('on the way back from another provider', () => {
  const script = (index: number) => (index === 0 ? calling(search('select:tracker__create_issue')) : said)

  /** Said at Anthropic, then a turn on Chat Completions; `meanwhile` happens there. */
  async function comeBack(
    meanwhile: (host: Awaited<ReturnType<typeof startThinking>>) => Promise<void> | void,
  ) {
    const host = await startThinking(options, script)
    await host.ask('Find it.')
    await host.ask('Go on.')
    const claude = anthropic(host.conversation)
    const chat = openaiChat(host.conversation)
    const elsewhere: ChatMessage[] = chat.adopt(claude.thread(host.messages))
    const before = elsewhere.length
    elsewhere.push({ role: 'user', content: 'And here?' })
    const turn = await chat.begin(elsewhere)
    await meanwhile(host)
    const calls = [
      {
        id: 'call_9',
        type: 'function',
        function: { name: 'tool_search', arguments: '{"query":"select:calendar__find_slot"}' },
      },
    ] as const
    const reply: ChatMessage = { role: 'assistant', content: null, tool_calls: [...calls] }
    elsewhere.push(reply, ...(await turn.run(reply)).messages)
    await chat.begin(elsewhere)
    elsewhere.push({ role: 'assistant', content: 'Here too.' })
    const thread = [...claude.thread(host.messages), ...chat.thread(elsewhere.slice(before))]
    const back = host.with(host.conversation, claude.adopt(thread))
    await back.ask('And now?')
    return { host, back }
  }

  it('what was thought stays, as the old latch holds', async () => {
    const { host, back } = await comeBack(() => {})
    const raw = host.requests.at(-1)?.raw ?? ''
    expect(thoughts(raw)).toBe(3)
    // A tool loaded elsewhere is declared here, and shown.
    expect(raw).toContain('The value for find_slot')
    expect(host.toolNames(-1)).toEqual(host.toolNames(0))
    expect(host.toolsJson(-1)).toBe(host.toolsJson(0))
    await back.ask('On.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(4)
    const kinds = back.conversation.events.map(({ kind }) => kind)
    expect(kinds).toContain('returned')
    expect(kinds).not.toContain('thinking-stripped')
  })

  it('omits thinking if a tool has changed meanwhile', async () => {
    const { host, back } = await comeBack(({ well }) =>
      well.catalogue.setSource('tracker', { tools: rewordedTracker() }),
    )
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
    await back.ask('On.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
  })

  it('a second process sends the same', async () => {
    const { host, back } = await comeBack(() => {})
    const length = back.length
    back.say('On.')
    await back.step('the last')
    const raw = host.requests.at(-1)?.raw
    const other = await back.resume()
    other.messages.splice(length + 1)
    await other.step('the last')
    expect(host.requests.at(-1)?.raw).toBe(raw)
  })
})

describe('while deferral is off', () => {
  const late = server('late', ['send_mail'])
  const off = { tools: mixed() } as const
  const creates = { name: 'create_issue', arguments: { value: 'x' } }

  it('a late source waits for the end of a tool loop in which something was thought', async () => {
    const host = await startThinking(off, [calling(creates), said, said, said])
    host.say('One.')
    await host.step()
    host.well.catalogue.setSource('late', { tools: late })
    await host.step()
    expect(host.toolsJson(1)).toBe(host.toolsJson(0))
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
    await host.ask('Two.')
    expect(host.toolNames(-1)).toContain('late__send_mail')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
    await host.ask('Three.')
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(1)
    expect(host.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('a regenerated reply, and a history that the user comes back to, keep no thinking of an older array', async () => {
    const host = await startThinking(off, (index) => ({ text: `Said ${index}.` }))
    for (const text of ['One.', 'Two.']) await host.ask(text)
    const asked = host.messages.slice(0, 3)
    host.well.catalogue.setSource('late', { tools: late })
    await host.ask('Three.')
    const left = [...host.messages]
    host.messages.splice(0, left.length, ...asked)
    // The same request again has the old array.
    await host.step('request-2')
    expect(host.toolsJson(-1)).toBe(host.toolsJson(1))
    await host.ask('Other.')
    host.messages.splice(0, host.messages.length, ...left)
    for (const text of ['Four.', 'Five.']) await host.ask(text)
    expect(host.requests.every(({ status }) => status === 200)).toBe(true)
    // Thinking after the source came stays.
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(2)
  })

  it('a retry sends the array of its request, also after a source came', async () => {
    const host = await startThinking(off, [said, said, said])
    await host.ask('One.')
    host.say('Two.')
    const claude = anthropic(host.conversation)
    const { parts } = await claude.begin(host.messages, { requestId: 'the one' })
    host.well.catalogue.setSource('late', { tools: late })
    const again = await claude.begin(host.messages, { requestId: 'the one' })
    expect(JSON.stringify(again.parts)).toBe(JSON.stringify(parts))
  })

  it('a process that does not know the sent array leaves the thinking out', async () => {
    const host = await startThinking(off, [calling(creates), said, said])
    host.say('One.')
    await host.step()
    const other = await host.resume()
    other.well.catalogue.setSource('late', { tools: late })
    await other.step()
    expect(thoughts(host.requests.at(-1)?.raw ?? '')).toBe(0)
    expect(host.toolNames(-1)).toContain('late__send_mail')
    expect(host.requests.every(({ status }) => status === 200)).toBe(true)
  })
})
