/** Parameters that several tools of the database server share. */
import { choice, integer, list, object, text } from './schema.ts'

const operators = [
  'equals',
  'not_equals',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'between',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'is_null',
  'is_not_null',
]
export const types = ['text', 'integer', 'decimal', 'boolean', 'date', 'timestamp']
export const cell = (description: string) => ({ type: ['string', 'number', 'boolean', 'null'], description })
export const table = text('Name of the table.', { pattern: '^[a-z][a-z0-9_]*$' })
export const column = (description = 'Name of a column.') => text(description, { minLength: 1 })
export const conditions = (description: string) =>
  list(
    object(
      {
        column: column(),
        operator: choice(operators, 'How the column is compared with value.', { default: 'equals' }),
        value: {
          anyOf: [
            cell('A single value, for most operators.'),
            list(
              cell('One of the values.'),
              'For in and not_in: the values. For between: lowest and highest.',
            ),
          ],
          description: 'What to compare with. Leave out for is_null and is_not_null.',
        },
      },
      ['column'],
    ),
    description,
    { maxItems: 20 },
  )
export const match = choice(['all', 'any'], 'Whether a row must satisfy all conditions or one of them.', {
  default: 'all',
})
export const orderBy = list(
  object(
    {
      column: column('Column to order by.'),
      direction: choice(['ascending', 'descending'], 'Smallest or largest first. Nulls count as smallest.', {
        default: 'ascending',
      }),
    },
    ['column'],
  ),
  'Order of the result; later entries decide between equals.',
  { maxItems: 5 },
)
export const expectedAtMost = integer(
  'Fail without changing anything when more rows than this are selected.',
  {
    minimum: 0,
  },
)
export const row = (description: string) => ({
  type: 'object',
  description,
  additionalProperties: cell('Value of the column; it has to fit the type.'),
})
