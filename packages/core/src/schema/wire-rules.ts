/** Which definitions a provider refuses as they are. `doctor` asks this; what is sent has been through `fitWire` first. */
import type { WireTool } from '../tool/wire-tool.js'
import { wholeSchema } from './complete.js'
import { dialectOf } from './dialect.js'
import { schemaProblems } from './repair.js'

/** Why this wire would refuse the definition, in words; undefined where it takes it. */
export function wireRefusal({ description, inputSchema }: WireTool, wire: string): string | undefined {
  const { description: longest, notAtTop = [], keys, whole } = dialectOf(wire)
  const [problem] = schemaProblems(inputSchema)
  if (problem) return `${problem.path} ${problem.problem}`
  if (inputSchema.type !== 'object') return 'the schema does not describe an object'
  const atTop = notAtTop.filter((keyword) => Object.hasOwn(inputSchema, keyword))
  if (atTop.length > 0) return `${atTop.join(', ')} may not stand at the top of the schema`
  const names = Object.keys(inputSchema.properties ?? {})
  const illegal = keys && names.find((name) => !keys.test(name))
  if (illegal !== undefined)
    return `the parameter name ${JSON.stringify(illegal)} does not match ${keys?.source}`
  if (longest !== undefined && description.length > longest)
    return `the description has ${description.length} characters; ${longest} are allowed`
  if (whole && wholeSchema(inputSchema) !== inputSchema)
    return 'an object names no properties, or an array no items'
  return undefined
}
