/** A host's cache that fails or returns anything: a warning and a listing, and every server continues. */
import { type DefinitionCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { setup } from './support/setup.js'

const nothing: DefinitionCache = { read: () => undefined, write: () => undefined, forget: () => undefined }
const fail = () => {
  throw new Error('boom')
}
const definition = {
  tools: [describedTool('x')],
  unusable: [],
  instructions: '',
  capabilities: {},
  info: undefined,
  era: 'legacy',
  ttlMs: undefined,
  cacheScope: 'private',
}
const gives = (value: unknown) => ({ read: () => value })

describe('a cache', () => {
  it.each<[string, object, RegExp | undefined]>([
    ['that cannot be read', { read: fail }, /failed to read one: boom/],
    ['that gives nothing of a definition', gives({}), /an invalid definition/],
    ['that gives null', gives(null), /an invalid definition/],
    ['that gives text', gives('x'), /an invalid definition/],
    ['that gives a promise', gives(Promise.resolve()), /an invalid definition/],
    ['that gives an empty definition', gives({ definition: {}, savedAt: 1 }), /an invalid definition/],
    ['without a date', gives({ definition }), /an invalid definition/],
    [
      'with tools that are none',
      gives({ definition: { ...definition, tools: [null, 5] }, savedAt: 1 }),
      /returned invalid tools/,
    ],
    [
      'with a tool that cannot be used',
      gives({ definition: { ...definition, tools: [{ name: 'x' }] }, savedAt: 1 }),
      /returned invalid tools/,
    ],
    [
      'with a word for tools',
      gives({ definition: { ...definition, tools: 'no' }, savedAt: 1 }),
      /an invalid definition/,
    ],
    [
      'with a number for instructions',
      gives({ definition: { ...definition, instructions: 5 }, savedAt: 1 }),
      /an invalid definition/,
    ],
    ['that cannot be written', { write: fail }, /failed to store one: boom/],
    ['that keeps no parts', { kept: fail }, /store the index of one: boom/],
    ['that keeps other parts', { kept: () => ({ index: {}, tokens: {} }) }, undefined],
    ['that has no parts to give', { kept: () => null }, undefined],
  ])('%s costs a warning at most', async (_, broken, warning) => {
    const run = await setup([oddServer('one'), oddServer('two')], { cache: { ...nothing, ...broken } })
    for (const name of ['one', 'two']) {
      expect(run.report(name)).toMatchObject({ state: 'cached', trusted: 'first-use' })
      expect(run.report(name).tools).toContain('echo')
    }
    expect(await run.text('two', 'echo', { a: 1 })).toBe('{"a":1}')
    expect(await (await play(run.well, 'a')).search('select:one__echo')).toContain('one__echo')
    const told = run.events.flatMap((event) => (event.kind === 'warning' ? [event] : []))
    if (!warning) return
    expect(told.map(({ text }) => text).join('\n')).toMatch(warning)
    expect(told.map(({ code }) => code)).toContain('cache-failed')
  })
})

describe('a store of first use', () => {
  it.each<[string, object, RegExp]>([
    ['that remembers nothing', { read: fail }, /failed to read one: boom/],
    ['that remembers something else', { read: () => ({}) }, /returned an invalid record/],
    ['that cannot remember', { write: fail }, /failed to remember one: boom/],
    ['that cannot be looked at', { stamp: fail }, /failed to check one: boom/],
  ])('%s costs a warning at most', async (_, broken, warning) => {
    const run = await setup([oddServer('one')], { firstUse: { ...memoryFirstUse(), ...broken } })
    expect(run.report('one')).toMatchObject({ state: 'cached', trusted: 'first-use' })
    expect(await run.text('one', 'echo', { a: 1 })).toBe('{"a":1}')
    const told = run.events.flatMap((event) => (event.kind === 'warning' ? [event] : []))
    expect(told.map(({ text }) => text).join('\n')).toMatch(warning)
    expect(told.map(({ code }) => code)).toContain('first-use-failed')
  })
})
