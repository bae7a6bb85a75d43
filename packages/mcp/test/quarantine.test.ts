/** A tool that changes during a conversation: earlier requests stay unchanged, and the new text never reaches the model. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectServers, memoryCache, memoryFirstUse, type Servers } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WireHarness } from '../../core/test/support/wire-harness.js'
import { anthropicHarness } from '../../core/test/support/wires/anthropic.js'
import { googleHarness } from '../../core/test/support/wires/google.js'
import { openaiChatHarness } from '../../core/test/support/wires/openai-chat.js'
import { openaiResponsesHarness } from '../../core/test/support/wires/openai-responses.js'
import { describedTool, oddServer } from './support/odd-server.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const wires: readonly WireHarness[] = [
  anthropicHarness,
  openaiResponsesHarness,
  googleHarness,
  openaiChatHarness,
]
const settings = wires.flatMap((harness) =>
  harness.deliveries.map((delivery) => [harness, delivery] as const),
)

describe.each(settings.map(([harness, delivery]) => [harness.name, delivery, harness] as const))(
  'over %s, %s',
  (_, delivery, harness) => {
    it('a changed tool keeps its bytes, is neither found nor called, and waits for approval', async () => {
      const folder = temporary()
      const list = join(folder, 'list.json')
      const log = join(folder, 'log')
      const put = (echo: object, pay: object) =>
        writeFileSync(
          list,
          JSON.stringify([describedTool('echo', echo), describedTool('write'), describedTool('pay', pay)]),
        )
      put({}, {})
      const calls = (name: string, input = {}) => ({ calls: [{ name, arguments: input }] })
      const loads = delivery === 'native' ? [] : [calls('tool_search', { query: 'select:odd__pay' })]
      let servers: Servers | undefined
      const host = await harness.open(
        { mode: 'on', delivery },
        [
          calls('odd__echo', { first: 1 }),
          { text: 'One.' },
          ...loads,
          calls('odd__echo', { second: 2 }),
          calls('odd__write', { third: 3 }),
          { text: 'Two.' },
        ],
        {
          prepare: (well) => {
            servers = connectServers(
              well.catalogue,
              [oddServer('odd', { toolsFrom: list, log }, { alwaysLoad: ['echo', 'write'] })],
              { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
            )
          },
        },
      )
      onTestFinished(() => servers?.close())
      expect(await servers?.settled(100_000)).toEqual([])
      expect(await host.ask('Begin.')).toBe('One.')
      const refrozen = host.toolsJson(0)
      put({ description: 'EVILWORDS one.' }, { description: 'EVILWORDS two.' })
      await servers?.refresh('odd')
      const [report] = servers?.inspect() ?? []
      // Text for the person.
      expect(report?.quarantined.get('echo')).toContain('toolwell approve odd/echo')
      expect([...(report?.quarantined.keys() ?? [])].sort()).toEqual(['echo', 'pay'])
      expect(await host.ask('Go on.')).toBe('Two.')
      const last = host.requests.at(-1)?.raw ?? ''
      expect(host.requests.filter(({ violation }) => violation)).toEqual([])
      // Text for the model.
      expect(last.match(/It waits for the user's approval/g)).toHaveLength(1 + loads.length)
      expect(host.requests.map(({ raw }) => raw).join()).not.toMatch(/EVILWORDS|toolwell approve/)
      for (let at = 1; at < host.requests.length; at++) expect(host.toolsJson(at)).toBe(refrozen)
      const ran = readFileSync(log, 'utf8').match(/^call \w+/gm)
      expect(ran).toEqual(['call echo', 'call write'])
    })
  },
)

it('instructions that are quarantined say nothing to a model', async () => {
  const firstUse = memoryFirstUse()
  const server = (instructions: string) => oddServer('odd', { instructions }, {}, 'same')
  const before = await setup([server('Sums.')], { firstUse })
  expect(before.well.catalogue.sources.get('odd')?.description).toBe('Sums.')
  const after = await setup([server('EVILWORDS first of all.')], { firstUse })
  expect(after.report('odd').state).toBe('quarantined')
  expect(JSON.stringify(after.well.catalogue.sources.get('odd'))).not.toContain('EVILWORDS')
})
