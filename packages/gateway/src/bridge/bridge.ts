/**
 * The bridge of a stdio client: passes lines to the daemon and back, and starts the daemon if none runs. If the daemon dies, the
 * bridge answers running calls as interrupted and never repeats them; other requests are sent again a few times. If the daemon
 * was stopped on purpose, old requests do not start it again.
 */
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { RULES_HEADER } from './client-rules.js'
import { readDaemonFile } from './folder.js'
import { createLineSplitter, describeTakenId, isId, type Message, readMessage } from './messages.js'
import {
  CLIENT_HEADER,
  LARGEST_REQUEST,
  LONGEST_LINE_MEGABYTES,
  PID_HEADER,
  PRINCIPAL_HEADER,
  STDIO_PRINCIPAL,
  UPGRADE,
  WORKSPACE_HEADER,
} from './protocol.js'

import { findOrStartDaemon, type StartOptions } from './start-daemon.js'

export interface BridgeOptions extends StartOptions {
  /** The endpoint: `/mcp`, `/mcp/all`, `/mcp/PROFILE`. */
  readonly path: string
  /** Folder of the client. */
  readonly workspace: string
  /** Permission rules of the client, from `writeRules`. */
  readonly rules?: string | undefined
  /** Name of a token whose rights limit this client. */
  readonly token?: string | undefined
  /** The client of the entry, for the audit log. Default: the owner. */
  readonly client?: string | undefined
  /** Answers every request with this reason, without contacting a daemon. */
  readonly refusal?: string | undefined
  readonly input: Readable
  readonly output: Writable
  readonly onProblem: (message: string) => void
}

interface Pending {
  readonly message: Message
  readonly line: string
  /** May have reached the daemon. */
  sent: boolean
  times: number
}

/** A request that this many daemons died on may be the cause. */
const MOST_TIMES = 3

/** Its answer comes only when the subscription ends. */
const LISTEN = 'subscriptions/listen'
const MODERN = 'io.modelcontextprotocol/protocolVersion'

/** Milliseconds to wait for open answers after the client closed its input. */
const LAST_ANSWERS = 10_000

/** Resolves when the client is gone. If only its input ended, open requests are answered first. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { input, output, onProblem } = options
  let socket: Socket | undefined
  let attaching: Promise<void> | undefined
  let isOver = false
  /** Requests without an answer. */
  const pending = new Map<string | number, Pending>()
  /** Set after the end of input: checks whether answers are still missing. */
  let onWritten: (() => void) | undefined
  /** The client's `initialize`, repeated for a new daemon. */
  let initialize: Message | undefined
  let initialized: string | undefined
  const client = globalThis.crypto.randomUUID()
  /** Id of requests that the bridge itself sends. */
  const ownId = `toolwell-bridge-${client}`

  const write = (line: string) => {
    output.write(`${line}\n`)
    onWritten?.()
  }
  const say = (message: object) => write(JSON.stringify(message))

  const answerFor = (id: string | number, { message, sent }: Pending, why: string, isRefused = false) => {
    pending.delete(id)
    const isCall = message.method === 'tools/call'
    const text = !sent
      ? `The gateway ${isRefused ? 'refuses this client' : 'could not be reached'}, and the ${isCall ? 'call' : 'request'} was not made: ${why}`
      : isCall
        ? `The gateway stopped while this call was under way (${why}). Nobody knows whether the tool did its work: check before you call it again.`
        : `The gateway stopped before it answered this request (${why}). Send it again.`
    if (!isCall) {
      say({ jsonrpc: '2.0', id, error: { code: -32603, message: text } })
      return
    }
    const modern = message.params?._meta?.[MODERN] === undefined ? {} : { resultType: 'complete' }
    say({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }], isError: true, ...modern } })
  }

  const onDaemonLine = (line: string) => {
    const message = parse(line)
    if (message?.method === undefined && message?.id !== undefined && message.id !== null) {
      if (message.id === ownId) return
      pending.delete(message.id)
    }
    write(line)
  }

  const onLost = (lost: Socket) => {
    if (socket !== lost) return
    socket = undefined
    if (isOver) return
    // A stopped daemon removes its file, a killed one does not.
    const wasStopped = readDaemonFile(options.folder) === undefined
    for (const [id, each] of [...pending]) {
      if (each.message.method === 'tools/call') answerFor(id, each, 'the connection was lost')
      else if (wasStopped) answerFor(id, each, 'it was stopped')
      else if (each.times >= MOST_TIMES) answerFor(id, each, `the connection was lost ${each.times} times`)
      else each.sent = false
    }
    // The client still waits for these, and they are safe to repeat.
    if (pending.size > 0) void attach()
  }

  const send = (line: string) => socket?.write(`${line}\n`)

  /** Connects, repeats `initialize` and sends waiting requests. */
  const attach = (): Promise<void> => {
    attaching ??= open(options, client)
      .then((opened) => {
        if (isOver) {
          opened.destroy()
          return
        }
        socket = opened
        const split = createLineSplitter(onDaemonLine)
        opened.on('data', (chunk: Buffer) => {
          if (!split(chunk)) opened.destroy()
        })
        opened.on('error', () => undefined)
        opened.on('close', () => onLost(opened))
        const isWaiting = [...pending.values()].some(({ message }) => message.method === 'initialize')
        if (initialize && !isWaiting) {
          send(JSON.stringify({ ...initialize, id: ownId }))
          if (initialized !== undefined) {
            send(initialized)
            // The new daemon may have another config.
            say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
          }
        }
        for (const each of pending.values())
          if (!each.sent) {
            each.sent = true
            each.times++
            send(each.line)
          }
      })
      .catch((error: Error) => {
        onProblem(error.message)
        for (const [id, each] of [...pending]) answerFor(id, each, error.message, error instanceof Refused)
      })
      .finally(() => {
        attaching = undefined
      })
    return attaching
  }

  const onClientLine = (line: string) => {
    const read = readMessage(line)
    if ('refusal' in read) {
      say(read.refusal)
      return
    }
    const { message } = read
    const { id, method, params } = message
    const isRequest = method !== undefined && isId(id)
    if (isRequest && Buffer.byteLength(line) > LARGEST_REQUEST) {
      const text = `The request must not be larger than ${LARGEST_REQUEST} bytes.`
      say({ jsonrpc: '2.0', id, error: { code: -32600, message: text } })
      return
    }
    if (isRequest && pending.has(id)) {
      // Without an id, because it does not answer the open request.
      say({ jsonrpc: '2.0', id: null, error: { code: -32000, message: describeTakenId(id) } })
      return
    }
    if (isRequest) {
      if (method === 'initialize') initialize = message
      pending.set(id, { message, line, sent: socket !== undefined, times: socket ? 1 : 0 })
    } else if (method === 'notifications/initialized') initialized = line
    // A cancelled request is no longer awaited and, if still waiting, never sent.
    else if (method === 'notifications/cancelled' && isId(params?.requestId)) pending.delete(params.requestId)
    if (socket) send(line)
    else if (isRequest) void attach()
    // Notifications and answers meant for a lost daemon are dropped.
  }

  return new Promise<void>((resolve) => {
    let patience: NodeJS.Timeout | undefined
    const finish = () => {
      isOver = true
      clearTimeout(patience)
      socket?.destroy()
      resolve()
    }
    const split = createLineSplitter(onClientLine)
    input.on('data', (chunk: Buffer) => {
      if (split(chunk)) return
      onProblem(`The client sent a message of more than ${LONGEST_LINE_MEGABYTES} MB.`)
      finish()
    })
    input.on('end', () => {
      patience = setTimeout(finish, LAST_ANSWERS)
      onWritten = () => {
        const isAwaited = [...pending.values()].some(({ message }) => message.method !== LISTEN)
        // Flush before the process exits.
        if (!isAwaited) output.write('', finish)
      }
      onWritten()
    })
    input.on('error', finish)
    output.on('error', finish)
    // Start the daemon while the client prepares its first message.
    void attach()
  })
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Message) : undefined
  } catch {
    return undefined
  }
}

/** The daemon refused this client. */
class Refused extends Error {}

async function open(options: BridgeOptions, client: string): Promise<Socket> {
  if (options.refusal !== undefined) throw new Refused(options.refusal)
  const { file } = await findOrStartDaemon(options)
  return new Promise((resolve, reject) => {
    const asked = request({
      host: '127.0.0.1',
      port: file.port,
      path: options.path,
      agent: false,
      headers: {
        Connection: 'Upgrade',
        Upgrade: UPGRADE,
        Authorization: `Bearer ${file.key}`,
        [WORKSPACE_HEADER]: encodeURI(options.workspace),
        [CLIENT_HEADER]: client,
        [PID_HEADER]: String(process.pid),
        ...(options.rules === undefined ? {} : { [RULES_HEADER]: options.rules }),
        ...namePrincipal(options),
      },
    })
    asked.on('upgrade', (_, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      socket.setNoDelay(true)
      resolve(socket)
    })
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('close', () => reject(new Refused(readErrorMessage(text, response.statusCode ?? 0))))
    })
    asked.on('error', reject)
    asked.end()
  })
}

function readErrorMessage(text: string, status: number): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } }
    if (error?.message) return error.message
  } catch {}
  return `the gateway answered with status ${status}`
}

function namePrincipal({ token, client }: BridgeOptions): Record<string, string> {
  const name = token ?? (client === undefined ? undefined : STDIO_PRINCIPAL + client)
  return name === undefined ? {} : { [PRINCIPAL_HEADER]: name }
}
