/** The client that the conformance suite runs: uses a server as a host does, and logs in whenever that is asked for. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import { connectServers, defineServer, diskLogins, login, McpFailure, memoryCache } from '@toolwell/mcp'

/** The document that the suite expects a client to describe itself with. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json'
/** A user who is asked again and again stops agreeing. */
const MOST_LOGINS = 3

const url = process.argv.at(-1) ?? ''
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(context)
const oauth =
  clientId === undefined
    ? scenario === 'auth/basic-cimd'
      ? { clientId: CLIENT_DOCUMENT }
      : undefined
    : { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) }

const folder = mkdtempSync(join(tmpdir(), 'toolwell-conformance-'))
const store = diskLogins({ folder })
const server = defineServer('remote', { url }, { oauth })
const servers = connectServers(createToolwell().catalogue, [server], { logins: store, cache: memoryCache() })
try {
  await servers.settled(20_000)
  for (let logins = 0; ; logins++) {
    try {
      await servers.refresh('remote')
      const [report] = servers.inspect()
      for (const tool of report?.tools ?? []) await servers.call('remote', tool, {})
      break
    } catch (error) {
      if (!McpFailure.is(error) || error.kind !== 'needs-login' || logins === MOST_LOGINS) throw error
      await login(server, {
        store,
        timeout: 10_000,
        async onAddress(address) {
          // The user agrees to everything; the browser goes where it is sent.
          await fetch(address).then((response) => response.text())
        },
      })
    }
  }
} catch (error) {
  console.error(String(error))
  process.exitCode = 1
} finally {
  await servers.close()
  rmSync(folder, { recursive: true, force: true })
}
