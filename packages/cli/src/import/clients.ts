/** Where other clients keep their servers, on each system. */
import { join } from 'node:path'
import type { Terminal } from '../shared/terminal.js'

export type Shape = 'servers' | 'claude-code' | 'gemini' | 'codex' | 'opencode' | 'vscode-settings'

export interface ClientFile {
  /** As `--from` names it. */
  readonly client: string
  readonly label: string
  readonly file: string
  readonly shape: Shape
}

export const CLIENTS = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'opencode',
] as const

export interface Places {
  readonly home: string
  readonly folder: string
  readonly platform: string
  readonly env: Terminal['env']
}

/** The files of this folder first: where both have a server of one name, it is the folder's that is meant here. */
export function clientFiles({ home, folder, platform, env }: Places): ClientFile[] {
  const settings = settingsFolder(home, platform, env)
  const xdg = env.XDG_CONFIG_HOME || join(home, '.config')
  const codex = env.CODEX_HOME || join(home, '.codex')
  const file = (client: (typeof CLIENTS)[number], label: string, path: string, shape: Shape = 'servers') => ({
    client,
    label,
    file: path,
    shape,
  })
  const all = [
    file('claude-code', 'Claude Code', join(folder, '.mcp.json')),
    file('cursor', 'Cursor', join(folder, '.cursor', 'mcp.json')),
    file('vscode', 'VS Code', join(folder, '.vscode', 'mcp.json')),
    file('codex', 'Codex', join(folder, '.codex', 'config.toml'), 'codex'),
    file('gemini', 'Gemini CLI', join(folder, '.gemini', 'settings.json'), 'gemini'),
    file('opencode', 'opencode', join(folder, 'opencode.json'), 'opencode'),
    file('opencode', 'opencode', join(folder, 'opencode.jsonc'), 'opencode'),
    file('claude-code', 'Claude Code', join(home, '.claude.json'), 'claude-code'),
    file('claude-desktop', 'Claude Desktop', join(settings, 'Claude', 'claude_desktop_config.json')),
    file('cursor', 'Cursor', join(home, '.cursor', 'mcp.json')),
    file('vscode', 'VS Code', join(settings, 'Code', 'User', 'mcp.json')),
    file('vscode', 'VS Code', join(settings, 'Code', 'User', 'settings.json'), 'vscode-settings'),
    file('codex', 'Codex', join(codex, 'config.toml'), 'codex'),
    file('gemini', 'Gemini CLI', join(home, '.gemini', 'settings.json'), 'gemini'),
    file('opencode', 'opencode', join(xdg, 'opencode', 'opencode.json'), 'opencode'),
    file('opencode', 'opencode', join(xdg, 'opencode', 'opencode.jsonc'), 'opencode'),
  ]
  // The folder may be the home folder itself.
  return all.filter((each, at) => all.findIndex((other) => other.file === each.file) === at)
}

function settingsFolder(home: string, platform: string, env: Terminal['env']): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}
