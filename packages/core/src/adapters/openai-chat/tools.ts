/** Converts definitions to and from the form of Chat Completions. */
import { dropUndefined, isRecord } from '../../base/data.js'
import { isStrictSchema } from '../../schema/dialect.js'
import type { Tool } from '../../tool/tool.js'
import {
  assertImportable,
  createToolCodec,
  type Described,
  fitTool,
  type ImportForm,
  objectSchema,
  relaxTools,
} from '../shared/tools.js'
import { type ChatTool, WIRE } from './types.js'

const FORM: ImportForm = {
  form: WIRE,
  shape: "{ type: 'function', function: { name, description, parameters } }",
}

const codec = createToolCodec<ChatTool>((given) => {
  const { name, description, ...tool } = fitTool(given, WIRE)
  const parameters = objectSchema(tool) as Record<string, unknown>
  return {
    type: 'function',
    function: { name, description, parameters, ...dropUndefined({ strict: tool.strict }) },
  }
})

export const writeTools = codec.write

/** A tool of this wire, as any client types it. */
export type ImportedChatTool =
  | {
      readonly type: string
      readonly function: {
        readonly name: string
        readonly description?: string | undefined
        readonly parameters?: object | undefined
        readonly strict?: boolean | null | undefined
      }
    }
  | { readonly type: 'custom'; readonly custom: object }

/**
 * Reads your existing `tools` array. `describe` adds fields that the wire cannot hold: `execute`, `defer`, `aliases`
 * … While deferral is off, `begin` returns this array. Throws `invalid-tool` for tools of another wire, and for
 * `custom` tools: pass those as `providerTools`.
 */
export function importTools(
  wire: readonly ImportedChatTool[],
  describe: (tool: ChatTool) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(
    wire,
    FORM,
    ({ type, function: inner }) => type === 'function' && isRecord(inner) && typeof inner.name === 'string',
  )
  const tools = relaxTools(wire as readonly ChatTool[], (tool) =>
    tool.function.strict && !isStrictSchema(tool.function.parameters)
      ? { ...tool, function: { ...tool.function, strict: false } }
      : tool,
  )
  return codec.read(tools, (tool) => {
    const { name, description = '', parameters, strict } = tool.function
    return {
      name,
      description,
      inputSchema: parameters ?? { type: 'object', properties: {} },
      ...(typeof strict === 'boolean' ? { strict } : {}),
      ...dropUndefined(describe(tool)),
    }
  })
}
