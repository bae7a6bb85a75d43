/** A thread over several calls of the SDK: resumed, forked, shortened, imported, interrupted. */
import { createToolwell, memoryStore } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { mixed } from '../support/tools.js'
import { bridged, call, calls, type Message, majors, said, search, sentCalls, startHost } from './support.js'

const options = (delivery: 'append' | 'bridge') => ({ tools: mixed(), mode: 'on', delivery }) as const
const found = [calls(search('select:tracker__create_issue')), said('Found.')]

describe.each(majors)('AI SDK $major', ({ major }) => {
  it.each(['append', 'bridge'] as const)(
    'resumes a stored conversation in another process: %s',
    async (delivery) => {
      const store = memoryStore()
      const first = createToolwell({ ...options(delivery), store })
      const before = await startHost({
        major,
        script: [...found, said()],
        well: first,
        conversation: await first.open({ id: 'thread' }),
      })
      await before.ask('Find it.')
      const stored: Message[] = JSON.parse(JSON.stringify(before.messages))
      await before.ask('Thanks.')

      const second = createToolwell({ ...options(delivery), store })
      const resumed = createToolwell({ ...options(delivery), store })
      for (const well of [second, resumed]) {
        const after = await startHost({
          major,
          script: [said()],
          well,
          conversation: await well.open({ id: 'thread' }),
        })
        after.messages.push(...(JSON.parse(JSON.stringify(stored)) as Message[]))
        await after.ask('Thanks.')
        // The same history again is a retry: the same bytes, and nothing is written.
        expect(after.raw(0)).toBe(before.raw(2))
      }
    },
  )

  it('forks where the history is cut', async () => {
    const script = [...found, calls(search('select:calendar__find_slot')), said()]
    const host = await startHost({ major, script, options: options('append') })
    await host.ask('Find it.')
    const cut = [...host.messages]
    await host.ask('And a slot.')
    const conversation = await host.lazy.fork(cut, { id: 'fork' })
    const fork = await startHost({ major, script: [said()], well: host.well, conversation })
    fork.messages.push(...cut)
    await fork.ask('Something else.')
    expect(fork.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    expect(host.names(-1)).toContain('calendar__find_slot')
  })

  it('shows schemas again that a compaction has dropped', async () => {
    const host = await startHost({
      major,
      script: [...found, calls(bridged('tracker__create_issue')), said()],
      options: options('bridge'),
    })
    await host.ask('Find it.')
    const after: Message[] = [{ role: 'user', content: 'In short: an issue has to be made.' }]
    await host.lazy.compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    const result = await host.ask('Make it.')
    expect(JSON.stringify(host.body(2).messages)).toContain('The value for create_issue')
    expect(result.steps[0]?.toolResults[0]?.output).toContain('create_issue ran')
  })

  it('rebuilds what a history says was loaded', async () => {
    const host = await startHost({ major, script: found, options: options('append') })
    await host.ask('Find it.')
    const well = createToolwell(options('append'))
    const conversation = await well.open({ id: 'new' })
    const fresh = await startHost({ major, script: [said()], well, conversation })
    const report = await fresh.lazy.importHistory(host.messages)
    expect(report.recovered).toEqual(['tracker/create_issue'])
    fresh.messages.push(...host.messages)
    await fresh.ask('Go on.')
    expect(fresh.names(0)).toContain('tracker__create_issue')
  })

  it('repairs a call that nobody answered, which the SDK would refuse', async () => {
    const script = [said(), said()]
    const host = await startHost({ major, script, options: options('bridge'), strictOrder: false })
    const part = { type: 'tool-call', toolCallId: 'a', toolName: 'read_file', input: {} }
    host.messages.push({ role: 'user', content: 'Read.' }, { role: 'assistant', content: [part] })
    await host.ask('Still there?')
    await host.ask('And now?')
    expect(host.statuses()).toEqual([200, 200])
    const roles = host.body(0).messages.map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
    expect(host.raw(1).startsWith(host.raw(0).slice(0, host.raw(0).indexOf('Still there?')))).toBe(true)
  })

  it('repairs a call whose tool is gone, and says so', async () => {
    const host = await startHost({ major, script: [said()], options: options('append') })
    const made = { toolCallId: 'a', toolName: 'long_gone' }
    host.messages.push(
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [{ type: 'tool-call', input: {}, ...made }] },
      { role: 'tool', content: [{ type: 'tool-result', output: { type: 'text', value: 'ok' }, ...made }] },
      { role: 'assistant', content: 'Done.' },
    )
    const result = await host.ask('And?')
    expect(sentCalls(host.body(0))).toEqual(['tool_search'])
    expect(JSON.stringify(host.body(0).messages)).toContain('long_gone')
    expect(result.steps[0]?.warnings?.map(({ message }) => message).join()).toContain('long_gone')
  })

  it('moves to another adapter and back', async () => {
    const script = [
      calls(search('select:tracker__create_issue')),
      calls(bridged('tracker__create_issue')),
      said(),
    ]
    const host = await startHost({ major, script, options: options('bridge') })
    await host.ask('Make it.')
    const chat = openaiChat(host.conversation)
    const messages = chat.adopt(host.lazy.thread(host.messages))
    const turn = await chat.begin([...messages, { role: 'user', content: 'Thanks.' }])
    const sent = turn.parts.messages.flatMap(({ tool_calls: list }) => list ?? [])
    expect(sent.map((each) => each.function.name)).toEqual(['tool_search', 'tool_call'])
    const back = aiSdk<Message>(host.conversation)
    const again = back.adopt(chat.thread(messages))
    expect(again.map(({ role }) => role)).toEqual(host.messages.map(({ role }) => role))
  })

  it('keeps the anchors of a history that the SDK writes down for an interface', async () => {
    const script = [calls(search('select:worktree')), calls(call('git__enter_worktree')), said(), said()]
    const host = await startHost({ major, script, options: options('append') })
    await host.ask('Make it.')
    await host.ask('Thanks.')
    const begun = host.conversation.events.filter(({ kind }) => kind === 'requested')
    expect(begun).toHaveLength(4)
    expect(host.raw(3)).toContain('are loaded')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
  })
})

describe.each(
  majors.flatMap(({ major }) => (['chat', 'responses'] as const).map((wire) => ({ major, wire }))),
)('AI SDK $major over $wire: a call within which the reply ended', ({ major, wire }) => {
  it('is valid JSON in the history, and its result says what happened', async () => {
    const finish = wire === 'chat' ? 'length' : 'max_output_tokens'
    const cut = { calls: [call('read_file', '{"value":"se')], finish }
    // The SDK ends its loop there, so the user is the next to speak.
    const host = await startHost({ major, wire, script: [cut, said(), said()], strictOrder: false })
    await host.ask('Go.')
    await host.ask('Go on.')
    await host.ask('Thanks.')
    expect(host.statuses()).toEqual([200, 200, 200])
    for (const index of [1, 2]) {
      expect(host.raw(index)).toContain('are not a JSON object: the text ends too early')
      expect(host.raw(index)).toContain('Nothing was run.')
      expect(host.raw(index)).not.toContain('it is unknown whether it ran')
    }
  })
})
