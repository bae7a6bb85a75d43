import type { ChildOptions, Tool } from '@toolwell/core'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

interface Family {
  readonly parent: TestHost
  /** Makes the model of a host do these calls, then stop. */
  play(host: TestHost, ...calls: ScriptedCall[]): Promise<string>
  spawn(from: TestHost, options: ChildOptions): Promise<TestHost>
}

async function family(options: Parameters<typeof startHost>[0] = {}): Promise<Family> {
  let next: readonly ScriptedCall[] = []
  const parent = await startHost({ tools: mixed(), mode: 'on', ...options }, () => {
    const calls = next
    next = []
    return calls.length > 0 ? { calls } : { text: 'ok' }
  })
  return {
    parent,
    play: async (host, ...calls) => {
      next = calls
      await host.ask('go')
      return lastResult(host)
    },
    spawn: async (from, child) => from.with(await from.conversation.child(child), []),
  }
}

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const call = (name: string): ScriptedCall => ({ name, arguments: { value: 'x' } })
const loaded = (host: TestHost) => host.conversation.inspect().loadedLazyTools

describe("a sub-agent's ledger", () => {
  it.each(['bridge', 'append'] as const)(
    "CB-5: the child's search changes the child and nobody else (%s)",
    async (delivery) => {
      const { parent, play, spawn } = await family({ delivery })
      await play(parent)
      const before = { names: parent.names(), events: parent.conversation.events.length }
      const child = await spawn(parent, { id: 'child' })
      await play(child, search('select:create_event'))
      expect(loaded(child)).toEqual(['calendar__create_event'])
      expect(loaded(parent)).toEqual([])
      expect(parent.conversation.events).toHaveLength(before.events)
      await play(parent)
      expect(parent.names()).toEqual(before.names)
      expect(parent.raw()).not.toContain('calendar__create_event is loaded')
    },
  )

  it('is stored under its own id', async () => {
    const { parent, play, spawn } = await family()
    await play(parent)
    const child = await spawn(parent, { id: 'child' })
    await play(child, search('select:create_event'))
    const again = await parent.well.open({ id: 'child' })
    expect(again.inspect().loadedLazyTools).toEqual(['calendar__create_event'])
    await expect(parent.conversation.fork({ id: 'child' })).rejects.toMatchObject({
      code: 'invalid-ledger-id',
    })
  })

  it('resumes within its bounds when it is opened again', async () => {
    const { parent, play, spawn } = await family()
    await play(parent)
    const bounds = { id: 'child', allow: ['calendar/*', 'tracker/close_issue'] }
    await play(await spawn(parent, bounds), search('select:create_event'))
    const again = await spawn(parent, bounds)
    expect(again.conversation.inspect().loadedLazyTools).toEqual(['calendar__create_event'])
    await play(again, search('select:create_issue'))
    expect(again.conversation.inspect().loadedLazyTools).toEqual(['calendar__create_event'])
  })

  it.each(['bridge', 'append'] as const)(
    "starts with a snapshot: the parent's later loads do not reach it (%s)",
    async (delivery) => {
      const { parent, play, spawn } = await family({ delivery })
      await play(parent, search('select:create_issue'))
      const child = await spawn(parent, { id: 'child' })
      await play(parent, search('select:create_event'))
      await play(child)
      expect(loaded(child)).toEqual(['tracker__create_issue'])
      if (delivery === 'append') expect(child.names().at(-1)).toBe('tracker__create_issue')
      else expect(JSON.stringify(child.body().messages)).toContain('tracker__create_issue')
      expect(JSON.stringify(child.body().messages)).not.toContain('create_event')
      expect(
        await play(
          child,
          delivery === 'append'
            ? call('tracker__create_issue')
            : { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } } },
        ),
      ).toBe('create_issue ran with {"value":"x"}')
    },
  )

  it("shows the inherited schemas in the child's own history, if nothing else can show them (bridge)", async () => {
    const { parent, play, spawn } = await family()
    await play(parent, search('select:create_issue'))
    const child = await spawn(parent, { id: 'child' })
    await play(child)
    expect(JSON.stringify(child.body().messages)).toContain('The value for create_issue')
    // No reminder for what was not loaded here.
    expect(JSON.stringify(child.body().messages)).not.toContain('is loaded')
  })

  it('inherits nothing with inherit: none', async () => {
    const { parent, play, spawn } = await family({ delivery: 'append' })
    await play(parent, search('select:create_issue'))
    const child = await spawn(parent, { id: 'child', inherit: 'none' })
    await play(child)
    expect(loaded(child)).toEqual([])
    expect(child.names()).toEqual(['read_file', 'write_file', 'tool_search'])
  })

  it('QW-18: has every tool eager and no loader with inherit: all, and only then', async () => {
    const { parent, play, spawn } = await family({ delivery: 'append' })
    await play(parent)
    const all = await spawn(parent, { id: 'all', inherit: 'all' })
    await play(all)
    expect(all.names()).toHaveLength(mixed().length)
    expect(all.raw()).not.toContain('tool_search')
    const snapshot = await spawn(parent, { id: 'snapshot' })
    await play(snapshot)
    expect(snapshot.names()).toEqual(['read_file', 'write_file', 'tool_search'])
  })

  it('inherits the snapshot as far as allowlist and policy let it', async () => {
    const { parent, play, spawn } = await family({ delivery: 'append' })
    await play(parent, search('select:create_issue,close_issue,create_event'))
    const child = await spawn(parent, {
      id: 'child',
      allow: ['read_file', 'tracker__*'],
      policy: ({ name }) => name !== 'close_issue',
    })
    await play(child)
    expect(loaded(child)).toEqual(['tracker__create_issue'])
    expect(child.raw()).not.toMatch(/close_issue|create_event|write_file/)
  })
})

describe("a sub-agent's allowlist", () => {
  it.each([['create_issue'], ['tracker/create_issue'], ['tracker__create_issue']])(
    'CB-6: makes the names it lists eager, and gives no loader when nothing is hidden (%s)',
    async (name) => {
      const { parent, play, spawn } = await family()
      await play(parent)
      const child = await spawn(parent, { id: 'child', allow: ['read_file', name] })
      expect(await play(child, call('create_issue'))).toBe('create_issue ran with {"value":"x"}')
      expect(child.names()).toHaveLength(2)
      expect(child.raw()).not.toMatch(/tool_search|More tools/)
    },
  )

  it('CB-6: takes a wire name that had to be made legal', async () => {
    const odd = tool('créer un ticket', { source: 'tracker' })
    const { parent, play, spawn } = await family({ tools: [...mixed(), odd] })
    const wireName = [...parent.well.catalogue.entries()].find((entry) => entry.tool === odd)?.wireName ?? ''
    expect(wireName).toMatch(/_[0-9a-f]{8}$/)
    const child = await spawn(parent, { id: 'child', allow: [wireName, 'tracker__create_*'] })
    await play(child)
    expect(child.names()).toContain(wireName)
  })

  it.each(['bridge', 'append'] as const)(
    'ZE-2: without the loader in it, keeps the loader while something is hidden (%s)',
    async (delivery) => {
      const { parent, play, spawn } = await family({ delivery })
      await play(parent)
      const child = await spawn(parent, { id: 'child', allow: ['read_file', 'tracker__*'] })
      await play(child, search('select:create_issue,create_event'))
      expect(child.names(-2)).toEqual(
        delivery === 'bridge' ? ['read_file', 'tool_search', 'tool_call'] : ['read_file', 'tool_search'],
      )
      expect(loaded(child)).toEqual(['tracker__create_issue'])
      expect(lastResult(child)).toContain('Found no tool named "create_event"')
      expect(child.raw(-2)).not.toMatch(/calendar|worktree|write_file/)
    },
  )

  it('ZE-2: a denylist does take the loader away, and then everything allowed is eager', async () => {
    const { parent, play, spawn } = await family({ delivery: 'append' })
    await play(parent)
    const child = await spawn(parent, {
      id: 'child',
      allow: ['read_file', 'tracker__*'],
      policy: ({ id }) => id !== 'toolwell/tool_search',
    })
    await play(child)
    expect(child.names()).toEqual([
      'read_file',
      'tracker__assign_issue',
      'tracker__close_issue',
      'tracker__create_issue',
      'tracker__list_issues',
    ])
  })

  it('names nothing outside it on any path', async () => {
    const { parent, play, spawn } = await family()
    await play(parent, search('select:create_event'))
    const child = await spawn(parent, { id: 'child', allow: ['tracker__*'] })
    const answers = [
      await play(child, search('create a calendar event')),
      await play(child, search('select:create_evnt')),
      await play(child, call('calendar__create_event')),
      await play(child, { name: 'tool_call', arguments: { name: 'calendar__create_event', arguments: {} } }),
      await play(child, search('zither tuning')),
    ]
    expect(answers.join('\n')).not.toMatch(/Does create event|find_slot|Nearest: calendar|calendar \(/)
    expect(answers[2]).toContain('Found no tool named "calendar__create_event"')
    const tools = parent.requests.slice(-10).map(({ body }) => JSON.stringify(body.tools))
    expect(tools.join('\n')).not.toMatch(/calendar|worktree|read_file/)
  })

  it('of an unknown kind is refused, with the reason', async () => {
    const { parent } = await family()
    const child = (options: object) => parent.conversation.child({ id: 'c', ...options } as ChildOptions)
    await expect(async () => child({ inherit: 'snapshots' })).rejects.toThrow(
      /inherit must be one of snapshot, none, all/,
    )
    await expect(async () => child({ allow: 'read_file' })).rejects.toThrow(/allow must be a list of names/)
    await expect(async () => child({ policy: true })).rejects.toThrow(/policy must be a function/)
    await expect(async () => child({ alow: [] })).rejects.toThrow(/Did you mean "allow"/)
  })
})

describe('a sub-agent', () => {
  it('cannot reach what its parent is denied, at opening or later', async () => {
    const denied = new Set(['create_event'])
    const { parent, play, spawn } = await family({ policy: ({ name }) => !denied.has(name) })
    await play(parent)
    const child = await spawn(parent, {
      id: 'child',
      allow: ['create_event', 'create_issue'],
      policy: () => true,
    })
    await play(child)
    expect(child.names()).toEqual(['create_issue'])
    const answer = async (name: string) => {
      const calls = [{ callId: name, anchor: name, name, input: { value: { value: 'x' } } }]
      return (await child.conversation.run(calls))[0]?.text
    }
    expect(await answer('create_event')).toBe('Found no tool named "create_event".')
    expect(await answer('create_issue')).toBe('create_issue ran with {"value":"x"}')
    denied.add('create_issue')
    expect(await answer('create_issue')).not.toContain('ran with')
  })

  it('asks its own policy with its own agent name, besides the parent', async () => {
    const agents = new Set<string | undefined>()
    const { parent, play, spawn } = await family({
      policy: ({ agent }) => {
        agents.add(agent)
        return true
      },
      rules: [{ agent: 'reviewer', source: 'tracker', defer: false }],
    })
    await play(parent)
    const child = await spawn(parent, { id: 'child', agent: 'reviewer' })
    await play(child)
    expect(agents).toEqual(new Set([undefined, 'reviewer']))
    expect(child.names()).toContain('tracker__create_issue')
    expect(parent.names(0)).not.toContain('tracker__create_issue')
  })

  it('learns of later servers, as far as its allowlist permits', async () => {
    const { parent, play, spawn } = await family()
    await play(parent)
    const child = await spawn(parent, { id: 'child', allow: ['tracker__*', 'ops__roll*'] })
    await play(child)
    parent.well.catalogue.setSource('ops', { tools: server('ops', ['roll_back', 'deploy']) as Tool[] })
    await play(child)
    expect(child.raw()).toContain('ops__roll_back')
    expect(child.raw()).not.toContain('deploy')
  })

  it('has grandchildren that are bound by every allowlist and policy above them', async () => {
    const { parent, play, spawn } = await family({ delivery: 'append' })
    await play(parent, search('select:create_issue,close_issue'))
    const child = await spawn(parent, { id: 'child', allow: ['tracker__*', 'calendar__*'] })
    await play(child, search('select:find_slot'))
    const grandchild = await spawn(child, {
      id: 'grandchild',
      allow: ['*'],
      policy: ({ name }) => name !== 'close_issue',
    })
    await play(grandchild, search('select:create_event,read_file,close_issue'))
    expect(loaded(grandchild)).toEqual([
      'tracker__create_issue',
      'calendar__find_slot',
      'calendar__create_event',
    ])
    expect(lastResult(grandchild)).toContain('Found no tool named "read_file"')
    expect(lastResult(grandchild)).toContain('Found no tool named "close_issue"')
    expect(loaded(child)).toEqual(['tracker__create_issue', 'tracker__close_issue', 'calendar__find_slot'])
    expect(loaded(parent)).toEqual(['tracker__create_issue', 'tracker__close_issue'])
  })

  it('keeps its bounds when it is forked', async () => {
    const { parent, play, spawn } = await family()
    await play(parent)
    const child = await spawn(parent, { id: 'child', allow: ['tracker__*'] })
    await play(child)
    const fork = child.with(await child.conversation.fork({ id: 'fork' }))
    expect(await play(fork, call('read_file'))).toContain('Found no tool named "read_file"')
  })
})
