/** Which tools of a server are always sent: those the config names, those the server marks where the config believes it, and no more than fit. */
import { estimate } from '@toolwell/core'
import { createWireName, fitWire, matchesGlob } from '@toolwell/core/internal'
import { isOffered } from '../config/is-offered.js'
import type { ServerConfig } from '../config/server-config.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { definitionIn } from '../definition/without-folder.js'

export interface AlwaysSent {
  readonly names: ReadonlySet<string>
  /** Would be sent too, but take more than the server may put into every request. They are deferred. */
  readonly beyond: readonly string[]
}

/** Stands for the folder that a caller reads in the place of the variable: the one of each has another length. */
const LONG_FOLDER = `/${'folder/'.repeat(20)}`

const NONE: AlwaysSent = { names: new Set(), beyond: [] }

/** What the config names comes first, then what the server marks; in order of name, so that a shuffled list changes nothing. */
export function alwaysSent(server: ServerConfig, definition: ServerDefinition): AlwaysSent {
  const { tools } = definitionIn(definition, LONG_FOLDER)
  const isNamed = ({ name }: McpTool) =>
    !server.lazy || server.alwaysLoad.some((pattern) => matchesGlob(pattern, name))
  const isMarked = ({ _meta: meta }: McpTool) => server.marks && meta?.['anthropic/alwaysLoad'] === true
  const wanted = tools.filter((tool) => isOffered(tool.name, server) && (isNamed(tool) || isMarked(tool)))
  if (wanted.length === 0) return NONE
  const inOrder = wanted.sort(
    (a, b) => Number(isNamed(b)) - Number(isNamed(a)) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
  const names = new Set<string>()
  const beyond: string[] = []
  let left = server.surfaceTokens
  for (const tool of inOrder) {
    // Most of what does not fit does not in any form.
    const cost = sizeOf(tool) > left ? Number.POSITIVE_INFINITY : costOf(server.name, tool)
    if (cost > left) beyond.push(tool.name)
    else {
      left -= cost
      names.add(tool.name)
    }
  }
  return { names, beyond }
}

const sizeOf = (value: unknown) => estimate.count(JSON.stringify(value))

const WIRES = ['anthropic', 'openai-chat', 'openai-responses', 'google']

/** Tokens in the longest form that a model may read: made fit for any wire, or as a gateway passes it on. */
function costOf(server: string, listed: McpTool): number {
  const { inputSchema, _meta: meta } = listed
  const description = typeof listed.description === 'string' ? listed.description : ''
  const name = createWireName(server, listed.name)
  const tool = { name, description, inputSchema: inputSchema as Record<string, unknown> }
  const sent = WIRES.map((wire) => {
    const { tool: fit } = fitWire(tool, wire)
    const inner = { name, description: fit.description, parameters: fit.inputSchema, strict: false }
    return sizeOf({ type: 'function', function: inner })
  })
  // A gateway marks it for clients that defer tools by themselves.
  return Math.max(...sent, sizeOf({ ...listed, name, _meta: { ...meta, 'anthropic/alwaysLoad': true } }))
}
