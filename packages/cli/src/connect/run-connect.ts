/** Plans a connect, shows it, asks, and writes. Plans again before it writes, because a file may have changed. */
import { platform } from 'node:os'
import { dropUndefined } from '@toolwell/core/internal'
import { defaultConfigFiles } from '@toolwell/mcp'
import { shortenPath } from '../import/text.js'
import { RulesProblem, readPermissions } from '../shared/clients/client-rules.js'
import { findHome, type Places, type UserFile } from '../shared/clients/clients.js'
import { readSwitches } from '../shared/clients/disabled-servers.js'
import { createGatewayCheck } from '../shared/clients/toolwell-entry.js'
import { plural } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { askYes, isInteractive, painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { chooseMode } from './choose-mode.js'
import { digestBytes, findTargets, replaceFile, sweepDrafts } from './client-files.js'
import {
  type ClientFacts,
  type ClientPlan,
  type ConnectPlan,
  planConnect,
  type RefusedClient,
} from './connect-plan.js'
import { asRefusal, Refusal } from './edit/change.js'
import { listServers } from './list-servers.js'
import { checkLostRules, findAskRules } from './lost-rules.js'
import { type ClientRecord, openRecords, type Records, recordsFolder, withLock } from './records.js'
import { addServers, planPrune, prune } from './servers-file.js'
import { connectJson, connectText, question, refusalText } from './text.js'

export interface ConnectOptions {
  readonly clients: readonly string[]
  readonly profile: string | undefined
  /** Let clients share the processes of local servers. */
  readonly isShared: boolean
  readonly startsServers: boolean
  /** Undefined: every tool for clients that defer tools themselves. */
  readonly mode: 'search' | 'all' | undefined
  readonly acceptsLostRules: boolean
  readonly isDryRun: boolean
  readonly isYes: boolean
  readonly isJson: boolean
}

export async function runConnect(options: ConnectOptions, terminal: Terminal): Promise<ExitCode> {
  const { output, errors, env, folder, name } = terminal
  const { profile, isShared, startsServers, acceptsLostRules, isDryRun, isYes, isJson } = options
  const home = findHome(env)
  const places = { home, folder, platform: platform(), env }
  const targets = findTargets(places, options.clients)
  const facts = new Map<UserFile, ClientFacts>()
  for (const from of targets) facts.set(from, await findFacts(from, places, options))
  const records = openRecords(recordsFolder(env))
  const known = { isOff: readSwitches({ home, folder, env }), isGateway: await createGatewayCheck(terminal) }
  const plan = () => {
    try {
      return planConnect({ targets, records, known, profile, isShared, acceptsLostRules, facts }, terminal)
    } catch (error) {
      return throwAsProblem(defaultConfigFiles(folder, env)[0]?.path ?? '')(error)
    }
  }
  const shown = plan()
  if (profile !== undefined && !shown.profiles.includes(profile))
    throw new Problem(
      `Unknown profile ${JSON.stringify(profile)} in ${shown.servers.file}. Nothing was written.`,
      shown.profiles.length === 0
        ? 'Add the profile to "profiles" in that file first.'
        : `Known: ${shown.profiles.join(', ')}.`,
      { reason: 'unknown-profile' },
    )
  const isOpen = shown.clients.some(({ isDone }) => !isDone)
  if (!isJson) await output.write(connectText(shown, { home, folder }, painter(output, env)))
  const isWanted =
    !isDryRun && isOpen && (isYes || (!isJson && (await askYes(question(shown.clients, name), terminal))))
  let done: Connected = { written: [], refused: [] }
  if (isWanted)
    done = await withLock(records, async () => {
      const again = plan()
      if (!isSame(shown, again))
        throw new Problem(
          'A file changed after the preview. Nothing was written.',
          `Show the preview again with: ${name} connect`,
          { reason: 'changed' },
        )
      return writeConnect(again, records).catch(throwAsProblem(again.servers.file))
    })
  const refused = [...shown.refused, ...done.refused]
  if (isJson) await output.write(connectJson(shown, refused, isWanted, records.folder))
  else if (isWanted)
    await output.write(
      doneText(done, shortenPath(records.folder, { home, folder }), name) + exceptText(refused),
    )
  if (startsServers && done.written.length > 0 && shown.servers.read.size > 0) {
    const lines = await listServers(shown.servers.file, terminal)
    if (!isJson) await output.write(`${lines.join('\n')}\n`)
    else
      for (const line of lines) if (line.startsWith('!')) await errors.write(`toolwell: ${line.slice(2)}\n`)
  }
  for (const { from, refusal } of isJson ? refused : done.refused)
    await errors.write(`toolwell: ${from.file}: ${refusalText(refusal)}\n`)
  if (!isWanted && isOpen && !isDryRun)
    await errors.write(
      `toolwell: Nothing was written.${isJson || !isInteractive(terminal) ? ' To write it, add --yes.' : ''}\n`,
    )
  return refused.length > 0 || (isOpen && !isWanted && !isDryRun) ? 1 : 0
}

async function findFacts(from: UserFile, places: Places, options: ConnectOptions): Promise<ClientFacts> {
  const { mode: wanted, acceptsLostRules } = options
  try {
    const permissions = await readPermissions(from.client, places)
    if (!acceptsLostRules) await checkLostRules(from, places)
    const mode =
      wanted === undefined
        ? await chooseMode(from.client, places)
        : { isAll: wanted === 'all', why: `of --mode ${wanted}` }
    return { found: permissions?.found ?? [], lostAsk: findAskRules(from, places), mode }
  } catch (error) {
    const refusal =
      error instanceof RulesProblem
        ? new Refusal(error.message, 'Then run this command again')
        : asRefusal(error)
    return { found: [], mode: undefined, refusal }
  }
}

function doneText({ written }: Connected, copies: string, name: string): string {
  const changed = written.filter(({ isDone }) => !isDone)
  const labels = [...new Set(changed.map(({ from }) => from.label))].join(', ')
  const moved = new Set(changed.flatMap(({ taken }) => taken.map(({ as }) => as))).size
  return labels === ''
    ? '\nNothing to do: another process has connected the clients.\n'
    : `\nConnected: ${labels}, with ${plural(moved, 'server')} behind Toolwell. Restart ${changed.length === 1 ? 'it' : 'them'}.\nCopies of the files are in ${copies}. To restore them: ${name} undo\n`
}

function exceptText(refused: readonly RefusedClient[]): string {
  const labels = [...new Set(refused.map(({ from }) => from.label))].join(', ')
  return labels === '' ? '' : `Done, except for ${labels}. The reason is above.\n`
}

function isSame(a: ConnectPlan, b: ConnectPlan): boolean {
  const gist = ({ clients, servers }: ConnectPlan) =>
    JSON.stringify([
      servers.next,
      clients.map(({ from, next, base }) => [from.file, next.toString('base64'), base?.toString('base64')]),
    ])
  return gist(a) === gist(b)
}

/** If toolwell.json cannot be changed, no client is changed either. */
function throwAsProblem(file: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Refusal)) throw error
    const line = error.line === undefined ? '' : `:${error.line}`
    throw new Problem(`${file}${line}: ${error.message}. No client was changed.`, `${error.fix}.`, {
      reason: 'unwritable',
    })
  }
}

export interface Connected {
  readonly written: readonly ClientPlan[]
  readonly refused: readonly RefusedClient[]
}

/** Writes toolwell.json before the clients, so that a crash can duplicate a server but never lose it. */
export async function writeConnect(plan: ConnectPlan, records: Records): Promise<Connected> {
  const { file, add, next } = plan.servers
  await addServers(records, file, add, next)
  const written: ClientPlan[] = []
  const refused: RefusedClient[] = []
  for (const client of plan.clients) {
    const before = records.clients().find(({ real }) => real === client.state.real)
    const record = createRecord(client, before)
    records.write(record, client.base)
    try {
      if (client.isDone) sweepDrafts(client.state.real)
      else await replaceFile(client.state, client.next)
      written.push(client)
    } catch (error) {
      if (before) records.write(before, records.before(before))
      else records.remove(record)
      refused.push({ from: client.from, refusal: asRefusal(error) })
    }
  }
  if (refused.length > 0) await pruneUnused(records)
  return { written, refused }
}

/** Removes servers from toolwell.json whose client could not be written. */
async function pruneUnused(records: Records): Promise<void> {
  const clients = records.clients()
  const used = new Set(clients.flatMap(({ taken }) => taken.map(({ as }) => as)))
  const pruned = planPrune(records, used, clients.length === 0)
  if (pruned) await prune(records, pruned)
}

function createRecord(
  { from, state, table, base, next, taken, ownBefore, isRebased }: ClientPlan,
  before: ClientRecord | undefined,
): ClientRecord {
  return {
    format: 1,
    client: from.client,
    label: from.label,
    shape: from.shape,
    file: from.file,
    real: state.real,
    table,
    ...dropUndefined({ before: digestBytes(base) }),
    after: digestBytes(next) ?? '',
    ...dropUndefined({ made: before?.made ?? state.missing }),
    taken,
    ...dropUndefined({
      replaced: ownBefore,
      isRebased: isRebased ? (true as const) : undefined,
      mode: state.bytes === undefined ? before?.mode : state.mode,
    }),
  }
}
