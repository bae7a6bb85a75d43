/** Approves tools as read-only, or revokes that. The gateway's `run_read_only_tool` calls only approved tools. */
import { isRecord, matchesGlob } from '@toolwell/core/internal'
import type { McpTool, ServerConfig } from '@toolwell/mcp'
import {
  defaultReadOnlyFolder,
  describeWarning,
  diskReadOnly,
  fingerprint,
  type ReadOnlyStore,
  type ReadOnlyTools,
} from '@toolwell/mcp/internal'
import { visible } from '@toolwell/mcp/lock'
import { table } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

export interface ReadOnlyOptions {
  readonly targets: readonly string[]
  readonly isRevoking: boolean
  readonly isJson: boolean
}

export async function runReadOnly(
  open: OpenServers,
  shared: ReadOnlyStore | undefined,
  { targets, isRevoking, isJson }: ReadOnlyOptions,
  { output, env, name }: Terminal,
): Promise<ExitCode> {
  const store =
    shared ??
    diskReadOnly({
      folder: defaultReadOnlyFolder(env),
      onWarning: (warning) => {
        throw new Problem(describeWarning(warning), 'Nothing was approved.', { reason: 'unwritable' })
      },
    })
  if (targets.length === 0) {
    const all = listOffered(open, store)
    await output.write(isJson ? readOnlyJson('tools', all) : listText(all, name))
    return 0
  }
  const named = targets.map((target) => selectOffered(target, open, store, isRevoking))
  const meant = [...new Set(named.flatMap(({ taken }) => taken))]
  const left = named.flatMap((each) => each.left).filter((tool) => !meant.some((each) => isSame(each, tool)))
  for (const server of new Set(meant.map((each) => each.server)))
    store.write(
      server,
      updateApproved(
        store.read(server),
        meant.filter((each) => each.server === server),
        isRevoking,
      ),
    )
  const now = listOffered(open, store).filter((tool) => meant.some((each) => isSame(each, tool)))
  await output.write(
    isJson
      ? readOnlyJson(isRevoking ? 'revoked' : 'approved', now, left)
      : `${changedText(now, isRevoking)}${leftText(left)}`,
  )
  return 0
}

/** Lists the current tools. Quarantined tools are missing: they need their own approval first. */
function listOffered({ config, servers }: OpenServers, store: ReadOnlyStore): Offered[] {
  const reports = new Map(servers.inspect().map((report) => [report.name, report]))
  return config.servers.flatMap((server) => {
    const report = reports.get(server.name)
    const definition = servers.definition(server.name)
    if (!report || !definition) return []
    const approved = store.read(server)
    const usable = new Set(report.tools.filter((name) => !report.quarantined.has(name)))
    return definition.tools
      .filter(({ name }) => usable.has(name))
      .map((tool): Offered => {
        const print = fingerprint(tool)
        const before = Object.hasOwn(approved, tool.name) ? approved[tool.name] : undefined
        return {
          server,
          name: tool.name,
          claim: readClaim(tool),
          print,
          isByConfig: server.readOnly.some((pattern) => matchesGlob(pattern, tool.name)),
          approval: before === undefined ? undefined : before === print ? 'same' : 'changed',
        }
      })
  })
}

function readClaim({ annotations }: McpTool): Offered['claim'] {
  if (!isRecord(annotations)) return 'nothing'
  const { readOnlyHint, destructiveHint } = annotations
  if (readOnlyHint === true && destructiveHint !== true) return 'read-only'
  return readOnlyHint === false || destructiveHint === true ? 'changes things' : 'nothing'
}

/**
 * Selects the tools of a target. A full name selects the tool in any case. A server or pattern selects only tools that their
 * server calls read-only, so that nobody approves other tools without reading their names.
 */
function selectOffered(target: string, open: OpenServers, store: ReadOnlyStore, isRevoking: boolean) {
  const all = listOffered(open, store)
  const whole = all.filter((tool) => toolName(tool) === target)
  const fitting =
    whole.length > 0
      ? whole
      : all.filter((tool) => matchesGlob(target, tool.server.name) || matchesGlob(target, toolName(tool)))
  if (fitting.length === 0)
    throw new Problem(
      `No usable tool matches ${JSON.stringify(target)}.`,
      'List the tools with: toolwell approve --read-only',
      { reason: 'unknown-target' },
    )
  if (isRevoking) return { taken: fitting.filter(({ approval }) => approval !== undefined), left: [] }
  const taken = whole.length > 0 ? whole : fitting.filter(({ claim }) => claim === 'read-only')
  return { taken, left: fitting.filter((tool) => !taken.includes(tool)) }
}

function updateApproved(
  before: ReadOnlyTools,
  tools: readonly Offered[],
  isRevoking: boolean,
): ReadOnlyTools {
  const others = Object.entries(before).filter(([name]) => !tools.some((tool) => tool.name === name))
  const added = isRevoking ? [] : tools.map(({ name, print }) => [name, print] as const)
  return Object.fromEntries([...others, ...added].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const toolName = ({ server, name }: Offered) => `${server.name}/${name}`
const isSame = (one: Offered, other: Offered) => toolName(one) === toolName(other)

export interface Offered {
  readonly server: ServerConfig
  readonly name: string
  /** The annotation of its server, shown to the user but not trusted. */
  readonly claim: 'read-only' | 'changes things' | 'nothing'
  readonly print: string
  readonly isByConfig: boolean
  /** `same`: this definition was approved. `changed`: an earlier one was. */
  readonly approval: 'same' | 'changed' | undefined
}

const COLUMNS = [{ title: 'tool' }, { title: 'its server says' }, { title: 'read-only' }]

function toolTable(tools: readonly Offered[]): string {
  const lines = tools.map((tool) => [
    visible(`${tool.server.name}/${tool.name}`),
    tool.claim === 'nothing' ? '–' : tool.claim,
    describeState(tool),
  ])
  return table(COLUMNS, lines)
    .map((line) => `  ${line}\n`)
    .join('')
}

function describeState({ isByConfig, approval }: Offered): string {
  if (isByConfig) return 'by the config'
  if (approval === 'same') return 'approved'
  return approval === 'changed' ? 'no: it has changed since' : 'no'
}

/** `name`: the words that start this command. */
export function listText(tools: readonly Offered[], name: string): string {
  if (tools.length === 0) return 'There are no tools.\n'
  return `${toolTable(tools)}\nApprove tools that change nothing with: ${name} approve --read-only SERVER/TOOL\n`
}

export function changedText(tools: readonly Offered[], isRevoking: boolean): string {
  if (tools.length > 0)
    return `${isRevoking ? 'No longer approved as read-only:' : 'Approved as read-only:'}\n${toolTable(tools)}`
  return isRevoking ? 'None of these tools was approved as read-only.\n' : 'No tool was approved.\n'
}

export function leftText(left: readonly Offered[]): string {
  if (left.length === 0) return ''
  return `Not approved, because their servers do not call them read-only. To approve one, give its full name, SERVER/TOOL:\n${toolTable(left)}`
}

export function readOnlyJson(
  key: 'tools' | 'approved' | 'revoked',
  tools: readonly Offered[],
  left: readonly Offered[] = [],
): string {
  const facts = (tool: Offered) => ({
    server: tool.server.name,
    tool: tool.name,
    serverSays: tool.claim,
    isApproved: tool.isByConfig || tool.approval === 'same',
    by: tool.isByConfig ? 'config' : tool.approval === 'same' ? 'person' : null,
    hasChanged: tool.approval === 'changed',
  })
  const value = { [key]: tools.map(facts), ...(key === 'approved' ? { left: left.map(facts) } : {}) }
  return `${JSON.stringify(value, null, 2)}\n`
}
