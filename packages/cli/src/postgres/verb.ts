/** `toolwell postgres schema`: prints the SQL of the tables in PostgreSQL. */
import { usageProblem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

export const postgres = defineVerb({
  name: 'postgres',
  summary: 'Print the SQL that creates the tables of @toolwell/postgres.',
  usage: ['schema [--schema NAME]'],
  takesWords: true,
  flags: { schema: { type: 'string', description: 'The schema of the tables. Default: toolwell_data.' } },
  notes: [
    'The store creates its tables at the first query. Use this command if its user may not create tables: the owner of the\ndatabase runs the SQL once.',
  ],
  examples: [
    { line: 'toolwell postgres schema', about: 'the SQL for the schema toolwell_data' },
    { line: 'toolwell postgres schema | psql agents', about: 'creates the tables in the database agents' },
  ],
  exits: { 0: 'The SQL was printed.', 2: 'Wrong arguments.' },
  async run(flags, { output }) {
    const [task, ...more] = flags._
    if (task !== 'schema' || more.length > 0)
      throw usageProblem(
        task === undefined
          ? 'The task is missing.'
          : `There is no task ${JSON.stringify(flags._.join(' '))}.`,
        'Write: toolwell postgres schema',
      )
    const { schemaSql } = await import('@toolwell/postgres')
    let text: string
    try {
      text = schemaSql(flags.schema)
    } catch (error) {
      throw usageProblem((error as Error).message, 'Write: toolwell postgres schema --schema NAME')
    }
    await output.write(`${text};\n`)
    return 0
  },
})
