/** A schema that the SDK takes as it is: it sends the JSON Schema unchanged, and refuses nothing by it. */
import type { JsonSchema } from '../../tool/tool.js'

type Converted = { readonly value: unknown }

/** The form of a Standard Schema, which all versions of the SDK declare. */
export interface AiSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Converted | Promise<Converted>
  }
}

/** What the SDK marks its own schemas with. Others it changes before it sends them. */
const SDK_SCHEMA = Symbol.for('vercel.ai.schema')

/**
 * `convert` gives the input that a tool's own schema makes of what the model wrote. Where it throws, the input stays as it
 * is: the conversation answers it, not the SDK. The verdict comes at once where `convert` does: frameworks on top of the
 * SDK refuse schemas that make them wait.
 */
export function openSchema(jsonSchema: JsonSchema, convert?: (input: unknown) => unknown): AiSchema {
  const validate = (value: unknown) => {
    const taken = (made: unknown) => ({ success: true, value: made }) as const
    const asWritten = () => taken(value)
    if (!convert) return asWritten()
    try {
      const made = convert(value)
      return made instanceof Promise ? made.then(taken, asWritten) : taken(made)
    } catch {
      return asWritten()
    }
  }
  const made = {
    [SDK_SCHEMA]: true,
    _type: undefined,
    jsonSchema,
    validate,
    '~standard': { version: 1, vendor: 'toolwell', validate },
  } as const
  return made
}
