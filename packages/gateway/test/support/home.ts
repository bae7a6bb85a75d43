/** A user whose first stdio client starts the gateway, as with the command. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askDaemon, findDaemon } from '@toolwell/gateway/bridge'
import { onTestFinished } from 'vitest'
import { eventually, isAlive } from '../../../mcp/test/support/processes.js'
import type { StdioWay } from './clients.js'
import { temporary } from './gateway.js'

/** Processes of the user with this home. */
function processesOf(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isOf = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`HOME=${folder}`)
      return isOf ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** A user with a separate home, whose gateway ends with the test. */
export function home(config: object) {
  const folder = temporary()
  const at = (name: string) => join(folder, name)
  mkdirSync(join(at('config'), 'toolwell'), { recursive: true })
  mkdirSync(at('project'))
  writeFileSync(join(at('config'), 'toolwell', 'toolwell.json'), JSON.stringify(config))
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: at('config'),
    XDG_CACHE_HOME: at('cache'),
    XDG_STATE_HOME: at('state'),
    XDG_DATA_HOME: at('data'),
  }
  const state = join(at('state'), 'toolwell', 'gateway')
  const daemon = async () => {
    const found = await findDaemon(state)
    if (found.kind !== 'running') throw new Error(`the gateway is ${found.kind}`)
    return found
  }
  onTestFinished(async () => {
    const found = await findDaemon(state)
    if (found.kind === 'running') {
      await askDaemon(found, 'POST', '/stop')
      await eventually(() => !isAlive(found.file.pid), 'the gateway has stopped')
    }
    // A starting process would create the folder again.
    for (const pid of processesOf(folder)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  const way = (...words: string[]): StdioWay => ({ words, env, cwd: at('project') })
  return { folder, state, env, daemon, way, project: realpathSync(at('project')), at }
}
