/**
 * PawWork's document (worktree tools behind `tool_info`), in its order: every behaviour it describes, on the preset,
 * over a strict server. Assertions are on sent requests.
 */
import { memoryStore, type Policy, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { pawwork, pawworkMetadata, pawworkUserTools } from '@toolwell/presets'
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../../examples/agent/session.ts'
import { closeWorlds, createWorld, use, WIRES } from '../../examples/moving/world.ts'
import { everyByte, lastResult } from '../../packages/core/test/support/host.js'
import { server } from '../../packages/core/test/support/tools.js'
import {
  answers,
  call,
  calls,
  cards,
  compacted,
  declared,
  derive,
  done,
  EAGER,
  ENTER,
  EXIT,
  enter,
  exit,
  info,
  loads,
  part,
  reminders,
  start,
  tools,
} from './pawwork-host.js'

afterEach(closeWorlds)

describe('the summary: a tool is withheld, advertised, loaded and active', () => {
  it('withholds the full description and the schema, and advertises one line each', async () => {
    const host = await start()
    await host.ask('hello')
    expect(host.names()).toEqual(EAGER)
    expect(cards(host)).toContain(`- ${ENTER}: "Work on a branch in a worktree of its own."`)
    expect(cards(host)).toContain(`- ${EXIT}: "Back to the project."`)
    expect(host.raw()).not.toContain('Never say EnterWorktree')
    expect(host.raw()).not.toContain('The branch to work on')
  })

  it('answers tool_info with the whole description and schema, and the tool can be called on the next step', async () => {
    const host = await start([info(ENTER), call(ENTER, { branch: 'fix' })])
    await host.ask('Work on fix.')
    const [loaded, ran] = answers(host)
    expect(loaded).toContain('Never say EnterWorktree')
    expect(loaded).toContain(JSON.stringify(enter.inputSchema))
    expect(host.names(1)).toEqual([...EAGER, ENTER])
    expect(ran).toBe('on fix')
  })

  it('tells a model that calls a hidden tool to load it first, and runs nothing', async () => {
    const host = await start([call(ENTER, { branch: 'fix' }), info(ENTER), call(ENTER, { branch: 'fix' })])
    await host.ask('Work on fix.')
    const [hint, , ran] = answers(host)
    expect(hint).toContain(`Call tool_info with {"name":"${ENTER}"} first. Nothing was run.`)
    expect(host.names(1)).toEqual(EAGER)
    expect(ran).toBe('on fix')
  })

  it('by default, without the preset, checks such a call and runs it', async () => {
    const host = await start([call(ENTER, { branch: 'fix' })], { surface: { hiddenCalls: 'load-and-run' } })
    await host.ask('Work on fix.')
    expect(answers(host)).toEqual(['on fix'])
  })

  it('keeps it callable for the rest of the history: over a retry, a fork and a compaction', async () => {
    const host = await start([info(ENTER)])
    host.say('go')
    await host.step()
    await host.step('same')
    const sent = host.raw()
    host.messages.pop()
    await host.step('same')
    expect(host.raw()).toBe(sent)
    const chat = openaiChat(host.conversation)
    const fork = host.with(await chat.fork(host.messages, { id: 'fork' }))
    await fork.ask('on')
    expect(fork.names()).toEqual([...EAGER, ENTER])
    const before = [...host.messages]
    host.messages.splice(0, host.messages.length, { role: 'user', content: 'Summary.' })
    await chat.compact(before, host.messages)
    await host.ask('on')
    expect(host.names()).toEqual([...EAGER, ENTER])
  })

  it('is not active in a fork of the time before', async () => {
    const host = await start([done, info(ENTER)])
    await host.ask('one')
    const earlier = [...host.messages]
    await host.ask('two')
    const fork = host.with(await openaiChat(host.conversation).fork(earlier, { id: 'fork' }), earlier)
    await fork.ask('on')
    expect(fork.names()).toEqual(EAGER)
  })
})

describe('why: a mechanism, measured honestly, for any provider', () => {
  it('says that two tiny schemas save nothing', async () => {
    const host = await start([info(ENTER)], {}, { messageTokens: 500 })
    await host.ask('go')
    expect(host.conversation.inspect().accounting.saved).toBeLessThan(0)
  })

  it.each(WIRES)('uses nothing that only one provider has (%s)', async (wire) => {
    const world = await createWorld(pawwork())
    const name = 'tracker__create_issue'
    const session = await openSession(world.createHost(wire), 'main')
    world.queue.push(
      () => ({ calls: [{ name: 'tool_info', arguments: { name } }] }),
      (body) => ({ calls: [use(body, name, { number: 1 })] }),
      () => ({ text: 'Filed.' }),
    )
    expect(await session.ask('File issue 1.')).toBe('Filed.')
    expect(world.ran).toEqual(['create_issue 1'])
    expect(world.refusals()).toEqual([])
    const sent = world.endpoints[wire].requests.map(({ raw }) => raw).join()
    for (const native of ['defer_loading', 'tool_reference', 'tool_search'])
      expect(sent).not.toContain(native)
  })
})

describe('the review focus: one gate for all of it', () => {
  it('refuses to load a tool that is hidden this turn, and does not say that it exists', async () => {
    const host = await start([info(EXIT)], { policy: pawworkUserTools({ [EXIT]: false }) })
    await host.ask('go')
    expect(lastResult(host)).toContain(`Found no tool named "${EXIT}".`)
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    expect(host.raw(0)).not.toContain(EXIT)
  })

  it('takes the switches of the user, also one for all tools, and leaves tool_info unless it is named', async () => {
    const host = await start([info(ENTER)], {
      policy: pawworkUserTools({ '*': false, read: true, [ENTER]: true }),
    })
    await host.ask('go')
    expect(host.names()).toEqual(['read', 'tool_info', ENTER])
    expect(host.raw(0)).not.toContain(EXIT)
  })

  it('asks about a deferred tool the same as about any tool: no separate path', async () => {
    const asked = new Set<string>()
    const policy: Policy = ({ action, id }) => {
      asked.add(`${action} ${id}`)
      return true
    }
    const host = await start([info(ENTER), call(ENTER, { branch: 'x' }), call('read')], { policy })
    await host.ask('go')
    const actions = (id: string) =>
      [...asked].filter((each) => each.endsWith(` ${id}`)).map((each) => each.split(' ')[0])
    expect(actions(ENTER)).toEqual(expect.arrayContaining(['see', 'load', 'call']))
    expect(actions('read')).toEqual(expect.arrayContaining(['see', 'call']))
  })
})

describe('the risk notes', () => {
  it('leave the tools themselves alone: what runs is what was registered, with the very arguments', async () => {
    const seen: unknown[] = []
    const host = await start(
      [info(ENTER), call(ENTER, { branch: 'fix' })],
      {},
      {
        run: { execute: (target) => seen.push([target.name, target.tool === enter, target.input]) },
      },
    )
    await host.ask('go')
    expect(seen).toEqual([[ENTER, true, { branch: 'fix' }]])
  })

  it('have tool_info classified as read-only, so that it is safe to repeat', async () => {
    const classes = new Map<string, unknown>()
    const policy: Policy = ({ id, tool: { annotations, risk } }) => {
      classes.set(id, { ...annotations, risk })
      return true
    }
    const host = await start([info(ENTER), info(ENTER)], { policy })
    await host.ask('go')
    expect(classes.get('toolwell/tool_info')).toMatchObject({
      readOnlyHint: true,
      idempotentHint: true,
      risk: 'read',
    })
    expect(host.names()).toEqual([...EAGER, ENTER])
  })
})

describe('how to verify: the tests that the document lists', () => {
  it('an unknown name is refused with what is near', async () => {
    const host = await start([info('enter-work-tree-now')])
    await host.ask('go')
    expect(lastResult(host)).toContain(`Nearest: ${ENTER}`)
  })

  it('input without a name is answered with what is missing', async () => {
    const host = await start([call('tool_info', { query: ENTER }), call('tool_info', { name: '  ' })])
    await host.ask('go')
    for (const answer of answers(host)) expect(answer).toContain('No name was given.')
    expect(host.names()).toEqual(EAGER)
  })

  it('both cards are shown by default; a loaded tool comes up and its card goes', async () => {
    const host = await start([info(ENTER), info(EXIT)])
    await host.ask('go')
    expect(
      [0, 1, 2].map((index) => [ENTER, EXIT].map((name) => cards(host, index).includes(`- ${name}`))),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ])
    expect(host.names()).toEqual([...EAGER, ENTER, EXIT])
    expect(cards(host)).toContain('No deferred tools can be loaded now.')
  })

  it('the system prompt tells of the list and of the exact name, and of nothing once all is loaded', async () => {
    const host = await start([info(ENTER), info(EXIT)])
    await host.ask('go')
    const systems = host.requests.map(({ body }) => {
      const [first] = body.messages
      return first?.role === 'system' ? String(first.content) : ''
    })
    const section =
      '# More tools\nThe description of tool_info lists tools that are not loaded. Call tool_info with the exact name of one, then call it by its own name from your next message on.'
    expect(systems.map((text) => text.includes(section))).toEqual([true, true, false])
    expect(systems[2]).not.toMatch(/more tools|tool_info/i)
    expect(host.body().tools?.map((each) => each.function.name)).toEqual(
      expect.arrayContaining([ENTER, EXIT, 'tool_info']),
    )
    const bridged = await start([], { delivery: 'bridge', surface: { affordance: 'strong' } })
    await bridged.ask('go')
    expect(String(bridged.body().messages[0]?.content)).toContain(
      'with the exact name of one, then call it with tool_call. Do this before you answer that something is not possible.',
    )
  })

  it('by default, without the preset, the list stays as it was and the cache is kept', async () => {
    const host = await start([info(ENTER)], { surface: { cards: 'frozen' } })
    await host.ask('go')
    expect(cards(host, 1)).toBe(cards(host, 0))
  })

  it('what is disabled goes from the list and comes back, also in the middle of a session', async () => {
    const off = new Set<string>()
    const host = await start([], { policy: ({ name }: { name: string }) => !off.has(name) })
    await host.ask('one')
    for (const name of [ENTER, EXIT]) off.add(name)
    await host.ask('two')
    expect(cards(host)).toContain('No deferred tools can be loaded now.')
    expect(cards(host)).not.toContain(ENTER)
    off.clear()
    await host.ask('three')
    expect(cards(host)).toBe(cards(host, 0))
  })

  it('a loaded tool that is disabled leaves with a word of it, and cannot be called', async () => {
    const off = new Set<string>()
    const host = await start([info(ENTER), done, call(ENTER, { branch: 'x' })], {
      policy: ({ name }: { name: string }) => !off.has(name),
    })
    await host.ask('one')
    off.add(ENTER)
    await host.ask('two')
    expect(host.names()).toEqual(EAGER)
    expect(JSON.stringify(host.body().messages)).toContain(`No longer available: ${ENTER}.`)
    expect(lastResult(host)).not.toContain('on x')
  })
})

describe('the first commits: the list is rebuilt with every step', () => {
  it('a tool that is loaded in the middle of a turn is callable in the same turn, on its next step', async () => {
    const host = await start([call('read', { value: 'a' }), info(EXIT), call(EXIT)])
    await host.ask('go')
    expect([0, 1, 2, 3].map((index) => host.names(index).includes(EXIT))).toEqual([false, false, true, true])
    expect(lastResult(host)).toBe('back')
  })

  it('and not in the same step: a call together with tool_info is answered with the hint', async () => {
    const both = calls(loads(EXIT), { name: EXIT, arguments: {} })
    const host = await start([both])
    await host.ask('go')
    expect(lastResult(host)).toContain('Nothing was run.')
    expect(host.names()).toContain(EXIT)
  })
})

describe('the walkthrough and the first review: names in any spelling', () => {
  it.each(['Enter-Worktree', 'EnterWorktree', 'enter_worktree', ' enter-worktree '])(
    'loads the tool for the spelling %j',
    async (name) => {
      const host = await start([info(name), call('EnterWorktree', { branch: 'fix' })])
      await host.ask('go')
      expect(host.names()).toContain(ENTER)
      expect(lastResult(host)).toBe('on fix')
    },
  )

  it('a hint names the real one', async () => {
    const host = await start([call('Enter-Worktree')])
    await host.ask('go')
    expect(lastResult(host)).toContain(`{"name":"${ENTER}"}`)
  })
})

describe('the reminder of the step that follows', () => {
  it('is at the end of the last result of its batch, with the text against falling back, once, and keeps its place', async () => {
    const batch = calls(loads(ENTER), { name: 'read', arguments: {} })
    const host = await start([batch, call('bash')])
    await host.ask('go')
    const roles = host.body(1).messages.map(({ role }) => role)
    expect(roles.slice(-3)).toEqual(['assistant', 'tool', 'tool'])
    expect(reminders(host, 1)).toEqual([host.body(1).messages.at(-1)])
    expect(String(reminders(host, 1)[0]?.content)).toContain(`${ENTER}: use this, not git worktree in bash`)
    await host.ask('more')
    expect(reminders(host)).toEqual(reminders(host, 1))
  })

  it('does not repeat the answer for a tool without such a text', async () => {
    const host = await start([info(EXIT)])
    await host.ask('go')
    expect(reminders(host)).toEqual([])
    expect(answers(host)[0]).toContain(EXIT)
  })
})

describe('the second review: what is shown equals what is sent, and is kept', () => {
  const plugin = {
    surface: {
      transformDefinition: ({ name, description, inputSchema }: Tool) => ({
        description: `${description} (by plugin)`,
        inputSchema: name === ENTER ? { ...inputSchema, title: 'transformed' } : inputSchema,
      }),
    },
  }

  it('protects the results of tool_info from pruning, and marks them in storage', async () => {
    const host = await start([info(ENTER)])
    host.say('go')
    const turn = await openaiChat(host.conversation).begin(host.messages)
    const tool_calls = [
      {
        id: 'a',
        type: 'function' as const,
        function: { name: 'tool_info', arguments: `{"name":"${ENTER}"}` },
      },
      { id: 'b', type: 'function' as const, function: { name: 'read', arguments: '{}' } },
    ]
    const ran = await turn.run({ role: 'assistant', content: null, tool_calls })
    expect(host.conversation.inspect().protectedToolNames).toEqual(['tool_info'])
    expect(ran.answers.map(({ outcome }) => pawworkMetadata(outcome))).toEqual([
      { activated: [ENTER], truncated: false },
      undefined,
    ])
  })

  it('shows the definition as plugins and the provider leave it, whole, and sends that very one', async () => {
    const wide = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `p${index}`,
        { type: 'string', description: 'd'.repeat(50) },
      ]),
    )
    const large = { ...enter, inputSchema: { type: 'object', properties: wide } }
    const host = await start([info(ENTER)], { tools: [large], ...plugin })
    await host.ask('go')
    const sent = declared(host, ENTER)
    expect(sent?.parameters).toHaveProperty('title', 'transformed')
    expect(sent?.description).toMatch(/by plugin/)
    expect(lastResult(host)).toContain(JSON.stringify(sent?.parameters))
    expect(lastResult(host)).toContain(JSON.stringify(sent?.description))
  })

  it('gives no hint towards a tool that cannot be loaded, or while tool_info is not there', async () => {
    const disabled = await start([call(ENTER)], { policy: pawworkUserTools({ [ENTER]: false }) })
    await disabled.ask('go')
    expect(lastResult(disabled)).not.toContain('tool_info with')
    const without = await start([call(ENTER, { branch: 'x' })], {
      policy: pawworkUserTools({ tool_info: false }),
    })
    await without.ask('go')
    expect(lastResult(without)).toBe('on x')
    expect(everyByte(without)).not.toContain('tool_info')
  })

  it('has one place for each deferred tool: naming it is enough, and nothing else is deferred', async () => {
    const plain = tools().map(({ defer: _, ...each }) => each)
    const host = await start([], { ...pawwork({ deferred: [ENTER] }), tools: plain })
    host.well.catalogue.setSource('git', { tools: server('git', ['log']) })
    await host.ask('go')
    expect(host.names().sort()).toEqual([...EAGER, EXIT, 'git__log'].sort())
    expect(cards(host)).toContain(`- ${ENTER}`)
  })
})

describe('activation from the durable history of the host', () => {
  it('counts a completed tool_info call, in the spelling that the model used', async () => {
    const { host } = await derive([{ type: 'text' }, part('Enter-Worktree')])
    expect(host.names()).toEqual([...EAGER, ENTER])
  })

  it.each(['pending', 'running', 'error'])('does not count an answer that is %s', async (status) => {
    const { host } = await derive([part(ENTER, status)])
    expect(host.names()).toEqual(EAGER)
  })

  it('counts neither other tools nor input without a name', async () => {
    const { host } = await derive([
      part(ENTER, 'completed', 'read'),
      part(7),
      { type: 'tool', tool: 'tool_info' },
    ])
    expect(host.names()).toEqual(EAGER)
  })

  it('exposes only what may be used now, and lists the rest', async () => {
    const { host, report } = await derive([part(ENTER), part('gone-tool')], {
      policy: pawworkUserTools({ [ENTER]: false }),
    })
    expect(host.names()).toEqual(EAGER)
    expect(report.unrecovered).toEqual([
      { tool: ENTER, reason: 'denied' },
      { tool: 'gone-tool', reason: 'vanished' },
    ])
  })

  it('expands a group, by its own name or a member', async () => {
    const grouped = [enter, exit].map((each) => ({ ...each, group: 'worktree' }))
    for (const name of ['worktree', EXIT]) {
      const { host } = await derive([part(name)], { tools: grouped })
      expect(host.names()).toEqual(['tool_info', ENTER, EXIT])
    }
  })

  it('reads the whole history, also what a compaction has taken from the view of the model', async () => {
    const host = await start([info(ENTER)])
    await host.ask('go')
    const whole = [...host.messages]
    const bare = await start()
    const adapter = openaiChat(bare.conversation)
    expect((await adapter.importHistory(whole.slice(-1))).recovered).toEqual([])
    expect((await adapter.importHistory(whole)).recovered).toEqual([ENTER])
    await bare.ask('on')
    expect(bare.names()).toEqual([...EAGER, ENTER])
  })

  it('is in the ledger from then on: another process has it without reading the history again', async () => {
    const store = memoryStore()
    await derive([part(ENTER)], { store })
    const host = await start([], { store })
    host.say('another process')
    await host.step('another')
    expect(host.names()).toEqual([...EAGER, ENTER])
  })
})

describe('failures are the plain errors of the tools', () => {
  it('the model reads the message that was thrown, and tool_info never throws', async () => {
    const broken = { ...exit, execute: () => Promise.reject(new Error('no worktree here')) }
    const host = await start([info(EXIT), call(EXIT), info('nothing')], { tools: [enter, broken] })
    expect(await host.ask('go')).toBe('Done.')
    expect(answers(host)[1]).toBe(`${EXIT} failed: no worktree here`)
  })
})

describe('the last review: the reminder and a compaction in between', () => {
  it('is written although the turn that loaded the tool is in the summary', async () => {
    const host = await compacted([info(ENTER)], 1)
    expect(reminders(host)).toHaveLength(1)
    expect(String(reminders(host)[0]?.content)).toContain(`${ENTER} is loaded`)
  })

  it('is not written again for a tool without guidance after the model has continued', async () => {
    const host = await compacted([info(EXIT), call('bash'), call('read')], 3)
    expect(reminders(host)).toHaveLength(0)
    expect(host.names()).toContain(EXIT)
  })
})
