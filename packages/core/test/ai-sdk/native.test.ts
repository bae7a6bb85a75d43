/** Anthropic's own deferral through the SDK: declared out of sight, revealed by references, called by name. */
import { createToolwell, memoryStore } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { mixed } from '../support/tools.js'
import { bridged, call, calls, type Message, majors, said, search, sentCalls, startHost } from './support.js'

const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const wire = 'anthropic'
const select = search('select:tracker__create_issue')
const isDeferred = (tool: Readonly<Record<string, unknown>>) => tool.defer_loading === true

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('answers a search with references, and calls what they reveal by its name', async () => {
    const script = [calls(select), calls(call('tracker__create_issue')), said()]
    const host = await startHost({ major, wire, script, options })
    const result = await host.ask('Make an issue.')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'toolwell_reserve'])
    expect(host.names(1)).toEqual([...host.names(0), 'tracker__create_issue'])
    expect(host.body(1).tools?.map(isDeferred)).toEqual([false, false, false, true, true])
    expect(host.raw(1)).toContain('{"type":"tool_reference","tool_name":"tracker__create_issue"}')
    expect(host.raw(1)).not.toContain('tool-update')
    expect(sentCalls(host.body(2))).toEqual(['tool_search', 'tracker__create_issue'])
    expect(host.toolsJson(2)).toBe(host.toolsJson(1))
  })

  it.each(['generate', 'stream'])(
    'falls back to the bridge if the server refuses deferral (%s)',
    async (way) => {
      const script = [calls(bridged('tracker__create_issue')), said()]
      const host = await startHost({ major, wire, script, options, deferral: false })
      if (way === 'generate') await host.ask('Go.')
      else await host.askStreaming('Go.')
      // The refused request, and what went on.
      expect(host.statuses()).toEqual([400, 200, 200])
      expect(host.names(1)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
      expect(host.raw(2)).toContain('create_issue ran with')
      expect(host.conversation.inspect().delivery).toBe('bridge')
    },
  )

  it('says what else a search found behind all results, where the API takes it', async () => {
    const script = [calls(search('create issue'), call('read_file')), said()]
    const host = await startHost({
      major,
      wire,
      script,
      options: { ...options, search: { autoLoad: { tokens: 0 } } },
    })
    await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200])
    const blocks = host.body(1).messages.at(-1)?.content as { type: string }[]
    expect(blocks.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'text'])
  })

  it('keeps its references when the history is stored, and when the ledger is gone', async () => {
    const store = memoryStore()
    const well = createToolwell({ ...options, store })
    const conversation = await well.open({ id: 'thread' })
    const host = await startHost({ major, wire, script: [calls(select), said(), said()], well, conversation })
    await host.ask('Find it.')
    const stored: Message[] = JSON.parse(JSON.stringify(host.messages))
    await host.ask('Thanks.')
    const again = createToolwell({ ...options, store })
    const resumed = await startHost({
      major,
      wire,
      script: [said()],
      well: again,
      conversation: await again.open({ id: 'thread' }),
    })
    resumed.messages.push(...stored)
    await resumed.ask('Thanks.')
    expect(resumed.raw(0)).toBe(host.raw(2))
    const fresh = await startHost({ major, wire, script: [said()], options })
    expect((await fresh.lazy.importHistory(stored)).recovered).toEqual(['tracker/create_issue'])
    fresh.messages.push(...stored)
    await fresh.ask('Go on.')
    expect(fresh.statuses()).toEqual([200])
    expect(fresh.names(0)).toContain('tracker__create_issue')
  })

  it('runs a guess, and tells it as the search that would have led to it', async () => {
    const script = [calls(call('tracker__create_issue')), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(1)).toContain('create_issue ran with')
  })

  it('moves to a wire without references and back', async () => {
    const well = createToolwell({ ...options, delivery: 'auto' })
    const conversation = await well.open({ id: 'thread' })
    const host = await startHost({ major, wire, script: [calls(select), said()], well, conversation })
    await host.ask('Find it.')
    const chat = await startHost({ major, script: [said()], well, conversation })
    chat.messages.push(...host.messages)
    await chat.ask('Thanks.')
    expect(chat.statuses()).toEqual([200])
    expect(chat.raw(0)).toContain('Loaded: tracker__create_issue')
    const back = await startHost({ major, wire, script: [said()], well, conversation })
    back.messages.push(...chat.messages)
    await back.ask('And now?')
    expect(back.statuses()).toEqual([200])
  })

  it('refers to nothing that the host has masked', async () => {
    const host = await startHost({ major, wire, script: [calls(select), said()], options })
    await host.ask('Find it.', { activeTools: ['read_file', 'tool_search'] })
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(1)).toContain('Loaded: tracker__create_issue')
  })

  it("leaves a host's own references alone while deferral is off", async () => {
    const off = { tools: mixed(), mode: 'off' } as const
    const host = await startHost({ major, wire, script: [said()], options: off })
    const made = { toolCallId: 'a', toolName: 'read_file' }
    const providerOptions = { anthropic: { type: 'tool-reference', toolName: 'write_file' } }
    const output = { type: 'content', value: [{ type: 'custom', providerOptions }] }
    host.messages.push(
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [{ type: 'tool-call', input: {}, ...made }] },
      { role: 'tool', content: [{ type: 'tool-result', output, ...made }] },
    )
    await host.ask('And?')
    expect(host.raw(0)).toContain('{"type":"tool_reference","tool_name":"write_file"}')
  })

  it('does not defer natively where the host says that the server cannot', async () => {
    const adapter = { native: false }
    const host = await startHost({
      major,
      wire,
      script: [said()],
      options: { ...options, delivery: 'auto' },
      adapter,
    })
    await host.ask('Go.')
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
  })
})
