/** The agents measured here: how to start each one, and how its model searches and calls. */
import { join } from 'node:path'
import { type Api, openHome, PI_VERSION, TOOLWELL } from '../../packages/pi/test/support/pi-process.ts'
import { installed } from '../../test/setup/framework-folder.ts'
import { REFERENCE } from './reference.ts'

export type Servers = Readonly<Record<string, readonly string[]>>
type Reply = { readonly text: string } | { readonly calls: readonly { name: string; arguments: object }[] }

/** A task of one turn: the query, and the tool that is called then. */
export interface Task {
  readonly query: string
  readonly server: string
  readonly tool: string
  readonly input: object
}

export interface Agent {
  readonly name: string
  /** Replies of a model that does the task in this agent. */
  replies(task: Task, api: Api): readonly Reply[]
  /** Plays the turns and returns the bodies of all requests. */
  play(servers: Servers, turns: readonly (readonly Reply[])[], api: Api): Promise<readonly object[]>
}

/** The last version that works with this pi on Node 20. Later ones need the pi of Node 22. */
const ADAPTER = 'pi-mcp-adapter@2.11.0'
const call = (name: string, input: object): Reply => ({ calls: [{ name, arguments: input }] })

const pi = (name: string, loaded: () => readonly string[], replies: Agent['replies']): Agent => ({
  name,
  replies,
  async play(servers, turns, api) {
    const home = await openHome(api, turns.flat(), { servers, loaded: loaded() })
    try {
      const client = home.rpc()
      for (const [index] of turns.entries()) await client.prompt(`This is turn ${index + 1}.`)
      const refused = home.endpoint.requests.find(({ violation }) => violation)
      if (refused) throw new Error(`${name}: ${refused.violation?.message}`)
      return home.endpoint.requests.map(({ body }) => body)
    } finally {
      await home.close()
    }
  },
})

export const BARE = pi(
  `pi ${PI_VERSION}, no servers`,
  () => [],
  () => [],
)

export const WITH_TOOLWELL = pi(
  `pi ${PI_VERSION} with @toolwell/pi`,
  () => [TOOLWELL],
  ({ query, server, tool, input }, api) => {
    const name = `${server}__${tool}`
    const isNative = api === 'anthropic-messages'
    return [
      call('tool_search', { query }),
      isNative ? call(name, input) : call('tool_call', { name, arguments: input }),
    ]
  },
)

export const WITH_ADAPTER = pi(
  `pi ${PI_VERSION} with ${ADAPTER}`,
  () => [join(installed([ADAPTER]), 'node_modules/pi-mcp-adapter/index.ts')],
  ({ query, server, tool, input }) => [
    call('mcp', { search: query }),
    call('mcp', { tool: `${server}_${tool}`, args: JSON.stringify(input) }),
  ],
)

/** In the order of the table. Add an entry for another host. */
export const AGENTS: readonly Agent[] = [BARE, WITH_TOOLWELL, WITH_ADAPTER, REFERENCE]
