/** Session commands of a user, over RPC with the real pi: `/tree`, `/clone`, `/fork`, `/compact`, `/model`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commonPrefix } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { type Api, extensionFile, piHome, wires, withSummaries } from './support/pi-home.ts'
import { prefixOf } from './support/prefix.ts'
import type { Said } from './support/rpc-client.ts'

type Request = Awaited<ReturnType<typeof piHome>>['endpoint']['requests'][number]

const apis = Object.keys(wires) as Api[]
const isNative = (api: Api) => api === 'anthropic-messages'
const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const call = (api: Api, name: string) =>
  isNative(api)
    ? { calls: [{ name, arguments: {} }] }
    : { calls: [{ name: 'tool_call', arguments: { name, arguments: {} } }] }

const GRAPH = 'memory__read_graph'
const ENV = 'everything__get-env'
const ENTITIES = '\\"entities\\"'

const historyOf = (request: Request | undefined, api: Api): unknown =>
  (request?.body as Record<string, unknown> | undefined)?.[wires[api].history]

function expectContinues(later: Request | undefined, earlier: Request | undefined, api: Api) {
  if (!later || !earlier) throw new Error('There is no such request.')
  const before = prefixOf(earlier.body, api)
  expect(commonPrefix(before, prefixOf(later.body, api))).toBe(before.length)
}

const goTo = `export default (pi) => {
  pi.registerCommand('go-to', { description: '', handler: async (id, context) => { await context.navigateTree(id.trim()) } })
  pi.registerCommand('leaf', { description: '', handler: async (_, context) => context.ui.notify('leaf ' + context.sessionManager.getLeafId()) })
}`

/** pi after the steps `search → call → answer`, with helpers. */
async function begun(
  api: Api,
  more: Parameters<typeof withSummaries>[0],
  prepare: (pi: Awaited<ReturnType<typeof piHome>>) => Promise<void> = async () => undefined,
) {
  const model = [search('read the whole knowledge graph'), call(api, GRAPH), { text: 'First.' }, ...more]
  const pi = await piHome(api, withSummaries(model))
  writeFileSync(join(pi.agent, 'settings.json'), JSON.stringify({ compaction: { keepRecentTokens: 1 } }))
  await prepare(pi)
  const client = pi.rpc({ extensions: [extensionFile(pi.folder, goTo)] })
  const told = async (command: string): Promise<string> => {
    const since = client.all.length
    await client.command('prompt', { message: command })
    const { message } = await client.next(({ method }: Said) => method === 'notify', since)
    return String(message)
  }
  const loaded = async () => {
    const [, list = ''] = /\nloaded\n(.*?)\ncost/s.exec(await told('/toolwell')) ?? []
    return list.split('\n').map((line) => line.trim())
  }
  expect(await client.prompt('Read the graph.')).toBe('First.')
  const { requests } = pi.endpoint
  const sound = () =>
    expect(requests.map(({ violation }) => violation?.message)).toEqual(requests.map(() => undefined))
  const results = () => JSON.stringify(requests.at(-1)?.body).split(ENTITIES).length - 1
  return { pi, client, told, loaded, requests, sound, results }
}

describe.each(apis)('%s', (api) => {
  it('/tree: each branch has its own loaded tools, and continues where it was', async () => {
    const { client, told, loaded, requests, sound } = await begun(api, [
      search('print environment variables'),
      call(api, ENV),
      { text: 'Second.' },
      call(api, GRAPH),
      { text: 'Third.' },
      { text: 'Fourth.' },
    ])
    const [, first = ''] = (await told('/leaf')).split(' ')
    expect(await loaded()).toEqual([GRAPH])
    const firstEnd = requests.at(-1)
    await client.prompt('Show the environment.')
    const [, second = ''] = (await told('/leaf')).split(' ')
    expect(await loaded()).toEqual([GRAPH, ENV])
    const secondEnd = requests.at(-1)

    await client.command('prompt', { message: `/go-to ${first}` })
    expect(await loaded()).toEqual([GRAPH])
    expect(await client.prompt('The graph again.')).toBe('Third.')
    expectContinues(requests.at(-1), firstEnd, api)
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('Show the environment.')

    await client.command('prompt', { message: `/go-to ${second}` })
    expect(await loaded()).toEqual([GRAPH, ENV])
    expect(await client.prompt('Back here.')).toBe('Fourth.')
    expectContinues(requests.at(-1), secondEnd, api)
    sound()
  })

  it('/clone and /fork: the tool is loaded in the copy, its requests continue those of the origin, which stays as it was', async () => {
    const { pi, client, loaded, requests, sound, results } = await begun(api, [
      { text: 'Second.' },
      call(api, GRAPH),
      { text: 'Cloned.' },
      call(api, GRAPH),
      { text: 'Forked.' },
    ])
    const firstEnd = requests.at(-1)
    await client.prompt('Thank you.')
    const origin = JSON.stringify(pi.entries())
    const secondEnd = requests.at(-1)

    await client.command('clone')
    expect(await loaded()).toEqual([GRAPH])
    expect(await client.prompt('The graph again.')).toBe('Cloned.')
    expectContinues(requests.at(-1), secondEnd, api)
    expect(results()).toBe(2)

    const { messages } = await client.command('get_fork_messages')
    const thanks = (messages as Said[]).find(({ text }) => text === 'Thank you.')
    await client.command('fork', { entryId: thanks?.entryId })
    expect(await loaded()).toEqual([GRAPH])
    expect(await client.prompt('The graph once more.')).toBe('Forked.')
    expectContinues(requests.at(-1), firstEnd, api)
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('Thank you.')
    sound()
    expect(pi.sessions().map((entries) => JSON.stringify(entries))).toContain(origin)
  })

  it('/compact: the tool stays loaded, is shown again, and what follows is stable', async () => {
    const { client, loaded, requests, sound } = await begun(api, [
      { text: 'Second.' },
      call(api, GRAPH),
      { text: 'Third.' },
      call(api, GRAPH),
      { text: 'Fourth.' },
    ])
    await client.prompt('Thank you.')
    await client.command('compact')
    expect(await loaded()).toEqual([GRAPH])
    const before = requests.length
    expect(await client.prompt('The graph again.')).toBe('Third.')
    const after = requests.slice(before)
    expect(JSON.stringify(after[0]?.body)).not.toContain(ENTITIES)
    // The list of hidden tools names it too, so only the other text counts.
    const shown = isNative(api) ? after[0]?.body : historyOf(after[0], api)
    expect(JSON.stringify(shown)).toContain(GRAPH)
    expect(JSON.stringify(after[1]?.body)).toContain(ENTITIES)
    expect(await client.prompt('And again.')).toBe('Fourth.')
    const rest = requests.slice(before)
    for (const [index, request] of rest.slice(1).entries()) expectContinues(request, rest[index], api)
    sound()
  })
})

it('/model: through every provider and back, the tool stays loaded and runs', async () => {
  const [home, ...others] = apis as [Api, ...Api[]]
  const endpoints = new Map<Api, Awaited<ReturnType<typeof piHome>>['endpoint']>()
  const { client, loaded, sound, results } = await begun(
    home,
    [call(home, GRAPH), { text: 'Back.' }],
    async (pi) => {
      for (const api of others)
        endpoints.set(
          api,
          await pi.addProvider(api, api, withSummaries([call(api, GRAPH), { text: `By ${api}.` }])),
        )
    },
  )
  for (const api of others) {
    await client.command('set_model', { provider: api, modelId: wires[api].model })
    expect(await client.prompt('The graph again.')).toBe(`By ${api}.`)
    expect(await loaded()).toEqual([GRAPH])
    expect(endpoints.get(api)?.requests.map(({ violation }) => violation?.message)).toEqual([
      undefined,
      undefined,
    ])
  }
  await client.command('set_model', { provider: 'scripted', modelId: wires[home].model })
  expect(await client.prompt('Once more.')).toBe('Back.')
  expect(results()).toBe(2 + others.length)
  sound()
})
