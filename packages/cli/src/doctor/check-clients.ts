/** Clients whose entry starts a Toolwell that is not there: the clone was moved, or another node was installed. */

import { existsSync } from 'node:fs'
import { platform } from 'node:os'
import { isAbsolute } from 'node:path'
import { firstLine } from '@toolwell/core/internal'
import type { Config } from '@toolwell/mcp'
import { findHome, userFiles } from '../shared/clients/clients.js'
import {
  type IsGateway,
  readCommandLine,
  readToolwellEntry,
  startsToolwell,
} from '../shared/clients/toolwell-entry.js'
import type { Terminal } from '../shared/terminal.js'
import type { Diagnosis } from './report.js'

export function checkClients({ env, folder, name }: Pick<Terminal, 'env' | 'folder' | 'name'>): Diagnosis[] {
  return userFiles({ home: findHome(env), folder, platform: platform(), env }).flatMap((own): Diagnosis[] => {
    const entry = readToolwellEntry(own)
    if (!startsToolwell(entry)) return []
    const [node = '', script = ''] = readCommandLine(entry)
    const gone = [node, script].filter((path) => isAbsolute(path) && !existsSync(path))
    if (gone.length === 0) return []
    return [
      {
        rule: 'clients',
        level: 'error',
        message: `${own.label} cannot start Toolwell: ${gone.join(' and ')} ${gone.length === 1 ? 'is' : 'are'} not there any more.`,
        fix: `Write the entry anew with: ${name} connect ${own.client}`,
        file: own.file,
      },
    ]
  })
}

// Servers of the config that are the gateway: behind itself it lists and searches itself.

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
