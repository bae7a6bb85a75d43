/** `report` lists mistakes in the host's options that nothing else would show. */
import { createToolwell, type Policy, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import { assemble, type ChatMessage, openaiChat, readEvents } from '@toolwell/core/openai-chat'
import { chatProtocol, startScriptedEndpoint } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { server, tool } from './support/tools.js'

const user: ChatMessage = { role: 'user', content: 'Go.' }

async function begun(options: ToolwellOptions, prepare: (well: Toolwell) => void = () => undefined) {
  const lines: string[] = []
  const well = createToolwell({ ...options, debug: (line) => void lines.push(line) })
  prepare(well)
  const conversation = await well.open({ id: 'a' })
  const turn = await openaiChat(conversation).begin([user])
  return { well, conversation, turn, lines }
}

describe('a policy that gives no answer', () => {
  const broken: readonly (readonly [string, Policy, string])[] = [
    [
      'undefined',
      (() => undefined) as never,
      'it returned undefined; a policy must return true or false, and cannot be async',
    ],
    [
      'a promise',
      (async () => true) as never,
      'it returned a promise; a policy must return true or false, and cannot be async',
    ],
    [
      'a throw',
      () => {
        throw new Error('no user')
      },
      'it threw Error: no user',
    ],
  ]
  const modes = (['auto', 'on', 'off'] as const).flatMap((mode) =>
    broken.map(([what, policy, detail]) => ({ mode, what, policy, detail })),
  )

  it.each(modes)('shows in the turn, the report and because: $what, mode $mode', async (given) => {
    const { mode, policy, detail } = given
    const tools = [tool('own'), ...server('git', ['log'])]
    const { well, conversation, turn, lines } = await begun({ mode, policy, tools })
    const says = new RegExp(`policy denies every tool: asked about .*, ${detail}`)
    expect(turn.parts.tools ?? []).toEqual([])
    expect(turn.warnings).toEqual([
      {
        code: 'policy-failed',
        text: expect.stringContaining(detail),
      },
    ])
    expect(conversation.inspect().because).toMatch(says)
    expect(well.report()).toContain('; no tool sent (policy denies every tool')
    expect(lines.find((line) => line.includes('frozen'))).not.toContain('every tool is sent')
  })

  it('is a warning where it denies only some', async () => {
    const policy = (({ name }: { name: string }) => (name === 'own' ? undefined : true)) as Policy
    const { well, turn } = await begun({ policy, tools: [tool('own'), tool('other')] })
    expect(turn.warnings.map(({ code }) => code)).toEqual(['policy-failed'])
    expect(turn.parts.tools).toHaveLength(1)
    expect(well.report()).toContain('every tool sent')
  })

  it('is not what a policy does that denies everything on purpose', async () => {
    const { conversation, turn } = await begun({ policy: () => false, tools: [tool('own')] })
    expect(turn.warnings).toEqual([])
    expect(conversation.inspect().because).toBe('policy denies every tool')
  })
})

describe('what was given and does nothing', () => {
  it('is named: tools in a wrong shape, twins, and names in options that no tool has', async () => {
    const { well, turn } = await begun({ eager: ['lgo'] }, ({ catalogue }) => {
      catalogue.setSource('billing', {
        tools: [
          { type: 'function', function: { name: 'x', parameters: {} } } as never,
          { type: 'function', function: { name: 'y', parameters: {} } } as never,
        ],
      })
      catalogue.setSource('git', { tools: [tool('log'), tool('log')] })
    })
    await turn.run({ role: 'assistant', content: 'Hi.' })
    const report = well.report().split('\n')
    expect(report).toContainEqual(
      expect.stringMatching(
        /^skipped: 3 tools of "billing", "git": x .*; … \(see explain, or findings of the catalogue\)$/,
      ),
    )
    expect(report).toContain('eager: no tool is named "lgo"; did you mean "log"?')
  })

  it('is named by its source where no tool is left', async () => {
    const { well } = await begun({}, ({ catalogue }) =>
      catalogue.setSource('git', { tools: [{ name: 'log', parameters: {} } as never] }),
    )
    expect(well.report()).toMatch(/^"a": 1 request; no tool sent/)
    expect(well.report()).toMatch(/skipped: 1 tool of "git": log has parameters and no inputSchema/)
  })

  it('is nothing where all is used', async () => {
    const { well } = await begun({ eager: ['git__log'], tools: server('git', ['log']) })
    expect(well.report()).not.toMatch(/left out|no tool is named/)
  })
})

describe('figures', () => {
  it('say how a stream of Chat Completions gets its usage', async () => {
    const { url, close } = await startScriptedEndpoint(chatProtocol(), { model: [{ text: 'Hi.' }] })
    onTestFinished(close)
    const { well, turn } = await begun({ tools: [tool('own')] })
    const body = JSON.stringify({ model: 'm', stream: true, ...turn.parts })
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', body })
    await turn.run(await assemble(readEvents(response.body as never)))
    expect(well.report()).toContain('a stream has usage with stream_options: { include_usage: true }')
  })

  it('make sense where a conversation ended with its search', async () => {
    const { well, turn } = await begun({ mode: 'on', tools: server('git', ['log']) })
    const called = { name: 'tool_search', arguments: '{"query":"log"}' }
    const message = {
      role: 'assistant' as const,
      content: null,
      tool_calls: [{ id: 'c1', type: 'function' as const, function: called }],
    }
    await turn.run({ choices: [{ message }], usage: { prompt_tokens: 900 } })
    expect(well.report()).not.toContain('instead of 0')
    expect(well.report()).toContain('input tokens: 900, all to find tools')
  })
})

describe('the state of a source', () => {
  it('cannot be set for an unknown source', () => {
    const { catalogue } = createToolwell({ tools: server('tracker', ['list']) })
    expect(() => catalogue.setState('traker', 'ready')).toThrow(
      'No source is named "traker". Did you mean "tracker"?',
    )
    expect(() => createToolwell().catalogue.setState('nope', 'ready')).toThrow('Set it with setSource first')
  })

  it('may come late, after the source was removed', () => {
    const { catalogue } = createToolwell()
    catalogue.setSource('git', { tools: [] })
    catalogue.removeSource('git')
    expect(() => catalogue.setState('git', 'failed')).not.toThrow()
  })
})
