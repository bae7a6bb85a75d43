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
  const { strict, inputExamples: input_examples, callers, eagerInputStreaming: eager_input_streaming } = tool
  return {
    name,
    description,
    input_schema: objectSchema(tool) as AnthropicTool['input_schema'],
    ...dropUndefined({
      strict,
      eager_input_streaming,
      input_examples: input_examples as Record<string, unknown>[] | undefined,
      allowed_callers: callers?.map((caller) =>
        caller === 'code' ? CODE : caller,
      ) as AnthropicTool['allowed_callers'],
    }),
  }
}

const FORM: ImportForm = { form: WIRE, shape: '{ name, description, input_schema }' }

const codec = createToolCodec<AnthropicTool>(toNative)

/**
 * Declares one deferred tool from the first request on. The first deferred tool makes the API add a note before the
 * messages, which would move everything after it. `code`: the type of the declared code execution, if any.
 */
export function writeTools(view: SurfaceView, code?: string): readonly AnthropicTool[] {
  const tools = codec.write(view)
  const all = view.delivery === 'native' ? [...tools, RESERVE, ...view.declaredHidden.map(deferred)] : tools
  return all.some(usesCode) ? all.map((tool) => nameCode(tool, code)) : all
}

/** Stands for the version of code execution that the request declares. */
const CODE = 'code'

function usesCode({ allowed_callers: callers = [] }: AnthropicTool): boolean {
  return callers.some((caller: string) => caller === CODE)
}

/** `code`: the type of the declared code execution. Without it, only the model can call tools. */
function nameCode(tool: AnthropicTool, code: string | undefined): AnthropicTool {
  if (!usesCode(tool)) return tool
  const { allowed_callers: callers = [], ...rest } = tool
  const named = callers.map((caller: string) => (caller === CODE ? code : caller))
  return code === undefined ? rest : { ...rest, allowed_callers: named as typeof callers }
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

/** A tool with the callers of any client. */
export type ImportedAnthropicTool = Omit<AnthropicTool, 'allowed_callers'> & {
  readonly allowed_callers?: readonly string[]
}

/**
 * Reads your existing `tools` array. `describe` adds fields that the wire cannot hold: `execute`, `defer`, `aliases`
 * … While deferral is off, `begin` returns this array. Throws `invalid-tool` for tools of another wire, and for tools
 * that Anthropic defines (`bash_20250124`, `web_search_20250305` …), which have no schema: pass those as
 * `providerTools`.
 */
export function importTools<Native extends ImportedAnthropicTool>(
  wire: readonly Native[],
  describe: (tool: Native) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(
    wire,
    FORM,
    ({ name, input_schema: schema }) => typeof name === 'string' && isRecord(schema),
  )
  return codec.read(wire as readonly unknown[] as readonly AnthropicTool[], (tool) => {
    const { name, description = '', input_schema: inputSchema, strict, input_examples: inputExamples } = tool
    const { allowed_callers: callers, eager_input_streaming: eager } = tool
    return {
      name,
      description,
      inputSchema,
      ...dropUndefined({ strict, inputExamples, eagerInputStreaming: eager ?? undefined }),
      ...(callers && {
        callers: [
          ...new Set(callers.map((caller) => (caller === 'direct' ? caller : CODE))),
        ] as Tool['callers'] & {},
      }),
      ...dropUndefined(describe(tool as unknown as Native)),
    }
  })
}
