/** Tools that code of Anthropic may call, through the SDK. */
import { createToolwell } from '@toolwell/core'
import { createAnthropic } from 'ai-sdk-7-anthropic'
import { describe, expect, it } from 'vitest'
import { tool } from '../support/tools.js'
import { call, said, startHost } from './support.js'

const batch = tool('batch', { callers: ['code'] })
const add = tool('add', { callers: ['direct', 'code'] })
const code = createAnthropic({ apiKey: 'none' }).tools.codeExecution_20260120()

describe.each(['on', 'off'] as const)('callers, mode %s', (mode) => {
  const start = (providerTools: Record<string, object>) =>
    startHost({
      major: 7,
      wire: 'anthropic',
      script: [{ calls: [call('batch')] }, said()],
      well: createToolwell({ tools: [add, batch], mode }),
      adapter: { providerTools },
    })

  it('are written for the code execution that the host declares, and a direct call is refused', async () => {
    const host = await start({ code_execution: code })
    await host.ask('Go.')
    const callers = host.body(0).tools?.map(({ allowed_callers: allowed }) => allowed)
    expect(callers).toContainEqual(['code_execution_20260120'])
    expect(callers).toContainEqual(['direct', 'code_execution_20260120'])
    expect(host.raw(1)).toContain('Calling batch is not permitted.')
    expect(host.statuses()).toEqual([200, 200])
  })

  it('without code execution, a tool for code alone is not sent', async () => {
    const host = await start({})
    await host.ask('Go.')
    expect(host.names(0)).toContain('add')
    expect(host.names(0)).not.toContain('batch')
    expect(host.raw(0)).not.toContain('allowed_callers')
  })
})
