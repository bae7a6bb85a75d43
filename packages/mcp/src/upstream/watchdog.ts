/**
 * Ends the process groups of servers when this process is gone, however it went: the watchdog is a shell that reads a
 * pipe of ours, and the pipe closes even when we are killed. One for all servers, started with the first.
 */
import { type ChildProcess, spawn } from 'node:child_process'

/** Groups come in as `+ 123` and go as `- 123`; at the end of the input, those that are left are ended. */
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

/** Windows has no process groups: there, a server is told by the end of its input alone. */
export function createWatchdog(): Watchdog {
  let child: ChildProcess | undefined
  let closed = false
  const watched = new Set<number>()
  const start = (): ChildProcess => {
    // A session of its own, so that what ends us from a terminal does not end it first.
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
