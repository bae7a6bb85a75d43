/** Tools for tests: small, named for what they prove. */
import type { Tool } from '@toolwell/core'

export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `Does ${name.replaceAll('_', ' ')}`,
    inputSchema: {
      type: 'object',
      properties: { value: { type: 'string', description: `The value for ${name}` } },
      additionalProperties: false,
    },
    execute: (input) => `${name} ran with ${JSON.stringify(input)}`,
    ...more,
  }
}

/** `count` deferred tools of one server, each different enough to be found. */
export function server(source: string, names: readonly string[], more: Partial<Tool> = {}): Tool[] {
  return names.map((name) => tool(name, { source, ...more }))
}

/** Eager, deferred, grouped, aliased: the usual mix. */
export function mixed(): Tool[] {
  return [
    tool('read_file'),
    tool('write_file'),
    ...server('tracker', ['create_issue', 'close_issue', 'list_issues', 'assign_issue']),
    ...server('calendar', ['create_event', 'cancel_event', 'find_slot']),
    ...server('git', ['enter_worktree', 'exit_worktree'], {
      group: 'worktree',
      insteadOf: 'use this, not git worktree in a shell',
    }),
  ]
}
