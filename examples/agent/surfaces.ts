/** Surfaces: Toolwell's defaults, or the presets of five systems with their names. */
import type { Tool, ToolwellOptions } from '@toolwell/core'
import { applyManifest, readManifest } from '@toolwell/core/manifest'
import {
  caliban,
  pawwork,
  qwenCode,
  qwenSubagent,
  sf,
  sfMcpTools,
  sfTools,
  superAgent,
} from '@toolwell/presets'
import type { AgentKind } from './extensions.ts'
import type { ChildChoice } from './session-tools.ts'

export const SURFACES = ['toolwell', 'sf', 'super-agent', 'qwen-code', 'caliban', 'pawwork'] as const
export type SurfaceName = (typeof SURFACES)[number]

export interface Materials {
  readonly tools: readonly Tool[]
  /** Text and path of extension-manifest.json. */
  readonly manifest: string
  readonly file: string
  /** Lists a server for the first time. */
  connect(server: string): Promise<unknown>
}

interface Surface {
  options(materials: Materials): ToolwellOptions
  /** Start of a sub-agent, if the system has a rule for it. */
  readonly childOf?: (kind: AgentKind) => ChildChoice
}

const described = ({ tools, manifest, file }: Materials) =>
  applyManifest(tools, readManifest(manifest, { file }), { file })

export const surfaces: Readonly<Record<SurfaceName, Surface>> = {
  toolwell: { options: (materials) => ({ tools: described(materials) }) },
  sf: {
    options: ({ tools, manifest, file, connect }) => ({
      ...sf(),
      tools: [...sfTools(tools, manifest, { file }), ...sfMcpTools({ connect })],
    }),
  },
  'super-agent': { options: (materials) => ({ ...superAgent(), tools: described(materials) }) },
  'qwen-code': {
    options: (materials) => ({ ...qwenCode(), tools: described(materials) }),
    childOf: ({ tools }) => qwenSubagent(tools),
  },
  caliban: {
    options: (materials) => ({ ...caliban({ tools: { lazy_mcp: true } }), tools: described(materials) }),
  },
  pawwork: { options: (materials) => ({ ...pawwork(), tools: described(materials) }) },
}
