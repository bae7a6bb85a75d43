/** Properties that stand at the top of a schema, without the object around them. Nobody would read them there. */
import { isRecord } from '../base/guards.js'
import { type Json, KEYWORDS } from './rules.js'

const TELLING = ['type', 'enum', 'anyOf', 'oneOf', 'allOf']
const fits = (keyword: string, value: unknown) => KEYWORDS.get(keyword)?.fits(value) === true

/** As a sentence behind the tool's name; undefined where anything at the top is a keyword, or an addition of the owner's (`x-…`). */
export function bareProblem(schema: Json): string | undefined {
  const fields = Object.entries(schema)
  const isBare = fields.every(
    ([key, value]) =>
      isRecord(value) &&
      !key.startsWith('x-') &&
      !fits(key, value) &&
      TELLING.some((keyword) => fits(keyword, value[keyword])),
  )
  return isBare && fields[0]
    ? `has an inputSchema whose fields stand at its top; give { "type": "object", "properties": { ${JSON.stringify(fields[0][0])}: … } }`
    : undefined
}
