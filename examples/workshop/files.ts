/** The host's own tools: the few that nearly every turn needs, so they are always on the surface. */
import type { Tool } from '@toolwell/core'
import { createFiles } from './files-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

export function createFileTools(store: Store): Tool[] {
  const files = createFiles(store)
  return [
    {
      name: 'read_file',
      description: prose(
        'Read a text file of the workspace, whole or a range of lines.',
        'Lines are counted from 1. A result that was cut says at which line to go on.',
      ),
      inputSchema: object(
        {
          path: text('Path of the file, relative to the workspace folder.', { minLength: 1 }),
          start_line: integer('First line to return, counted from 1.', { minimum: 1, default: 1 }),
          line_count: integer('How many lines to return at most.', {
            minimum: 1,
            maximum: 5000,
            default: 500,
          }),
          show_line_numbers: flag('Put the number in front of every line. Turn off to copy text.', true),
        },
        ['path'],
      ),
      risk: 'read',
      execute: files.readFile,
    },
    {
      name: 'write_file',
      description: prose(
        'Write a whole text file, making the folders above it when they are missing.',
        'Meant for new files and complete rewrites; for a change within a file, edit_file is shorter and',
        'safer.',
      ),
      inputSchema: object(
        {
          path: text('Path of the file, relative to the workspace folder.', { minLength: 1 }),
          content: text('The complete text to store. A final newline is not added for you.'),
          mode: choice(
            ['create', 'overwrite', 'append'],
            'create: fail if the file exists. overwrite: replace it. append: add at its end.',
            { default: 'overwrite' },
          ),
        },
        ['path', 'content'],
      ),
      risk: 'write',
      execute: files.writeFile,
    },
    {
      name: 'edit_file',
      description: prose(
        'Replace exact passages of a text file.',
        'Edits are applied in order, each to the result of the one before. If any of them does not apply,',
        'none is written. A passage that occurs more than once is refused unless replace_all is set:',
        'quote more of the surrounding lines to make it unique.',
      ),
      inputSchema: object(
        {
          path: text('Path of the file, relative to the workspace folder.', { minLength: 1 }),
          edits: list(
            object(
              {
                old_text: text('The passage as it stands in the file, with its indentation.', {
                  minLength: 1,
                }),
                new_text: text('What stands there afterwards. An empty string removes the passage.'),
                replace_all: flag('Replace every occurrence instead of requiring exactly one.', false),
              },
              ['old_text', 'new_text'],
            ),
            'The replacements, in the order in which they are to be made.',
            { minItems: 1, maxItems: 50 },
          ),
          dry_run: flag('Check that every edit applies, and write nothing.', false),
        },
        ['path', 'edits'],
      ),
      risk: 'write',
      guidelines: ['Read the passage with read_file in the same conversation before you edit it.'],
      execute: files.editFile,
    },
    {
      name: 'list_folder',
      description: prose(
        'List the files below a folder of the workspace, with their sizes.',
        'Hidden files and folders (a leading dot) are left out unless asked for.',
      ),
      inputSchema: object({
        path: text('Folder to list, relative to the workspace folder.', { default: '.' }),
        depth: integer('How many levels to go down; 1 is the folder itself.', {
          minimum: 1,
          maximum: 20,
          default: 3,
        }),
        pattern: text('Glob that a path must match, such as "*.md" or "src/**/*.ts".'),
        include_hidden: flag('Also list names that begin with a dot.', false),
        sort_by: choice(['path', 'size'], 'Order of the result; size puts the largest first.', {
          default: 'path',
        }),
        limit: integer('Most entries to return.', { minimum: 1, maximum: 2000, default: 200 }),
      }),
      risk: 'read',
      execute: files.listFolder,
    },
    {
      name: 'search_text',
      description: prose(
        'Find lines in the files of the workspace by plain text or regular expression.',
        'Returns path, line number and line for each hit, in path order. Hidden folders are not searched.',
      ),
      inputSchema: object(
        {
          pattern: text('What to look for: literal text, or an expression if is_regex is set.', {
            minLength: 1,
          }),
          is_regex: flag('Read the pattern as a JavaScript regular expression.', false),
          case_sensitive: flag('Tell upper case from lower case.', true),
          path: text('Folder to search below, relative to the workspace folder.', { default: '.' }),
          include: list(text('A glob such as "*.ts".'), 'Only files that match one of these globs.'),
          exclude: list(text('A glob such as "dist/**".'), 'Leave out files that match one of these globs.'),
          context_lines: integer('Lines to show before and after each hit.', {
            minimum: 0,
            maximum: 10,
            default: 0,
          }),
          limit: integer('Most hits to return.', { minimum: 1, maximum: 500, default: 50 }),
        },
        ['pattern'],
      ),
      risk: 'read',
      searchHint: 'grep ripgrep find occurrences',
      execute: files.searchText,
    },
    {
      name: 'ask_user',
      description: prose(
        'Put one question to the person you work for and wait for the answer.',
        'For choices that are theirs and that the workspace does not settle. Offer options where you can',
        'name them.',
      ),
      inputSchema: object(
        {
          question: text('One question, complete without the conversation around it.', { minLength: 5 }),
          options: list(
            object(
              {
                label: text('A few words the person can pick.', { maxLength: 60 }),
                consequence: text('What follows from picking it.'),
                recommended: flag('Whether this is what you would pick.', false),
              },
              ['label'],
            ),
            'Answers to choose from.',
            { maxItems: 5 },
          ),
          allow_free_text: flag('Whether an answer in their own words is welcome too.', true),
        },
        ['question'],
      ),
      role: 'clarification',
      risk: 'read',
      execute: files.askUser,
    },
    {
      name: 'todo_write',
      description: prose(
        'Replace the list of steps you are working through.',
        'Send the complete list every time. At most one step may be in progress.',
      ),
      inputSchema: object(
        {
          items: list(
            object(
              {
                text: text('The step, as an instruction.', { minLength: 1, maxLength: 200 }),
                status: choice(['pending', 'in_progress', 'done', 'dropped'], 'Where the step stands.'),
                note: text('Why it was dropped, or what is left to find out.'),
              },
              ['text', 'status'],
            ),
            'Every step, in order.',
            { maxItems: 40 },
          ),
        },
        ['items'],
      ),
      role: 'todo',
      risk: 'write',
      execute: files.todoWrite,
    },
  ]
}
