/** A catalogue with servers and all their events, closed after the test. */
import { createToolwell, type Toolwell, type ToolwellEvent } from '@toolwell/core'
import {
  type CallOptions,
  type ConnectOptions,
  connectServers,
  memoryCache,
  memoryFirstUse,
  type ServerConfig,
  type ServerEvent,
  type ServerReport,
  type Servers,
} from '@toolwell/mcp'
import { onTestFinished } from 'vitest'

export interface Setup {
  readonly well: Toolwell
  readonly servers: Servers
  readonly events: ServerEvent[]
  readonly notices: ToolwellEvent[]
  /** The text of a result. */
  text(server: string, tool: string, input?: object, options?: CallOptions): Promise<string>
  report(server: string): ServerReport
  /** The states a server went through. */
  states(server: string): string[]
}

/** Waits for the first lists by default. Definitions are kept in memory. */
export async function setup(
  config: readonly ServerConfig[],
  { wait = true, ...options }: ConnectOptions & { wait?: boolean } = {},
): Promise<Setup> {
  const events: ServerEvent[] = []
  const notices: ToolwellEvent[] = []
  const well = createToolwell({ mode: 'on', delivery: 'bridge', onEvent: (event) => notices.push(event) })
  const servers = connectServers(well.catalogue, config, {
    cache: memoryCache(),
    firstUse: memoryFirstUse(),
    logs: false,
    connectTimeout: 120_000,
    ...options,
    onEvent: (event) => events.push(event),
  })
  onTestFinished(() => servers.close())
  if (wait) await servers.settled(240_000)
  return {
    well,
    servers,
    events,
    notices,
    async text(server, tool, input = {}, callOptions = {}) {
      const { content } = await servers.call(server, tool, input as Record<string, unknown>, callOptions)
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    },
    report(server) {
      const found = servers.inspect().find(({ name }) => name === server)
      if (!found) throw new Error(`no server ${server}`)
      return found
    },
    states: (server) =>
      events.flatMap((event) =>
        event.kind === 'server-state' && event.server === server ? [event.state] : [],
      ),
  }
}
