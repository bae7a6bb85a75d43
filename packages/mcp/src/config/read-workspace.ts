/** Whether a server of a config depends on the folder of a project, and how it is started for another one. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { canonicalJson } from '@toolwell/core/internal'
import type { Fields } from './check-entry.js'
import { createEntryReader } from './entry-reader.js'
import type { RawEntry } from './raw-entry.js'
import { readEndpoint } from './read-endpoint.js'
import { commandsOf } from './references.js'
import { sentVariables } from './sent-variables.js'
import type { InWorkspace, ServerWorkspace } from './server-config.js'
import type { VariableScope } from './variables.js'

/** What decides how a server is started or reached. */
const REACHED = ['type', 'command', 'args', 'env', 'envFile', 'cwd', 'url', 'headers', 'oauth'] as const

/**
 * What `${workspaceFolder}` and a `cwd` that is left out mean. Where the entry says that one server serves all projects, they mean
 * none of these: it would depend on who came first.
 */
export function scopeFor(raw: RawEntry, fields: Fields, scope: VariableScope): VariableScope {
  // A config may be a text without a file.
  if (fields.workspace !== false || !existsSync(raw.sharedFolder)) return scope
  return { ...scope, workspaceFolder: raw.sharedFolder }
}

export function readWorkspace(
  raw: RawEntry,
  fields: Fields,
  scope: VariableScope,
  refused: ReadonlySet<string>,
): ServerWorkspace {
  const reached = canonicalJson(REACHED.map((key) => fields[key] ?? null))
  const isFixed =
    !reached.includes('${workspaceFolder') && (fields.cwd !== undefined || fields.command === undefined)
  const stated = fields.workspace as boolean | undefined
  return {
    folder: scope.workspaceFolder,
    // Whatever starts in the folder may read it.
    need: (stated ?? !isFixed) ? 'each' : 'none',
    isStated: stated !== undefined,
    written: digestOf(canonicalJson([raw.folder, reached])),
    entry: digestOf(reached),
    in(folder): InWorkspace {
      const reader = createEntryReader(
        raw,
        fields,
        scopeFor(raw, fields, { ...scope, workspaceFolder: folder }),
      )
      const endpoint = readEndpoint(reader, refused)
      if (!endpoint) throw new Error('an entry without a command or url is no server')
      return {
        endpoint,
        commands: commandsOf(endpoint, sentVariables(fields, scope), raw),
        secrets: [
          ...reader.secrets,
          ...Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers),
        ],
        problems: reader.problems
          .filter(({ severity }) => severity === 'error')
          .map(({ message, fix }) => `${message}. ${fix}`),
      }
    },
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
