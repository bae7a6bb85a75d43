/** A host passes the tools to the SDK but not the rest of `settings`: it gets a warning, and servers accept its request. */
import { describe, expect, it } from 'vitest'
import { server } from '../support/tools.js'
import { call, calls, majors, said, search, startHost } from './support.js'

const places = majors.flatMap(({ major }) =>
  (['chat', 'responses', 'anthropic', 'google'] as const).map((wire) => ({ major, wire })),
)

describe.each(places)('AI SDK $major over $wire, with tools alone', ({ major, wire }) => {
  async function asked(script: Parameters<typeof startHost>[0]['script']) {
    const lines: string[] = []
    const options = { tools: server('box', ['a', 'b']), debug: (line: string) => void lines.push(line) }
    const host = await startHost({ major, wire, script, options })
    const { prepareStep: _, experimental_repairToolCall: __, ...rest } = host.settings
    const messages = [{ role: 'user', content: 'Go.' }]
    const { steps } = await host.sdk.generateText({ ...rest, messages })
    return { host, lines, content: JSON.stringify(steps[0]?.content, (_key, value) => errorText(value)) }
  }
  const errorText = (value: unknown) => (value instanceof Error ? value.message : value)

  it('a search is answered with what is missing', async () => {
    const { host, lines, content } = await asked([calls(search('anything')), said()])
    expect(host.statuses()).toEqual([200, 200])
    expect(content).toContain('spread all of its settings')
    expect(lines.filter((line) => line.includes('warning (request-unseen): '))).toHaveLength(1)
  })

  it('a tool runs, and debug says what is missing', async () => {
    const { host, lines, content } = await asked([calls(call('box__a')), calls(call('box__a')), said()])
    expect(content).toContain('a ran with')
    expect(lines.filter((line) => line.includes('spread all of its settings'))).toHaveLength(1)
    expect(host.well.report()).toContain(
      '0 requests; tools were called, but no request went through Toolwell: pass all of its settings to the SDK',
    )
  })
})
