/** The tracker server: issues, milestones and the links between them. */
import type { Tool } from '@toolwell/core'
import { choice, flag, integer, list, number, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'
import {
  date,
  environment,
  filters,
  issueNumber,
  kinds,
  label,
  priorities,
  relations,
  reporter,
  settable,
} from './tracker-schema.ts'
import { createTracker } from './tracker-store.ts'

export function createTrackerTools(store: Store): Tool[] {
  const tracker = createTracker(store)
  return [
    {
      name: 'create_issue',
      description: prose(
        'Open a new issue in the tracker and return it with its number.',
        'Search first: a second report of a known fault belongs in a comment. For a bug give steps,',
        'expected and actual behaviour in the body and fill in environment. Milestone and linked issues',
        'have to exist already.',
      ),
      inputSchema: object(
        {
          title: text('What is wrong or wanted, in one line without a final full stop.', {
            minLength: 3,
            maxLength: 140,
          }),
          body: text('The full report in Markdown. Issue numbers written as #12 become links.', {
            default: '',
          }),
          kind: choice(kinds, 'What sort of work this is.', { default: 'task' }),
          priority: choice(priorities, 'urgent stops other work; high comes next; low may wait for months.', {
            default: 'normal',
          }),
          labels: list(label, 'Labels to put on the issue; unknown ones come into being.', {
            uniqueItems: true,
            maxItems: 20,
          }),
          assignees: list(text('A user name.'), 'Who is to work on it. Leave out when that is still open.', {
            maxItems: 5,
          }),
          milestone: text('Name of an existing milestone.'),
          estimate: number('Expected effort in hours.', { minimum: 0, maximum: 1000 }),
          due_date: date('Day by which it has to be finished.'),
          environment,
          reporter,
          attachments: list(
            object(
              {
                path: text('A file that exists, relative to the workspace folder.', { minLength: 1 }),
                caption: text('What it shows.', { maxLength: 200 }),
              },
              ['path'],
            ),
            'Logs, screenshots or documents that belong to the report.',
            { maxItems: 10 },
          ),
          checklist: list(
            object({ text: text('One verifiable step.'), done: flag('Whether it is finished.', false) }, [
              'text',
            ]),
            'Steps that must be finished before the issue can be closed as done.',
            { maxItems: 30 },
          ),
          links: list(
            object(
              {
                number: issueNumber('Number of the other issue.'),
                relation: choice(relations, 'How the new issue relates to the other one.', {
                  default: 'relates_to',
                }),
              },
              ['number'],
            ),
            'Existing issues to link to. The opposite link is set on the other side.',
          ),
        },
        ['title'],
      ),
      annotations: { title: 'Create issue', readOnlyHint: false, destructiveHint: false },
      domain: 'planning',
      aliases: ['new_issue'],
      searchHint: 'ticket bug report file report task backlog',
      guidelines: ['Search for an existing issue before you create one.', 'One fault per issue.'],
      execute: tracker.createIssue,
    },
    {
      name: 'open_issue',
      description: 'Old name of create_issue, kept for clients that still call it.',
      inputSchema: object(
        {
          title: text('What is wrong or wanted, in one line.', { minLength: 3, maxLength: 140 }),
          body: text('The full report in Markdown.'),
          labels: list(label, 'Labels to put on the issue.'),
        },
        ['title'],
      ),
      canonicalName: 'create_issue',
      annotations: { readOnlyHint: false, destructiveHint: false },
      domain: 'planning',
      execute: tracker.createIssue,
    },
    {
      name: 'get_issue',
      description: prose(
        'Read one issue with its comments, links and checklist.',
        'Comments come oldest first; of a long thread only the newest comment_limit are returned.',
      ),
      inputSchema: object(
        {
          number: issueNumber(),
          include: list(
            choice(['comments', 'links', 'checklist'], 'A part of the issue.'),
            'Parts to return besides the fields of the issue itself. Default: all of them.',
            { uniqueItems: true },
          ),
          comment_limit: integer('Most comments to return.', { minimum: 1, maximum: 200, default: 20 }),
          internal_comments: flag('Also return comments that only the team may read.', false),
        },
        ['number'],
      ),
      annotations: { title: 'Get issue', readOnlyHint: true },
      domain: 'planning',
      searchHint: 'ticket details show view',
      execute: tracker.getIssue,
    },
    {
      name: 'list_issues',
      description: prose(
        'List issues that satisfy every given condition, one page at a time.',
        'Returns summaries without bodies or comments; read a single issue with get_issue. To look for',
        'words use search_issues. The total counts all matches, not only those of the page.',
      ),
      inputSchema: object({
        ...filters,
        sort: choice(
          ['number', 'priority', 'due_date'],
          'Order of the list; issues without a due date come last.',
          {
            default: 'number',
          },
        ),
        direction: choice(['ascending', 'descending'], 'Which end comes first.', { default: 'ascending' }),
        page: integer('Which page to return, counted from 1.', { minimum: 1, default: 1 }),
        page_size: integer('Issues on one page.', { minimum: 1, maximum: 100, default: 25 }),
      }),
      annotations: { title: 'List issues', readOnlyHint: true },
      domain: 'planning',
      searchHint: 'tickets backlog filter assigned open bugs',
      execute: tracker.listIssues,
    },
    {
      name: 'search_issues',
      description: prose(
        'Find issues by the words in their title, body or comments.',
        'Words are matched without regard to case, also inside longer words. Hits in the title count',
        'twice.',
      ),
      inputSchema: object(
        {
          query: text('Words to look for, separated by blanks.', { minLength: 2, maxLength: 200 }),
          match: choice(['all', 'any'], 'Whether an issue must contain every word or any of them.', {
            default: 'all',
          }),
          fields: list(
            choice(['title', 'body', 'comments', 'labels'], 'A field.'),
            'Fields to look into. Default: title, body and comments.',
            { uniqueItems: true, minItems: 1 },
          ),
          state: choice(['open', 'closed', 'any'], 'Which issues to consider.', { default: 'any' }),
          labels: list(label, 'Only issues that carry all of these labels.'),
          limit: integer('Most results to return, best first.', { minimum: 1, maximum: 50, default: 10 }),
        },
        ['query'],
      ),
      annotations: { title: 'Search issues', readOnlyHint: true },
      domain: 'planning',
      searchHint: 'find duplicate tickets full text',
      execute: tracker.searchIssues,
    },
    {
      name: 'update_issue',
      description: prose(
        'Change fields, labels or checklist of one issue.',
        'Only what is given changes. Labels are added and removed one by one, while assignees are',
        'replaced as a whole. A note is stored as a comment, so that readers learn why something changed.',
      ),
      inputSchema: object(
        {
          number: issueNumber('Number of the issue to change.'),
          set: object(settable, [], { description: 'Fields and their new values.', minProperties: 1 }),
          add_labels: list(label, 'Labels to add.', { uniqueItems: true }),
          remove_labels: list(label, 'Labels to take off. Those it does not carry are ignored.', {
            uniqueItems: true,
          }),
          checklist: list(
            object(
              {
                position: integer('Which item, counted from 1.', { minimum: 1 }),
                done: flag('Its new state.', true),
              },
              ['position'],
            ),
            'Checklist items to tick or untick.',
          ),
          note: text('Why the issue changed, in a sentence.', { maxLength: 1000 }),
        },
        ['number'],
      ),
      annotations: { title: 'Update issue', readOnlyHint: false, idempotentHint: true },
      domain: 'planning',
      aliases: ['edit_issue'],
      searchHint: 'assign label reopen ticket reprioritise',
      execute: tracker.updateIssue,
    },
    {
      name: 'close_issue',
      description: prose(
        'Close an issue and record why.',
        'An issue with open checklist items cannot be closed as done unless ignore_checklist is set.',
      ),
      inputSchema: object(
        {
          number: issueNumber('Number of the issue to close.'),
          resolution: choice(
            ['done', 'duplicate', 'not_planned', 'cannot_reproduce'],
            'Why it is closed. duplicate also needs duplicate_of.',
          ),
          duplicate_of: issueNumber('The issue in which the work goes on; both get linked.'),
          comment: text('Last word to the people who follow the issue, in Markdown.'),
          ignore_checklist: flag('Close as done although checklist items are open.', false),
        },
        ['number', 'resolution'],
      ),
      annotations: {
        title: 'Close issue',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'planning',
      searchHint: 'resolve finish ticket done',
      execute: tracker.closeIssue,
    },
    {
      name: 'comment_on_issue',
      description: prose(
        'Add a comment to an issue, or answer an earlier one.',
        'Comments cannot be changed afterwards. Works on closed issues too and does not reopen them.',
      ),
      inputSchema: object(
        {
          number: issueNumber(),
          body: text('The comment in Markdown.', { minLength: 1, maxLength: 20000 }),
          author: text('User name to show as its author.', { default: 'assistant' }),
          reply_to: integer('Id of the comment that this one answers.', { minimum: 1 }),
          visibility: choice(['everyone', 'team'], 'Who may read it. team hides it from reporters outside.', {
            default: 'everyone',
          }),
        },
        ['number', 'body'],
      ),
      annotations: { title: 'Comment on issue', readOnlyHint: false, destructiveHint: false },
      domain: 'planning',
      aliases: ['add_comment'],
      searchHint: 'reply respond note ticket',
      execute: tracker.commentOnIssue,
    },
    {
      name: 'link_issues',
      description: prose(
        'Relate one issue to others: blocking, duplicate, parent, or plainly related.',
        'The opposite relation is stored on the other issues. Linking twice changes nothing.',
      ),
      inputSchema: object(
        {
          from: issueNumber('The issue the relation is read from, as in "from blocks to".'),
          relation: choice(relations, 'How from relates to each issue of to.'),
          to: list(issueNumber('Number of another issue.'), 'The other issues.', {
            minItems: 1,
            maxItems: 20,
            uniqueItems: true,
          }),
        },
        ['from', 'relation', 'to'],
      ),
      annotations: { title: 'Link issues', readOnlyHint: false, idempotentHint: true },
      domain: 'planning',
      searchHint: 'dependency blocker subtask epic',
      execute: tracker.linkIssues,
    },
    {
      name: 'create_milestone',
      description: prose(
        'Create a milestone that issues can be planned into.',
        'Names are unique. Issues given in adopt_issues move here from any milestone they were in before.',
      ),
      inputSchema: object(
        {
          name: text('Short unique name, often a version.', {
            minLength: 1,
            maxLength: 60,
            examples: ['2.4.0'],
          }),
          description: text('What is true when the milestone is reached, in Markdown.'),
          start_date: date('First day of work on it.'),
          due_date: date('Day on which it is to be reached.'),
          goals: list(text('One outcome that can be checked.'), 'What it is for, most important first.', {
            maxItems: 10,
          }),
          adopt_issues: list(issueNumber(), 'Issues to move into the milestone at once.', {
            uniqueItems: true,
          }),
        },
        ['name', 'due_date'],
      ),
      annotations: { title: 'Create milestone', readOnlyHint: false, destructiveHint: false },
      domain: 'planning',
      searchHint: 'sprint iteration roadmap plan',
      execute: tracker.createMilestone,
    },
    {
      name: 'milestone_progress',
      description: prose(
        'Report how much of a milestone is finished and whether it is overdue.',
        'Closed issues count as finished whatever their resolution.',
      ),
      inputSchema: object(
        {
          name: text('Name of the milestone.'),
          weigh_by: choice(['count', 'estimate'], 'Count each issue once, or by its estimate in hours.', {
            default: 'count',
          }),
          as_of: date('Day on which to judge whether it is overdue. Default: today.'),
          include_issues: flag('Also return a summary of every issue.', false),
        },
        ['name'],
      ),
      annotations: { title: 'Milestone progress', readOnlyHint: true },
      domain: 'planning',
      searchHint: 'burndown sprint status percent complete',
      execute: tracker.milestoneProgress,
    },
    {
      name: 'triage_issues',
      description: prose(
        'Apply the same changes to every issue that a filter selects.',
        'Runs dry unless told otherwise: look at the issues it would change, then call again with dry_run',
        'false. Refuses to touch more issues than expected_at_most.',
      ),
      inputSchema: object(
        {
          filter: object(filters, [], {
            description: 'Which issues to change; conditions are combined with "and".',
          }),
          changes: object(
            {
              kind: settable.kind,
              priority: settable.priority,
              milestone: settable.milestone,
              assignees: settable.assignees,
              due_date: settable.due_date,
              add_labels: list(label, 'Labels to add to each.'),
              remove_labels: list(label, 'Labels to take off each.'),
            },
            [],
            { description: 'What to change on each of them.', minProperties: 1 },
          ),
          expected_at_most: integer('Fail when the filter selects more issues than this.', {
            minimum: 1,
            maximum: 500,
            default: 50,
          }),
          dry_run: flag('Only report what would change.', true),
        },
        ['filter', 'changes'],
      ),
      annotations: {
        title: 'Triage issues',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
      },
      domain: 'planning',
      searchHint: 'bulk edit mass update backlog grooming',
      execute: tracker.triageIssues,
    },
  ]
}
