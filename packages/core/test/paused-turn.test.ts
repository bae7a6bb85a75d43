/**
 * A turn that the API paused (`pause_turn`) continues when it is sent back unchanged. Changes of tools
 * meanwhile are announced after it, and nothing comes between the paused message and its continuation.
 */
import { describe, expect, it } from 'vitest'
import { mixed, server } from './support/tools.js'
import { startThinking, THINKING } from './support/wires/anthropic.js'

const search = (query: string) => ({ name: 'tool_search', arguments: { query } })
const paused = { text: 'Let me look.', finish: 'pause_turn' }
const said = { text: 'Well.' }

describe.each([
  { delivery: 'native', toolChanges: true },
  { delivery: 'native', toolChanges: false },
  { delivery: 'bridge', toolChanges: false },
] as const)('over $delivery, with tool changes: $toolChanges', ({ delivery, toolChanges }) => {
  const options = { tools: mixed(), mode: 'on', delivery } as const
  const start = (script: Parameters<typeof startThinking>[1]) =>
    startThinking(options, script, { toolChanges, more: THINKING })

  it('is sent back unchanged, whatever happens to tools meanwhile', async () => {
    const found = { calls: [search('select:tracker__create_issue')] }
    const host = await start([found, paused, paused, said, said])
    host.say('Find it.')
    await host.step()
    await host.step()
    const stopped = host.messages.at(-1)
    await host.conversation.load(['calendar__find_slot'])
    await host.conversation.unload(['tracker__create_issue'])
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    host.well.catalogue.setState('git', 'failed')
    await host.step()
    expect(host.body().messages.at(-1)).toEqual(stopped)
    host.well.catalogue.removeSource('calendar')
    await host.step()
    expect(
      host
        .body()
        .messages.slice(-2)
        .map(({ role }) => role),
    ).toEqual(['assistant', 'assistant'])
    expect(host.requests.at(-1)?.raw).not.toContain('mail__send_mail')
    // The user's next message carries all of it.
    host.say('Go on.')
    await host.step()
    const raw = host.requests.at(-1)?.raw
    expect(raw).toContain('mail__send_mail')
    const roles = host.body().messages.map(({ role }) => role)
    expect(roles.slice(0, 6)).toEqual(['user', 'assistant', 'user', 'assistant', 'assistant', 'assistant'])
  })

  it('keeps what a tool of the API’s own has begun', async () => {
    const host = await start([said, said])
    host.say('Look it up.')
    const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
    host.messages.push({ role: 'assistant', content: [{ type: 'text', text: 'I look.' }, call] })
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    const before = JSON.stringify(host.messages)
    await host.step()
    expect(JSON.stringify(host.body().messages)).toBe(before)
  })
})
