/** Transport for a server on standard input and output. The server runs in its own process group, which is ended as a whole. */
import type { ChildProcess } from 'node:child_process'
import {
  deserializeMessage,
  type JSONRPCMessage,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import spawn from 'cross-spawn'
import type { StdioEndpoint } from '../config/server-config.js'
import { createLineReader, MOST_BYTES, TOO_LONG } from './line-reader.js'
import { startFailure, tellingLines } from './process-failure.js'
import type { ServerLog } from './server-log.js'
import type { Watchdog } from './watchdog.js'

/** Characters of standard error that are kept for error messages. */
const KEPT_ERRORS = 4096
/** Characters that are kept of a line that is not a message: enough not to cut secrets in its first words. */
const MOST_REDACTED = 65_536
/** Allowed lines on standard output that are not messages. A banner is shorter. */
const MOST_GARBAGE = 1000
/** Milliseconds between closing its input, SIGTERM and SIGKILL. */
const GRACE = 1500

export interface ProcessTransportOptions {
  readonly endpoint: StdioEndpoint
  readonly watchdog: Watchdog
  /** Hides secrets in the output of the server. */
  readonly hide: (text: string) => string
  /** Receives standard error. */
  readonly log?: ServerLog | undefined
  /** Default 1,500 ms between each step of ending the server. */
  readonly grace?: number
}

export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Number of lines that were not messages. */
  garbage = 0
  #firstGarbage = ''
  readonly #options: ProcessTransportOptions
  readonly #lines = createLineReader(MOST_BYTES)
  readonly #closed: Promise<void>
  #resolveClosed: () => void = () => undefined
  #child: ChildProcess | undefined
  #waiting: string[] = []
  #delivering: Promise<void> | undefined
  #errors = ''
  #ending: Promise<void> | undefined
  #gone = false
  #exit: { code: number | null; signal: string | null } | undefined
  #broken = ''

  constructor(options: ProcessTransportOptions) {
    this.#options = options
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
  }

  /** The SDK recognises a process by `pid` and `stderr`, and probes its protocol more patiently. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  get stderr(): string {
    return this.#errors
  }

  /** Why the server ended. Undefined while it runs. */
  get epitaph(): string | undefined {
    if (this.#broken !== '') return this.#broken
    if (!this.#exit) return undefined
    const { code, signal } = this.#exit
    const how = signal === null ? `the server exited with code ${code}` : `the server was ended by ${signal}`
    return this.lastWords === '' ? how : `${how}: ${this.lastWords}`
  }

  /** The server ended by itself and printed nothing. */
  get wasSilent(): boolean {
    return this.#broken === '' && this.#exit !== undefined && this.lastWords === ''
  }

  /** Output besides messages; empty if there is none. */
  get lastWords(): string {
    // Hide secrets before lines are cut: half a secret is a leak, too.
    const { hide } = this.#options
    const errors = tellingLines(hide(this.#errors))
    const written = tellingLines(hide(this.#firstGarbage))
    const garbage =
      written === '' ? '' : `it wrote ${JSON.stringify(written)} to standard output, which is not MCP`
    return [errors, garbage].filter((each) => each !== '').join('; ')
  }

  start(): Promise<void> {
    const { endpoint, watchdog } = this.#options
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => {
        const reason = startFailure(error, endpoint)
        this.#broken ||= reason
        reject(new Error(reason))
        void this.#finish()
      }
      let child: ChildProcess
      try {
        child = spawn(endpoint.command, [...endpoint.args], {
          cwd: endpoint.cwd,
          env: { ...getDefaultEnvironment(), ...endpoint.env },
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: process.platform !== 'win32',
          windowsHide: true,
        })
      } catch (error) {
        // Some errors are thrown at once, such as a folder that is a file.
        return fail(error as NodeJS.ErrnoException)
      }
      this.#child = child
      const { pid } = child
      if (pid !== undefined) watchdog.watch(pid)
      child.once('spawn', () => resolve())
      child.once('error', fail)
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal }
        // Also end helper processes, which would keep the pipes open.
        this.#signal('SIGKILL')
        if (pid !== undefined) watchdog.forget(pid)
        // Do not wait for a helper outside of the group that keeps the pipes open.
        setTimeout(() => void this.#finish(), 250).unref()
      })
      child.once('close', () => void this.#finish())
      child.stdin?.on('error', (error) => this.onerror?.(error))
      child.stdout?.on('error', (error) => this.onerror?.(error))
      child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
      child.stderr?.on('error', () => undefined)
      child.stderr?.on('data', (chunk: Buffer) => {
        const text = chunk.toString('utf8')
        this.#errors = tailOf(this.#errors + text)
        this.#options.log?.write(text)
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#gone || !stdin?.writable)
      return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'the server is gone'))
    // A failed write becomes visible as the end of the server.
    if (stdin.write(serializeMessage(message))) return Promise.resolve()
    return new Promise((resolve) => {
      stdin.once('drain', resolve)
    })
  }

  /** Idempotent: every caller waits for the same end. */
  close(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (!child || this.#gone) return
    const { grace = GRACE } = this.#options
    child.stdin?.end()
    if (await within(this.#closed, grace)) return
    this.#signal('SIGTERM')
    if (await within(this.#closed, grace)) return
    this.#signal('SIGKILL')
    await this.#closed
  }

  #read(chunk: Buffer): void {
    try {
      this.#waiting.push(...this.#lines.push(chunk))
    } catch (error) {
      this.#fail(TOO_LONG, error)
      return
    }
    if (!this.#delivering) this.#deliver()
  }

  /**
   * Yields to the event loop after notifications, because the SDK would lose progress that arrives together with the result. Reading
   * is paused meanwhile, so that a flood waits in the server and does not block this process.
   */
  #deliver(): void {
    const lines = this.#waiting
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? ''
      if (line === '' || this.#broken !== '') continue
      const message = this.#parse(line)
      if (!message) continue
      this.onmessage?.(message)
      const method = 'method' in message ? message.method : ''
      if ('id' in message || (at % 64 !== 63 && !/progress|list_changed/.test(method))) continue
      this.#waiting = lines.slice(at + 1)
      this.#child?.stdout?.pause()
      this.#delivering = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        this.#delivering = undefined
        this.#deliver()
        if (!this.#delivering) this.#child?.stdout?.resume()
        return this.#delivering
      })
      return
    }
    this.#waiting = []
  }

  #parse(line: string): JSONRPCMessage | undefined {
    try {
      return deserializeMessage(line)
    } catch (error) {
      this.garbage++
      const refusal = refusalOf(line)
      if (refusal) return refusal
      if (this.garbage === 1) {
        this.#firstGarbage = line.slice(0, MOST_REDACTED)
        this.onerror?.(asError(error))
      }
      if (this.garbage > MOST_GARBAGE) this.#fail(`this is not an MCP server: ${this.lastWords}`, error)
      return undefined
    }
  }

  #fail(reason: string, error: unknown): void {
    if (this.#broken !== '') return
    this.#broken = reason
    this.onerror?.(asError(error))
    this.#child?.stdout?.destroy()
    this.#signal('SIGKILL')
    void this.close()
  }

  /** Signals the whole process group, which may be gone. */
  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      if (process.platform !== 'win32') process.kill(-pid, signal)
      else if (!this.#exit) spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' })
    } catch {
      // The group is gone already.
    }
  }

  async #finish(): Promise<void> {
    if (this.#gone) return
    this.#gone = true
    // Deliver messages that were sent before the end.
    await this.#delivering
    const child = this.#child
    if (child?.pid !== undefined) this.#options.watchdog.forget(child.pid)
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy()
    this.#lines.clear()
    this.#options.log?.end()
    this.#resolveClosed()
    this.onclose?.()
  }
}

/** An error answer for the request to which this invalid message belongs. */
function refusalOf(line: string): JSONRPCMessage | undefined {
  try {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: unknown }
    if (method !== undefined || (typeof id !== 'number' && typeof id !== 'string')) return undefined
    const message = 'its answer is not a valid result'
    return { jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InternalError, message } }
  } catch {
    return undefined
  }
}

/** The end of a text, from the start of a line or a word, because a cut secret would not be recognised. */
function tailOf(text: string): string {
  if (text.length <= KEPT_ERRORS) return text
  const tail = text.slice(-KEPT_ERRORS)
  const line = tail.indexOf('\n')
  return line < 0 || line === tail.length - 1 ? tail.replace(/^\S*\s?/, '') : tail.slice(line + 1)
}

async function within(work: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const done = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return done
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
