/**
 * Ends the process groups of servers when this process ends, even if it is killed: the watchdog is a shell that reads from a pipe,
 * and the pipe closes with this process. One for all servers, started with the first.
 */

import { type ChildProcess, spawn } from 'node:child_process'

/** `+ 123` adds a group, `- 123` removes one. At the end of the input, the remaining groups are ended. */
const SCRIPT = `trap '' HUP INT TERM
groups=' '
while read -r sign group; do
  rest=' '
  for each in $groups; do [ "$each" = "$group" ] || rest="$rest$each "; done
  [ "$sign" = + ] && rest="$rest$group "
  groups=$rest
done
[ "$groups" = ' ' ] && exit 0
for each in $groups; do kill -s TERM -- "-$each" 2>/dev/null; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done
`

export interface Watchdog {
  watch(group: number): void
  forget(group: number): void
  /** Ends the groups that are still watched. Idempotent. */
  close(): void
}

/** Windows has no process groups: there, servers only notice the end of their input. */
export function createWatchdog(): Watchdog {
  let child: ChildProcess | undefined
  let closed = false
  const watched = new Set<number>()
  const start = (): ChildProcess => {
    // In its own session, so that a signal of the terminal does not end it before this process.
    const started = spawn('/bin/sh', ['-c', SCRIPT], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    })
    // Without the watchdog, a server still notices the end of its input.
    started.on('error', () => undefined)
    started.stdin?.on('error', () => undefined)
    started.unref()
    // Neither may keep this process alive.
    ;(started.stdin as { unref?: () => void } | null)?.unref?.()
    return started
  }
  const write = (line: string) => {
    if (closed || process.platform === 'win32') return
    child ??= start()
    child.stdin?.write(line)
  }
  return {
    watch(group) {
      watched.add(group)
      write(`+ ${group}\n`)
    },
    forget(group) {
      if (watched.delete(group)) write(`- ${group}\n`)
    },
    close() {
      if (closed) return
      closed = true
      child?.stdin?.end()
    },
  }
}
