/** Prints the plan of `connect` as text or JSON, without values of the servers' environment variables and headers. */
import { dropUndefined, firstLine } from '@toolwell/core/internal'
import { additionLines, describeEndpoint, shortenPath } from '../import/text.js'
import { ENTRY_NAME } from '../shared/clients/toolwell-entry.js'
import { plural, sentence } from '../shared/layout.js'
import type { Paint } from '../shared/terminal.js'
import type { ClientPlan, ConnectPlan, RefusedClient } from './connect-plan.js'
import type { Refusal } from './edit/change.js'

interface Near {
  readonly home: string
  readonly folder: string
}

export function connectText({ servers, clients, refused }: ConnectPlan, near: Near, paint: Paint): string {
  const lines = clients.flatMap((client) => clientLines(client, near, paint))
  for (const { from, refusal } of refused) lines.push(...refusedLines(from, refusal, near, paint))
  if (servers.add.length > 0) {
    lines.push(paint(`For ${shortenPath(servers.file, near)}`, 'bold'))
    for (const addition of servers.add)
      lines.push(...additionLines(addition, servers.read.get(addition.name), servers.problems, paint))
    if (servers.add.some(({ entry }) => entry.share === 'client'))
      lines.push('  Each client keeps its own process of a local server. To share one, add --share.')
    lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

function clientLines(
  { from, state, taken, earlier, replaced, stays, notes, line, variables, denied, mode, isDone }: ClientPlan,
  near: Near,
  paint: Paint,
): string[] {
  const head = `${paint(from.label, 'bold')}  ${shortenPath(from.file, near)}`
  const place = state.real === from.file ? '' : `  (a link to ${shortenPath(state.real, near)})`
  const changes = isDone
    ? ['  is already connected']
    : [
        ...taken
          .filter(({ name }) => !earlier.has(name))
          .map(({ name, as }) => `  - ${firstLine(name, 60)}  ${goesTo(name, as)}`),
        ...(replaced === undefined ? [] : [`  - ${ENTRY_NAME}  ${firstLine(replaced, 500)}`]),
        `  + ${paint(ENTRY_NAME, 'name')}  ${line.join(' ')}`,
        ...Object.entries(variables).map(([name, place]) => `    sets ${name}=${shortenPath(place, near)}`),
      ]
  return [
    `${head}${place}${state.bytes === undefined ? '  (a new file)' : ''}`,
    ...changes,
    ...(mode
      ? [`    ${mode.isAll ? 'lists every tool' : 'lists the four tools of Toolwell'}, because ${mode.why}`]
      : []),
    ...denied.map(({ text, file }) => `    denied  ${firstLine(text, 200)}  (${shortenPath(file, near)})`),
    ...[...stays].map(([name, why]) => `    ${firstLine(name, 60)}  stays: ${sentence(firstLine(why, 300))}`),
    ...notes.map((note) => `  ! ${note}`),
    '',
  ]
}

function goesTo(name: string, as: string): string {
  return as === name ? 'moves to toolwell.json' : `moves to toolwell.json as ${firstLine(as, 80)}`
}

export function refusedLines(
  { label, file }: { readonly label: string; readonly file: string },
  refusal: Refusal,
  near: Near,
  paint: Paint,
): string[] {
  return [
    `${paint(label, 'bold')}  ${shortenPath(file, near)}`,
    `  ${paint('!', 'error')} ${refusalText(refusal)} The file was skipped.`,
    '',
  ]
}

/** Two sentences: the problem with its line, and the fix. */
export function refusalText({ message, fix, line }: Refusal): string {
  const where = line === undefined ? '' : ` (line ${line})`
  return `${sentence(upperFirst(`${firstLine(message, 300)}${where}`))} ${sentence(firstLine(fix, 300))}`
}

function upperFirst(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

export function question(clients: readonly ClientPlan[], name: string): string {
  const open = clients.filter(({ isDone }) => !isDone)
  return `\nWrite ${plural(open.length, 'file')}? A copy of each is saved, and "${name} undo" restores it.`
}

export function connectJson(
  plan: ConnectPlan,
  refused: readonly RefusedClient[],
  isWritten: boolean,
  folder: string,
): string {
  const { servers } = plan
  const isRefused = (client: ClientPlan) => refused.some(({ from }) => from === client.from)
  const value = {
    written: isWritten,
    backups: folder,
    clients: plan.clients
      .filter((client) => !isRefused(client))
      .map((client) => ({
        client: client.from.client,
        file: client.from.file,
        ...(client.state.real === client.from.file ? {} : { target: client.state.real }),
        state: client.isDone || isWritten ? 'connected' : 'planned',
        changed: !client.isDone,
        taken: client.taken.map(({ name, as }) => ({ name, as })),
        ...dropUndefined({ replaced: client.replaced }),
        sets: client.variables,
        stays: Object.fromEntries(client.stays),
        denied: client.denied.map(({ text, file }) => ({ rule: text, file })),
        ...dropUndefined({ mode: client.mode && (client.mode.isAll ? 'all' : 'search') }),
        notes: client.notes,
      })),
    refused: refused.map(({ from, refusal }) => refusedJson(from, refusal)),
    servers: {
      file: servers.file,
      added: servers.add.map(({ name, entry, from, left }) => ({
        name,
        endpoint: describeEndpoint(entry, servers.read.get(name)),
        from: from.map(({ file }) => file),
        ...dropUndefined({ share: entry.share }),
        left,
      })),
    },
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

export function refusedJson(
  { client, file }: { readonly client: string; readonly file: string },
  { message, fix, line }: Refusal,
) {
  return { client, file, message, fix, ...dropUndefined({ line }) }
}
