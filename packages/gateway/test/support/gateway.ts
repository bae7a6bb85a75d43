/** Starts a gateway with a config, records its events, and closes it after the test. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, type Gateway, type GatewayEvent, type GatewayOptions } from '@toolwell/gateway'
import { memoryCache, memoryFirstUse, type ServerConfig } from '@toolwell/mcp'
import { memoryReadOnly } from '@toolwell/mcp/internal'
import { onTestFinished, vi } from 'vitest'

export const TOKEN = 'tw_a-token-for-tests-and-nothing-else'

/** A folder that is removed after the test. */
export function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-gateway-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A server as an entry of a config file. */
export function entry({ endpoint }: ServerConfig, more: object = {}): object {
  const { type: _, ...reached } = endpoint
  if (endpoint.type !== 'stdio') return { ...reached, ...more }
  const { cwd: __, ...started } = reached as typeof endpoint
  return { ...started, ...more }
}

export interface Started {
  readonly gateway: Gateway
  /** Without a path. */
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly config: string
  readonly events: GatewayEvent[]
  write(config: object | string): void
  /** Reads the config, and waits until a server is listed. */
  listed(): Promise<void>
  /** The events of one kind. */
  of<Kind extends GatewayEvent['kind']>(kind: Kind): Extract<GatewayEvent, { kind: Kind }>[]
}

export async function startGateway(config: object, options: Partial<GatewayOptions> = {}): Promise<Started> {
  const folder = temporary()
  const file = join(folder, 'toolwell.json')
  const write = (content: object | string) =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  write(config)
  const events: GatewayEvent[] = []
  const gateway = createGateway({
    version: '0.0.0',
    token: () => TOKEN,
    files: () => [{ path: file }],
    env: process.env,
    readOnly: memoryReadOnly(),
    ...options,
    connect: {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
      connectTimeout: 120_000,
      ...options.connect,
    },
    onEvent: (event) => {
      events.push(event)
      options.onEvent?.(event)
    },
  })
  onTestFinished(() => gateway.close())
  const port = await gateway.listen(0)
  const listed = async () => {
    gateway.prepare()
    await vi.waitUntil(
      () => events.some((event) => event.kind === 'server' && event.event.kind === 'server-listed'),
      { timeout: 120_000 },
    )
  }
  return {
    gateway,
    listed,
    url: `http://127.0.0.1:${port}`,
    port,
    folder,
    config: file,
    events,
    write,
    of: (kind) => events.filter((event) => event.kind === kind) as never,
  }
}

export const authorized = { Authorization: `Bearer ${TOKEN}` }
