/** Servers of the config that are the gateway: behind itself it lists and searches itself. */
import { firstLine } from '@toolwell/core/internal'
import type { Config } from '@toolwell/mcp'
import type { IsGateway } from '../shared/clients/itself.js'
import type { Diagnosis } from './diagnosis.js'

export function checkGatewayEntries({ servers }: Config, isGateway: IsGateway): Diagnosis[] {
  return servers
    .filter(({ endpoint }) => isGateway({ ...endpoint }))
    .map(({ name }) => ({
      rule: 'config',
      level: 'error',
      server: name,
      message: `${firstLine(name, 80)} is Toolwell itself: the gateway would be behind itself.`,
      fix: `Remove the entry ${JSON.stringify(firstLine(name, 80))}.`,
    }))
}
