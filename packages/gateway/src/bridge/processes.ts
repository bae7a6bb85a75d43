/** Identifies processes. Process ids are reused, so a daemon is verified before it is killed. Uses only Node. */
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

/** Start time of a process and the id of the boot. Empty if the system has no such file. */
export function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program name is in brackets and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie: ended, but not yet reaped by its parent.
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended'
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)}-${fields[19]}`
  } catch {
    return ''
  }
}

/** False also for a process that ended but was not yet reaped by its parent. */
export function isRunning(pid: number): boolean {
  return isAlive(pid) && readStartTime(pid) !== 'ended'
}

/** Checks that the process that wrote the file is still alive. */
export async function isDaemon({ pid, start }: DaemonFile): Promise<boolean> {
  if (!isAlive(pid)) return false
  const now = readStartTime(pid)
  if (now !== '') return now === start
  return isProgram(await readProgram(pid))
}

/** Without a start time, compares the command line. */
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

/** Kills the daemon. False if the process is another program, which is not touched. */
export async function endDaemon(folder: string, file: DaemonFile): Promise<boolean> {
  if (!(await isDaemon(file))) return false
  // As after a normal stop, so that open clients do not restart it.
  removeDaemonFile(folder, file.instance)
  try {
    process.kill(file.pid, 'SIGKILL')
  } catch {
    // The daemon has already ended.
  }
  return true
}
