/** `toolwell learn`: what a file of learned uses holds, and forgetting it. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { UsageExample } from '@toolwell/core'
import { sourceOfId } from '@toolwell/core/internal'
import { fileUsage } from '@toolwell/core/usage'
import { plural } from '../shared/layout.js'
import { Problem, usageProblem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import { defineVerb, type ExitCode } from '../shared/verb.js'

/** Tools that a status names. */
const SHOWN = 20

export const learn = defineVerb({
  name: 'learn',
  summary: 'See what searches have learned from use, or forget it.',
  usage: ['status --usage FILE [flags]', 'forget --usage FILE [--tool ID] [flags]'],
  takesWords: true,
  flags: {
    usage: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The file that your host keeps with fileUsage.',
    },
    tool: { type: 'string', valueHint: 'ID', description: 'Only this tool, by its id (server/name).' },
    json: { type: 'boolean', description: 'The outcome as JSON.' },
  },
  notes: [
    'The file holds ids of tools and hashes of words: no text of any query. To add queries of your own, see search --feedback --usage.',
  ],
  examples: [
    { line: 'toolwell learn status --usage usage.jsonl', about: 'how many uses of which tools' },
    { line: 'toolwell learn forget --usage usage.jsonl --tool tracker/create_issue', about: 'of one tool' },
    { line: 'toolwell learn forget --usage usage.jsonl', about: 'everything' },
  ],
  exits: {
    0: 'Something is known, or was forgotten.',
    1: 'Nothing is known.',
    2: 'Wrong arguments, or no such file.',
  },
  async run(flags, terminal) {
    const [action, ...more] = flags._
    if ((action !== 'status' && action !== 'forget') || more.length > 0)
      throw usageProblem('Say what to do: status or forget.', 'Write: toolwell learn status --usage FILE')
    if (flags.usage === undefined) throw usageProblem('No file is given.', 'Name it with --usage FILE.')
    const path = resolve(terminal.folder, flags.usage)
    if (!existsSync(path))
      throw new Problem(`There is no file ${flags.usage}.`, 'Check the path behind --usage.')
    const store = fileUsage(path)
    const refuse = (error: unknown) => {
      throw new Problem(
        error instanceof Error ? error.message : String(error),
        'Check the file behind --usage.',
      )
    }
    const known = await store.read().catch(refuse)
    const isAsked = (tool: string) => [undefined, tool, asShown(tool)].includes(flags.tool)
    const chosen = known.filter(({ tool }) => isAsked(tool))
    if (action === 'forget' && flags.tool === undefined) await store.forget({}).catch(refuse)
    else if (action === 'forget')
      for (const tool of new Set(chosen.map((each) => each.tool))) await store.forget({ tool }).catch(refuse)
    return printOutcome(action, chosen, flags.json === true, terminal)
  },
})

/** As `search` prints it: an id writes a slash in the name of a server in another way. */
function asShown(id: string): string {
  const source = sourceOfId(id)
  return source === '' ? id : `${source}${id.slice(id.indexOf('/'))}`
}

async function printOutcome(
  action: 'status' | 'forget',
  examples: readonly UsageExample[],
  isJson: boolean,
  { output }: Terminal,
): Promise<ExitCode> {
  const counts = new Map<string, number>()
  for (const { tool } of examples) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  const tools = [...counts].map(([tool, uses]) => ({ tool, uses }))
  tools.sort((a, b) => b.uses - a.uses || (a.tool < b.tool ? -1 : 1))
  if (isJson) await output.write(`${JSON.stringify({ action, examples: examples.length, tools }, null, 2)}\n`)
  else {
    const verb = action === 'forget' ? 'Forgotten' : 'Learned'
    await output.write(`${verb}: ${plural(examples.length, 'use')} of ${plural(tools.length, 'tool')}.\n`)
    for (const { tool, uses } of tools.slice(0, SHOWN))
      await output.write(`${String(uses).padStart(4)}  ${JSON.stringify(tool).slice(1, -1)}\n`)
    if (tools.length > SHOWN) await output.write(`      … and ${tools.length - SHOWN} more\n`)
  }
  return examples.length > 0 ? 0 : 1
}
