/**
 * `npm run examples -- seeds [--json]`: plays one task in the systems that Toolwell comes from, each with its own names, over a
 * real wire.
 */
import { loadTokenizer } from '@toolwell/core'
import { bold, cyan, dim, green, heading, line, row } from './proof/print.ts'
import { calibanSystem } from './seeds/caliban.ts'
import { pawworkSystem } from './seeds/pawwork.ts'
import { type Played, play, type Sent } from './seeds/play.ts'
import { qwenCodeSystem } from './seeds/qwen-code.ts'
import { sfSystem } from './seeds/sf.ts'
import { superAgentSystem } from './seeds/super-agent.ts'
import { task } from './seeds/system.ts'

/** Most lines of a text shown. */
const MOST_LINES = 14
const WIDTH = 120
const systems = [sfSystem, superAgentSystem, qwenCodeSystem, calibanSystem, pawworkSystem]
const tokenizer = await loadTokenizer()
const played: Played[] = []
for (const system of systems) played.push(await play(system, tokenizer))

if (process.argv.includes('--json')) line(JSON.stringify({ task, systems: played }, null, 2))
else {
  line(`The task, in all of them: ${task} ${dim('(the model is scripted; the loop and the wire are real)')}`)
  line()
  overview(played)
  for (const each of played) show(each)
}

/** All systems in one table. */
function overview(all: readonly Played[]): void {
  const cells = [
    ['system', 'the model asks', 'and then calls', 'tools', 'tokens of the request'],
    ...all.map(({ system, loader, ask, before, after, target }) => [
      system,
      `${loader} ${Object.values(ask).join(', ')}`,
      target,
      `${before.tools.length} → ${after.tools.length}`,
      `${before.tokens} → ${after.tokens}`,
    ]),
  ]
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((each) => each[column]?.length ?? 0)),
  )
  for (const [index, each] of cells.entries()) line(index === 0 ? bold(row(each, widths)) : row(each, widths))
}

function show({ system, loader, ask, before, answer, after, target, report }: Played): void {
  heading(system)
  request('before', before)
  line(`  model   ${cyan(loader)} ${JSON.stringify(ask)}`)
  quoted('answer', answer)
  request('after', after, before)
  line(`  model   ${cyan(target)} {"number":7}`)
  for (const fact of report) line(`  then    ${fact}`)
}

/** For a later request, shows only what is new. */
function request(label: string, sent: Sent, earlier?: Sent): void {
  const names = sent.tools.map((name) => (earlier && !earlier.tools.includes(name) ? green(name) : name))
  line(`  ${label.padEnd(6)}  ${names.join(', ')} ${dim(`(${sent.toolTokens} tokens)`)}`)
  if (sent.section !== (earlier?.section ?? '')) quoted('prompt', sent.section)
  if (sent.loader !== (earlier?.loader ?? '')) quoted('loader', sent.loader)
  quoted('told', sent.told)
}

function quoted(label: string, text: string): void {
  const lines = text.split('\n').flatMap(wrapped)
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES - 1), '…'] : lines
  for (const [index, each] of shown.entries())
    line(`  ${(index === 0 ? label : '').padEnd(6)}  ${dim(`│ ${each}`)}`)
}

/** Returns no line for empty text. */
function wrapped(text: string): readonly string[] {
  return text.match(new RegExp(`\\S.{0,${WIDTH - 1}}(?=\\s|$)|\\S{${WIDTH}}`, 'g')) ?? []
}
