/** Real clients of both SDKs, over HTTP and stdio, in both protocol generations, with the same four methods. */
import { fileURLToPath } from 'node:url'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { authorized } from './gateway.js'

export type ClientKind = 'v1' | 'v2 legacy' | 'v2 modern'
export const CLIENT_KINDS: readonly ClientKind[] = ['v1', 'v2 legacy', 'v2 modern']

export interface Listed {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: object
  readonly outputSchema?: object | undefined
  readonly annotations?: object | undefined
  readonly _meta?: Record<string, unknown> | undefined
}

export interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly structuredContent?: unknown
  readonly _meta?: Record<string, unknown>
}

export interface TestClient {
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly pid: number | undefined
  /** The tools without `read_result`, which every list has. */
  list(): Promise<Listed[]>
  /** The whole list. */
  listAll(): Promise<Listed[]>
  call(
    name: string,
    input?: object,
    options?: { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void },
  ): Promise<Answer>
  /** Text of an answer. */
  text(name: string, input?: object): Promise<string>
  onListChanged(listener: () => void): Promise<void>
  close(): Promise<void>
  /** Ends its session, if it has one, and closes. */
  leave(): Promise<void>
}

export interface StdioWay {
  readonly words: readonly string[]
  readonly env: Record<string, string>
  readonly cwd: string
}

export const SCRIPT = fileURLToPath(new URL('../../../cli/bin/toolwell.mjs', import.meta.url))

export async function openClient(
  kind: ClientKind,
  way: string | StdioWay,
  headers: Record<string, string> = authorized,
  /** The name in `clientInfo`. */
  name?: string,
): Promise<TestClient> {
  const client =
    kind === 'v1'
      ? await openOld(way, headers, name)
      : await openNew(kind === 'v2 modern', way, headers, name)
  onTestFinished(() => client.close())
  return client
}

/** Names of the tools that the gateway itself offers, in listed order. */
export async function ownNames(client: TestClient) {
  const [search = '', read = '', run = ''] = (await client.list()).map(({ name }) => name)
  return { search, read, run }
}

/** The list after the servers are known. The first list does not wait for them, a search does. */
export async function listSettled(client: TestClient): Promise<Listed[]> {
  await client.text((await ownNames(client)).search, { query: 'anything' })
  return client.list()
}

async function leave(client: { close(): Promise<void> }, transport: object): Promise<void> {
  if ('terminateSession' in transport) await (transport as Http1).terminateSession()
  await client.close()
}

const isNotReader = ({ name }: Listed) => name !== 'read_result'

const textOf = ({ content }: Answer) => content.map(({ text = '' }) => text).join('\n')

async function openOld(
  way: string | StdioWay,
  headers: Record<string, string>,
  name = 'old-client',
): Promise<TestClient> {
  const client = new Client1({ name, version: '1.2.3' })
  const transport =
    typeof way === 'string'
      ? new Http1(new URL(way), { requestInit: { headers } })
      : new Stdio1({
          command: process.execPath,
          args: [SCRIPT, 'serve', '--stdio', ...way.words],
          env: way.env,
          cwd: way.cwd,
        })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  const call: TestClient['call'] = async (name, input = {}, options = {}) =>
    (await client.callTool(
      { name, arguments: input as Record<string, unknown> },
      CallToolResultSchema,
      options,
    )) as Answer
  const listAll = async () => {
    const tools: Listed[] = []
    let cursor: string | undefined
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor })
      tools.push(...(page.tools as Listed[]))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }
  return {
    version: (transport as { protocolVersion?: string }).protocolVersion,
    instructions: client.getInstructions(),
    pid: transport instanceof Stdio1 ? (transport.pid ?? undefined) : undefined,
    list: async () => (await listAll()).filter(isNotReader),
    listAll,
    call,
    text: async (name, input) => textOf(await call(name, input)),
    async onListChanged(listener) {
      const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js')
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => listener())
    },
    close: () => client.close(),
    leave: () => leave(client, transport),
  }
}

async function openNew(
  isModern: boolean,
  way: string | StdioWay,
  headers: Record<string, string>,
  name = 'new-client',
): Promise<TestClient> {
  const client = new Client2(
    { name, version: '4.5.6' },
    isModern ? { versionNegotiation: { mode: 'auto' } } : {},
  )
  const transport =
    typeof way === 'string'
      ? new Http2(new URL(way), { requestInit: { headers } })
      : new Stdio2({
          command: process.execPath,
          args: [SCRIPT, 'serve', '--stdio', ...way.words],
          env: way.env,
          cwd: way.cwd,
        })
  await client.connect(transport)
  const call: TestClient['call'] = async (name, input = {}, options = {}) =>
    (await client.callTool({ name, arguments: input as Record<string, unknown> }, options)) as Answer
  const listAll = async () => (await client.listTools()).tools as Listed[]
  return {
    version: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    pid: transport instanceof Stdio2 ? (transport.pid ?? undefined) : undefined,
    list: async () => (await listAll()).filter(isNotReader),
    listAll,
    call,
    text: async (name, input) => textOf(await call(name, input)),
    async onListChanged(listener) {
      client.setNotificationHandler('notifications/tools/list_changed', () => listener())
      if (isModern) await client.listen({ toolsListChanged: true })
    },
    close: () => client.close(),
    leave: () => leave(client, transport),
  }
}
