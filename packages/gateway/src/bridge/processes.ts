/** Processes by their ids. An id goes to another process in time, so a daemon is told from others before it is signalled. Thin: Node alone. */
import { readFileSync } from 'node:fs'
import { removeDaemonFile } from './folder.js'
import type { DaemonFile } from './protocol.js'

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, with the boot it belongs to; empty where the system does not say so in a file. */
export function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // It has ended, and its parent has not noticed yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended'
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)}-${fields[19]}`
  } catch {
    return ''
  }
}

/** The process that the file names is alive, and is the one that wrote it. */
export async function isDaemon({ pid, start }: DaemonFile): Promise<boolean> {
  if (!isAlive(pid)) return false
  const now = readStartTime(pid)
  if (now !== '') return now === start
  return isProgram(await readProgram(pid))
}

/** Without a start to compare: the program at least has to be ours. */
function isProgram(line: string): boolean {
  return process.platform === 'win32' ? /node/i.test(line) : /toolwell.*\bserve\b/.test(line)
}

async function readProgram(pid: number): Promise<string> {
  const { execFileSync } = await import('node:child_process')
  const [program, words] =
    process.platform === 'win32'
      ? ['tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']]
      : ['ps', ['-o', 'command=', '-p', String(pid)]]
  try {
    return execFileSync(program as string, words as string[], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    })
  } catch {
    return ''
  }
}

/** Ends the daemon at once, without a word. False where the process is not the daemon: it is left alone. */
export async function endDaemon(folder: string, file: DaemonFile): Promise<boolean> {
  if (!(await isDaemon(file))) return false
  // As one that is asked does: a client that is still open then knows that it was stopped.
  removeDaemonFile(folder, file.instance)
  try {
    process.kill(file.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
  return true
}
