import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createToolwell, memoryStore, type ToolwellOptions } from '@toolwell/core'
import { commonPrefix, type RecordedRequest, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { chatRenderOrder } from '../../testing/src/openai-chat/answer.js'
import { startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const search = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const bridged = (name: string, value = 'x'): ScriptedReply => ({
  calls: [{ name: 'tool_call', arguments: { name, arguments: { value } } }],
})
const direct = (name: string, value = 'x'): ScriptedReply => ({ calls: [{ name, arguments: { value } }] })

/** Every request extends the one before it: only the end of its last message may have grown. */
function expectGrowing(requests: readonly RecordedRequest[]) {
  requests.slice(1).forEach((request, index) => {
    const before = requests[index]?.body
    if (!before) return
    const where = `request ${index + 1} after request ${index}`
    expect(JSON.stringify(request.body.tools), where).toBe(JSON.stringify(before.tools))
    const settled = before.messages.slice(0, -1).map((message) => JSON.stringify(message))
    expect(
      request.body.messages.slice(0, settled.length).map((message) => JSON.stringify(message)),
      where,
    ).toEqual(settled)
    const last = before.messages.at(-1)
    const grown = request.body.messages[settled.length]
    expect(grown?.role, where).toBe(last?.role)
    expect(String(grown?.content).startsWith(String(last?.content)), where).toBe(true)
  })
}

async function bridge(script: readonly ScriptedReply[], options: ToolwellOptions = {}) {
  return startHost({ tools: mixed(), mode: 'on', delivery: 'bridge', ...options }, [
    ...script,
    ...Array.from({ length: 20 }, (_, index) => ({ text: `Answer ${index}.` })),
  ])
}

describe('bridge: no byte before the last message changes', () => {
  it('QW2-10: through a search, a select, a call, a wrong guess, an unload and an answer', async () => {
    const host = await bridge([
      search('create an issue'),
      bridged('tracker__create_issue'),
      search('select:calendar__find_slot,worktree'),
      bridged('enterWorktree'),
      direct('tracker__close_issue'),
      direct('no_such_tool'),
      bridged('tracker__list_issues'),
      search('unload:tracker__create_issue'),
      { calls: [{ name: 'tool_call', arguments: '{"name":' }] },
      search('nothing like it'),
    ])
    await host.ask('do it all')
    await host.ask('and more')
    expect(host.requests).toHaveLength(12)
    expect(host.conversation.inspect().loadedLazyTools.length).toBeGreaterThan(4)
    expectGrowing(host.requests)
  })

  it('through late servers, late eager tools, removals, returns and denials', async () => {
    const denied = new Set<string>()
    const host = await bridge([search('select:tracker__create_issue,calendar__find_slot')], {
      policy: ({ id }) => !denied.has(id),
    })
    const { catalogue } = host.well
    await host.ask('first')
    const changes: (() => void)[] = [
      () =>
        catalogue.setSource('mail', { tools: [tool('send_mail'), tool('read_mail', { alwaysLoad: true })] }),
      () => catalogue.removeSource('calendar'),
      () => catalogue.setSource('calendar', { tools: server('calendar', ['find_slot']) }),
      () => catalogue.setState('tracker', 'disabled'),
      () => catalogue.setState('tracker', 'ready'),
      () => catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'New words' })] }),
      () => denied.add('tracker/create_issue'),
      () => denied.delete('tracker/create_issue'),
    ]
    for (const [index, change] of changes.entries()) {
      change()
      await host.ask(`after change ${index}`)
      // The request announced each of them.
      const [before, now] = [host.body(-2), host.body(-1)]
      expect(JSON.stringify(now.messages).split('<tool-update>').length, `change ${index}`).toBeGreaterThan(
        JSON.stringify(before.messages).split('<tool-update>').length,
      )
    }
    expect(host.raw()).toContain('read_mail')
    expectGrowing(host.requests)
  })

  it('through a retry, a restart in another process and a fork', async () => {
    const store = memoryStore()
    const host = await bridge([search('create an issue'), { status: 500, error: 'busy' }], { store })
    host.say('file it')
    await host.step()
    const failed = await host.step('retried')
    expect(failed.status).toBe(500)
    await host.step('retried')
    expect(host.raw(2)).toBe(host.raw(1))

    const resumed = host.with(
      await createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge', store }).open({ id: 'test' }),
    )
    await resumed.ask('go on')
    const fork = host.with(await resumed.conversation.fork({ id: 'fork' }), resumed.messages)
    await fork.ask('try something else')
    await resumed.ask('while here')
    const [, , , third, forked, original] = host.requests
    expectGrowing(host.requests.slice(0, 4))
    for (const request of [forked, original]) expectGrowing([third, request].flatMap((each) => each ?? []))
  })
})

describe('off', () => {
  it('has the same bytes for a retry, also when a server has come in between', async () => {
    const host = await startHost({ tools: mixed(), mode: 'off' }, [
      { status: 500, error: 'busy' },
      { text: 'one' },
      { text: 'two' },
    ])
    host.say('hello')
    await host.step('retried')
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail')] })
    await host.step('retried')
    expect(host.raw(1)).toBe(host.raw(0))
    await host.ask('and now?')
    expect(host.names()).toContain('mail__send_mail')
  })
})

describe('append: the first byte that changes is the end of the tools array', () => {
  it('through a search, a select, a direct call and a late eager tool', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append' }, [
      search('select:tracker__create_issue'),
      direct('tracker__create_issue'),
      search('select:worktree,calendar__find_slot'),
      direct('tracker__close_issue'),
      { text: 'done' },
      { text: 'and done' },
    ])
    await host.ask('do it')
    host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { alwaysLoad: true })] })
    await host.ask('and that')
    const changed: number[] = []
    host.requests.slice(1).forEach((request, index) => {
      const before = host.requests[index] as RecordedRequest
      const [old, now] = [chatRenderOrder(before.body), chatRenderOrder(request.body)]
      const tools = JSON.stringify(before.body.tools)
      const same = commonPrefix(old, now)
      // All of the old array but its closing bracket; if nothing was loaded, the messages too.
      expect(same).toBeGreaterThanOrEqual(tools.length - 1)
      if (same === tools.length - 1) changed.push(index + 1)
      else expect(same).toBeGreaterThanOrEqual(old.length - 1)
    })
    expect(changed).toEqual([1, 3, 4, 5])
    expect(host.names()).toEqual([
      'read_file',
      'write_file',
      'tool_search',
      'tracker__create_issue',
      'git__enter_worktree',
      'git__exit_worktree',
      'calendar__find_slot',
      'tracker__close_issue',
      'mail__read_mail',
    ])
  })
})

/** One fixed story, with all its request bodies in a file. `UPDATE_GOLDEN=1` rewrites the file. */
describe.each(['append', 'bridge'] as const)('the recorded bodies of one story over %s', (delivery) => {
  const call = (name: string) => (delivery === 'append' ? direct(name) : bridged(name))

  async function tell(): Promise<TestHost> {
    const host = await startHost({ tools: mixed(), mode: 'on', delivery }, [
      search('create an issue'),
      call('tracker__create_issue'),
      search('select:worktree'),
      { text: 'Filed.' },
      search('unload:tracker__create_issue'),
      { text: 'After the compaction.' },
    ])
    host.messages.push({ role: 'system', content: 'You are a careful assistant.' })
    await host.ask('File an issue about the lamp.')
    host.well.catalogue.setSource('mail', {
      tools: [tool('send_mail'), tool('read_mail', { alwaysLoad: true })],
    })
    host.well.catalogue.removeSource('calendar')
    host.say('Put the tool away.')
    await host.step()
    const after = [host.messages[0], { role: 'user', content: 'Summary: an issue was filed.' }].flatMap(
      (message) => message ?? [],
    )
    const { openaiChat } = await import('@toolwell/core/openai-chat')
    await openaiChat(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.step()
    return host
  }

  it('are the golden ones, byte for byte', async () => {
    const host = await tell()
    const file = fileURLToPath(new URL(`./fixtures/golden/${delivery}.json`, import.meta.url))
    const text = `${JSON.stringify(
      host.requests.map((request) => request.body),
      null,
      2,
    )}\n`
    if (process.env.UPDATE_GOLDEN === '1') await writeFile(file, text)
    expect(text).toBe(await readFile(file, 'utf8'))
  })

  it('are the same bytes in a second run', async () => {
    const [one, two] = [await tell(), await tell()]
    expect(two.requests.map((request) => request.raw)).toEqual(one.requests.map((request) => request.raw))
  })
})
