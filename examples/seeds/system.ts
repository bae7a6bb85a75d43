/** Describes a system for the task: how it registers tools, how its model searches, and its own API. */
import { type Conversation, defineTool, type Tool, type Toolwell } from '@toolwell/core'

export interface SeedSystem {
  readonly name: string
  readonly loader: string
  /** Registers the system's own tools and the deferred tools of the tracker. */
  open(own: readonly Tool[], tracker: readonly Tool[]): Toolwell
  /** Input of the loader. */
  readonly ask: Readonly<Record<string, unknown>>
  /** Name under which the tool is then called. */
  readonly target: string
  /** Output of the system API afterwards. */
  report(conversation: Conversation): readonly string[]
}

export const task = 'Close issue 7.'

/** Appears only in the schema of the tool that the task needs. */
export const MARK = 'The number of the issue to close'

export function createTools(): { own: Tool[]; tracker: Tool[]; done: string[] } {
  const done: string[] = []
  const make = (name: string, description: string, parameter = 'The number of the issue'): Tool =>
    defineTool({
      name,
      description,
      inputSchema: {
        type: 'object',
        properties: { number: { type: 'integer', description: parameter } },
        required: ['number'],
      },
      execute: ({ number }) => {
        done.push(`${name} ${number}`)
        return `${name} ${number}: done`
      },
    })
  const text = { type: 'string' }
  return {
    done,
    own: [
      defineTool({
        name: 'read',
        description: 'Reads a file.',
        inputSchema: { type: 'object', properties: { path: text }, required: ['path'] },
      }),
      defineTool({
        name: 'bash',
        description: 'Runs a command.',
        inputSchema: { type: 'object', properties: { command: text }, required: ['command'] },
      }),
    ],
    tracker: [
      make('list_issues', 'Lists issues, newest first.'),
      make('close_issue', 'Closes one issue.', MARK),
      make('comment_issue', 'Comments on one issue.'),
      make('assign_issue', 'Gives one issue to somebody.'),
      make('label_issue', 'Puts a label on one issue.'),
    ],
  }
}
