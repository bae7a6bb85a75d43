import { type PolicyRequest, searchTools, type Tool, type ToolwellOptions } from '@toolwell/core'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

async function scripted(options: ToolwellOptions) {
  let next: readonly ScriptedCall[] = []
  const host = await startHost({ tools: mixed(), mode: 'on', ...options }, () => {
    const calls = next
    next = []
    return calls.length > 0 ? { calls } : { text: 'ok' }
  })
  const play = async (...calls: ScriptedCall[]) => {
    next = calls
    await host.ask('go')
    return lastResult(host)
  }
  return { host, play }
}

const without =
  (...ids: string[]) =>
  ({ id }: PolicyRequest) =>
    !ids.includes(id)
const notices = (host: TestHost) => host.events.filter((event) => event.kind === 'loader-unavailable')
const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const everything = mixed()
  .map(({ name, source }) => (source ? `${source}__${name}` : name))
  .sort()

describe('a loader denied at opening', () => {
  it.each(['auto', 'bridge', 'append'] as const)(
    'QW-8: leaves every tool eager, and says so once per opening (%s)',
    async (delivery) => {
      const { host, play } = await scripted({ delivery, policy: without('toolwell/tool_search') })
      expect(await play({ name: 'tracker__create_issue', arguments: { value: 'x' } })).toBe(
        'create_issue ran with {"value":"x"}',
      )
      expect(host.names()).toEqual(everything)
      expect(host.raw()).not.toMatch(/tool_search|tool_call"|More tools/)
      expect(notices(host)).toMatchObject([{ detail: expect.stringContaining('tool_search is denied') }])
    },
  )

  it('QW-8: leaves servers that come later eager as well, at the end of the array', async () => {
    const { host, play } = await scripted({ policy: without('toolwell/tool_search') })
    await play()
    host.well.catalogue.setSource('ops', { tools: server('ops', ['roll_back', 'deploy']) as Tool[] })
    expect(await play({ name: 'ops__deploy', arguments: { value: 'x' } })).toBe(
      'deploy ran with {"value":"x"}',
    )
    expect(host.names()).toEqual([...everything, 'ops__deploy', 'ops__roll_back'])
    expect(host.raw()).not.toContain('tool_search')
  })

  it('QW-8: holds for a loader of any name', async () => {
    const { host, play } = await scripted({
      search: { tool: searchTools.byName },
      policy: without('toolwell/tool_info'),
    })
    await play()
    expect(host.names()).toEqual(everything)
  })

  it('is given back at the next latch point once it is allowed', async () => {
    const denied = new Set(['toolwell/tool_search'])
    const { host, play } = await scripted({ policy: ({ id }) => !denied.has(id) })
    await play()
    denied.clear()
    await play()
    expect(host.names()).toEqual(everything)
    await host.conversation.compact({ kept: {} })
    await play()
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
  })
})

describe('a loader denied later', () => {
  it.each(['bridge', 'append'] as const)(
    'QW-8: leaves every tool eager from the next request on, over a history full of searches (%s)',
    async (delivery) => {
      const denied = new Set<string>()
      const { host, play } = await scripted({ delivery, policy: ({ id }) => !denied.has(id) })
      await play(search('select:create_issue'), search('zither tuning'))
      await play(
        delivery === 'bridge'
          ? { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } } }
          : { name: 'tracker__create_issue', arguments: { value: 'x' } },
      )
      denied.add('toolwell/tool_search')
      // The endpoint refuses a history that calls an undeclared tool; `play` then throws.
      expect(await play({ name: 'tracker__close_issue', arguments: { value: 'y' } })).toBe(
        'close_issue ran with {"value":"y"}',
      )
      expect([...host.names()].sort()).toEqual(everything)
      expect(host.requests.every((request) => request.status === 200)).toBe(true)
      expect(notices(host)).toHaveLength(1)
      await play(search('anything'))
      expect(lastResult(host)).toContain('Found no tool named "tool_search"')
    },
  )

  it('refuses the search of the batch in which it was denied', async () => {
    const denied = new Set<string>()
    const { host, play } = await scripted({ policy: ({ id }) => !denied.has(id) })
    await play()
    denied.add('toolwell/tool_search')
    const [answer] = await host.conversation.run([
      { callId: 'c', anchor: 'c', name: 'tool_search', input: { value: { query: 'select:create_issue' } } },
    ])
    expect(answer?.text).toBe('Calling tool_search is not permitted. Nothing was run.')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })
})

describe('a bridge that is denied', () => {
  it('QW2-4: at opening, gives way to append, with a notice', async () => {
    const { host, play } = await scripted({ delivery: 'bridge', policy: without('toolwell/tool_call') })
    await play(search('select:create_issue'))
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    expect(host.raw()).not.toContain('"tool_call"')
    expect(host.raw()).not.toContain('with tool_call')
    expect(notices(host)).toMatchObject([{ detail: expect.stringContaining('tool_call is denied') }])
  })

  it('QW2-4: later, gives way to append from the next request on', async () => {
    const denied = new Set<string>()
    const { host, play } = await scripted({ delivery: 'bridge', policy: ({ id }) => !denied.has(id) })
    await play(search('select:create_issue'))
    denied.add('toolwell/tool_call')
    expect(await play({ name: 'tracker__create_issue', arguments: { value: 'x' } })).toBe(
      'create_issue ran with {"value":"x"}',
    )
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    expect(host.requests.every((request) => request.status === 200)).toBe(true)
  })

  it('gives way to eager where the loader is denied with it', async () => {
    const { host, play } = await scripted({ policy: without('toolwell/tool_search', 'toolwell/tool_call') })
    await play()
    expect(host.names()).toEqual(everything)
  })
})

describe("a host's tool with a meta-tool's name", () => {
  it.each(['tool_search', 'tool_call'] as const)(
    'QW2-4: keeps working under another name, and the meta-tool keeps its name (%s)',
    async (name) => {
      const own = tool(name)
      const { host, play } = await scripted({ tools: [...mixed(), own] })
      await play()
      const wireName = [...host.well.catalogue.entries()].find((entry) => entry.tool === own)?.wireName ?? ''
      expect(wireName).toMatch(new RegExp(`^${name}_[0-9a-f]{8}$`))
      expect(host.names()).toEqual(expect.arrayContaining([wireName, 'tool_search', 'tool_call']))
      expect(await play({ name: wireName, arguments: { value: 'x' } })).toBe(`${name} ran with {"value":"x"}`)
      expect(await play(search('select:create_issue'))).toContain('tracker__create_issue')
    },
  )

  it('QW2-4: is sent and called under its own name while deferral is off', async () => {
    const { host, play } = await scripted({ tools: [tool('tool_search'), tool('tool_call')], mode: 'off' })
    expect(await play({ name: 'tool_search', arguments: { value: 'x' } })).toBe(
      'tool_search ran with {"value":"x"}',
    )
    expect(host.names()).toEqual(['tool_search', 'tool_call'])
  })

  it('QW2-4: does not capture the search when it is a deferred tool of a server', async () => {
    const { host, play } = await scripted({
      tools: [...mixed(), ...server('other', ['tool_search', 'tool_call'])],
    })
    expect(await play(search('select:other__tool_search'))).toContain('other__tool_search')
    expect(
      await play({ name: 'tool_call', arguments: { name: 'other__tool_search', arguments: { value: 'x' } } }),
    ).toBe('tool_search ran with {"value":"x"}')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['other__tool_search'])
  })
})
