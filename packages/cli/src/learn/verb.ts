/** `toolwell learn`: shows or deletes what searches have learned from use. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { UsageExample } from '@toolwell/core'
import { sourceOfId } from '@toolwell/core/internal'
import { fileUsage } from '@toolwell/core/usage'
import { plural } from '../shared/layout.js'
import { Problem, usageProblem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import { defineVerb, type ExitCode } from '../shared/verb.js'

/** Tools listed by `status`. */
const SHOWN = 20

export const learn = defineVerb({
  name: 'learn',
  summary: 'Show what searches have learned from use, or forget it.',
  usage: ['status --usage FILE [flags]', 'forget --usage FILE [--tool ID] [flags]'],
  takesWords: true,
  flags: {
    usage: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The usage file of your host (fileUsage).',
    },
    tool: { type: 'string', valueHint: 'ID', description: 'Only this tool, by its id (server/name).' },
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  notes: [
    'The file contains tool ids and hashes of words, but no query text. To add your own queries, see `toolwell search --help`\n(--feedback with --usage).',
  ],
  examples: [
    { line: 'toolwell learn status --usage usage.jsonl', about: 'count the uses of each tool' },
    {
      line: 'toolwell learn forget --usage usage.jsonl --tool tracker/create_issue',
      about: 'forget one tool',
    },
    { line: 'toolwell learn forget --usage usage.jsonl', about: 'forget everything' },
  ],
  exits: {
    0: 'The file has learned uses, or they were deleted.',
    1: 'The file has no learned uses.',
    2: 'Wrong arguments, or a missing file.',
  },
  async run(flags, terminal) {
    const [action, ...more] = flags._
    if ((action !== 'status' && action !== 'forget') || more.length > 0)
      throw usageProblem(
        'The action is missing: status or forget.',
        'Write: toolwell learn status --usage FILE',
      )
    if (flags.usage === undefined) throw usageProblem('The usage file is missing.', 'Add --usage FILE.')
    const path = resolve(terminal.folder, flags.usage)
    if (!existsSync(path))
      throw new Problem(`File not found: ${flags.usage}.`, 'Check the path after --usage.')
    const store = fileUsage(path)
    const refuse = (error: unknown) => {
      throw new Problem(
        error instanceof Error ? error.message : String(error),
        'Check the file given with --usage.',
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

/** The id as `search` prints it. Stored ids escape slashes in server names. */
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
