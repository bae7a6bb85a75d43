/** Which tools of a server are always sent: those the config names, those the server marks where the config believes it, and no more than fit. */
import { estimate } from '@toolwell/core'
import { matchesGlob } from '@toolwell/core/internal'
import { isOffered } from '../config/is-offered.js'
import type { ServerConfig } from '../config/server-config.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'

export interface AlwaysSent {
  readonly names: ReadonlySet<string>
  /** Would be sent too, but take more than the server may put into every request. They are deferred. */
  readonly beyond: readonly string[]
  /** Of all that would be sent, also those beyond. */
  readonly tokens: number
}

const NONE: AlwaysSent = { names: new Set(), beyond: [], tokens: 0 }

/** What the config names comes first, then what the server marks; in order of name, so that a shuffled list changes nothing. */
export function alwaysSent(server: ServerConfig, { tools }: ServerDefinition): AlwaysSent {
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
  let tokens = 0
  let all = 0
  for (const { name, description, inputSchema } of inOrder) {
    // As the wire with the longest form sends it.
    const sent = { name: `${server.name}__${name}`, description, parameters: inputSchema }
    const cost = estimate.count(JSON.stringify({ type: 'function', function: sent }))
    all += cost
    if (tokens + cost > server.surfaceTokens) beyond.push(name)
    else {
      tokens += cost
      names.add(name)
    }
  }
  return { names, beyond, tokens: all }
}
