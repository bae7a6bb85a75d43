/** The repository server: commits, branches and worktrees of the workspace's files. */
import type { Tool } from '@toolwell/core'
import { createRepository } from './repository-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

const revision = (description: string, more = {}) =>
  text(`${description} A branch name, HEAD, or at least four characters of a commit id.`, more)
const paths = (description: string) =>
  list(text('A path, a folder, or a glob such as "src/**/*.ts".', { minLength: 1 }), description, {
    maxItems: 100,
  })
const branchName = (description: string) =>
  text(description, {
    pattern: '^[A-Za-z0-9][A-Za-z0-9/_.-]*$',
    maxLength: 100,
    examples: ['fix/slow-start'],
  })
const contextLines = integer('Unchanged lines to show around each change.', {
  minimum: 0,
  maximum: 20,
  default: 3,
})
const moment = (description: string) =>
  text(description, { examples: ['2026-03-02', '2026-03-02T09:00:00Z'] })

export function createRepositoryTools(store: Store): Tool[] {
  const repository = createRepository(store)
  return [
    {
      name: 'repository_status',
      description: prose(
        'Show the current branch and which files differ from its last commit.',
        'Acts on the worktree you are in, if any. Hidden files and folders are never tracked.',
      ),
      inputSchema: object({
        paths: paths('Only report files selected by one of these.'),
        include_new_files: flag('Also report files that were never committed.', true),
      }),
      annotations: { title: 'Status', readOnlyHint: true },
      domain: 'version-control',
      searchHint: 'git status uncommitted dirty changed files',
      execute: repository.status,
    },
    {
      name: 'create_commit',
      description: prose(
        'Record the present content of changed files as a commit on the current branch.',
        'There is no staging area: paths selects what goes in, and without it everything that differs',
        'does, including new and removed files. Fails when nothing differs, unless allow_empty is set.',
        'Returns the id of the commit and the files it contains.',
      ),
      inputSchema: object(
        {
          message: object(
            {
              summary: text('What the commit does, as an instruction, without a final full stop.', {
                minLength: 3,
                maxLength: 72,
              }),
              body: text('Why it does so, and what a reader should know. Plain text, wrapped at will.'),
              trailers: list(
                object(
                  {
                    key: text('Name of the trailer.', {
                      pattern: '^[A-Za-z-]+$',
                      examples: ['Closes', 'Reviewed-by'],
                    }),
                    value: text('Its value.', { minLength: 1 }),
                  },
                  ['key', 'value'],
                ),
                'Machine-readable lines for the end of the message.',
                { maxItems: 10 },
              ),
            },
            ['summary'],
            { description: 'The message, in parts.' },
          ),
          paths: paths('What to commit. Leave out to commit everything that differs.'),
          author: object(
            {
              name: text('Name of the author.', { minLength: 1 }),
              email: text('Address of the author.', { format: 'email' }),
            },
            ['name'],
            { description: 'Who made the change. Default: the assistant.' },
          ),
          date: text('When the change was made. Default: now.', { format: 'date-time' }),
          allow_empty: flag('Make a commit even if no file differs.', false),
        },
        ['message'],
      ),
      annotations: { title: 'Commit', readOnlyHint: false, destructiveHint: false },
      domain: 'version-control',
      aliases: ['commit_files'],
      searchHint: 'git commit save snapshot check in',
      guidelines: [
        'Look at repository_status before you commit, and name paths when unrelated files have changed too.',
        'One concern per commit.',
      ],
      execute: repository.createCommit,
    },
    {
      name: 'show_commit',
      description: prose(
        'Show one commit: message, author and what it changed.',
        'Changes are those against the first parent.',
      ),
      inputSchema: object({
        revision: revision('Which commit to show.', { default: 'HEAD' }),
        detail: choice(
          ['message', 'names', 'patch'],
          'message: no files. names: changed files. patch: also their lines.',
          {
            default: 'names',
          },
        ),
        paths: paths('Only show changes to files selected by one of these.'),
        context_lines: contextLines,
        ignore_whitespace: flag('Treat lines that differ only in blanks as equal.', false),
      }),
      annotations: { title: 'Show commit', readOnlyHint: true },
      domain: 'version-control',
      searchHint: 'git show inspect revision',
      execute: repository.showCommit,
    },
    {
      name: 'list_commits',
      description: prose(
        'List the history of a branch, newest commit first.',
        'All conditions must hold. With paths, only commits that touched one of the selected files are',
        'listed.',
      ),
      inputSchema: object({
        revision: revision('Where to start and go back from.', { default: 'HEAD' }),
        paths: paths('Only commits that changed a file selected by one of these.'),
        author: text('Only commits by the author of exactly this name.'),
        message_contains: text('Only commits whose message contains this, in any case.', { minLength: 2 }),
        since: moment('Only commits made on or after this day or moment.'),
        until: moment('Only commits made on or before this day or moment.'),
        include_changes: flag('Also list the files each commit changed.', false),
        skip: integer('How many of the newest to pass over.', { minimum: 0, default: 0 }),
        limit: integer('Most commits to return.', { minimum: 1, maximum: 200, default: 20 }),
      }),
      annotations: { title: 'List commits', readOnlyHint: true },
      domain: 'version-control',
      aliases: ['commit_log'],
      searchHint: 'git log history who changed',
      execute: repository.listCommits,
    },
    {
      name: 'compare_revisions',
      description: prose(
        'Show what differs between two revisions, or between a revision and the files as they are now.',
        'Files that are not text are named but not compared line by line.',
      ),
      inputSchema: object({
        from: revision('The older side.', { default: 'HEAD' }),
        to: revision('The newer side. Leave out to compare with the files as they are now.'),
        paths: paths('Only compare files selected by one of these.'),
        format: choice(
          ['patch', 'counts', 'names'],
          'patch: changed lines. counts: how many lines. names: only paths.',
          {
            default: 'patch',
          },
        ),
        context_lines: contextLines,
        ignore_whitespace: flag('Treat lines that differ only in blanks as equal.', false),
      }),
      annotations: { title: 'Compare revisions', readOnlyHint: true },
      domain: 'version-control',
      searchHint: 'git diff changes patch between branches',
      execute: repository.compareRevisions,
    },
    {
      name: 'create_branch',
      description: prose(
        'Create a branch without switching to it.',
        'It starts at the current commit unless another start is given.',
      ),
      inputSchema: object(
        {
          name: branchName('Name of the new branch; a slash groups related ones.'),
          start_point: revision('Where the branch begins.', { default: 'HEAD' }),
          description: text('What the branch is for, shown in list_branches.', { maxLength: 300 }),
        },
        ['name'],
      ),
      annotations: { title: 'Create branch', readOnlyHint: false, destructiveHint: false },
      domain: 'version-control',
      searchHint: 'git branch new topic',
      execute: repository.createBranch,
    },
    {
      name: 'list_branches',
      description: prose(
        'List branches with their last commit and how far they are ahead of another one.',
        'ahead counts the commits that the branch has and compare_with has not.',
      ),
      inputSchema: object({
        pattern: text('Glob that a name must match, such as "fix/*".', { default: '**' }),
        compare_with: branchName('Branch to count against. Default: main.'),
        only_unmerged: flag('Leave out branches that are not ahead.', false),
      }),
      annotations: { title: 'List branches', readOnlyHint: true },
      domain: 'version-control',
      searchHint: 'git branch unmerged stale',
      execute: repository.listBranches,
    },
    {
      name: 'switch_branch',
      description: prose(
        'Make another branch current and bring the files to its state.',
        'Files that were never committed stay where they are, unless the branch has a file of the same',
        'name. A branch that some worktree is using cannot be switched to.',
      ),
      inputSchema: object(
        {
          name: branchName('An existing branch.'),
          on_local_changes: choice(
            ['refuse', 'carry', 'discard'],
            'refuse: fail if a tracked file was changed. carry: take changes along where both branches agree on the ' +
              'file. discard: lose them.',
            { default: 'refuse' },
          ),
        },
        ['name'],
      ),
      annotations: {
        title: 'Switch branch',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
      },
      domain: 'version-control',
      searchHint: 'git checkout switch change branch',
      execute: repository.switchBranch,
    },
    {
      name: 'merge_branch',
      description: prose(
        'Bring the changes of another branch into the current one.',
        'Files are merged whole: one that both branches changed since they parted, in different ways, is',
        'a conflict. Tracked files must be free of uncommitted changes. Try dry_run first to learn of',
        'conflicts.',
      ),
      inputSchema: object(
        {
          source: branchName('The branch to take changes from. It is left as it is.'),
          strategy: choice(
            ['merge_commit', 'fast_forward_only', 'squash'],
            'merge_commit: a commit with two parents. fast_forward_only: just move the branch, or fail. squash: one ' +
              'ordinary commit with all changes.',
            { default: 'merge_commit' },
          ),
          on_conflict: choice(
            ['abort', 'take_ours', 'take_theirs'],
            'abort: change nothing and name the files. take_ours, take_theirs: use that side of the conflict.',
            { default: 'abort' },
          ),
          message: text('Summary of the new commit. Default: names both branches.', { maxLength: 72 }),
          dry_run: flag('Only report conflicts and the files that would change.', false),
        },
        ['source'],
      ),
      annotations: { title: 'Merge branch', readOnlyHint: false, destructiveHint: true },
      domain: 'version-control',
      searchHint: 'git merge integrate squash conflicts',
      execute: repository.mergeBranch,
    },
    {
      name: 'restore_files',
      description: prose(
        'Put files back to how they were in a commit, losing what they contain now.',
        'No commit is made and the branch does not move. Uncommitted work in the selected files cannot be',
        'recovered.',
      ),
      inputSchema: object(
        {
          paths: { ...paths('What to restore; ["**"] means every file.'), minItems: 1 },
          revision: revision('Where to take the content from.', { default: 'HEAD' }),
          remove_new_files: flag('Also delete selected files that the revision does not have.', false),
          dry_run: flag('Only list what would be restored.', false),
        },
        ['paths'],
      ),
      annotations: {
        title: 'Restore files',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
      },
      risk: 'destructive',
      domain: 'version-control',
      searchHint: 'git checkout restore undo revert discard changes',
      execute: repository.restoreFiles,
    },
    {
      name: 'enter_worktree',
      description: prose(
        'Work on another branch in a folder of its own, without disturbing the files of the workspace.',
        'Creates the worktree when there is none of that name, and the branch when it does not exist.',
        'From then on the tools of this server act on the worktree; its files lie below the folder that',
        'is returned.',
      ),
      inputSchema: object(
        {
          name: text('Name of the worktree and of its folder.', {
            pattern: '^[a-z0-9][a-z0-9-]*$',
            maxLength: 40,
          }),
          branch: branchName('Branch to check out there. Default: a branch named like the worktree.'),
          start_point: revision('Where a new branch begins.', { default: 'HEAD' }),
          purpose: text('What it is for, shown in list_worktrees.', { maxLength: 200 }),
        },
        ['name'],
      ),
      annotations: {
        title: 'Enter worktree',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'version-control',
      group: 'worktree',
      insteadOf: 'Use enter_worktree, not copies of the workspace folder made by hand.',
      searchHint: 'git worktree isolated parallel checkout',
      guidelines: ['Leave with exit_worktree as soon as the work there is committed.'],
      execute: repository.enterWorktree,
    },
    {
      name: 'exit_worktree',
      description: prose(
        'Leave the worktree you are in and act on the workspace folder again.',
        'A kept worktree can be entered again later. Removing one keeps its branch and its commits.',
      ),
      inputSchema: object({
        action: choice(['keep', 'remove'], 'What becomes of the folder of the worktree.', {
          default: 'keep',
        }),
        discard_changes: flag('Remove the folder even if it has changes that were not committed.', false),
      }),
      annotations: { title: 'Exit worktree', readOnlyHint: false, destructiveHint: true },
      domain: 'version-control',
      group: 'worktree',
      insteadOf: 'Use exit_worktree, not a deletion of the folder below .worktrees.',
      searchHint: 'git worktree remove leave',
      execute: repository.exitWorktree,
    },
    {
      name: 'list_worktrees',
      description: 'List the worktrees with their branches, and say which one you are in.',
      inputSchema: object({
        include_changes: flag('Also list the uncommitted changes of each.', false),
      }),
      annotations: { title: 'List worktrees', readOnlyHint: true },
      domain: 'version-control',
      group: 'worktree',
      insteadOf: 'Use list_worktrees, not a listing of the .worktrees folder.',
      searchHint: 'git worktree list',
      execute: repository.listWorktrees,
    },
  ]
}
