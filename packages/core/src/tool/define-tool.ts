/** `defineTool`: a tool with its arguments typed, from JSON Schema or from the schema of a validation library. */
import { ToolwellError } from '../base/errors.js'
import type { ArgumentsOf } from './arguments-of.js'
import {
  type ConvertibleSchema,
  isStandardSchema,
  jsonSchemaOf,
  type OutputOf,
  problemOfSchema,
  type StandardSchema,
} from './standard-schema.js'
import type { ExecuteContext, JsonSchema, Tool } from './tool.js'

/** A tool whose `execute` knows its arguments. */
export type ToolDefinition<Schema, Input> = Omit<Tool, 'inputSchema' | 'execute'> & {
  readonly inputSchema: Schema
  readonly execute?: (input: Input, context: ExecuteContext) => unknown
}

/** What reaches `execute`. One signature for all schemas: an error of the compiler then speaks of the field that is wrong. */
type InputOf<S> = S extends StandardSchema ? OutputOf<S> : S extends JsonSchema ? ArgumentsOf<S> : never

/**
 * The tool, ready for `createToolwell`. A schema of zod 4, valibot (with its converter) or arktype becomes JSON Schema for
 * the model; its own validator decides over arguments, and what it gives reaches `execute`.
 */
export function defineTool<const S extends JsonSchema | ConvertibleSchema>(
  tool: ToolDefinition<S, InputOf<S>>,
): Tool {
  const schema: unknown = tool?.inputSchema
  const unusable = problemOfSchema(schema)
  if (unusable !== undefined) throw invalidTool(tool.name, unusable)
  // Anything else that is wrong is said where the tool is used, with its source.
  if (!isStandardSchema(schema)) return tool as unknown as Tool
  const inputSchema = jsonSchemaOf(schema)
  if ('problem' in inputSchema) throw invalidTool(tool.name, String(inputSchema.problem))
  const { validate = (input: unknown) => schema['~standard'].validate(input), ...rest } = tool
  return { ...rest, inputSchema, validate } as unknown as Tool
}

function invalidTool(tool: string, problem: string): ToolwellError {
  return new ToolwellError('invalid-tool', `Tool ${JSON.stringify(tool)} ${problem}.`, { tool, problem })
}
