/** Tools of a source on Responses: in its namespace the first time, by themselves later, and called as they stand. */
import { expect, it } from 'vitest'
import { mixed } from './support/tools.js'
import { startResponsesHost } from './support/wires/openai-responses.js'

const found = (name: string) => ({
  calls: [{ name: 'tool_search', arguments: { query: `select:${name}` } }],
})
const used = (name: string) => ({ calls: [{ name, arguments: { value: 'x' } }] })

it('declares a namespace once, and a tool of the same source found later is declared alone', async () => {
  const [first, second, third] = ['tracker__create_issue', 'tracker__close_issue', 'calendar__find_slot']
  const names = [first, second, third] as const
  const script = [...names.map(found), ...names.map(used), { text: 'Done.' }]
  const host = await startResponsesHost({ tools: mixed(), mode: 'on', delivery: 'native' }, script)
  // The endpoint refuses a namespace in a second item, and a call without its own.
  expect(await host.ask('Go.')).toBe('Done.')
  const brought = host.input().flatMap(({ tools }) => (tools as { type: string; name: string }[]) ?? [])
  expect(brought.map(({ type, name }) => `${type} ${name}`)).toEqual([
    'namespace tracker',
    'function tracker__close_issue',
    'namespace calendar',
  ])
  const calls = host.input().filter(({ type }) => type === 'function_call')
  expect(calls.map(({ name, namespace }) => [name, namespace])).toEqual([
    [first, 'tracker'],
    [second, second],
    [third, 'calendar'],
  ])
  // Nothing that was sent has changed meanwhile.
  for (let index = 1; index < host.requests.length; index++) {
    const before = host.input(index - 1)
    expect(host.input(index).slice(0, before.length)).toEqual(before)
  }
})
