/**
 * Ends the process groups of servers when this process is gone, however it went: the watchdog is a shell that reads a
 * pipe of ours, and the pipe closes even when we are killed. One for all servers, started with the first.
 */

import { type ChildProcess, spawn } from 'node:child_process'

/** `+ 123` adds a group and `- 123` removes one; at the end of the input, the remaining groups are ended. */
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
  /** Idempotent. Groups that are still watched are ended. */
  close(): void
}

/** Windows has no process groups: there, a server only sees its input end. */
export function createWatchdog(): Watchdog {
  let child: ChildProcess | undefined
  let closed = false
  const watched = new Set<number>()
  const start = (): ChildProcess => {
    // In its own session, so that a signal from the terminal does not end it before us.
    const started = spawn('/bin/sh', ['-c', SCRIPT], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    })
    // Without it, a server still sees its input end.
    started.on('error', () => undefined)
    started.stdin?.on('error', () => undefined)
    started.unref()
    // Neither may keep a program alive that is done.
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
