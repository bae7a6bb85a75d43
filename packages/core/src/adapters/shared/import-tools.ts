/** What `importTools` of a wire was given, checked: a tool that it cannot read is told, with what can. Nothing is left out in silence. */

import { dropUndefined, isRecord } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import {
  describeNotTools,
  describeToolForm,
  detectToolForm,
  TOOL_WITHOUT_NAME,
  type ToolForm,
} from '../../tool/define-tool.js'
import { readToolName, type Tool } from '../../tool/tool.js'

/** What `describe` of an import adds to a tool. What is undefined adds nothing: `handlers[name]` may be. */
export type Described = { readonly [Field in keyof Tool]?: Tool[Field] | undefined }

const FORMS: Readonly<Record<ToolForm, string>> = {
  anthropic: '{ name, description, input_schema }',
  google: '{ functionDeclarations: [{ name, description, parameters }] }',
  'openai-chat': "{ type: 'function', function: { name, description, parameters } }",
  'openai-responses': "{ type: 'function', name, description, parameters }",
}

/** Throws at the first that is not in this form. */
export function assertImportable(
  given: unknown,
  form: ToolForm,
  isOwn: (tool: Readonly<Record<string, unknown>>) => boolean,
): void {
  if (!Array.isArray(given))
    throw invalid('tools', `importTools takes a list of tools, not ${describeNotTools(given)}`)
  for (const [index, tool] of given.entries())
    if (!isRecord(tool) || !isOwn(tool)) throw unreadable(tool, problemOf(tool, form), index)
}

/** `index`: its place in a list, which is told where it has no name. */
export function unreadable(tool: unknown, problem: string, index = 0): ToolwellError {
  const name = readToolName(tool)
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
  const other = detectToolForm(tool)
  if (other && other !== form) return describeToolForm(other)
  const { name, inputSchema, type } = tool
  if (inputSchema !== undefined)
    return name === undefined
      ? TOOL_WITHOUT_NAME
      : 'is in the shape of MCP and Toolwell, which needs no import; give it to createToolwell or setSource as it is'
  if (typeof type === 'string' && type !== 'function')
    return `has the type ${quote(type)}, which is no function of yours; ${BESIDE}`
  const [beside] = Object.keys(dropUndefined(tool)).filter((key) => key !== 'functionDeclarations')
  if (form === 'google' && name === undefined && beside !== undefined)
    return `has ${quote(beside)}, which is no function of yours; ${BESIDE}`
  return `is not in the shape that is read here, ${FORMS[form]}`
}
