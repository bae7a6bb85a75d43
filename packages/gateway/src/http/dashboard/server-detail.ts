/** One server with its log and its definitions, and what a button does to it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { dropUndefined } from '@toolwell/core/internal'
import { LoginError, type LoginStore, login } from '@toolwell/mcp'
import { defaultLogFolder, findLogFile } from '@toolwell/mcp/internal'
import { ApiError } from './access.js'
import type { LoginAnswer, ServerDetail, ServerRow, ToolRow } from './api-types.js'
import type { Approvals } from './approvals.js'
import { type NamedSet, type Sets, serverRow } from './sets.js'

export interface ServerPagesOptions {
  readonly sets: Sets
  readonly approvals: Approvals
  readonly rows: (set: NamedSet, server: string) => readonly ToolRow[]
  readonly logs: string | false | undefined
  readonly logins: LoginStore | undefined
}

const LOG_BYTES = 64 * 1024
const LOG_LINES = 200

export class ServerPages {
  readonly #options: ServerPagesOptions
  readonly #logins = new Map<string, AbortController>()

  constructor(options: ServerPagesOptions) {
    this.#options = options
  }

  row(set: NamedSet, name: string): ServerRow {
    const report = set.serverSet.servers.inspect().find((each) => each.name === name)
    if (!report)
      throw new ApiError(404, 'unknown-server', `The config has no server ${JSON.stringify(name)}.`)
    return serverRow(set, report)
  }

  detail(id: string | undefined, name: string): ServerDetail {
    const { sets, approvals, rows, logs } = this.#options
    const { set, server } = sets.findServer(id, name)
    const row = this.row(set, name)
    const { servers } = set.serverSet
    const definition = servers.definition(name)
    const listed = new Map((definition?.tools ?? []).map((tool) => [tool.name, tool]))
    const file = logs === false ? '' : findLogFile(server, logs ?? defaultLogFolder())
    const findings = servers.inspect().find((each) => each.name === name)?.findings ?? []
    return {
      ...row,
      log: { file, lines: readTail(file) },
      changes: approvals.find(set, name),
      definitions: rows(set, name).map(({ tool, state, description, definitionTokens }) => ({
        tool,
        state,
        description,
        definition: JSON.stringify(listed.get(tool) ?? {}, null, 2),
        tokens: definitionTokens,
      })),
      instructions: definition?.instructions ?? '',
      findings: findings.map(({ severity, tool, detail }) => ({
        severity,
        ...dropUndefined({ tool }),
        detail,
      })),
      commands: approvals.commands(set, name),
    }
  }

  /** A failure is part of the answer: the row says why. */
  async restart(id: string, name: string): Promise<ServerRow> {
    const { set } = this.#options.sets.findServer(id, name)
    await set.serverSet.servers.restart(name).catch(() => undefined)
    return this.row(set, name)
  }

  /** Resolves with the address that the user must open. The gateway waits for the end of the login. */
  signIn(id: string, name: string): Promise<LoginAnswer> {
    const { sets, approvals, logins } = this.#options
    const { set, server } = sets.findServer(id, name)
    if (approvals.commands(set, name).length > 0)
      throw new ApiError(
        409,
        'not-approved',
        `Approve the commands of ${name} first: a login would send their values.`,
      )
    const key = JSON.stringify([set.id, name])
    this.#logins.get(key)?.abort()
    const over = new AbortController()
    this.#logins.set(key, over)
    return new Promise((resolve, reject) => {
      login(server, {
        ...dropUndefined({ store: logins }),
        signal: over.signal,
        onAddress: ({ href }) => resolve({ address: href }),
      })
        .then(
          () => set.serverSet.servers.refresh(name).catch(() => undefined),
          (error: unknown) =>
            reject(
              LoginError.is(error) ? new ApiError(409, error.code, `${error.message} ${error.fix}`) : error,
            ),
        )
        .finally(() => {
          if (this.#logins.get(key) === over) this.#logins.delete(key)
        })
    })
  }

  close(): void {
    for (const over of this.#logins.values()) over.abort()
  }
}

/** The log contains no secrets: they are hidden before it is written. */
function readTail(file: string): string[] {
  if (file === '') return []
  try {
    const handle = openSync(file, 'r')
    try {
      const { size } = fstatSync(handle)
      const start = Math.max(0, size - LOG_BYTES)
      const bytes = Buffer.alloc(size - start)
      readSync(handle, bytes, 0, bytes.length, start)
      const lines = bytes
        .toString('utf8')
        .split('\n')
        .slice(start > 0 ? 1 : 0)
      return lines.filter((line) => line !== '').slice(-LOG_LINES)
    } finally {
      closeSync(handle)
    }
  } catch {
    // The server has not written anything yet.
    return []
  }
}
