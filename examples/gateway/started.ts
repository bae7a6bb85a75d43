/** Tracks gateways and clients of the proof, to stop all of them in any case. */
import type { ChildProcess } from 'node:child_process'
import { askDaemon, findDaemon, isAlive } from '@toolwell/gateway/bridge'
import { PATIENCE } from './on-interrupt.ts'
import { hasEnded, type Place } from './place.ts'

export interface Started {
  /** A gateway process. */
  child(child: ChildProcess): void
  /** A client that may start a gateway. */
  client(client: { close(): Promise<void> }): void
  /** Resolves when all of them are gone. Kills those that take long. */
  end(): Promise<void>
  kill(): void
}

export function createStarted({ state }: Place): Started {
  const children: ChildProcess[] = []
  const clients: { close(): Promise<void> }[] = []
  const pids = new Set<number>()
  const isLeft = () => children.some((child) => !hasEnded(child)) || [...pids].some(isAlive)
  const kill = () => {
    for (const child of children) child.kill('SIGKILL')
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
  return {
    child: (child) => void children.push(child),
    client: (client) => void clients.push(client),
    async end() {
      const until = performance.now() + PATIENCE
      const isTime = () => performance.now() < until
      void Promise.allSettled(clients.map((client) => client.close()))
      for (const child of children) child.kill('SIGTERM')
      // A gateway that a client is starting right now appears a little later.
      do {
        const found = await findDaemon(state, 500)
        if (found.kind !== 'none') pids.add(found.file.pid)
        if (found.kind === 'running') await askDaemon(found, 'POST', '/stop').catch(() => undefined)
        await pause(50)
      } while (isTime() && (isLeft() || (clients.length > 0 && pids.size === 0)))
      kill()
      while (isLeft()) await pause(20)
    },
    kill,
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
