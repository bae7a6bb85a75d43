/** One run through every tool of the workshop, in an order that works on a fresh folder. The test's table. */

export interface ExampleCall {
  tool: string
  input: Record<string, unknown>
  /** What the result has to contain; a string when the tool returns text. */
  result: string | Record<string, unknown>
  /** Files afterwards: some text each must contain, or null where there must be none. */
  files?: Record<string, string | null>
}

const ada = 'ada@example.com'
const ben = 'ben@example.com'
const week = { from: '2026-03-09T00:00:00Z', to: '2026-03-14T00:00:00Z' }

const fileCalls: ExampleCall[] = [
  {
    tool: 'write_file',
    input: { path: 'src/export.js', content: "export const VERSION = '1.4.0'\nexport const limit = 10\n" },
    result: { created: true },
    files: { 'src/export.js': 'limit = 10' },
  },
  {
    tool: 'write_file',
    input: { path: 'package.json', content: '{"name":"acorn","version":"1.4.0"}' },
    result: {},
  },
  {
    tool: 'edit_file',
    input: { path: 'src/export.js', edits: [{ old_text: 'limit = 10', new_text: 'limit = 100' }] },
    result: { replaced: 1, written: true },
    files: { 'src/export.js': 'limit = 100' },
  },
  {
    tool: 'read_file',
    input: { path: 'src/export.js', start_line: 2 },
    result: '2\texport const limit = 100',
  },
  { tool: 'list_folder', input: { pattern: '*.js' }, result: { entries: [{ path: 'src/export.js' }] } },
  {
    tool: 'search_text',
    input: { pattern: 'LIMIT', case_sensitive: false },
    result: { hits: [{ line: 2 }] },
  },
  {
    tool: 'ask_user',
    input: { question: 'Which format?', options: [{ label: 'CSV' }, { label: 'JSON', recommended: true }] },
    result: { answer: 'JSON' },
  },
  {
    tool: 'todo_write',
    input: { items: [{ text: 'Raise the limit', status: 'in_progress' }] },
    result: { steps: 1, current: 'Raise the limit' },
    files: { '.workshop/todo.json': 'Raise the limit' },
  },
]

const trackerCalls: ExampleCall[] = [
  {
    tool: 'create_milestone',
    input: { name: '1.5.0', due_date: '2026-03-31' },
    result: { name: '1.5.0', issues: [] },
  },
  {
    tool: 'create_issue',
    input: {
      title: 'Export stops after 10 rows',
      kind: 'bug',
      priority: 'high',
      labels: ['export'],
      milestone: '1.5.0',
      environment: { version: '1.4.0', platform: 'linux', frequency: 'always' },
      checklist: [{ text: 'Raise the limit' }],
      attachments: [{ path: 'src/export.js' }],
    },
    result: { number: 1, state: 'open' },
    files: { '.tracker/issues/1.json': 'Export stops' },
  },
  { tool: 'open_issue', input: { title: 'Exported rows are missing' }, result: { number: 2 } },
  {
    tool: 'get_issue',
    input: { number: 1, include: ['checklist'] },
    result: { checklist: [{ done: false }] },
  },
  {
    tool: 'list_issues',
    input: { kinds: ['bug'], sort: 'priority' },
    result: { total: 1, issues: [{ number: 1 }] },
  },
  { tool: 'search_issues', input: { query: 'export rows' }, result: { total: 2 } },
  {
    tool: 'update_issue',
    input: { number: 1, set: { assignees: ['ada'] }, add_labels: ['csv'], checklist: [{ position: 1 }] },
    result: { assignees: ['ada'], labels: ['export', 'csv'], checklist: [{ done: true }] },
  },
  {
    tool: 'comment_on_issue',
    input: { number: 1, body: 'Found it.' },
    result: { id: 1, author: 'assistant' },
  },
  {
    tool: 'link_issues',
    input: { from: 1, relation: 'relates_to', to: [2] },
    result: { links: [{ number: 2, relation: 'relates_to' }] },
  },
  {
    tool: 'triage_issues',
    input: { filter: { milestone: 'none' }, changes: { add_labels: ['unplanned'] }, dry_run: false },
    result: { written: true, issues: [{ number: 2, labels: ['unplanned'] }] },
  },
  {
    tool: 'close_issue',
    input: { number: 1, resolution: 'done', comment: 'Released in 1.5.0.' },
    result: { state: 'closed', resolution: 'done' },
  },
  { tool: 'milestone_progress', input: { name: '1.5.0' }, result: { closed: 1, total: 1, percent: 100 } },
]

const repositoryCalls: ExampleCall[] = [
  {
    tool: 'create_commit',
    input: { message: { summary: 'Begin' } },
    result: { branch: 'main', parents: [] },
  },
  {
    tool: 'edit_file',
    input: { path: 'src/export.js', edits: [{ old_text: '100', new_text: '500' }] },
    result: { replaced: 1 },
  },
  {
    tool: 'repository_status',
    input: {},
    result: { clean: false, changes: [{ path: 'src/export.js', change: 'modified' }] },
  },
  {
    tool: 'compare_revisions',
    input: { context_lines: 0 },
    result: {
      files: [
        {
          patch: '@@ -2,1 +2,1 @@\n-export const limit = 100\n+export const limit = 500',
          added: 1,
          removed: 1,
        },
      ],
    },
  },
  {
    tool: 'restore_files',
    input: { paths: ['src'] },
    result: { restored: ['src/export.js'] },
    files: { 'src/export.js': 'limit = 100' },
  },
  {
    tool: 'enter_worktree',
    input: { name: 'docs', purpose: 'Write a guide' },
    result: { branch: 'docs', folder: '.worktrees/docs' },
    files: { '.worktrees/docs/src/export.js': 'limit = 100' },
  },
  {
    tool: 'write_file',
    input: { path: '.worktrees/docs/guide.md', content: '# Guide\n' },
    result: { created: true },
  },
  {
    tool: 'list_worktrees',
    input: { include_changes: true },
    result: { active: 'docs', worktrees: [{ changes: [{ path: 'guide.md', change: 'added' }] }] },
  },
  { tool: 'create_commit', input: { message: { summary: 'Add a guide' } }, result: { branch: 'docs' } },
  {
    tool: 'exit_worktree',
    input: { action: 'remove' },
    result: { left: 'docs', now_on: 'main' },
    files: { '.worktrees/docs/guide.md': null, 'guide.md': null },
  },
  {
    tool: 'list_branches',
    input: { only_unmerged: true },
    result: { branches: [{ name: 'docs', ahead: 1 }] },
  },
  {
    tool: 'merge_branch',
    input: { source: 'docs' },
    result: { merged: true },
    files: { 'guide.md': '# Guide' },
  },
  {
    tool: 'list_commits',
    input: { limit: 2 },
    result: { total: 3, commits: [{ summary: 'Merge docs into main' }, {}] },
  },
  {
    tool: 'show_commit',
    input: { revision: 'docs', detail: 'patch' },
    result: { summary: 'Add a guide', changes: [{ path: 'guide.md', patch: '@@ -0,0 +1,1 @@\n+# Guide' }] },
  },
  { tool: 'create_branch', input: { name: 'fix/limit', start_point: 'docs' }, result: { name: 'fix/limit' } },
  { tool: 'switch_branch', input: { name: 'fix/limit' }, result: { branch: 'fix/limit', changed_files: 0 } },
]

const calendarCalls: ExampleCall[] = [
  {
    tool: 'create_event',
    input: {
      title: 'Stand-up',
      start: '2026-03-09T09:00:00Z',
      end: '2026-03-09T09:30:00Z',
      attendees: [{ email: ada }, { email: ben, optional: true }],
      recurrence: { frequency: 'weekly', weekdays: ['monday', 'wednesday'], count: 4 },
    },
    result: { id: 'event-1', conflicts: [] },
    files: { '.calendar/events.json': 'Stand-up' },
  },
  {
    tool: 'list_events',
    input: week,
    result: { total: 2, events: [{ start: '2026-03-09T09:00:00Z' }, { start: '2026-03-11T09:00:00Z' }] },
  },
  {
    tool: 'find_free_time',
    input: { ...week, attendees: [ada], duration_minutes: 60, limit: 1 },
    result: { slots: [{ start: '2026-03-09T09:30:00Z', end: '2026-03-09T10:30:00Z' }] },
  },
  {
    tool: 'respond_to_event',
    input: { id: 'event-1', attendee: ben, response: 'declined' },
    result: { attendees: [{ response: 'pending' }, { response: 'declined' }] },
  },
  {
    tool: 'update_event',
    input: { id: 'event-1', set: { start: '2026-03-09T10:00:00Z' } },
    result: { end: '2026-03-09T10:30:00Z', attendees: [{ response: 'pending' }, { response: 'pending' }] },
  },
  {
    tool: 'export_calendar',
    input: week,
    result: { path: 'calendar.ics', events: 1 },
    files: { 'calendar.ics': 'DTSTART:20260309T100000Z' },
  },
  { tool: 'cancel_event', input: { id: 'event-1' }, result: { cancelled: 'event', notified: [ada, ben] } },
]

const databaseCalls: ExampleCall[] = [
  {
    tool: 'create_table',
    input: {
      name: 'orders',
      primary_key: 'id',
      columns: [
        { name: 'id', type: 'integer', nullable: false },
        { name: 'city', type: 'text' },
        { name: 'pieces', type: 'integer', default: 1 },
        { name: 'price', type: 'decimal' },
      ],
    },
    result: { name: 'orders', row_count: 0 },
    files: { '.database/orders.json': 'pieces' },
  },
  {
    tool: 'insert_rows',
    input: {
      table: 'orders',
      rows: [
        { id: 1, city: 'Graz', pieces: 2, price: 4.5 },
        { id: 2, city: 'Linz', price: 3 },
        { id: 3, city: 'Graz', pieces: 4, price: 1 },
      ],
    },
    result: { inserted: 3, total: 3 },
  },
  {
    tool: 'update_rows',
    input: {
      table: 'orders',
      where: [{ column: 'id', value: 2 }],
      increment: { pieces: 2 },
      return_rows: true,
    },
    result: { changed: 1, rows: [{ id: 2, pieces: 3 }] },
  },
  {
    tool: 'write_file',
    input: { path: 'cities.csv', content: 'name,people\nGraz,300000\n"Linz",210000\n' },
    result: {},
  },
  {
    tool: 'import_csv',
    input: { path: 'cities.csv', table: 'cities', rename_columns: { name: 'city' } },
    result: {
      imported: 2,
      columns: [
        { name: 'city', type: 'text' },
        { name: 'people', type: 'integer' },
      ],
    },
  },
  {
    tool: 'describe_tables',
    input: { tables: ['cities'], sample_rows: 1 },
    result: { tables: [{ row_count: 2, sample: [{ city: 'Graz', people: 300000 }] }] },
  },
  {
    tool: 'query_rows',
    input: {
      table: 'orders',
      join: [{ table: 'cities', column: 'city' }],
      compute: [{ as: 'total', operation: 'multiply', columns: ['pieces', 'price'] }],
      where: [{ column: 'total', operator: 'at_least', value: 5 }],
      order_by: [{ column: 'total', direction: 'descending' }],
      select: ['id', 'total', 'cities.people'],
    },
    result: {
      rows: [
        { id: 1, total: 9, 'cities.people': 300000 },
        { id: 2, total: 9, 'cities.people': 210000 },
      ],
    },
  },
  {
    tool: 'aggregate_rows',
    input: {
      table: 'orders',
      group_by: ['city'],
      measures: [{ function: 'sum', column: 'pieces', as: 'sold' }],
      order_by: [{ column: 'sold', direction: 'descending' }],
    },
    result: {
      groups: [
        { city: 'Graz', sold: 6 },
        { city: 'Linz', sold: 3 },
      ],
    },
  },
  {
    tool: 'delete_rows',
    input: { table: 'orders', where: [{ column: 'city', value: 'Linz' }], backup_path: 'deleted.json' },
    result: { deleted: 1, remaining: 2 },
    files: { 'deleted.json': 'Linz', '.database/orders.json': 'Graz' },
  },
  {
    tool: 'export_table',
    input: { table: 'orders', path: 'orders.csv', select: ['id', 'pieces'] },
    result: { rows: 2 },
    files: { 'orders.csv': 'id,pieces\n1,2\n3,4\n' },
  },
]

const releaseCalls: ExampleCall[] = [
  {
    tool: 'edit_manifest',
    input: { set: [{ field: ['scripts', 'build'], value: 'node build.js' }] },
    result: { manifest: { version: '1.4.0', scripts: { build: 'node build.js' } } },
  },
  {
    tool: 'bump_version',
    input: { level: 'minor', also_update: [{ path: 'src/export.js', text: "VERSION = '{version}'" }] },
    result: { from: '1.4.0', to: '1.5.0' },
    files: { 'package.json': '"version": "1.5.0"', 'src/export.js': "VERSION = '1.5.0'" },
  },
  {
    tool: 'add_changelog_entry',
    input: { group: 'Fixed', text: 'Exports contain all rows.', issues: [1] },
    result: { entry: 'Exports contain all rows. (#1)' },
    files: { 'CHANGELOG.md': '## [Unreleased]\n\n### Fixed\n- Exports contain all rows. (#1)' },
  },
  {
    tool: 'cut_changelog',
    input: { version: '1.5.0' },
    result: { date: '2026-03-02', entries: 1 },
    files: { 'CHANGELOG.md': '## [1.5.0] - 2026-03-02' },
  },
  {
    tool: 'write_release_notes',
    input: { version: '1.5.0', title: 'Acorn 1.5', contributors: ['Ada'] },
    result: { output: 'release-notes/1.5.0.md' },
    files: { 'release-notes/1.5.0.md': '# Acorn 1.5\n\n### Fixed\n- Exports contain all rows.' },
  },
  {
    tool: 'checksum_artefacts',
    input: { include: ['src/**'] },
    result: { artefacts: [{ path: 'src/export.js' }] },
    files: { 'checksums.txt': '  src/export.js\n' },
  },
  { tool: 'verify_artefacts', input: {}, result: { intact: true, results: [{ result: 'intact' }] } },
  {
    tool: 'publish_release',
    input: {
      version: '1.5.0',
      artefacts: [{ path: 'src/export.js', kind: 'source' }],
      rollout: { strategy: 'staged', stages: [{ percent: 10 }, { percent: 100, after_hours: 24 }] },
      announcements: [{ medium: 'blog', body: 'It is out.' }],
    },
    result: { published: true, previous: null, artefacts: 1 },
    files: {
      '.release/releases/1.5.0.json': 'Exports contain all rows',
      '.release/channels/stable.json': '1.5.0',
      '.release/announcements/1.5.0-1-blog.md': 'It is out.',
    },
  },
]

const mailCalls: ExampleCall[] = [
  {
    tool: 'create_draft',
    input: { to: [{ email: ada, name: 'Ada' }], subject: 'Acorn 1.5', body: { content: 'It is out.' } },
    result: { id: 'message-1', folder: 'drafts' },
    files: { '.mail/messages/message-1.json': 'It is out.' },
  },
  {
    tool: 'update_draft',
    input: { id: 'message-1', recipients: { add_cc: [{ email: ben }] }, attach: [{ path: 'checksums.txt' }] },
    result: { cc: [{ email: ben }], attachments: [{ file_name: 'checksums.txt' }] },
  },
  {
    tool: 'send_draft',
    input: { id: 'message-1', allowed_domains: ['example.com'] },
    result: { recipients: [ada, ben] },
    files: { '.mail/outbox/message-1.eml': 'To: "Ada" <ada@example.com>' },
  },
  {
    tool: 'create_drafts_from_template',
    input: {
      template: { subject: 'Hello {{name}}', body: 'Version {{version}} is out.' },
      recipients: [{ email: ben, name: 'Ben' }],
      shared_values: { version: '1.5.0' },
    },
    result: { created: ['message-2'] },
    files: { '.mail/messages/message-2.json': 'Version 1.5.0 is out.' },
  },
  { tool: 'read_message', input: { id: 'message-2' }, result: { subject: 'Hello Ben', truncated: false } },
  { tool: 'discard_draft', input: { id: 'message-2' }, result: { discarded: true } },
  {
    tool: 'list_messages',
    input: {},
    result: { total: 1, messages: [{ id: 'message-1', folder: 'outbox' }] },
  },
]

export const exampleCalls: readonly ExampleCall[] = [
  ...fileCalls,
  ...trackerCalls,
  ...repositoryCalls,
  ...calendarCalls,
  ...databaseCalls,
  ...releaseCalls,
  ...mailCalls,
]
