/** Converts tool definitions to and from the form of a wire. */

import { ToolwellError } from '../../base/errors.js'
import { defined, isRecord } from '../../base/guards.js'
import { invalid } from '../../base/options.js'
import { plainJson } from '../../base/plain-json.js'
import { quote } from '../../base/text.js'
import { fitWire } from '../../schema/dialect.js'
import type { SurfaceView } from '../../surface/project.js'
import { formOf, inForm, KEYED, noTools, type ToolForm } from '../../tool/foreign-form.js'
import { nameOfTool, type Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'

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
      originals.set(made, plainJson(wire))
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

/**
 * A definition that the wire accepts. Definitions of the surface already fit; the host's own, sent while deferral is
 * off, may not.
 */
export function fitted(tool: WireTool | Tool, wire: string): WireTool {
  const { name, description = '', inputSchema, strict, inputExamples } = tool
  return fitWire({ name, description, inputSchema, ...defined({ strict, inputExamples }) }, wire).tool
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

const FORMS: Readonly<Record<ToolForm, string>> = {
  anthropic: '{ name, description, input_schema }',
  google: '{ functionDeclarations: [{ name, description, parameters }] }',
  'openai-chat': "{ type: 'function', function: { name, description, parameters } }",
  'openai-responses': "{ type: 'function', name, description, parameters }",
}

/** Throws if a tool does not have this form. */
export function assertImportable(
  given: unknown,
  form: ToolForm,
  isOwn: (tool: Readonly<Record<string, unknown>>) => boolean,
): void {
  if (!Array.isArray(given))
    throw invalid('tools', `importTools takes a list of tools, not ${noTools(given)}`)
  for (const [index, tool] of given.entries())
    if (!isRecord(tool) || !isOwn(tool)) throw unreadable(tool, problemOf(tool, form), index)
}

/** `index`: identifies a tool without a name in the message. */
export function unreadable(tool: unknown, problem: string, index = 0): ToolwellError {
  const name = nameOfTool(tool)
  const which =
    isRecord(tool) && name !== '(no name)' ? `The tool ${quote(name)}` : `Entry ${index} of this list`
  return new ToolwellError('invalid-tool', `${which} cannot be imported: it ${problem}.`, {
    tool: name,
    problem,
  })
}

const BESIDE = 'leave it out here, and put it before parts.tools in the request'

function problemOf(tool: unknown, form: ToolForm): string {
  if (!isRecord(tool)) return 'is not an object'
  const other = formOf(tool)
  if (other && other !== form) return inForm(other)
  const { name, inputSchema, type } = tool
  if (inputSchema !== undefined)
    return name === undefined
      ? KEYED
      : 'is in the shape of MCP and Toolwell, which needs no import; give it to createToolwell or setSource as it is'
  if (typeof type === 'string' && type !== 'function')
    return `has the type ${quote(type)}, which is no function of yours; ${BESIDE}`
  const [beside] = Object.keys(defined(tool)).filter((key) => key !== 'functionDeclarations')
  if (form === 'google' && name === undefined && beside !== undefined)
    return `has ${quote(beside)}, which is no function of yours; ${BESIDE}`
  return `is not in the shape that is read here, ${FORMS[form]}`
}
