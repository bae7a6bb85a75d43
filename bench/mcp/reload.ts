/** Changes the config during calls: counts lost calls and restarted processes. */
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import { connectServers, defineServer, memoryCache, memoryFirstUse } from '@toolwell/mcp'

const odd = fileURLToPath(new URL('../../packages/mcp/test/support/odd-server.mjs', import.meta.url))
const UNTOUCHED = ['steady0', 'steady1', 'steady2']
const NAMES = [...UNTOUCHED, 'changed', 'removed']
const UNDER_WAY = 50

export interface Reload {
  /** Calls running when the config changed. */
  readonly underWay: number
  readonly lost: number
  /** Calls that servers ran more than once, by their own count. */
  readonly doubled: number
  /** Untouched servers with a new process afterwards. */
  readonly restarted: number
  /** Milliseconds until the new config is in use. */
  readonly milliseconds: number
}

export async function benchReload(): Promise<Reload> {
  const server = (name: string, timeout: number) =>
    defineServer(
      name,
      { command: process.execPath, args: [odd, '{"delay":300,"more":true}', 'bench'] },
      { timeout },
    )
  const config = NAMES.map((name) => server(name, 60_000))
  const servers = connectServers(createToolwell().catalogue, config, {
    cache: memoryCache(),
    firstUse: memoryFirstUse(),
    logs: false,
  })
  const textOf = async (name: string, tool: string) => {
    const { content } = await servers.call(name, tool, {})
    return content[0]?.type === 'text' ? content[0].text : ''
  }
  try {
    await servers.settled(60_000)
    const pids = () => Promise.all(UNTOUCHED.map((name) => textOf(name, 'pid')))
    await Promise.all(NAMES.map((name) => textOf(name, 'pid')))
    const before = await pids()
    const calls = Array.from({ length: UNDER_WAY }, (_, index) => NAMES[index % NAMES.length] ?? '').map(
      async (name) => ({ name, count: Number(await textOf(name, 'count')) }),
    )
    // Time for the messages to be written.
    await new Promise((resolve) => setTimeout(resolve, 50))
    const started = performance.now()
    servers.update([...UNTOUCHED.map((name) => server(name, 60_000)), server('changed', 50_000)])
    const milliseconds = performance.now() - started
    const answers = await Promise.allSettled(calls)
    const answered = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    // Each server counts its calls: after n answers, the last count is n.
    const doubled = NAMES.reduce((sum, name) => {
      const own = answered.filter((each) => each.name === name).map(({ count }) => count)
      return sum + Math.max(0, ...own) - own.length
    }, 0)
    const after = await pids()
    const restarted = after.filter((pid, index) => pid !== before[index]).length
    return { underWay: UNDER_WAY, lost: UNDER_WAY - answered.length, doubled, restarted, milliseconds }
  } finally {
    await servers.close()
  }
}
