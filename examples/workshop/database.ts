/** The database server: small tables with typed columns, queried by conditions rather than by SQL. */
import type { Tool } from '@toolwell/core'
import {
  cell,
  column,
  conditions,
  expectedAtMost,
  match,
  orderBy,
  row,
  table,
  types,
} from './database-schema.ts'
import { createDatabase } from './database-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

export function createDatabaseTools(store: Store): Tool[] {
  const database = createDatabase(store)
  return [
    {
      name: 'create_table',
      description: prose(
        'Create an empty table with typed columns.',
        'Dates are stored as 2026-03-02 and timestamps as 2026-03-02T09:00:00Z. The primary key is unique',
        'and is what insert_rows uses to recognise a row that exists.',
      ),
      inputSchema: object(
        {
          name: text('Name of the table: lower case, digits and underscores.', {
            pattern: '^[a-z][a-z0-9_]*$',
            maxLength: 50,
          }),
          description: text('What one row stands for.', { maxLength: 500 }),
          columns: list(
            object(
              {
                name: text('Name of the column.', { pattern: '^[a-z][a-z0-9_]*$', maxLength: 50 }),
                type: choice(types, 'What the column holds.'),
                nullable: flag('Whether a row may leave it empty.', true),
                unique: flag('Whether two rows may not have the same value. Nulls are not compared.', false),
                default: cell('Value for rows that do not give one.'),
                description: text('What the values mean, with their unit.', { maxLength: 300 }),
              },
              ['name', 'type'],
            ),
            'The columns, in the order in which they are shown.',
            { minItems: 1, maxItems: 60 },
          ),
          primary_key: column('Column that identifies a row.'),
          if_exists: choice(
            ['fail', 'keep', 'replace'],
            'What to do with a table of that name. replace drops its rows.',
            {
              default: 'fail',
            },
          ),
        },
        ['name', 'columns'],
      ),
      risk: 'write',
      domain: 'data',
      searchHint: 'schema ddl define columns sql',
      execute: database.createTable,
    },
    {
      name: 'describe_tables',
      description: prose(
        'Describe tables: columns, types, keys, number of rows and, if wanted, a few rows.',
        'Without names all tables are described. Statistics give nulls, distinct values and range of each',
        'column.',
      ),
      inputSchema: object({
        tables: list(table, 'Tables to describe. Default: all.', { uniqueItems: true }),
        sample_rows: integer('How many rows of each to show.', { minimum: 0, maximum: 20, default: 0 }),
        include_statistics: flag('Compute figures for every column. Reads all rows.', false),
      }),
      risk: 'read',
      domain: 'data',
      aliases: ['list_tables'],
      searchHint: 'show schema columns sql information',
      execute: database.describeTables,
    },
    {
      name: 'query_rows',
      description: prose(
        'Read rows of a table that satisfy conditions.',
        'Conditions compare one column with a value; comparisons other than equality never hold for null.',
        'Columns of joined tables are written with their table in front, as in customers.city, also in',
        'where, select and order_by. The total counts all rows found; offset and limit select a part of',
        'them. For sums and averages use aggregate_rows instead of fetching the rows.',
      ),
      inputSchema: object(
        {
          table,
          select: list(column(), 'Columns to return, in this order. Default: all.', { maxItems: 60 }),
          where: conditions('Conditions on the rows. Without any, every row is returned.'),
          match,
          join: list(
            object(
              {
                table: text('The table to join.', { pattern: '^[a-z][a-z0-9_]*$' }),
                column: column('Column on the side of the rows so far.'),
                other_column: column(
                  'Column of the joined table that must be equal. Default: the same name.',
                ),
                kind: choice(
                  ['inner', 'left'],
                  'inner drops rows without a partner; left keeps them with nulls.',
                  {
                    default: 'inner',
                  },
                ),
              },
              ['table', 'column'],
            ),
            'Further tables to combine with, one after another.',
            { maxItems: 3 },
          ),
          compute: list(
            object(
              {
                as: text('Name of the new column.', { pattern: '^[a-z][a-z0-9_]*$' }),
                operation: choice(
                  ['add', 'subtract', 'multiply', 'divide', 'concatenate'],
                  'How the columns are combined, from left to right. Division by zero gives null.',
                ),
                columns: list(column(), 'Columns to combine. A null among them makes the result null.', {
                  minItems: 2,
                }),
              },
              ['as', 'operation', 'columns'],
            ),
            'Columns to compute for each row before conditions apply; they can be used like stored ones.',
            { maxItems: 5 },
          ),
          order_by: orderBy,
          distinct: flag('Return equal rows only once.', false),
          offset: integer('Rows to pass over.', { minimum: 0, default: 0 }),
          limit: integer('Most rows to return.', { minimum: 1, maximum: 1000, default: 100 }),
          format: choice(
            ['objects', 'arrays'],
            'objects: one object per row. arrays: column names once, then values.',
            {
              default: 'objects',
            },
          ),
        },
        ['table'],
      ),
      risk: 'read',
      domain: 'data',
      aliases: ['select_rows'],
      searchHint: 'sql select filter join lookup records',
      execute: database.queryRows,
    },
    {
      name: 'insert_rows',
      description: prose(
        'Add rows to a table.',
        'Columns that a row leaves out get their default. If one row does not fit, none is stored.',
      ),
      inputSchema: object(
        {
          table,
          rows: list(row('Column names and values of one row.'), 'The rows to add.', {
            minItems: 1,
            maxItems: 500,
          }),
          on_conflict: choice(
            ['fail', 'skip', 'update'],
            'What to do with a row whose primary key exists. update changes only the columns given.',
            { default: 'fail' },
          ),
        },
        ['table', 'rows'],
      ),
      risk: 'write',
      domain: 'data',
      aliases: ['upsert_rows'],
      searchHint: 'sql insert add records upsert',
      execute: database.insertRows,
    },
    {
      name: 'update_rows',
      description: prose(
        'Change columns in all rows that satisfy conditions.',
        'Without conditions every row changes; give expected_at_most to be safe.',
      ),
      inputSchema: object(
        {
          table,
          where: conditions('Which rows to change.'),
          match,
          set: row('Columns and their new values.'),
          increment: {
            type: 'object',
            description:
              'Numeric columns and by how much to raise them; negative numbers lower them. Null counts as 0.',
            additionalProperties: { type: 'number', description: 'By how much.' },
          },
          expected_at_most: expectedAtMost,
          return_rows: flag('Return the rows as they are afterwards.', false),
          dry_run: flag('Only count the rows that would change.', false),
        },
        ['table', 'where'],
      ),
      risk: 'write',
      domain: 'data',
      searchHint: 'sql update set modify records',
      execute: database.updateRows,
    },
    {
      name: 'delete_rows',
      description: prose(
        'Delete all rows that satisfy conditions.',
        'Cannot be undone; backup_path keeps a copy of what is deleted.',
      ),
      inputSchema: object(
        {
          table,
          where: conditions('Which rows to delete.'),
          match,
          all_rows: flag('Has to be set to empty a table without giving conditions.', false),
          expected_at_most: expectedAtMost,
          backup_path: text('JSON file of the workspace to write the deleted rows to.', {
            pattern: '\\.json$',
          }),
        },
        ['table', 'where'],
      ),
      risk: 'destructive',
      domain: 'data',
      searchHint: 'sql delete remove purge records',
      execute: database.deleteRows,
    },
    {
      name: 'aggregate_rows',
      description: prose(
        'Count, add up or average rows, in groups if wanted.',
        'Conditions select rows before grouping, having selects groups afterwards by their measures.',
        'Nulls are left out of every function except a count without column.',
      ),
      inputSchema: object(
        {
          table,
          group_by: list(column(), 'Columns whose values form the groups. Default: one group of all rows.', {
            maxItems: 5,
          }),
          measures: list(
            object(
              {
                function: choice(
                  ['count', 'count_distinct', 'sum', 'average', 'smallest', 'largest'],
                  'What to compute in each group.',
                ),
                column: column('Column it is computed from. Only count can do without.'),
                as: text('Name of the result. Default: function and column, joined by an underscore.'),
              },
              ['function'],
            ),
            'What to compute.',
            { minItems: 1, maxItems: 10 },
          ),
          where: conditions('Which rows to consider.'),
          match,
          having: conditions('Which groups to return, by the names of group columns and measures.'),
          order_by: orderBy,
          limit: integer('Most groups to return.', { minimum: 1, maximum: 1000, default: 100 }),
        },
        ['table', 'measures'],
      ),
      risk: 'read',
      domain: 'data',
      searchHint: 'sql group by sum average statistics report',
      execute: database.aggregateRows,
    },
    {
      name: 'import_csv',
      description: prose(
        'Load a CSV file of the workspace into a table.',
        'Types are guessed from the values where column_types does not name them: integer, decimal,',
        'boolean, date, else text. When appending, the types of the table count and column names must',
        'agree.',
      ),
      inputSchema: object(
        {
          path: text('The CSV file, relative to the workspace folder.', { minLength: 1 }),
          table,
          mode: choice(
            ['create', 'append', 'replace'],
            'create fails if the table exists; replace drops its rows.',
            {
              default: 'create',
            },
          ),
          delimiter: choice([',', ';', '\t', '|'], 'What separates the values.', { default: ',' }),
          has_header: flag(
            'Whether the first row has the names. Off: columns are called column_1 and so on.',
            true,
          ),
          rename_columns: {
            type: 'object',
            description: 'New names for columns, by the name in the file.',
            additionalProperties: text('The new name.', { pattern: '^[a-z][a-z0-9_]*$' }),
          },
          column_types: {
            type: 'object',
            description: 'Types of columns, by their new name.',
            additionalProperties: choice(types, 'The type.'),
          },
          null_values: list(
            text('A text.'),
            'Cells with exactly this text become null. Default: empty cells.',
            {
              examples: [['', 'n/a']],
            },
          ),
          primary_key: column('Column that identifies a row of the new table.'),
        },
        ['path', 'table'],
      ),
      risk: 'write',
      domain: 'data',
      searchHint: 'load spreadsheet comma separated upload',
      execute: database.importCsv,
    },
    {
      name: 'export_table',
      description: prose(
        'Write rows of a table to a file of the workspace.',
        'An existing file is replaced.',
      ),
      inputSchema: object(
        {
          table,
          path: text('Where to write, relative to the workspace folder.', { minLength: 1 }),
          format: choice(['csv', 'json', 'json_lines', 'markdown'], 'How rows are written.', {
            default: 'csv',
          }),
          select: list(column(), 'Columns to write, in this order. Default: all.'),
          where: conditions('Which rows to write. Without any, every row.'),
          match,
          order_by: orderBy,
          delimiter: choice([',', ';', '\t', '|'], 'For csv: what separates the values.', { default: ',' }),
          header: flag('For csv: whether the first row has the names.', true),
          null_text: text('For csv and markdown: what is written for null.', { default: '' }),
        },
        ['table', 'path'],
      ),
      risk: 'write',
      domain: 'data',
      searchHint: 'dump download spreadsheet csv json',
      execute: database.exportTable,
    },
  ]
}
