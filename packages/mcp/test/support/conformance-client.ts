/** The client under test in the conformance suite: uses a server as a host does, and logs in when asked to. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import {
  connectServers,
  defineServer,
  diskLogins,
  login,
  McpFailure,
  memoryCache,
  memoryFirstUse,
} from '@toolwell/mcp'
import { browse } from './auth-server.js'

/** The document that the suite expects a client to describe itself with. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json'
/** A user who is asked again and again stops agreeing. */
const MOST_LOGINS = 3

export interface Task {
  readonly url: string
  readonly scenario: string
  /** Client data from the suite. */
  readonly context: { readonly client_id?: string; readonly client_secret?: string }
}

/** Rejects where the server cannot be used. */
export async function useServer({ url, scenario, context }: Task): Promise<void> {
  const { client_id: given, client_secret: clientSecret } = context
  const clientId = given ?? (scenario === 'auth/basic-cimd' ? CLIENT_DOCUMENT : undefined)
  const oauth =
    clientId === undefined ? undefined : { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) }
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-conformance-'))
  const store = diskLogins({ folder })
  const server = defineServer('remote', { url }, { oauth })
  const servers = connectServers(createToolwell().catalogue, [server], {
    firstUse: memoryFirstUse(),
    logs: false,
    logins: store,
    cache: memoryCache(),
  })
  try {
    await servers.settled(60_000)
    for (let logins = 0; ; logins++) {
      try {
        await servers.refresh('remote')
        const [report] = servers.inspect()
        for (const tool of report?.tools ?? []) await servers.call('remote', tool, {})
        return
      } catch (error) {
        if (!McpFailure.is(error) || error.kind !== 'needs-login' || logins === MOST_LOGINS) throw error
        await login(server, {
          store,
          timeout: 60_000,
          onAddress: async (address) => void (await browse(address)),
        })
      }
    }
  } finally {
    await servers.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
