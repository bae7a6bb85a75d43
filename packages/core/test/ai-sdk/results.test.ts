/** Images and long results through the AI SDK: real packages of both versions, against the strict endpoints. */
import { createToolwell, type Tool } from '@toolwell/core'
import { aiSdk, importTools } from '@toolwell/core/ai-sdk'
import { toolResult } from '@toolwell/core/result'
import * as ai6 from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PDF, PNG } from '../support/media.js'
import { mixed, tool } from '../support/tools.js'
import { call, calls, majors, said, startHost, type WireName } from './support.js'

const wires: readonly WireName[] = ['anthropic', 'responses', 'google', 'chat']
const cases = majors.flatMap(({ major }) => wires.map((wire) => ({ major, wire })))
const given = (isError = false) => [
  ...mixed(),
  tool('look', {
    execute: () =>
      toolResult(
        [
          { type: 'text', text: 'The page:' },
          { type: 'image', data: PNG, mediaType: 'image/png' },
          { type: 'file', data: PDF, mediaType: 'application/pdf', name: 'a.pdf' },
          { type: 'audio', data: 'UklGRg==', mediaType: 'audio/wav' },
        ],
        { isError },
      ),
  }),
]

describe.each(cases)('AI SDK $major on $wire', ({ major, wire }) => {
  it('an image and a PDF reach the model where the wire takes them; words stand for the rest', async () => {
    const host = await startHost({
      major,
      wire,
      options: { tools: given() },
      script: [calls(call('look', {})), said(), said()],
    })
    const result = await host.ask('look')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(-1)).toContain('The page:')
    expect(host.raw(-1).includes(PNG)).toBe(wire !== 'chat')
    expect(host.raw(-1).includes(PDF)).toBe(wire !== 'chat')
    expect(host.raw(-1)).toContain('[audio audio/wav, 1 kB, not shown')
    expect(host.raw(-1)).not.toContain('UklGRg')
    // The history is the SDK's, and can be stored: the next request holds the same.
    const before = host.raw(-1)
    const stored = JSON.parse(JSON.stringify(host.messages))
    host.messages.splice(0, host.messages.length, ...stored)
    await host.ask('and?')
    expect(host.raw(-1).includes(PNG)).toBe(wire !== 'chat')
    expect(before.includes('toolwell-result')).toBe(false)
  })

  it('a tool that fails says so', async () => {
    const host = await startHost({
      major,
      wire,
      options: { tools: given(true) },
      script: [calls(call('look', {})), said()],
    })
    await host.ask('look')
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(-1)).toContain('look failed: The page:')
  })

  it('a long result is kept, and its rest is read', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `row ${index + 1}`).join('\n')
    let handle = ''
    const host = await startHost({
      major,
      wire,
      options: {
        tools: [...mixed(), tool('look', { execute: () => lines })],
        limits: { maxResultTokens: 1000 },
      },
      adapter: { native: false },
      script: [
        calls(call('look', {})),
        said(),
        // The handle is not known before: the script is read when it is needed.
        {
          get calls() {
            return [call('tool_call', { name: 'read_result', arguments: { handle, lines: '4321' } })]
          },
        },
        said(),
      ],
    })
    const first = await host.ask('look')
    const shown = String(first.steps[0]?.toolResults[0]?.output)
    expect(shown.length).toBeLessThan(2000)
    expect(host.raw(-1)).not.toContain('row 4321')
    handle = /"handle": "(r_[0-9a-f]+)"/.exec(shown)?.[1] ?? ''
    await host.ask('more')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    expect(host.raw(-1)).toContain('row 4321')
    expect(host.raw(-1)).not.toContain('row 4000\\n')
  })
})

describe('frameworks on top of the SDK', () => {
  type Made = {
    readonly inputSchema: { readonly '~standard': { validate(value: unknown): unknown } }
    execute(input: unknown, options: object): Promise<unknown>
    toModelOutput(asked: unknown): unknown
  }
  const open = async (tools: readonly Tool[]) => {
    const well = createToolwell({ tools, mode: 'on' })
    return aiSdk(await well.open({ id: 'a' })).settings.tools as unknown as Readonly<Record<string, Made>>
  }

  it('get a verdict at once where the schema of a tool gives one at once', async () => {
    const imported = await importTools(
      {
        prompt: ai6.tool({ inputSchema: z.object({ city: z.string().default('Oslo') }), execute: () => 1 }),
        late: ai6.tool({ inputSchema: z.object({ city: z.string().refine(async () => true) }) }),
      },
      ai6.asSchema,
    )
    const tools = await open([...mixed(), ...imported])
    const verdict = (name: string, value: unknown) =>
      tools[name]?.inputSchema['~standard'].validate(value) as { value?: unknown }
    expect(verdict('tool_search', { query: 'x' }).value).toEqual({ query: 'x' })
    expect(verdict('read_file', { value: 1 }).value).toEqual({ value: 1 })
    expect(verdict('prompt', {}).value).toEqual({ city: 'Oslo' })
    // What does not fit is answered by the conversation.
    expect(verdict('prompt', { city: 1 }).value).toEqual({ city: 1 })
    expect(await verdict('late', { city: 'Rome' })).toMatchObject({ value: { city: 'Rome' } })
  })

  it('may give toModelOutput the output alone', async () => {
    const tools = await open(mixed())
    const text = { type: 'text', value: 'found' }
    for (const name of ['tool_search', 'read_file']) {
      expect(tools[name]?.toModelOutput('found')).toEqual(text)
      expect(tools[name]?.toModelOutput({ toolCallId: 'x', input: {}, output: 'found' })).toEqual(text)
    }
    const json = { type: 'json', value: { output: 3 } }
    expect(tools.read_file?.toModelOutput({ output: 3 })).toEqual(json)
  })
})
