/** What cannot be used of a tool's schema, told where the tool is given: not with its first call. */
import { bareProblem } from '../schema/bare.js'
import { problemsIn } from '../schema/dialect.js'
import { isValidated, type Tool } from '../tool/tool.js'

/** As a sentence behind the tool's name. A schema that may lie in a file is not read for it. */
export function oddSchema(tool: Tool): string | undefined {
  if (isValidated(tool)) return undefined
  const bare = bareProblem(tool.inputSchema)
  if (bare !== undefined) return bare
  const problems = problemsIn(tool.inputSchema)
  return problems === '' ? undefined : `has an inputSchema that cannot be used as it stands: ${problems}`
}
