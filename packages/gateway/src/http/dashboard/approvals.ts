/** Definitions that wait for approval, with their differences, and the approval itself. The code is that of `toolwell approve`. */
import { createHash } from 'node:crypto'
import { canonicalJson, dropUndefined } from '@toolwell/core/internal'
import type { FirstUseStore } from '@toolwell/mcp'
import {
  approveCommands,
  approvePending,
  findPending,
  groupByLock,
  type LockGroups,
  looksPoisoned,
  type Pending,
  scanChange,
  waitingCommands,
} from '@toolwell/mcp/internal'
import { keepOut, LockError } from '@toolwell/mcp/lock'
import type { ServerSet } from '../../servers/server-set.js'
import { ApiError } from './access.js'
import type { ApprovalAnswer, ApprovalRequest, DefinitionChange, FindingRow } from './api-types.js'
import type { ConfigChanges } from './config-changes.js'
import type { NamedSet, Sets } from './sets.js'

export class Approvals {
  readonly #sets: Sets
  readonly #firstUse: FirstUseStore
  readonly #changes: ConfigChanges

  constructor(sets: Sets, firstUse: FirstUseStore, changes: ConfigChanges) {
    this.#sets = sets
    this.#firstUse = firstUse
    this.#changes = changes
  }

  /** Changes of one server that wait for approval. */
  find({ serverSet }: NamedSet, server: string): DefinitionChange[] {
    const groups = this.#group(serverSet)
    const report = serverSet.servers.inspect().find(({ name }) => name === server)
    return listPending(groups, server).map((pending): DefinitionChange => {
      const { group, change } = pending
      const { kind, tool, fields } = change
      const quarantine = tool === undefined ? undefined : report?.quarantined.get(tool)
      const reason =
        quarantine ??
        (report?.state === 'quarantined' ? report.reason : `${WHAT[kind]} since it was approved`)
      return {
        kind,
        ...dropUndefined({ tool }),
        reason,
        fields: fields.map(({ path, before, after }) => ({
          path,
          ...dropUndefined({ before: toText(before), after: toText(after) }),
        })),
        findings: scanChange(group, groups.scanner, change).map(
          ({ severity, why, where }): FindingRow => ({
            severity,
            ...dropUndefined({ tool }),
            detail: where === undefined ? why : `${why} (${where})`,
          }),
        ),
        isPoisoned: looksPoisoned(pending, groups.scanner),
        seen: nameSeen(pending),
      }
    })
  }

  /** Commands of the entry that wait for approval. */
  commands(set: NamedSet, name: string): readonly string[] {
    const server = set.serverSet.known.get(name)
    return server ? waitingCommands(server, this.#firstUse.read(server)) : []
  }

  async decide(body: Readonly<Record<string, unknown>>): Promise<ApprovalAnswer> {
    const request = readRequest(body)
    const { set: id, server: name, tool, what = 'definition', decision } = request
    const { set, server } = this.#sets.findServer(id, name)
    const { serverSet } = set
    if (decision === 'reject') {
      const change =
        tool === undefined
          ? this.#changes.disable(set.id, name)
          : this.#changes.apply({ action: 'deny', tools: [{ set: set.id, server: name, tool }] })
      return { written: change.files[0]?.path ?? '', change }
    }
    if (what === 'commands') {
      if (this.commands(set, name).join('\n') !== request.seen) throw changedSince(`The commands of ${name}`)
      this.#firstUse.write(server, approveCommands(this.#firstUse.read(server), server))
      void serverSet.servers.refresh(name).catch(() => undefined)
      return { written: 'first-use' }
    }
    const groups = this.#group(serverSet)
    const pending = listPending(groups, name).filter(({ change }) => change.tool === tool)
    const [first] = pending
    if (!first)
      throw new ApiError(
        409,
        'not-waiting',
        `${tool ?? name} no longer waits for approval. Load the page again.`,
      )
    if (pending.map(nameSeen).join() !== request.seen) throw changedSince(tool ?? name)
    if (request.despiteFindings !== true && pending.some((each) => looksPoisoned(each, groups.scanner)))
      throw new ApiError(
        409,
        'poisoned',
        `The scan has hard findings. ${keepOut(name, tool)} To approve anyway, send despiteFindings.`,
      )
    await approvePending(groups, pending).catch((error) => {
      throw explain(error)
    })
    serverSet.servers.reviewAgain(name)
    return { written: first.group.lock ? first.group.file : 'first-use' }
  }

  #group({ known, config, servers }: ServerSet): LockGroups {
    try {
      const { scan } = config
      return groupByLock({
        config: { servers: [...known.values()], scan },
        servers,
        firstUse: this.#firstUse,
      })
    } catch (error) {
      throw explain(error)
    }
  }
}

const WHAT = { added: 'New', changed: 'Changed', removed: 'Removed' } as const

function listPending({ groups }: LockGroups, server: string): Pending[] {
  return groups.flatMap((group) => findPending(group)).filter(({ change }) => change.server === server)
}

/** A server may change its definition after the page has shown it. */
function nameSeen({ group, change }: Pending): string {
  const listed = group.servers.find(({ name }) => name === change.server)
  const { instructions, start, tools = [] } = listed ?? {}
  const current =
    change.tool === undefined
      ? { instructions, start }
      : tools.find((each) => (each as { name?: unknown }).name === change.tool)
  return createHash('sha256')
    .update(canonicalJson([change, current]))
    .digest('hex')
}

function changedSince(what: string): ApiError {
  return new ApiError(
    409,
    'changed',
    `${what} changed after the page showed it. Read it again, then approve.`,
  )
}

function toText(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function readRequest(body: Readonly<Record<string, unknown>>): ApprovalRequest {
  const { set, server, tool, decision, what, seen } = body as Partial<ApprovalRequest>
  const isRead =
    typeof set === 'string' &&
    typeof server === 'string' &&
    (tool === undefined || typeof tool === 'string') &&
    (decision === 'approve' || decision === 'reject') &&
    (seen === undefined || typeof seen === 'string') &&
    (what === undefined || what === 'definition' || what === 'commands')
  if (!isRead) throw new ApiError(400, 'bad-request', 'Send set, server, decision, and tool for one tool.')
  return body as unknown as ApprovalRequest
}

function explain(error: unknown): unknown {
  return LockError.is(error) ? new ApiError(409, error.code, `${error.problem} ${error.fix}`) : error
}
