/** Requests keep bringing new words. */
import { createToolwell } from '@toolwell/core'
import { expect, it } from 'vitest'
import { collectGarbage } from '../../../../test/setup/collect-garbage.ts'
import { mixed, tool } from '../support/tools.js'

const MB = 1024 * 1024

it('keeps few of the words that were ever asked for', async () => {
  const direct = createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge' }).direct()
  const ask = async (from: number) => {
    for (let query = from; query < from + 500; query++) {
      const words = Array.from({ length: 20 }, (_, index) => `w${query}x${index}`)
      await direct.search({ query: words.join(' ') })
    }
  }
  await ask(0)
  const before = await collectGarbage()
  await ask(500)
  await ask(1000)
  expect((await collectGarbage()) - before).toBeLessThan(4 * MB)
})

it('keeps nothing of tools that were asked for once and are not held', async () => {
  // Each is written when it is read, as those that come from a file are.
  const text = 'x'.repeat(40_000)
  const tools = Array.from({ length: 150 }, (_, index) =>
    Object.defineProperty(tool(`tool_${index}`, { source: 'many', description: 'A tool' }), 'inputSchema', {
      enumerable: true,
      get: () => ({ type: 'object', properties: { a: { const: JSON.parse(`"${index} ${text}"`) } } }),
    }),
  )
  const direct = createToolwell({ tools, mode: 'on', delivery: 'bridge' }).direct()
  const ask = async (name: string) => {
    await direct.search({ query: `select:${name}` })
    await direct.judge({ name: 'tool_call', input: { name, arguments: { a: 1 } } })
  }
  for (let index = 0; index < 10; index++) await ask(`tool_${index}`)
  const before = await collectGarbage()
  for (let index = 10; index < 150; index++) await ask(`tool_${index}`)
  expect((await collectGarbage()) - before).toBeLessThan(2 * MB)
})
