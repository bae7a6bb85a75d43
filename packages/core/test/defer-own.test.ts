/** The option `defer`: own tools are eager by default, which is visible if it costs much, and one word defers them. */
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { server, tool } from './support/tools.js'

const user: ChatMessage = { role: 'user', content: 'Go.' }
const many = Array.from({ length: 200 }, (_, index) => tool(`own_tool_${index}`))

async function begin(options: ToolwellOptions) {
  const well = createToolwell(options)
  const conversation = await well.open({ id: 'a' })
  const chat = openaiChat(conversation)
  const turn = await chat.begin([user])
  const names = (turn.parts.tools ?? []).map((each) => each.function.name)
  return { well, conversation, chat, turn, names }
}

describe('200 own tools', () => {
  it('are all sent by default; the first turn and the report name the tokens and the option', async () => {
    const { well, conversation, chat, turn, names } = await begin({ tools: many })
    expect(names).toHaveLength(200)
    const tokens = conversation.inspect().ownTokens ?? 0
    expect(tokens).toBeGreaterThan(5000)
    const figure = `${(tokens / 1000).toFixed(1)}k`
    const warning = turn.warnings.find(({ code }) => code === 'own-tools-eager')
    expect(warning?.text).toContain(`${figure} tokens`)
    expect(warning?.text).toContain("defer: 'all'")
    expect(well.report()).toMatch(new RegExp(`own tools: ${figure} tokens .*defer: 'all'`))
    expect(conversation.inspect().because).toContain("defer: 'all'")
    const retry = await chat.begin([user])
    expect(retry.warnings.map(({ code }) => code)).toContain('own-tools-eager')
    const next = await chat.begin([user, { role: 'assistant', content: 'Done.' }, user])
    expect(next.warnings.map(({ code }) => code)).not.toContain('own-tools-eager')
    expect(well.report()).toContain('own tools: ')
  })

  it('are deferred by defer: all, except always-loaded roles, eager and defer: false', async () => {
    const { well, turn, names } = await begin({
      tools: [
        ...many,
        tool('ask_user', { role: 'clarification' }),
        tool('kept'),
        tool('near', { defer: false }),
        tool('always', { alwaysLoad: true }),
      ],
      eager: ['kept'],
      defer: 'all',
    })
    expect(names).toEqual(['always', 'ask_user', 'kept', 'near', 'tool_search', 'tool_call'])
    expect(turn.warnings).toEqual([])
    expect(well.report()).not.toContain('own tools: ')
    expect(well.explain('own_tool_1')).toEqual({ deferred: true, because: "the option defer is 'all'" })
  })

  it('are found and run under defer: all', async () => {
    const { chat, turn } = await begin({ tools: many, defer: 'all' })
    const call = (id: string, name: string, input: unknown): ChatMessage => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    })
    const search = call('c1', 'tool_search', { query: 'select:own_tool_7' })
    const found = await turn.run({ choices: [{ message: search }] } as never)
    const history = [user, search, ...found.messages]
    const next = await chat.begin(history)
    const ran = await next.run({
      choices: [{ message: call('c2', 'tool_call', { name: 'own_tool_7', arguments: { value: 'x' } }) }],
    } as never)
    expect(JSON.stringify(ran.messages)).toContain('own_tool_7 ran')
  })

  it('are named although a source is deferred, too', async () => {
    const tools = [...many, ...server('git', ['log', 'show'])]
    const { turn, names } = await begin({ tools, mode: 'on' })
    expect(names).toHaveLength(202)
    expect(turn.warnings.map(({ code }) => code)).toContain('own-tools-eager')
  })

  it.each<[string, ToolwellOptions]>([
    ['mode: off', { mode: 'off' }],
    ['delivery: eager', { delivery: 'eager' }],
    ['a rule', { rules: [{ tool: 'own_*', defer: false }] }],
    ['a threshold above them', { costs: { threshold: 1_000_000 } }],
  ])('are not named if the host asked for them by %s', async (_, options) => {
    const { well, turn } = await begin({ tools: many, ...options })
    expect(turn.warnings.map(({ code }) => code)).not.toContain('own-tools-eager')
    expect(well.report()).not.toContain('own tools: ')
  })
})

it('says nothing about few own tools, and defer: all sends them as they are', async () => {
  const tools = [tool('one'), tool('two')]
  for (const defer of ['sources', 'all'] as const) {
    const { well, turn, conversation } = await begin({ tools, defer })
    expect(turn.warnings).toEqual([])
    expect(conversation.inspect().mode).toBe('off')
    expect(turn.view.tools).toBe(tools)
    expect(well.report()).not.toContain('own tools: ')
  }
})

it('refuses another value of defer', () => {
  expect(() => createToolwell({ defer: 'own' as never })).toThrow(/defer must be/)
})
