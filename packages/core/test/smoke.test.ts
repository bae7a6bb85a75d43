import { expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { mixed } from './support/tools.js'

it.each(['append', 'bridge'] as const)('searches, loads and calls over %s', async (delivery) => {
  const host = await startHost({ tools: mixed(), mode: 'on', delivery }, [
    { calls: [{ name: 'tool_search', arguments: { query: 'create an issue' } }] },
    delivery === 'append'
      ? { calls: [{ name: 'tracker__create_issue', arguments: { value: 'x' } }] }
      : {
          calls: [
            { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } } },
          ],
        },
    { text: 'done' },
  ])
  expect(await host.ask('please file it')).toBe('done')
  expect(lastResult(host)).toBe('create_issue ran with {"value":"x"}')
})
