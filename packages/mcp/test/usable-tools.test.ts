/** Every entry of a list is a tool or accounted for, whatever it is made of. */
import { expect, it } from 'vitest'
import { splitUsableTools } from '../src/definition/usable-tools.ts'
import { describedTool, oddServer } from './support/odd-server.js'
import { setup } from './support/setup.js'

function nested(levels: number): object {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

it.each(['inputSchema', 'outputSchema', '_meta', 'annotations'])(
  'skips a tool nested beyond the stack in %s',
  (field) => {
    const { tools, unusable } = splitUsableTools([
      describedTool('fine'),
      describedTool('deep', { [field]: nested(100_000) }),
    ])
    expect(tools.map(({ name }) => name)).toEqual(['fine'])
    expect(unusable).toEqual([{ entry: 2, name: 'deep', reason: 'is nested more than 200 levels deep' }])
  },
)

it.each([
  ['one word', { description: 'a'.repeat(5 * 1024 * 1024) }],
  ['many fields', { _meta: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at])) }],
  ['a long list', { inputSchema: { type: 'object', enum: Array.from({ length: 200_000 }, () => 1) } }],
])('skips a tool that is too large: %s', (_, more) => {
  const { tools, unusable } = splitUsableTools([describedTool('large', more), describedTool('fine')])
  expect(tools.map(({ name }) => name)).toEqual(['fine'])
  expect(unusable).toEqual([{ entry: 1, name: 'large', reason: 'is larger than 256 kB' }])
})

it('reads no more of one server than 16 MB', () => {
  const text = 'b '.repeat(100_000)
  const entries = Array.from({ length: 100 }, (_, at) => describedTool(`t${at}`, { description: text }))
  const { tools, unusable } = splitUsableTools([...entries, describedTool('small')])
  expect(tools.length).toBe(Math.floor((16 * 1024 * 1024) / (text.length + 50)) + 1)
  // A tool that still fits is still read.
  expect(tools.at(-1)?.name).toBe('small')
  expect(unusable.length).toBe(101 - tools.length)
  expect(unusable[0]?.reason).toBe(
    'is skipped: the entries before it take 16 MB, which is the limit of one server',
  )
})

it('tells the catalogue of what cannot be used, and not of what is listed twice', async () => {
  const tools = [
    describedTool('fine'),
    describedTool('fine'),
    { name: 'odd', inputSchema: { type: 'string' } },
  ]
  const { well } = await setup([oddServer('odd', { tools: tools as never })])
  expect([...well.catalogue.skippedTools.values()].map(({ entry }) => entry.wireName)).toEqual(['odd__odd'])
  expect(well.explain('odd__odd')?.because).toBe(
    'skipped: odd has an inputSchema of type "string"; the top level of a tool\'s input must be "object"',
  )
})

it('keeps the other tools of such a server, at once and from the cache', async () => {
  const tools = [describedTool('fine'), describedTool('deep', { _meta: nested(1000) })]
  const { report, text, servers, well } = await setup([oddServer('odd', { tools })])
  expect(report('odd')).toMatchObject({ state: 'cached', tools: ['fine'], unusable: [{ name: 'deep' }] })
  expect([...well.catalogue.entries()].map(({ id }) => id)).toEqual(['odd/fine'])
  await servers.refresh('odd')
  expect(await text('odd', 'fine', { a: 1 })).toBe('{"a":1}')
})
