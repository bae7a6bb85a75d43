/** Search tools, sentences and names that existing systems need, as options. */
import { createToolwell, searchTools } from '@toolwell/core'
import type { ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { startHost } from './support/host.js'
import { bridge, play, search } from './support/play.js'
import { mixed, server } from './support/tools.js'

const find = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done: ScriptedReply = { text: 'Done.' }
const start = (script: readonly ScriptedReply[], options: object = {}) =>
  startHost({ tools: mixed(), mode: 'on', delivery: 'append', ...options }, [...script, done, done, done])
describe('the options that presets are made of', () => {
  it('hint with the input of the search tool, so that the hinted call works', async () => {
    const host = await play({
      search: { tool: searchTools.byName },
      surface: { hiddenCalls: 'hint' },
      delivery: 'append',
    })
    const [hint = ''] = await host.step({ name: 'create_issue', arguments: {} })
    const asked = /\{.*?\}/.exec(hint)?.[0] ?? ''
    await host.step({ name: 'tool_info', arguments: asked })
    expect(host.loaded()).toEqual(['tracker__create_issue'])
  })

  it.each(['once', 'twice'] as const)('show a loaded tool again by select, schemas %s', async (schemas) => {
    const host = await play({ delivery: 'append', search: { schemas } })
    await host.step(search('select:create_issue'))
    const [again] = await host.step(search('select:create_issue,read_file'))
    expect(again?.includes('The value for create_issue')).toBe(schemas === 'twice')
    expect(again?.includes('The value for read_file')).toBe(schemas === 'twice')
    expect((await host.step(bridge('x')))[0]).toContain('no tool named')
  })

  it('frame what is written into a history in their own way', async () => {
    const host = await start([find('select:enter_worktree')], {
      surface: { prompts: { frame: ({ body }: { body: string }) => `[[${body}]]` } },
    })
    await host.ask('go')
    expect(host.body().messages.at(-1)?.content).toMatch(/\n\n\[\[git__enter_worktree.*\]\]$/s)
  })

  it('give a search tool what is left to say, whether something was found or not', async () => {
    const searchTool = {
      ...searchTools.standard,
      render: (_: object, { rest }: { readonly rest: string }) => `OWN ${rest}`,
    }
    const host = await play({ search: { tool: searchTool }, delivery: 'bridge' })
    const [found, both, missed] = [
      ...(await host.step(search('select:create_issue'))),
      ...(await host.step(search('select:close_issue,nothing_like_it'))),
      ...(await host.step(search('zzzz'))),
    ]
    expect(found?.split('\n').slice(1)).toEqual(['OWN '])
    expect(both).toContain('OWN Found no tool named "nothing_like_it"')
    expect(missed).toContain('OWN Found no tool for "zzzz"')
  })

  it('set wire names for the tools of sources, and duplicates still get distinct names', async () => {
    const named = (wireName: (source: string, name: string) => string) =>
      createToolwell({
        surface: { wireName },
        tools: [...server('a', ['one', 'two']), ...server('b', ['one'])],
      })
    const names = (well: ReturnType<typeof named>) =>
      [...well.catalogue.entries()].map((entry) => entry.wireName)
    expect(names(named((source, name) => `mcp__${source}__${name}`))).toEqual([
      'mcp__a__one',
      'mcp__a__two',
      'mcp__b__one',
    ])
    expect(new Set(names(named(() => 'same'))).size).toBe(3)
    expect(new Set(names(named(() => 'tool_search'))).has('tool_search')).toBe(false)
    expect(names(named(() => undefined as unknown as string))).toEqual(['a__one', 'a__two', 'b__one'])
    expect(names(named((_, name) => `not legal ${name}`)).every((name) => /^\w+$/.test(name))).toBe(true)
  })

  it('import a group that a host names', async () => {
    const host = await play()
    const step = { anchor: '', loaded: [], unloaded: [], named: ['Worktree', 'nobody'] }
    expect(await host.conversation.importSteps([step])).toEqual({
      recovered: ['git/enter_worktree', 'git/exit_worktree'],
      unrecovered: [{ tool: 'nobody', reason: 'vanished' }],
    })
  })

  it('list live what policy lets through now', async () => {
    let open = true
    const host = await play({
      surface: { cards: 'live' },
      delivery: 'append',
      policy: ({ source }) => open || source !== 'git',
    })
    const lists = async () => (await host.sent()).includes('git__enter_worktree')
    expect(await lists()).toBe(true)
    open = false
    host.talk()
    expect(await lists()).toBe(false)
    open = true
    host.talk()
    expect(await lists()).toBe(true)
    const length = host.conversation.events.filter(({ kind }) => kind === 'frozen').length
    host.talk()
    await host.begin()
    expect(host.conversation.events.filter(({ kind }) => kind === 'frozen')).toHaveLength(length)
  })

  it('relatch nothing for live cards while everything is eager for want of a loader', async () => {
    const host = await play({ surface: { cards: 'live' }, policy: ({ id }) => id !== 'toolwell/tool_search' })
    for (let turn = 0; turn < 3; turn++) {
      await host.begin()
      host.talk()
    }
    expect(host.conversation.events.filter(({ kind }) => kind === 'frozen')).toHaveLength(1)
    expect(lastOpened(host.conversation.events)).toMatchObject({ delivery: 'eager' })
  })
})

function lastOpened(events: readonly { readonly kind: string }[]) {
  return events.findLast(({ kind }) => kind === 'frozen')
}
