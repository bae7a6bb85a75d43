/** An extension of SF with its manifest, for the suite of the draft. */

import type { Tool, ToolwellOptions } from '@toolwell/core'
import { type SfToolSearchResult, sf, sfTools } from '@toolwell/presets'
import { mergeOptions } from '../../packages/core/test/support/merge-options.js'
import { makeTool, readable } from './seed-host.ts'

export const search = (input: object) => ({ name: 'sf_tool_search', arguments: input })
export const use = (name: string) => ({ name, arguments: { subject: 'it' } })
export const resultOf = (answer: string) => JSON.parse(readable(answer)) as SfToolSearchResult

export const MANIFEST = {
  provides: {
    tools: [
      'complete_task',
      'bash',
      {
        name: 'memory_graph',
        lazy: true,
        domain: 'memory',
        aliases: [],
        canonicalName: 'memory_graph',
        promptSnippet: 'Walk the web of related notes',
      },
      { name: 'memory_search', lazy: true, domain: 'memory', aliases: ['recall_notes'] },
      { name: 'find_memory', canonicalName: 'memory_search' },
      { name: 'query_journal', lazy: true, domain: 'evidence', guidelines: ['Quote the date of an entry.'] },
      { name: 'kill_agent', lazy: true, domain: 'execution', risk: 'destructive' },
    ],
  },
}

export const tools = (): Tool[] => [
  makeTool('complete_task', 'Marks a task as complete.'),
  makeTool('bash', 'Runs a command.'),
  makeTool('memory_graph', 'Inspects how stored records hang together.'),
  makeTool('memory_search', 'Finds stored records.'),
  makeTool('query_journal', 'Reads entries of the log book.'),
  makeTool('kill_agent', 'Ends a running helper.'),
]
export const options = (more: ToolwellOptions = {}): ToolwellOptions =>
  mergeOptions({ ...sf(), tools: sfTools(tools(), MANIFEST) }, more)

/** What the draft suggests to keep, and to make lazy. */
export const EAGER =
  'read edit write grep glob bash ls lsp checkpoint milestone_status save_summary plan_milestone plan_slice plan_task complete_task complete_slice complete_milestone validate_milestone reassess_roadmap subagent mcp_servers mcp_discover mcp_call'
export const LAZY =
  'await_subagent cancel_subagent read_subagent write_subagent memory_search memory_graph query_journal search_evidence sift_search codebase_search resume_agent kill_agent read_output report_issue resolve_issue record_gate chapter_open chapter_close context_board manage_todos audit_product'
export const named = (names: string) => names.split(' ').map((name) => makeTool(name, `Does ${name}.`))
