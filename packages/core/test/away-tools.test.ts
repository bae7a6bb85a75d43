/** Loaded tools whose source is away: what the host and the model do about them counts as if it were there. */

import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { startHost } from './support/host.js'
import { mergeOptions } from './support/merge-options.js'
import { mixed, server } from './support/tools.js'

const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const NAME = 'tracker__create_issue'
const append: ToolwellOptions = { tools: mixed(), mode: 'on', delivery: 'append' }

describe('a loaded tool whose source is away', () => {
  it('is unloaded by the model, which reads that it was', async () => {
    const host = await startHost(append, [
      search(`select:${NAME}`),
      { text: 'Found.' },
      search(`unload:${NAME}`),
      { text: 'Gone.' },
    ])
    await host.ask('Find it.')
    host.well.catalogue.setState('tracker', 'disabled')
    await host.ask('Unload it.')
    const sent = JSON.stringify(host.body().messages)
    expect(sent).toContain(`Unloaded: ${NAME}.`)
    expect(sent).not.toContain('Found no tool for')
    host.well.catalogue.setState('tracker', 'ready')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it('is seen by the hook that trims at a compaction, and does not come back', async () => {
    const well = createToolwell(append)
    const conversation = await well.open({ id: 'a' })
    const chat = openaiChat(conversation)
    const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
    await chat.begin(messages)
    await conversation.load([NAME])
    well.catalogue.setState('tracker', 'disabled')
    // The latch after this compaction takes it off the surface.
    await conversation.compact({ kept: {} })
    await chat.begin([...messages, { role: 'user', content: 'more' }])
    const seen: string[][] = []
    await conversation.compact({
      kept: {},
      trim: (loaded) => {
        seen.push([...loaded])
        return []
      },
    })
    expect(seen).toEqual([[NAME]])
    well.catalogue.setState('tracker', 'ready')
    const turn = await chat.begin([...messages, { role: 'user', content: 'still more' }])
    expect(turn.parts.tools?.map((tool) => tool.function.name)).not.toContain(NAME)
    expect(conversation.inspect().loadedLazyTools).toEqual([])
  })

  it('is inherited by a child that begins when the source is back', async () => {
    const well = createToolwell(append)
    const conversation = await well.open({ id: 'a' })
    const chat = openaiChat(conversation)
    await chat.begin([{ role: 'user', content: 'go' }])
    await conversation.load([NAME])
    well.catalogue.setState('tracker', 'disabled')
    await conversation.compact({ kept: {} })
    await chat.begin([{ role: 'user', content: 'more' }])
    well.catalogue.setState('tracker', 'ready')
    const child = await conversation.child({ id: 'b' })
    const turn = await openaiChat(child).begin([{ role: 'user', content: 'Help.' }])
    expect(turn.parts.tools?.map((tool) => tool.function.name)).toContain(NAME)
  })

  it('that was denied meanwhile is named to nobody when it is unloaded', async () => {
    let isDenied = false
    const host = await startHost(
      {
        tools: server('tracker', ['create_issue', 'close_issue']),
        mode: 'on',
        delivery: 'append',
        policy: ({ name }) => !isDenied || name !== 'create_issue',
      },
      [search(`select:${NAME}`), { text: 'Found.' }, search(`unload:${NAME}`), { text: 'Gone.' }],
    )
    await host.ask('Find it.')
    isDenied = true
    await host.ask('Unload it.')
    const answers = host.body().messages.filter(({ role }) => role === 'tool')
    // The model gets its own words back, and no text of Toolwell about the tool.
    expect(JSON.stringify(answers.at(-1))).not.toContain('Unloaded:')
  })
})

describe('a source of which nothing is known yet', () => {
  const open = (more: Partial<ToolwellOptions> = {}) => {
    const well = createToolwell(mergeOptions({ ...append, search: { waitForSources: 0 } }, more))
    const woken: string[] = []
    for (const [name, state] of [
      ['slow-list', 'connecting'],
      ['broken', 'failed'],
    ] as const)
      well.catalogue.setSource(name, { tools: [], state, advice: '', wake: () => woken.push(name) })
    const direct = well.direct()
    const text = async (name: string, input: object) => {
      const verdict = await direct.judge({ name, input })
      return verdict.kind === 'answer' ? `${verdict.outcome.kind}: ${verdict.text}` : 'run'
    }
    return { text, woken, call: (name: string) => text('tool_call', { name, arguments: {} }) }
  }

  it.each(['slow-list__echo', 'Slow_List/echo', 'slowlist.echo', 'slow-list'])(
    'is named in the answer to a call of %s',
    async (name) => {
      expect(await open().call(name)).toBe(
        'unavailable: "slow-list" cannot be used now: connecting. Nothing was run.',
      )
    },
  )

  it('is tried again where it failed', async () => {
    const { call, woken } = open()
    expect(await call('broken__echo')).toContain('"broken" cannot be used now: failed.')
    expect(woken).toEqual(['broken'])
  })

  it.each(['slowly__echo', 'slow__echo', 'slow-listed__echo', '__', 'echo'])(
    'has nothing to do with a call of %s',
    async (name) => expect(await open().call(name)).toMatch(/^unknown: Found no tool named/),
  )

  it('is not said to be missing by the search that says why it is away', async () => {
    const answer = await open().text('tool_search', { query: 'server:slow-list echo' })
    expect(answer).toContain('"slow-list" cannot be used now: connecting.')
    expect(answer).not.toContain('no server is called')
    expect(await open().text('tool_search', { query: 'server:nobody echo' })).toContain(
      'no server is called nobody',
    )
  })

  it('is like none where the policy denies it', async () => {
    const { call, text } = open({ policy: ({ source }) => source !== 'slow-list' })
    expect(await call('slow-list__echo')).toMatch(/^unknown: Found no tool named/)
    expect(await text('tool_search', { query: 'server:slow-list echo' })).toContain('no server is called')
  })
})
