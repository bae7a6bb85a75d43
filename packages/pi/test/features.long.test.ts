/** Other features in pi: deferred own tools, texts from the config for the model, and `/toolwell`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Api, extensionFile, piHome, wires } from './support/pi-home.ts'

type Home = Awaited<ReturnType<typeof piHome>>

const apis = Object.keys(wires) as Api[]
const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const bodies = (pi: Home) => pi.endpoint.requests.map(({ body }) => body as Record<string, unknown>)
const namesIn = ({ tools }: Record<string, unknown>) =>
  [...JSON.stringify(tools).matchAll(/"name":"(\w+)","description"/g)].map(([, name]) => name)

function expectSound(pi: Home) {
  expect(pi.endpoint.requests.map(({ violation }) => violation?.message)).toEqual(
    pi.endpoint.requests.map(() => undefined),
  )
}

function changeConfig(pi: Home, change: (config: Record<string, Record<string, unknown>>) => void) {
  const config = JSON.parse(readFileSync(pi.config, 'utf8'))
  change(config)
  writeFileSync(pi.config, JSON.stringify(config))
}

const lookup = `export default (pi) => pi.registerTool({
  name: 'web_lookup', label: 'Lookup', description: 'Looks a word up in the encyclopaedia on the web',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: async (_id, { word }) => ({ content: [{ type: 'text', text: 'A ' + word + ' is a fish.' }], details: {} }),
})`

describe.each(apis)('%s', (api) => {
  it("defers pi's own tools by name, except always-loaded ones; pi runs them, and they stay loaded", async () => {
    const call = (word: string) => ({ calls: [{ name: 'web_lookup', arguments: { word } }] })
    const pi = await piHome(api, [
      search('look a word up in the encyclopaedia'),
      call('pike'),
      { text: 'First.' },
      call('eel'),
      { text: 'Second.' },
    ])
    changeConfig(pi, (config) => {
      config.hostTools = { defer: ['web_*', 'bash'] }
    })
    const options = { extensions: [extensionFile(pi.folder, lookup)] }
    const { output } = await pi.run(['-p', 'What is a pike?'], options)
    expect(output).toMatch(/bash cannot be deferred.*First\.$/s)
    expect((await pi.run(['-c', '-p', 'And an eel?'], options)).output).toMatch(/Second\.$/)
    const [first = {}, second = {}, third = {}, , last = {}] = bodies(pi)
    expect(namesIn(first)).toEqual(expect.arrayContaining(['read', 'bash', 'edit', 'write', 'tool_search']))
    if (api === 'anthropic-messages')
      expect(JSON.stringify(first.tools)).not.toMatch(/"name":"web_lookup"(?![^}]*defer)/)
    else expect(namesIn(first)).not.toContain('web_lookup')
    expect(JSON.stringify(second.tools)).toContain('"name":"web_lookup"')
    expect(JSON.stringify(third)).toContain('A pike is a fish.')
    expect(JSON.stringify(last)).toContain('A eel is a fish.')
    expectSound(pi)
  })

  it('tells what a tool is to be used for instead, once it is loaded', async () => {
    const pi = await piHome(api, [search('read the whole knowledge graph'), { text: 'Found.' }])
    const words = 'Use this, not cat memory.json in the shell.'
    changeConfig(pi, ({ mcpServers }) => {
      Object.assign(mcpServers?.memory as object, { insteadOf: { read_graph: words } })
    })
    expect(await pi.run(['-p', 'Find the tool.'])).toEqual({ code: 0, output: 'Found.' })
    const [first, second] = bodies(pi).map((body) => JSON.stringify(body))
    expect(first).not.toContain(words)
    expect(second).toContain(words)
    expectSound(pi)
  })

  it('/toolwell shows the line, what is loaded, what it cost, and the servers', async () => {
    const pi = await piHome(api, [search('read the whole knowledge graph'), { text: 'Found.' }])
    const client = pi.rpc()
    await client.prompt('Find the tool.')
    const status = client.all.filter(({ method }) => method === 'setStatus').at(-1)
    const since = client.all.length
    await client.command('prompt', { message: '/toolwell' })
    const { message } = await client.next(({ method }) => method === 'notify', since)
    const lines = String(message).split('\n')
    expect(lines[0]).toMatch(/^active 1 \(memory__read_graph\) · \d+ deferred · /)
    expect(status?.statusText).toMatch(/^active 1 /)
    expect(lines[lines.indexOf('loaded') + 1]).toBe('  memory__read_graph')
    expect(lines[lines.indexOf('cost') + 1]).toMatch(
      /^ {2}[\d,]+ input tokens in 2 requests; with every tool sent: [\d,]+$/,
    )
    expect(lines.slice(lines.indexOf('servers') + 1)).toHaveLength(4)
    expect(lines.at(-1)).toMatch(/^ {2}playwright {2}\w+, \d+ tools$/)
    await client.end()
  })
})
