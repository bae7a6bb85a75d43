/** Servers whose entries run commands for secrets that nobody has approved. */
import type { ServerConfig } from '@toolwell/mcp'
import { waitingCommands as waitingIn } from '@toolwell/mcp/internal'
import type { OpenServers } from './with-servers.js'

export interface WaitingCommand {
  readonly server: ServerConfig
  readonly commands: readonly string[]
}

export function findWaitingCommands({
  config,
  firstUse,
}: Pick<OpenServers, 'config' | 'firstUse'>): WaitingCommand[] {
  return config.servers.flatMap((server) => {
    if (server.commands.length === 0) return []
    const commands = waitingIn(server, firstUse.read(server))
    return commands.length > 0 ? [{ server, commands }] : []
  })
}
