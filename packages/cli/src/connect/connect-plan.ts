/** Plans the changes of `connect`. Writes nothing. */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { identifyProgram } from '@toolwell/gateway/bridge'
import { type ConfigProblem, defaultConfigFiles, loadConfig, type ServerConfig } from '@toolwell/mcp'
import { type Addition, planImport, readTarget } from '../import/plan.js'
import type { UserFile } from '../shared/clients/clients.js'
import type { FoundRule } from '../shared/clients/found-rule.js'
import {
  type ClientServers,
  type EntryChecks,
  listEntries,
  parseClient,
  readTable,
  valueAt,
} from '../shared/clients/read-client.js'
import { RULE_READERS } from '../shared/clients/rule-readers.js'
import { findShape } from '../shared/clients/shapes.js'
import {
  createEntry,
  ENTRY_NAME,
  entryCommand,
  entryVariables,
  readAddress,
  readAsked,
  readCommandLine,
  readLimits,
  readScope,
  readToolwellEntry,
  sendsOtherToken,
  startsToolwell,
} from '../shared/clients/toolwell-entry.js'
import type { Terminal } from '../shared/terminal.js'
import type { ChosenMode } from './choose-mode.js'
import { type ClientState, decodeText, readState } from './client-files.js'
import type { NewEntry, Table } from './edit/change.js'
import { asRefusal, Refusal } from './edit/change.js'
import { changeServers, entrySource } from './edit/change-servers.js'
import { explainProblem, lostRuleNotes, overrideNotes } from './notes.js'
import type { ClientRecord, Records, TakenEntry } from './records.js'
import { restore } from './restore.js'

/** The servers in toolwell.json. */
export const SERVERS: Table = { path: ['mcpServers'], isList: false }

export interface ClientPlan {
  readonly from: UserFile
  readonly state: ClientState
  readonly table: Table
  /** The content that `undo` restores. */
  readonly base: Buffer | undefined
  readonly next: Buffer
  readonly taken: readonly TakenEntry[]
  /** Servers that an earlier connect moved. */
  readonly earlier: ReadonlySet<string>
  /** The Toolwell entry from before the first connect. */
  readonly ownBefore: NewEntry | undefined
  /** `base` includes changes made after the first connect. */
  readonly isRebased: boolean
  /** The command line of an existing Toolwell entry, if it differs. */
  readonly replaced: string | undefined
  /** Servers that stay in the client, with the reason. */
  readonly stays: ReadonlyMap<string, string>
  /** Notes for the user. */
  readonly notes: readonly string[]
  /** The command line of the entry. */
  readonly line: readonly string[]
  /** Variables that the entry sets. */
  readonly variables: Readonly<Record<string, string>>
  /** Rules of the client that Toolwell applies. */
  readonly denied: readonly FoundRule[]
  readonly mode: ChosenMode | undefined
  /** The file does not need to change. */
  readonly isDone: boolean
}

export interface RefusedClient {
  readonly from: UserFile
  readonly refusal: Refusal
}

export interface ConnectPlan {
  /** Names of the profiles in toolwell.json. */
  readonly profiles: readonly string[]
  readonly clients: readonly ClientPlan[]
  readonly refused: readonly RefusedClient[]
  readonly servers: {
    readonly file: string
    readonly text: string | undefined
    readonly next: string
    readonly add: readonly Addition[]
    readonly read: ReadonlyMap<string, ServerConfig>
    readonly problems: readonly ConfigProblem[]
  }
}

export interface PlanOptions {
  readonly targets: readonly UserFile[]
  readonly records: Records
  readonly known: EntryChecks
  readonly profile: string | undefined
  /** Let clients share the processes of local servers. */
  readonly isShared: boolean
  readonly acceptsLostRules: boolean
  readonly facts: ReadonlyMap<UserFile, ClientFacts>
}

/** Facts about a client besides the file with its servers. */
export interface ClientFacts {
  readonly found: readonly FoundRule[]
  /** Ask rules that Toolwell does not apply either. */
  readonly lostAsk?: readonly string[]
  readonly mode: ChosenMode | undefined
  /** Why the client must not be connected. */
  readonly refusal?: Refusal
}

export function planConnect(options: PlanOptions, terminal: Terminal): ConnectPlan {
  const { env, folder } = terminal
  const [own] = defaultConfigFiles(folder, env)
  const target = readTarget(own?.path ?? '')
  const records = options.records.clients()
  const refused: RefusedClient[] = []
  const opened = options.targets.flatMap((from, at) => {
    try {
      return [openClient(from, options, records, options.targets.slice(0, at))]
    } catch (error) {
      refused.push({ from, refusal: asRefusal(error) })
      return []
    }
  })
  const knownName = (from: unknown, name: string) =>
    opened.find((each) => each.from === from)?.record?.taken.find((each) => each.name === name)?.as
  const imported = planImport(
    opened.map(({ found }) => found),
    target.servers,
    knownName,
  )
  const plan = options.isShared ? imported : { ...imported, add: imported.add.map(ownedByClient) }
  const read = (add: readonly Addition[]) => {
    const next = changeServers(target.text ?? '', 'json', SERVERS, {
      remove: [],
      add: add.map(({ name, entry }) => ({ name, value: entry })),
    })
    return {
      next,
      config: loadConfig({ files: [{ path: target.file, text: next }], env, workspaceFolder: folder }),
    }
  }
  const first = read(plan.add)
  const wrong = new Map(
    first.config.problems
      .filter(({ severity, server }) => severity === 'error' && server !== undefined)
      .map((problem) => {
        const { server } = problem
        return [
          server,
          explainProblem(
            problem,
            plan.add.find(({ name }) => name === server),
          ),
        ] as const
      })
      // Keep the first problem of each server.
      .reverse(),
  )
  // A server without its variables is still the same program.
  const programs = new Map(
    loadConfig({
      files: [{ path: target.file, text: first.next }],
      env: withEveryVariable(env),
      workspaceFolder: folder,
    }).servers.map(({ name, endpoint }) => [name, identifyProgram(endpoint)]),
  )
  const add = plan.add.filter(({ name }) => !wrong.has(name))
  const { next, config } = add.length === plan.add.length ? first : read(add)
  const clients = opened.flatMap((each) => {
    const placed = plan.placed.get(each.from) ?? new Map<string, string>()
    try {
      return [planClient(each, placed, wrong, programs, options, terminal)]
    } catch (error) {
      refused.push({ from: each.from, refusal: asRefusal(error) })
      return []
    }
  })
  // Servers of a refused file are not added.
  const used = new Set(clients.flatMap(({ taken }) => taken.map(({ as }) => as)))
  const needed = add.filter(({ name }) => used.has(name))
  const last = needed.length === add.length ? { next, config } : read(needed)
  return {
    profiles: Object.keys(last.config.profiles),
    clients,
    refused,
    servers: {
      file: target.file,
      text: target.text,
      next: needed.length === 0 ? (target.text ?? '') : last.next,
      add: needed,
      read: new Map(last.config.servers.map((server) => [server.name, server])),
      problems: last.config.problems,
    },
  }
}

/** Unset variables count as empty. */
function withEveryVariable(env: Terminal['env']): Terminal['env'] {
  return new Proxy(env, { get: (all, name) => Reflect.get(all, name) ?? '' })
}

/** Gives each client its own process of a local server, as before `connect`: it may keep state, such as a browser. */
function ownedByClient(addition: Addition): Addition {
  const { entry } = addition
  const isLocal = typeof entry.command === 'string'
  return isLocal && entry.share === undefined
    ? { ...addition, entry: { ...entry, share: 'client' } }
    : addition
}

interface OpenedClient {
  readonly from: UserFile
  readonly state: ClientState
  readonly record: ClientRecord | undefined
  readonly base: Buffer | undefined
  readonly isRebased: boolean
  readonly text: string
  readonly table: Table
  readonly value: Readonly<Record<string, unknown>>
  readonly found: ClientServers
}

/** Reads a client's file. If it is connected, uses its content without our entry. */
function openClient(
  from: UserFile,
  { records, known, facts }: PlanOptions,
  all: readonly ClientRecord[],
  earlier: readonly UserFile[],
): OpenedClient {
  const refusal = facts.get(from)?.refusal
  if (refusal) throw refusal
  const state = readState(from.file)
  const same = earlier.find((each) => samePlace(each, state.real))
  if (same) throw new Refusal(`it is the same file as that of ${same.label}`, 'Nothing to do')
  const record = all.find(({ real }) => real === state.real)
  const restored = record && restore(record, state.bytes, records.before(record))
  const base = restored ? restored.bytes : state.bytes
  const isRebased = restored?.how === 'merged' || record?.isRebased === true
  const shape = findShape(from.shape)
  if (base === undefined && shape.older !== undefined && existsSync(join(dirname(from.file), shape.older)))
    throw new Refusal(
      `a new file would override ${shape.older} in the same folder`,
      `Migrate ${from.label} to ${basename(from.file)} first, or write the entry yourself`,
    )
  const text = decodeText(base) ?? shape.blank ?? ''
  const parsed = parseClient(text, shape.format, from.file)
  if ('problem' in parsed) throw new Refusal(parsed.problem.message, 'Fix the file', parsed.problem.line)
  const { value } = parsed
  const path = shape.tables.find((each) => isPresent(valueAt(value, each))) ?? shape.tables[0] ?? []
  const table = { path, isList: shape.isList === true }
  return {
    from,
    state,
    record,
    base,
    isRebased,
    text,
    table,
    value,
    found: readTable(from, value, path, known),
  }
}

function isPresent(value: unknown): boolean {
  return isRecord(value) || Array.isArray(value)
}

function samePlace(other: UserFile, real: string): boolean {
  try {
    return readState(other.file).real === real
  } catch {
    return false
  }
}

function planClient(
  { from, state, record, base, isRebased, text, table, value, found }: OpenedClient,
  placed: ReadonlyMap<string, string>,
  wrong: ReadonlyMap<string | undefined, string>,
  programs: ReadonlyMap<string, readonly string[]>,
  { known, profile, acceptsLostRules, facts }: PlanOptions,
  { program, folder, env }: Terminal,
): ClientPlan {
  const { format } = findShape(from.shape)
  const entries = new Map(listEntries(valueAt(value, table.path)).map(({ name, entry }) => [name, entry]))
  const own = entries.get(ENTRY_NAME)
  if (entries.has(ENTRY_NAME) && !startsToolwell(own)) {
    if (!known.isGateway({ url: readAddress(own) }))
      throw new Refusal(
        `it has an entry called ${ENTRY_NAME} that does not start this command`,
        'Rename or remove that entry',
      )
    if (sendsOtherToken(own, env))
      throw new Refusal(
        `its entry ${ENTRY_NAME} reaches the gateway over HTTP with a token that may have fewer rights than the new entry`,
        `Remove the entry and run this command again. To keep it, give it the profile that toolwell doctor prints`,
      )
  }
  const stays = new Map([...found.refused].filter(([name]) => name !== ENTRY_NAME))
  const taken: TakenEntry[] = []
  const staying: { readonly name: string; readonly as: string }[] = []
  const isUnread = !acceptsLostRules && !Object.hasOwn(RULE_READERS, from.client)
  for (const name of found.servers.keys()) {
    const as = placed.get(name)
    // A server that was moved before stays moved, even if a variable is not set now.
    const isKnown = record?.taken.some((each) => each.name === name) === true
    const why = as === undefined || isKnown ? undefined : wrong.get(as)
    if (as === undefined) {
      if (isUnread && isLimited(found, name))
        throw new Refusal(
          `${from.label} limits the tools of ${name}, and toolwell.json has another server with that name, without these limits`,
          'Rename one of them, or run connect with --accept-lost-rules',
        )
      stays.set(name, 'toolwell.json has another server with that name. Rename one of them')
    } else if (why !== undefined) {
      if (isUnread && isLimited(found, name))
        throw new Refusal(
          `${from.label} limits the tools of ${name}, which cannot move now: ${why}`,
          'Fix that, or run connect with --accept-lost-rules',
        )
      stays.set(name, why)
      staying.push({ name, as })
    } else
      taken.push({
        as,
        ...newEntry(name, entries.get(name), entrySource(text, format, table, name), table),
      })
  }
  const now = record ? namesIn(decodeText(state.bytes) ?? '', format, table) : new Set(entries.keys())
  const { found: rules, lostAsk, mode } = facts.get(from) ?? { found: [], mode: undefined }
  const hasRules =
    Object.hasOwn(RULE_READERS, from.client) || taken.some(({ name }) => isLimited(found, name))
  const entry = readToolwellEntry(from)
  const scope = readScope(entry)
  const line = entryCommand(program, {
    client: from.client,
    profile: profile ?? scope.profile,
    token: scope.token,
    // Some clients have no measured choice: their HTTP entry may list every tool.
    isAll: mode?.isAll ?? readScope(own).isAll,
    own: hasRules
      ? [...taken, ...staying].map(({ name, as }) => ({ name, as, program: programs.get(as) ?? [] }))
      : [],
  })
  const variables = entryVariables(from.client, { env, folder })
  const there = startsToolwell(entry) ? readCommandLine(entry).join(' ') : readAddress(entry)
  const asked = from.client === 'codex' ? taken.flatMap(({ as, value }) => readAsked(value, as)) : []
  const moved = [ENTRY_NAME, ...taken.map(({ name }) => name)].map((name) => entries.get(name))
  const next = changeServers(text, format, table, {
    remove: [...taken.map(({ name }) => name), ...(entries.has(ENTRY_NAME) ? [ENTRY_NAME] : [])],
    add: [{ name: ENTRY_NAME, value: createEntry(from.shape, line, readLimits(moved), variables, asked) }],
  })
  const bytes = Buffer.from(next, 'utf8')
  return {
    from,
    state,
    table,
    base,
    next: bytes,
    taken,
    earlier: new Set(taken.map(({ name }) => name).filter((name) => !now.has(name))),
    ownBefore: entries.has(ENTRY_NAME)
      ? newEntry(ENTRY_NAME, entries.get(ENTRY_NAME), entrySource(text, format, table, ENTRY_NAME), table)
      : undefined,
    isRebased,
    replaced: there === '' || there === line.join(' ') ? undefined : there,
    stays,
    notes: [
      ...(known.isOff(from, ENTRY_NAME)
        ? [`${from.label} starts only the servers in its list of enabled servers: add "${ENTRY_NAME}" to it.`]
        : []),
      ...overrideNotes(from, value, folder, line),
      // With every tool listed, Codex itself asks.
      ...lostRuleNotes(from, mode?.isAll && asked.length > 0 ? rules.filter(isNotAsked) : rules, lostAsk),
    ],
    line,
    variables,
    denied: rules.filter(({ action }) => action === 'deny'),
    mode,
    isDone: state.bytes !== undefined && bytes.equals(state.bytes),
  }
}

const isNotAsked = ({ action }: FoundRule) => action !== 'ask'

/** The entry is off or limits the tools of its server. Other clients may have the same server without a limit. */
function isLimited({ servers }: ClientServers, name: string): boolean {
  const { allow, deny, enabled } = servers.get(name)?.entry ?? {}
  return allow !== undefined || deny !== undefined || enabled === false
}

/** Names of the servers in a text. */
function namesIn(text: string, format: 'json' | 'toml' | 'yaml', { path }: Table): ReadonlySet<string> {
  const parsed = parseClient(text, format, '')
  return new Set('value' in parsed ? listEntries(valueAt(parsed.value, path)).map(({ name }) => name) : [])
}

function newEntry(name: string, entry: unknown, source: string | undefined, { isList }: Table): NewEntry {
  const { name: _, ...others } = isRecord(entry) ? entry : { name }
  return { name, value: isList ? others : entry, ...(source === undefined ? {} : { source }) }
}
