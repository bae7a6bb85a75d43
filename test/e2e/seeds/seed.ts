/** The differences between seeds: how the model asks for a tool, and the name under which it calls it. */
import type { ScriptedCall } from '@toolwell/testing'
import type { SurfaceName } from '../../../examples/agent/surfaces.ts'

export interface Seed {
  readonly surface: SurfaceName
  readonly loader: string
  /** The wire name of a server's tool. */
  wireName(server: string, tool: string): string
  /** The call that loads a tool by name. */
  find(name: string): ScriptedCall
  /** Whether a sub-agent gets the loaded tools of its parent: by default, and if it inherits nothing. */
  readonly heirHas: boolean
  readonly freshHas: boolean
}

const mcp = (server: string, tool: string) => `mcp__${server}__${tool}`
const plain = (server: string, tool: string) => `${server}__${tool}`
const asking = (loader: string, input: (name: string) => Record<string, unknown>) => ({
  loader,
  find: (name: string): ScriptedCall => ({ name: loader, arguments: input(name) }),
})
const inherits = { heirHas: true, freshHas: false }

export const SEEDS = {
  sf: {
    surface: 'sf',
    wireName: plain,
    ...asking('sf_tool_search', (name) => ({ query: `select:${name}` })),
    ...inherits,
  },
  'super-agent': {
    surface: 'super-agent',
    wireName: mcp,
    ...asking('tool_search', (name) => ({ query: name })),
    ...inherits,
  },
  // In this seed, sub-agents have every schema.
  'qwen-code': {
    surface: 'qwen-code',
    wireName: mcp,
    ...asking('tool_search', (name) => ({ query: `select:${name}` })),
    heirHas: true,
    freshHas: true,
  },
  caliban: {
    surface: 'caliban',
    wireName: mcp,
    ...asking('ToolSearch', (name) => ({ query: `select:${name}` })),
    ...inherits,
  },
  pawwork: {
    surface: 'pawwork',
    wireName: plain,
    ...asking('tool_info', (name) => ({ name })),
    ...inherits,
  },
} as const satisfies Partial<Record<SurfaceName, Seed>>
