/** Where no search can lead to anything, nothing advises one. */
import type { Tool, Toolwell } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { tool } from './support/tools.js'

async function played(
  name: string,
  args: object,
  tools: readonly Tool[],
  prepare?: (well: Toolwell) => void,
) {
  const host = await startHost(
    {
      mode: 'on',
      delivery: 'bridge',
      tools,
      search: { waitForSources: 0 },
      surface: { affordance: 'strong' },
    },
    [{ calls: [{ name, arguments: args }] }, { text: 'ok' }],
    prepare ? { prepare } : {},
  )
  await host.ask('go')
  const meta =
    host
      .body(0)
      .tools?.map((each) => each.function.description ?? '')
      .join('\n') ?? ''
  return { answer: lastResult(host), section: String(host.body(0).messages[0]?.content), meta }
}

const search = { query: 'send a mail' }
const own = tool('read_file')

describe.each([
  ['no tool at all', []],
  ['only eager tools of the host', [own]],
])('with no server, and %s', (_, tools) => {
  it('the prompt does not send the model to the search', async () => {
    const { section } = await played('tool_search', search, tools)
    expect(section).toContain('Until then tool_search finds nothing.')
    expect(section).not.toContain('call tool_search')
  })

  it('neither do the tools of Toolwell’s own', async () => {
    const { meta } = await played('tool_search', search, tools)
    expect(meta).toContain('Calls a tool that is not in your list')
    expect(meta).not.toMatch(/call tool_search|with tool_search|tool_search first/)
  })

  it('a search that finds nothing does not ask for another', async () => {
    const { answer } = await played('tool_search', search, tools)
    expect(answer).toContain('Found no tool for "send a mail".')
    expect(answer).not.toMatch(/search once more|server:/i)
  })

  it('a call of an unknown tool is not sent there either', async () => {
    const { answer } = await played('send_mail', {}, tools)
    expect(answer).toContain('Found no tool named "send_mail".')
    expect(answer).not.toContain('tool_search')
  })
})

it('a deferred tool of the host is enough to offer search, and no server is mentioned', async () => {
  const { answer, section, meta } = await played('tool_search', search, [tool('paint', { defer: true })])
  expect(section).toContain('call tool_search')
  expect(meta).toContain('before you say that something cannot be done')
  expect(meta).toContain('Find it with tool_search first')
  expect(answer).toContain('Search once more in other words.')
})

it('so is a server that has listed nothing yet', async () => {
  const connecting = (well: Toolwell) => well.catalogue.setSource('mail', { tools: [], state: 'connecting' })
  const { section } = await played('tool_search', search, [own], connecting)
  expect(section).toContain('call tool_search')
  const unknown = await played('send_mail', {}, [own], connecting)
  expect(unknown.answer).toContain('tool_search')
})
