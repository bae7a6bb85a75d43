/** Parameters that several tools of the tracker server share. */
import { choice, flag, integer, list, number, object, text } from './schema.ts'

export const kinds = ['bug', 'feature', 'task', 'question', 'chore']
export const priorities = ['urgent', 'high', 'normal', 'low']
export const relations = [
  'blocks',
  'blocked_by',
  'duplicates',
  'duplicated_by',
  'parent_of',
  'child_of',
  'relates_to',
]
export const issueNumber = (description = 'Number of the issue.') => integer(description, { minimum: 1 })
export const date = (description: string) => text(description, { format: 'date', examples: ['2026-03-31'] })
export const label = text('A label, in lower case with hyphens.', { pattern: '^[a-z0-9-]+$', maxLength: 40 })

export const filters = {
  state: choice(['open', 'closed', 'any'], 'Which issues to consider by their state.', { default: 'open' }),
  labels: list(label, 'Labels an issue must carry.', { uniqueItems: true }),
  label_match: choice(['all', 'any'], 'Whether every label is needed or one suffices.', { default: 'all' }),
  kinds: list(choice(kinds, 'A kind of issue.'), 'Only issues of these kinds.'),
  priorities: list(choice(priorities, 'A priority.'), 'Only issues of these priorities.'),
  assignee: text('User name of an assignee; "none" selects issues that nobody has taken.'),
  milestone: text('Name of the milestone; "none" selects issues outside any milestone.'),
  due_before: date('Only issues due before this day. Issues without a due date never match.'),
}

export const settable = {
  title: text('New title.', { minLength: 3, maxLength: 140 }),
  body: text('New body in Markdown. Replaces the old one completely.'),
  kind: choice(kinds, 'New kind.'),
  priority: choice(priorities, 'New priority.'),
  milestone: text(
    'Name of an existing milestone, or an empty string to take the issue out of its milestone.',
  ),
  assignees: list(
    text('A user name.'),
    'The complete new list of assignees; an empty list unassigns everybody.',
  ),
  due_date: date('New due date.'),
  estimate: number('New estimate in hours.', { minimum: 0 }),
  state: choice(['open'], 'Give "open" to reopen a closed issue. To close one use close_issue.'),
}

export const environment = object(
  {
    version: text('Version in which the fault was seen.'),
    platform: choice(['linux', 'macos', 'windows', 'browser', 'other'], 'Where it was seen.'),
    frequency: choice(['always', 'often', 'sometimes', 'once'], 'How reliably it can be reproduced.'),
    regression: flag('Whether an earlier version did this right.', false),
  },
  [],
  { description: 'Circumstances of a bug. Leave out for other kinds.' },
)

export const reporter = object(
  {
    name: text('Name of the person.', { minLength: 1 }),
    email: text('Where to reach them.', { format: 'email' }),
    organisation: text('Company or team they speak for.'),
  },
  ['name'],
  { description: 'Who told us, when it was not the person you work for.' },
)
