/** Converts tool definitions to and from the form of a wire. */

import { dropUndefined, isRecord, toPlainJson } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import type { ProviderWire } from '../../base/wires.js'
import { fitWire } from '../../schema/dialect.js'
import { isCodeOnly, pickOptions } from '../../surface/context.js'
import type { SurfaceView } from '../../surface/project.js'
import {
  describeNotTools,
  describeToolForm,
  detectToolForm,
  TOOL_WITHOUT_NAME,
} from '../../tool/define-tool.js'
import { readToolName, type Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import type { UnitCall } from './thread.js'

export interface ToolCodec<Native> {
  /** Reads the host's array of tools. While deferral is off, this array is sent. */
  read(wire: readonly Native[], convert: (tool: Native) => Tool): readonly Tool[]
  /** Returns the same array for the same surface. */
  write(view: SurfaceView): readonly Native[]
}

export function createToolCodec<Native>(convert: (tool: WireTool | Tool) => Native): ToolCodec<Native> {
  const originals = new WeakMap<readonly (WireTool | Tool)[], readonly Native[]>()
  const arrays = new WeakMap<readonly (WireTool | Tool)[], readonly Native[]>()
  const tools = new WeakMap<WireTool | Tool, Native>()
  return {
    read(wire, read) {
      const made = wire.map(read)
      originals.set(made, toPlainJson(wire))
      return made
    },
    write({ tools: sent }) {
      const known = originals.get(sent) ?? arrays.get(sent)
      if (known) return known
      const made = sent.map((tool) => {
        const done = tools.get(tool) ?? convert(tool)
        tools.set(tool, done)
        return done
      })
      arrays.set(sent, made)
      return made
    },
  }
}

/** Returns the tools of a request: those of the provider first. Without them, the same list. */
export function addOwnTools<Native>(
  provider: { readonly tools: readonly unknown[] } | undefined,
  own: readonly Native[],
): readonly Native[] {
  return provider ? [...(provider.tools as readonly Native[]), ...own] : own
}

/** Without tools that only code may call. Usually the same view. */
export function removeCodeOnly(view: SurfaceView): SurfaceView {
  if (!view.tools.some(isCodeOnly)) return view
  return { ...view, tools: view.tools.filter((tool) => !isCodeOnly(tool)) }
}

/**
 * A definition that the wire accepts. Definitions of the surface already fit; the host's own, sent while deferral is
 * off, may not.
 */
export function fitTool(tool: WireTool | Tool, wire: string): WireTool {
  const { name, description = '', inputSchema } = tool
  return fitWire({ name, description, inputSchema, ...pickOptions(tool) }, wire).tool
}

/** The schema, with the type `object` that every wire requires. */
export function objectSchema({
  inputSchema,
}: Pick<WireTool, 'inputSchema'>): Readonly<Record<string, unknown>> {
  return inputSchema.type === undefined ? { type: 'object', ...inputSchema } : inputSchema
}

/**
 * The fields that `describe` adds to an imported tool. Undefined fields add nothing: `handlers[name]` may be
 * undefined.
 */
export type Described = { readonly [Field in keyof Tool]?: Tool[Field] | undefined }

/** The form of tools that a wire imports. */
export interface ImportForm {
  readonly form: ProviderWire
  /** Shown in error messages. */
  readonly shape: string
  /** The key of a list of tools inside a tool. */
  readonly nested?: string
}

/** Changes tools that servers would refuse. Returns the same array if there are none. */
export function relaxTools<Native>(
  wire: readonly Native[],
  relax: (tool: Native) => Native,
): readonly Native[] {
  const made = wire.map(relax)
  return made.every((tool, index) => tool === wire[index]) ? wire : made
}

/** Throws if a tool does not have this form. */
export function assertImportable(
  given: unknown,
  form: ImportForm,
  isOwn: (tool: Readonly<Record<string, unknown>>) => boolean,
): void {
  if (!Array.isArray(given))
    throw invalid('tools', `importTools takes a list of tools, not ${describeNotTools(given)}`)
  for (const [index, tool] of given.entries())
    if (!isRecord(tool) || !isOwn(tool)) throw createImportError(tool, findProblem(tool, form), index)
}

/** `index`: identifies a tool without a name in the message. */
export function createImportError(tool: unknown, problem: string, index = 0): ToolwellError {
  const name = readToolName(tool)
  const which =
    isRecord(tool) && name !== '(no name)' ? `The tool ${quote(name)}` : `Entry ${index} of this list`
  return new ToolwellError('invalid-tool', `${which} cannot be imported: it ${problem}.`, {
    tool: name,
    problem,
  })
}

const BESIDE = 'remove it here, and pass it to the adapter as providerTools'

function findProblem(tool: unknown, { form, shape, nested }: ImportForm): string {
  if (!isRecord(tool)) return 'is not an object'
  const other = detectToolForm(tool)
  if (other && other !== form) return describeToolForm(other)
  const { name, inputSchema, type } = tool
  if (inputSchema !== undefined)
    return name === undefined
      ? TOOL_WITHOUT_NAME
      : 'is in the form of MCP and Toolwell, which needs no import; pass it to createToolwell or setSource unchanged'
  if (typeof type === 'string' && type !== 'function')
    return `has the type ${quote(type)}, so it is not your own function; ${BESIDE}`
  const [beside] = Object.keys(dropUndefined(tool)).filter((key) => key !== nested)
  if (nested !== undefined && name === undefined && beside !== undefined)
    return `has ${quote(beside)}, so it is not your own function; ${BESIDE}`
  return `is not in the form of this wire, ${shape}`
}

// Tools that a provider defines or runs. They come first in every request, unchanged, and Toolwell never runs their calls.

export interface ProviderTools<Native = unknown> {
  readonly tools: readonly Native[]
  readonly names: ReadonlySet<string>
  /** Whether a call belongs to one of these tools. `isOurs`: whether Toolwell knows a tool of this name. */
  owns(call: UnitCall, isOurs: (name: string) => boolean): boolean
}

/** How a wire declares such tools. */
export interface ProviderForm {
  /** Lists the names under which the model calls this tool. */
  names(tool: Readonly<Record<string, unknown>>): readonly unknown[]
  /** Whether the tool is a function of the host. */
  isFunction(tool: Readonly<Record<string, unknown>>): boolean
  owns?: ProviderTools['owns']
}

/** Returns undefined if there are none. */
export function readProviderTools<Native>(
  given: readonly Native[] | undefined,
  { names, isFunction, owns = () => false }: ProviderForm,
): ProviderTools<Native> | undefined {
  if (given === undefined) return undefined
  if (!Array.isArray(given))
    throw invalid('providerTools', `providerTools takes a list of tools, not ${describeKind(given)}.`)
  const found = given.flatMap((tool: unknown, index) => {
    if (!isRecord(tool))
      throw invalid(
        'providerTools',
        `Entry ${index} of providerTools is not a tool, but ${describeKind(tool)}.`,
      )
    if (isFunction(tool))
      throw invalid(
        'providerTools',
        `Entry ${index} of providerTools is your own function. Read it with importTools, and pass it to createToolwell.`,
      )
    return names(tool).filter((name) => typeof name === 'string')
  })
  const known = new Set(found)
  return {
    tools: toPlainJson(given),
    names: known,
    owns: (call, isOurs) => known.has(call.name) || owns(call, isOurs),
  }
}

/** Throws if a tool of the request has the name of a provider's tool: providers refuse two tools of one name. */
export function assertNoClash({ names }: ProviderTools, { tools, declaredHidden }: SurfaceView): void {
  const clash = [...tools, ...declaredHidden].find(({ name }) => names.has(name))
  if (clash)
    throw invalid(
      'providerTools',
      `providerTools and your own tools both have ${quote(clash.name)}. Rename your tool, or remove one of the two.`,
    )
}

/** Reason for the bridge, for people. */
export const IGNORED = 'the server ignored tool_search: the tools in its response lack it'

/**
 * Whether a Responses server dropped the API's search: its response lists other tools of the request, but not the search. An
 * empty list proves this only if the search was the only tool, because some servers never return tools.
 */
export function ignoresSearch(response: unknown, sent: unknown): boolean {
  const { tools, output } = isRecord(response) ? response : {}
  const has = (list: unknown, type: string) =>
    Array.isArray(list) && list.some((each) => isRecord(each) && each.type === type)
  if (!Array.isArray(sent) || !has(sent, 'tool_search')) return false
  if (!Array.isArray(tools) || has(tools, 'tool_search') || has(output, 'tool_search_call')) return false
  return tools.length > 0 || sent.length === 1
}
