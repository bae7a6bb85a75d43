/** Starts measured programs and reads the processor time of them and their children. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** First output. */
  readonly said: string
  stop(): Promise<void>
}

export async function startProgram(
  words: readonly string[],
  env: Record<string, string> = {},
  isReady: (line: string) => boolean = () => true,
): Promise<Program> {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = await new Promise<string>((resolve, reject) => {
    let all = ''
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        all += `${line}\n`
        if (isReady(line)) resolve(line)
      })
    child.once('exit', () => reject(new Error(`${words.join(' ')} ended: ${all}`)))
  })
  return { child, pid: child.pid ?? 0, said, stop: () => end(child) }
}

/** A program whose output is not read, because reading would be extra work. */
export function startSilent(words: readonly string[]): Pick<Program, 'pid' | 'stop'> {
  const child = spawn(process.execPath, words, { stdio: 'ignore' })
  return { pid: child.pid ?? 0, stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(timer)
}

/** Processor seconds of a process and all its children. Linux only. */
export function cpuOf(pid: number): number {
  const stats = new Map<number, { parent: number; ticks: number }>()
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      stats.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) })
    } catch {
      // The process has ended.
    }
  const below = (id: number): number =>
    (stats.get(id)?.ticks ?? 0) +
    [...stats].reduce((sum, [child, { parent }]) => (parent === id ? sum + below(child) : sum), 0)
  return below(pid) / 100
}

export function megabytesOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

export async function httpClient(
  url: string,
  isModern: boolean,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client(
    { name: 'bench', version: '1' },
    isModern ? { versionNegotiation: { mode: 'auto' } } : {},
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

/** The value below which `share` of the values are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
