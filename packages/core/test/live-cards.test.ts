/** Two choices that other systems made, and what they cost: a list of hidden tools that is always true, schemas in both places. */
import type { ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { mixed, server } from './support/tools.js'

const find = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done: ScriptedReply = { text: 'Done.' }
const loader = (tools: readonly { readonly function: object }[] = []) =>
  JSON.stringify(tools.find(({ function: each }) => JSON.stringify(each).includes('"tool_search"')))

describe('live cards', () => {
  const open = (script: readonly ScriptedReply[], cards: 'live' | 'frozen') =>
    startHost({ tools: mixed(), mode: 'on', delivery: 'append', surface: { cards } }, [
      ...script,
      done,
      done,
      done,
    ])

  it('drop a tool when it is loaded, take it back when it is unloaded, and join with a late server', async () => {
    const host = await open(
      [find('select:tracker__create_issue'), find('unload:tracker__create_issue')],
      'live',
    )
    await host.ask('go')
    const listed = (index: number) => loader(host.body(index).tools).includes('tracker__create_issue')
    expect([0, 1, 2].map(listed)).toEqual([true, false, true])
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    await host.ask('more')
    expect(loader(host.body().tools)).toContain('mail__send_mail')
    // The list has said it; the history need not.
    expect(JSON.stringify(host.body().messages)).not.toContain('mail__send_mail')
  })

  it('stay as they were if they are frozen, which is the default', async () => {
    const host = await open([find('select:tracker__create_issue')], 'frozen')
    await host.ask('go')
    expect(loader(host.body(1).tools)).toBe(loader(host.body(0).tools))
  })
})

describe('schemas', () => {
  it.each(['once', 'twice'] as const)('of found tools are shown %s', async (schemas) => {
    const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append', search: { schemas } }, [
      find('select:tracker__create_issue'),
      done,
    ])
    await host.ask('go')
    expect(host.names()).toContain('tracker__create_issue')
    expect(lastResult(host).includes('The value for create_issue')).toBe(schemas === 'twice')
  })
})
