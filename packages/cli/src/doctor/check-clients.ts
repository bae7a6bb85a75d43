/** Checks the entries of Toolwell in clients, and entries of the gateway in the config. */
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

/** Finds clients whose entry names a missing file, for example after the clone or Node moved. */
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
        message: `${own.label} cannot start Toolwell: ${gone.join(' and ')} no longer ${gone.length === 1 ? 'exists' : 'exist'}.`,
        fix: `Update the entry with: ${name} connect ${own.client}`,
        file: own.file,
      },
    ]
  })
}

/** Finds servers of the config that are the gateway itself. */
export function checkGatewayEntries({ servers }: Config, isGateway: IsGateway): Diagnosis[] {
  return servers
    .filter(({ endpoint }) => isGateway({ ...endpoint }))
    .map(({ name }) => ({
      rule: 'config',
      level: 'error',
      server: name,
      message: `${firstLine(name, 80)} is Toolwell itself, so the gateway would list its own tools.`,
      fix: `Remove the entry ${JSON.stringify(firstLine(name, 80))}.`,
    }))
}
