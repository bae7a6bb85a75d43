/** Tools that code of Anthropic or a program of OpenAI may call, through the SDK. */
import { createToolwell } from '@toolwell/core'
import { createAnthropic } from 'ai-sdk-7-anthropic'
import { createOpenAI } from 'ai-sdk-7-openai'
import { describe, expect, it } from 'vitest'
import { server, tool } from '../support/tools.js'
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

describe.each(['on', 'off'] as const)('a program of OpenAI, mode %s', (mode) => {
  it('calls its tools, and all items are replayed, with nothing next to their results', async () => {
    const { programmaticToolCalling: program } = createOpenAI({ apiKey: 'none' }).tools
    const well = createToolwell({ tools: [add, batch], mode })
    const adapter = { providerTools: { program: program() } }
    const host = await startHost({ major: 7, wire: 'responses', script: [said(), said()], well, adapter })
    await host.ask('Go.')
    const callers = host.body(0).tools?.map(({ allowed_callers: allowed }) => allowed)
    expect(callers).toContainEqual(['programmatic'])
    expect(callers).toContainEqual(['direct', 'programmatic'])
    well.catalogue.setSource('late', { tools: server('late', ['send_mail']) })
    const caller = { type: 'program', callerId: 'pc_1' }
    const part = { toolCallId: 'call_p', toolName: 'batch', providerOptions: { openai: { caller } } }
    host.messages.push(
      { role: 'user', content: 'On.' },
      {
        role: 'assistant',
        content: [
          {
            type: 'tool-call',
            toolCallId: 'pc_1',
            toolName: 'program',
            input: { code: 'batch()', fingerprint: 'f' },
            providerExecuted: true,
            providerOptions: { openai: { itemId: 'prog_1' } },
          },
          { type: 'tool-call', input: { value: 'x' }, ...part },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', output: { type: 'text', value: 'ran' }, ...part }] },
    )
    await host.sdk.generateText({ ...host.settings, messages: host.messages })
    expect(host.statuses()).toEqual([200, 200])
    const { input } = host.body(1) as unknown as { readonly input: readonly object[] }
    const sent = { type: 'program', caller_id: 'pc_1' }
    expect(input.slice(-3)).toEqual([
      { type: 'program', id: 'prog_1', call_id: 'pc_1', code: 'batch()', fingerprint: 'f' },
      expect.objectContaining({ type: 'function_call', name: 'batch', call_id: 'call_p', caller: sent }),
      { type: 'function_call_output', call_id: 'call_p', output: 'ran', caller: sent },
    ])
  })
})
