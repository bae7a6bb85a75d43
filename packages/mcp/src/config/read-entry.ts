/** Turns a checked entry of `mcpServers` into a server: expands variables, makes paths absolute, fills in defaults. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { canonicalJson, dropUndefined, isRecord } from '@toolwell/core/internal'
import type { Fields, RawEntry } from './check-entry.js'
import type { ConfigProblem } from './document.js'
import { createEntryReader, type EntryReader, findSentVariables } from './entry-reader.js'
import { readEndpoint } from './read-endpoint.js'
import { findCommandsToApprove, hasReference } from './references.js'
import {
  chooseDefaultIdle,
  DEFAULTS,
  type InWorkspace,
  type OAuthSettings,
  type ServerConfig,
  type ServerWorkspace,
  type Share,
  type Trust,
} from './server-config.js'
import type { VariableScope } from './variables.js'

export interface ReadEntry {
  /** As far as it can be read. It cannot be started if a problem is an error. */
  readonly server: ServerConfig | undefined
  readonly problems: readonly ConfigProblem[]
}

/** `refused`: keys that are missing in `fields` because they were wrong, which is already reported. */
export function readEntry(
  raw: RawEntry,
  fields: Fields,
  given: VariableScope,
  refused: ReadonlySet<string>,
): ReadEntry {
  const scope = scopeFor(raw, fields, given)
  const reader = createEntryReader(raw, fields, scope)
  const endpoint = readEndpoint(reader, refused)
  const oauth = readOAuth(reader)
  const timeout = reader.duration('timeout')
  const startTimeout = fields.startTimeout === undefined ? undefined : reader.duration('startTimeout')
  const share = (fields.share as Share | undefined) ?? 'all'
  const defaultIdle = fields.lazy === false ? Number.POSITIVE_INFINITY : chooseDefaultIdle(share)
  const idle = fields.idle === undefined ? defaultIdle : reader.duration('idle')
  const server: ServerConfig | undefined = endpoint && {
    name: raw.name,
    file: raw.document.file,
    endpoint,
    description: (fields.description as string | undefined) ?? '',
    enabled: fields.enabled !== false,
    lazy: fields.lazy !== false,
    alwaysLoad: fields.alwaysLoad === true ? ['*'] : ((fields.alwaysLoad || []) as string[]),
    examples: (fields.examples as ServerConfig['examples'] | undefined) ?? {},
    insteadOf: textsOf(fields.insteadOf),
    marks: fields.marks === true,
    surfaceTokens: (fields.surfaceTokens as number | undefined) ?? DEFAULTS.surfaceTokens,
    maxResultTokens: fields.maxResultTokens as number | undefined,
    maxConcurrentCalls: (fields.maxConcurrentCalls as number | undefined) ?? DEFAULTS.maxConcurrentCalls,
    maxCallsPerMinute: (fields.maxCallsPerMinute as number | undefined) ?? 0,
    allow: fields.allow as string[] | undefined,
    allowedByProfile: undefined,
    deniedByProfile: [],
    deny: (fields.deny as string[] | undefined) ?? [],
    readOnly: (fields.readOnly as string[] | undefined) ?? [],
    timeout,
    startTimeout,
    idle,
    trust: (fields.trust as Trust | undefined) ?? 'first-use',
    share,
    workspace: readWorkspace(raw, fields, given, refused),
    oauth,
    commands: findCommandsToApprove(endpoint, findSentVariables(fields, scope), raw),
    secrets: [
      ...reader.secrets,
      ...Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers),
      ...(oauth?.clientSecret === undefined ? [] : [oauth.clientSecret]),
    ],
  }
  return { server, problems: reader.problems }
}

function readOAuth({ fields, report, text }: EntryReader): OAuthSettings | undefined {
  if (fields.oauth === undefined) return undefined
  for (const [key, value] of Object.entries(fields.oauth as Fields))
    if (typeof value === 'string' && hasReference(value))
      report(
        ['oauth', key],
        'logins do not support ${file:…} and ${cmd:…}',
        'Write ${env:NAME} and set the variable',
      )
  const { clientId, clientSecret, scopes, callbackPort } = fields.oauth as Fields
  return dropUndefined({
    clientId: clientId === undefined ? undefined : text(clientId, 'oauth', 'clientId'),
    clientSecret: clientSecret === undefined ? undefined : text(clientSecret, 'oauth', 'clientSecret'),
    scopes: scopes === undefined ? undefined : [scopes as string | string[]].flat().flatMap(words),
    callbackPort: callbackPort as number | undefined,
  })
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** Values may be numbers, too. */
function textsOf(given: unknown): Record<string, string> {
  return isRecord(given)
    ? Object.fromEntries(Object.entries(given).map(([name, text]) => [name, String(text)]))
    : {}
}

/** Keys that decide how a server is started or reached. */
const REACHED = ['type', 'command', 'args', 'env', 'envFile', 'cwd', 'url', 'headers', 'oauth'] as const

/**
 * The folder for `${workspaceFolder}` and a missing `cwd`. A server for all projects gets the shared folder, so that it does not
 * depend on the first project that uses it.
 */
function scopeFor(raw: RawEntry, fields: Fields, scope: VariableScope): VariableScope {
  // The config may be a text without a file.
  if (fields.workspace !== false || !existsSync(raw.sharedFolder)) return scope
  return { ...scope, workspaceFolder: raw.sharedFolder }
}

function readWorkspace(
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
    // A program that starts in the folder may read it.
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
      if (!endpoint) throw new Error('an entry without a command or url is not a server')
      return {
        endpoint,
        commands: findCommandsToApprove(endpoint, findSentVariables(fields, scope), raw),
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
