/** Definitions to and from the shape of Anthropic Messages. */
import { defined, isRecord } from '../../base/guards.js'
import { RESERVE_NAME } from '../../base/names.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { assertImportable, createToolCodec, type Described, fitted, objectSchema } from '../shared/tools.js'
import { type AnthropicTool, WIRE } from './types.js'

function toNative(given: WireTool | Tool): AnthropicTool {
  const { name, description, ...tool } = fitted(given, WIRE)
  const { strict, inputExamples: input_examples } = tool
  return {
    name,
    description,
    input_schema: objectSchema(tool) as AnthropicTool['input_schema'],
    ...defined({ strict, input_examples: input_examples as Record<string, unknown>[] | undefined }),
  }
}

const codec = createToolCodec<AnthropicTool>(toNative)

/**
 * Of what is declared hidden, at least one tool is there from the first request on: the first deferred tool puts a note
 * about deferral before the model, which would move everything behind it.
 */
export function anthropicTools(view: SurfaceView): readonly AnthropicTool[] {
  const tools = codec.write(view)
  if (view.delivery !== 'native') return tools
  return [...tools, RESERVE, ...view.declaredHidden.map(deferred)]
}

const RESERVE: AnthropicTool = {
  name: RESERVE_NAME,
  description: 'Holds a place. It does nothing.',
  input_schema: { type: 'object', properties: {} },
  defer_loading: true,
}

const deferredTools = new WeakMap<WireTool, AnthropicTool>()

function deferred(tool: WireTool): AnthropicTool {
  const made = deferredTools.get(tool) ?? { ...toNative(tool), defer_loading: true }
  deferredTools.set(tool, made)
  return made
}

/**
 * Reads a host's existing `tools` array. `describe` adds what the wire cannot hold: `execute`, `defer`, `aliases` …
 * While deferral is off, the very array given here is what `begin` returns. Throws `invalid-tool` at a tool that Anthropic
 * defines (`bash_20250124`, `web_search_20250305` …), which has no schema: put it before `parts.tools` yourself; and at tools
 * of another wire.
 */
export function importTools<Native extends AnthropicTool>(
  wire: readonly Native[],
  describe: (tool: Native) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(
    wire,
    WIRE,
    ({ name, input_schema: schema }) => typeof name === 'string' && isRecord(schema),
  )
  return codec.read(wire, (tool) => {
    const { name, description = '', input_schema: inputSchema, strict, input_examples: inputExamples } = tool
    return {
      name,
      description,
      inputSchema,
      ...defined({ strict, inputExamples }),
      ...defined(describe(tool as Native)),
    }
  })
}
