/** Converts definitions to and from the form of Anthropic Messages. */
import { dropUndefined, isRecord } from '../../base/data.js'
import { RESERVE_NAME } from '../../base/names.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import {
  assertImportable,
  createToolCodec,
  type Described,
  fitTool,
  type ImportForm,
  objectSchema,
} from '../shared/tools.js'
import { type AnthropicTool, WIRE } from './types.js'

function toNative(given: WireTool | Tool): AnthropicTool {
  const { name, description, ...tool } = fitTool(given, WIRE)
  const { strict, inputExamples: input_examples } = tool
  return {
    name,
    description,
    input_schema: objectSchema(tool) as AnthropicTool['input_schema'],
    ...dropUndefined({ strict, input_examples: input_examples as Record<string, unknown>[] | undefined }),
  }
}

const FORM: ImportForm = { form: WIRE, shape: '{ name, description, input_schema }' }

const codec = createToolCodec<AnthropicTool>(toNative)

/**
 * Declares one deferred tool from the first request on. The first deferred tool makes the API add a note before the
 * messages, which would move everything after it.
 */
export function writeTools(view: SurfaceView): readonly AnthropicTool[] {
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
 * Reads your existing `tools` array. `describe` adds fields that the wire cannot hold: `execute`, `defer`, `aliases`
 * … While deferral is off, `begin` returns this array. Throws `invalid-tool` for tools of another wire, and for tools
 * that Anthropic defines (`bash_20250124`, `web_search_20250305` …), which have no schema: pass those as
 * `providerTools`.
 */
export function importTools<Native extends AnthropicTool>(
  wire: readonly Native[],
  describe: (tool: Native) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(
    wire,
    FORM,
    ({ name, input_schema: schema }) => typeof name === 'string' && isRecord(schema),
  )
  return codec.read(wire, (tool) => {
    const { name, description = '', input_schema: inputSchema, strict, input_examples: inputExamples } = tool
    return {
      name,
      description,
      inputSchema,
      ...dropUndefined({ strict, inputExamples }),
      ...dropUndefined(describe(tool as Native)),
    }
  })
}
