/** The config files of other clients, on each operating system. */
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Terminal } from '../terminal.js'
import type { ShapeName } from './shapes.js'

export interface ClientFile {
  /** The name for `--from`. */
  readonly client: string
  readonly label: string
  readonly file: string
  readonly shape: ShapeName
}

/** The name for `--from`, and the name of the product. */
export const LABELS = {
  'claude-code': 'Claude Code',
  'claude-desktop': 'Claude Desktop',
  cursor: 'Cursor',
  vscode: 'VS Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  qwen: 'Qwen Code',
  windsurf: 'Windsurf',
  zed: 'Zed',
  cline: 'Cline',
  'copilot-cli': 'Copilot CLI',
  kilo: 'Kilo',
  goose: 'Goose',
  continue: 'Continue',
  kimi: 'Kimi',
} as const

export type ClientName = keyof typeof LABELS

export const CLIENTS = Object.keys(LABELS) as readonly ClientName[]

export interface Places {
  readonly home: string
  readonly folder: string
  readonly platform: string
  readonly env: Terminal['env']
}

export function findHome(env: Terminal['env']): string {
  return env.HOME || env.USERPROFILE || homedir()
}

export interface ClaudeFolder {
  readonly file: string
  /** The settings folder. */
  readonly settings: string
}

/** code.claude.com/docs/en/env-vars: CLAUDE_CONFIG_DIR moves both. */
export function claudeFolder(home: string, env: Terminal['env']): ClaudeFolder {
  const moved = env.CLAUDE_CONFIG_DIR
  return moved
    ? { file: join(moved, '.claude.json'), settings: moved }
    : { file: join(home, '.claude.json'), settings: join(home, '.claude') }
}

/** A config file of the user. The client is installed if the file or its marker exists. */
export interface UserFile extends ClientFile {
  readonly marker: string
}

/** Files of the folder come first: their servers take precedence over those of the user. */
export function clientFiles(places: Places): ClientFile[] {
  const all: ClientFile[] = [...folderFiles(places.folder), ...userFiles(places)]
  // The folder may be the home folder.
  return all.filter((each, at) => all.findIndex((other) => other.file === each.file) === at)
}

function fileOf(client: ClientName, file: string, shape: ShapeName = 'servers'): ClientFile {
  return { client, label: LABELS[client], file, shape }
}

/** Config files of a project folder. */
export function folderFiles(folder: string): ClientFile[] {
  const at = (...parts: string[]) => join(folder, ...parts)
  return [
    fileOf('claude-code', at('.mcp.json')),
    fileOf('cursor', at('.cursor', 'mcp.json')),
    fileOf('vscode', at('.vscode', 'mcp.json')),
    fileOf('codex', at('.codex', 'config.toml'), 'codex'),
    fileOf('gemini', at('.gemini', 'settings.json'), 'gemini'),
    fileOf('opencode', at('opencode.json'), 'opencode'),
    fileOf('opencode', at('opencode.jsonc'), 'opencode'),
    // https://qwenlm.github.io/qwen-code-docs/1.x/en/users/mcp/: "local" is the stronger scope of a project.
    fileOf('qwen', at('.qwen', 'settings.local.json'), 'gemini'),
    fileOf('qwen', at('.qwen', 'settings.json'), 'gemini'),
    // https://zed.dev/docs/configuring-zed: project settings.
    fileOf('zed', at('.zed', 'settings.json'), 'zed'),
    // docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers: also .mcp.json and .vscode/mcp.json.
    fileOf('copilot-cli', at('.github', 'mcp.json'), 'copilot'),
    ...kiloFiles([folder, at('.kilo')]),
    fileOf('kilo', at('.kilocode', 'mcp.json'), 'cline'),
    ...continueFiles(at('.continue')),
    fileOf('kimi', at('.kimi-code', 'mcp.json'), 'kimi'),
  ]
}

/** Config files of the user, for all folders. */
export function userFiles({ home, platform, env }: Places): UserFile[] {
  const settings = settingsFolder(home, platform, env)
  const xdg = env.XDG_CONFIG_HOME || join(home, '.config')
  const claude = claudeFolder(home, env)
  const storage = join(settings, 'Code', 'User', 'globalStorage')
  const own = (
    client: ClientName,
    marker: string,
    path: readonly string[],
    shape: ShapeName = 'servers',
  ): UserFile => ({ ...fileOf(client, join(marker, ...path), shape), marker })
  /** The file is its own marker, because another client may own the folder. */
  const only = (client: ClientName, file: string, shape: ShapeName = 'servers'): UserFile => ({
    ...fileOf(client, file, shape),
    marker: file,
  })
  const within = (marker: string, files: readonly ClientFile[]) => files.map((each) => ({ ...each, marker }))
  const zed = platform === 'win32' ? join(settings, 'Zed') : join(xdg, 'zed')
  const goose = gooseFolder(settings, xdg, platform, env)
  const cline = env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(home, '.cline'), 'data')
  const global = env.CONTINUE_GLOBAL_DIR || join(home, '.continue')
  return [
    { ...fileOf('claude-code', claude.file, 'claude-code'), marker: claude.settings },
    own('claude-desktop', join(settings, 'Claude'), ['claude_desktop_config.json']),
    own('cursor', join(home, '.cursor'), ['mcp.json']),
    own('vscode', join(settings, 'Code', 'User'), ['mcp.json'], 'vscode'),
    own('vscode', join(settings, 'Code', 'User'), ['settings.json'], 'vscode-settings'),
    own('codex', env.CODEX_HOME || join(home, '.codex'), ['config.toml'], 'codex'),
    own('gemini', join(env.GEMINI_CLI_HOME || home, '.gemini'), ['settings.json'], 'gemini'),
    own('opencode', join(xdg, 'opencode'), ['opencode.json'], 'opencode'),
    own('opencode', join(xdg, 'opencode'), ['opencode.jsonc'], 'opencode'),
    // https://qwenlm.github.io/qwen-code-docs/1.x/en/users/mcp/
    own('qwen', env.QWEN_HOME || join(home, '.qwen'), ['settings.json'], 'gemini'),
    // https://docs.windsurf.com/windsurf/cascade/mcp.md, and /plugins/cascade/mcp.md for other editors.
    own('windsurf', join(home, '.codeium', 'windsurf'), ['mcp_config.json']),
    only('windsurf', join(home, '.codeium', 'mcp_config.json')),
    // https://zed.dev/docs/configuring-zed
    own('zed', zed, ['settings.json'], 'zed'),
    // The command (@cline/shared 0.0.86, its storage paths), then the extension for VS Code.
    { ...fileOf('cline', env.CLINE_MCP_SETTINGS_PATH || join(cline, ...CLINE_FILE), 'cline'), marker: cline },
    own('cline', join(storage, 'saoudrizwan.claude-dev'), CLINE_FILE, 'cline'),
    // docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
    own('copilot-cli', env.COPILOT_HOME || join(home, '.copilot'), ['mcp-config.json'], 'copilot'),
    // github.com/Kilo-Org/kilocode, packages/kilo-docs/pages/automate/mcp/using-in-kilo-code.md: the current file, then the older ones.
    ...within(join(xdg, 'kilo'), kiloFiles([join(xdg, 'kilo')])),
    own('kilo', join(home, '.kilocode', 'cli', 'global'), ['settings', 'mcp_settings.json'], 'cline'),
    own('kilo', join(storage, 'kilocode.kilo-code'), ['settings', 'mcp_settings.json'], 'cline'),
    own('goose', goose, ['config.yaml'], 'goose'),
    // https://docs.continue.dev/customize/deep-dives/mcp
    own('continue', global, ['config.yaml'], 'continue'),
    ...continueFiles(global).map((each) => ({ ...each, marker: each.file })),
    // https://moonshotai.github.io/kimi-code/zh/customization/mcp, and the older kimi-cli.
    own('kimi', env.KIMI_CODE_HOME || join(home, '.kimi-code'), ['mcp.json'], 'kimi'),
    own('kimi', join(home, '.kimi'), ['mcp.json'], 'kimi'),
  ]
}

const CLINE_FILE = ['settings', 'cline_mcp_settings.json'] as const

function kiloFiles(folders: readonly string[]): ClientFile[] {
  return folders.flatMap((folder) =>
    ['kilo.json', 'kilo.jsonc'].map((name) => fileOf('kilo', join(folder, name), 'opencode')),
  )
}

/** Files in `mcpServers/`, with one or more servers each, in the format of Continue or of other clients. */
function continueFiles(folder: string): ClientFile[] {
  const inside = join(folder, 'mcpServers')
  let names: string[] = []
  try {
    names = readdirSync(inside).sort()
  } catch {
    // The folder does not exist.
  }
  return names
    .filter((name) => /\.(?:ya?ml|json)$/.test(name))
    .map((name) => fileOf('continue', join(inside, name), name.endsWith('.json') ? 'servers' : 'continue'))
}

/** github.com/block/goose, crates/goose/src/config/paths.rs: XDG everywhere but on Windows. */
function gooseFolder(settings: string, xdg: string, platform: string, env: Terminal['env']): string {
  if (env.GOOSE_PATH_ROOT) return join(env.GOOSE_PATH_ROOT, 'config')
  return platform === 'win32' ? join(settings, 'Block', 'goose', 'config') : join(xdg, 'goose')
}

function settingsFolder(home: string, platform: string, env: Terminal['env']): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(home, '.config')
}
