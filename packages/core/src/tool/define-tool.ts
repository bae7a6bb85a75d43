/** `defineTool`: types the arguments of a tool, from JSON Schema or from the schema of a validation library. */

import { isRecord } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { describeKind } from '../base/options.js'
import {
  type ConvertibleSchema,
  convertToJsonSchema,
  findConversionProblem,
  isStandardSchema,
  type OutputOf,
  type StandardSchema,
} from './standard-schema.js'
import type { ExecuteContext, JsonSchema, Tool } from './tool.js'

/** A tool whose `execute` knows its arguments. */
export type ToolDefinition<Schema, Input> = Omit<Tool, 'inputSchema' | 'execute'> & {
  readonly inputSchema: Schema
  readonly execute?: (input: Input, context: ExecuteContext) => unknown
}

/** The arguments of `execute`. One type for all schemas, so that a compiler error names the wrong field. */
type InputOf<S> = S extends StandardSchema ? OutputOf<S> : S extends JsonSchema ? ArgumentsOf<S> : never

/**
 * Returns a tool for `createToolwell`. A schema of zod 4, valibot (with its converter) or arktype becomes JSON Schema for the
 * model. The library's validator checks the arguments, and `execute` gets its output.
 */
export function defineTool<const S extends JsonSchema | ConvertibleSchema>(
  tool: ToolDefinition<S, InputOf<S>>,
): Tool {
  const schema: unknown = tool?.inputSchema
  const unusable = findConversionProblem(schema)
  if (unusable !== undefined) throw invalidTool(tool.name, unusable)
  // Other problems are reported when the tool is added to a catalogue, with the name of its source.
  if (!isStandardSchema(schema)) return tool as unknown as Tool
  const inputSchema = convertToJsonSchema(schema)
  if ('problem' in inputSchema) throw invalidTool(tool.name, String(inputSchema.problem))
  const { validate = (input: unknown) => schema['~standard'].validate(input), ...rest } = tool
  return { ...rest, inputSchema, validate } as unknown as Tool
}

function invalidTool(tool: string, problem: string): ToolwellError {
  return new ToolwellError('invalid-tool', `Tool ${JSON.stringify(tool)} ${problem}.`, { tool, problem })
}

/** The type of the arguments that a literal JSON Schema describes. Parts it cannot read are `unknown`. */
export type ArgumentsOf<S extends JsonSchema> = string extends keyof S
  ? Record<string, unknown>
  : S extends { readonly properties: infer P }
    ? ObjectOf<P, S>
    : Record<string, unknown>

type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? ValueOf<I>[]
              : S extends { readonly properties: infer P }
                ? ObjectOf<P, S>
                : S extends { readonly type: 'object' }
                  ? Record<string, unknown>
                  : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type ObjectOf<P, S> = Flat<
  { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: ValueOf<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: ValueOf<P[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

/** Wires with their own form of tool definition. The entry point of each has `importTools`. */
export type ToolForm = 'anthropic' | 'google' | 'openai-chat' | 'openai-responses'

const OWNERS: Readonly<Record<ToolForm, string>> = {
  anthropic: "Anthropic's",
  google: "Gemini's",
  'openai-chat': "OpenAI's",
  'openai-responses': "OpenAI's",
}

/** Returns the wire whose form a tool has. Undefined for tools of Toolwell or MCP, and for unknown forms. */
export function detectToolForm(tool: object): ToolForm | undefined {
  const { type, function: inner, inputSchema } = tool as Readonly<Record<string, unknown>>
  if (type === 'function' && isRecord(inner)) return 'openai-chat'
  if ('functionDeclarations' in tool) return 'google'
  if (inputSchema !== undefined) return undefined
  if ('parametersJsonSchema' in tool) return 'google'
  if ('input_schema' in tool) return 'anthropic'
  return 'parameters' in tool && 'type' in tool ? 'openai-responses' : undefined
}

/** Completes a sentence that starts with the tool's name. */
export function describeToolForm(form: ToolForm): string {
  return `is in ${OWNERS[form]} shape; importTools of @toolwell/core/${form} reads a list of these`
}

export const TOOL_WITHOUT_NAME =
  'has no name; tools of the AI SDK have theirs as keys, and importTools of @toolwell/core/ai-sdk reads those'

export function isPromise(value: unknown): boolean {
  return isRecord(value) && typeof value.then === 'function'
}

/** Names a value that was given instead of a list of tools, and the fix. Ends a sentence. */
export function describeNotTools(given: unknown): string {
  if (isPromise(given)) return 'a promise: await it.'
  if (isRecord(given) && detectToolForm(given)) return 'one tool by itself: put it into a list.'
  return `${describeKind(given)}. Tools with their names as keys are those of the AI SDK: importTools of @toolwell/core/ai-sdk reads them.`
}
