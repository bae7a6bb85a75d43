/**
 * Real tool definitions: installs the servers from npm into a cache, starts each one, and reads its answer to `tools/list`. The
 * servers are not called afterwards.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { JsonSchema, Tool } from '@toolwell/core'
import { installed } from '../../test/setup/framework-folder.ts'

interface Server {
  readonly package: string
  readonly args?: readonly string[]
  /** Most servers refuse to start without a key. No request is sent with it. */
  readonly env?: Readonly<Record<string, string>>
}

/** Together fewer than 128 tools, the most that Chat Completions and Responses accept, so that every tool can be sent. */
export const SERVERS: Readonly<Record<string, Server>> = {
  files: { package: '@modelcontextprotocol/server-filesystem@2026.8.31', args: ['.'] },
  memory: { package: '@modelcontextprotocol/server-memory@2026.8.31' },
  thinking: { package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31' },
  browser: { package: '@playwright/mcp@0.0.83' },
  github: { package: '@modelcontextprotocol/server-github@2025.4.8' },
  gitlab: {
    package: '@modelcontextprotocol/server-gitlab@2025.4.25',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: 'none' },
  },
  slack: {
    package: '@modelcontextprotocol/server-slack@2025.4.25',
    env: { SLACK_BOT_TOKEN: 'none', SLACK_TEAM_ID: 'none' },
  },
  maps: { package: '@modelcontextprotocol/server-google-maps@0.6.2', env: { GOOGLE_MAPS_API_KEY: 'none' } },
  web: { package: '@modelcontextprotocol/server-brave-search@0.6.2', env: { BRAVE_API_KEY: 'none' } },
  airtable: { package: 'airtable-mcp-server@1.14.0', env: { AIRTABLE_API_KEY: 'none' } },
  docs: { package: '@upstash/context7-mcp@4.1.1' },
  research: { package: 'tavily-mcp@0.2.22', env: { TAVILY_API_KEY: 'none' } },
}

interface Definition {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly annotations?: Tool['annotations']
}

/** Definitions by server. */
export type Catalogue = Readonly<Record<string, readonly Definition[]>>

async function list(name: string, { package: spec, args = [], env = {} }: Server): Promise<Definition[]> {
  const all = Object.values(SERVERS).map((server) => server.package)
  const folder = join(installed(all), 'node_modules', spec.slice(0, spec.lastIndexOf('@')))
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>
  }
  const script = typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? '')
  const cwd = mkdtempSync(join(tmpdir(), 'toolwell-live-'))
  const client = new Client({ name: 'toolwell-bench', version: '1.0.0' })
  try {
    const command = { command: process.execPath, args: [join(folder, script), ...args] }
    const own = { PATH: process.env.PATH ?? '', HOME: cwd, ...env }
    await client.connect(new StdioClientTransport({ ...command, cwd, env: own, stderr: 'ignore' }))
    const { tools } = await client.listTools()
    return tools as Definition[]
  } catch (error) {
    throw new Error(`The server ${name} (${spec}) could not be listed: ${(error as Error).message}`)
  } finally {
    await client.close()
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** Reads the definitions from the cache, or from the servers the first time. */
export async function loadCatalogue(): Promise<Catalogue> {
  const folder = join(tmpdir(), 'toolwell-live')
  const catalogue: Record<string, readonly Definition[]> = {}
  for (const [name, server] of Object.entries(SERVERS)) {
    const file = join(folder, `${server.package.replaceAll('/', '__')}.json`)
    if (!existsSync(file)) {
      process.stderr.write(`Listing ${server.package} …\n`)
      const tools = await list(name, server)
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${file}.draft`, JSON.stringify(tools))
      renameSync(`${file}.draft`, file)
    }
    catalogue[name] = JSON.parse(readFileSync(file, 'utf8')) as Definition[]
  }
  return catalogue
}
