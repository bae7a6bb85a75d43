/** Finds and reads config files, lowest priority first: those of pi, of other clients, and Toolwell's. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Config, type ConfigFile, defaultConfigFiles, describeProblem, loadConfig } from '@toolwell/mcp'
import { type ProjectFile, showEndpoint, type TrustedProjects } from '@toolwell/mcp/internal'

export interface ConfigFiles {
  /** The user's files, for every folder. */
  readonly own: readonly ConfigFile[]
  /** Files of the folder in which pi runs. Someone else may have written them. */
  readonly project: readonly string[]
}

function listConfigFiles(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigFiles {
  const agent = env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent')
  const [user, project] = defaultConfigFiles(folder, env)
  const own = [...(user ? [user] : []), { path: join(agent, 'mcp.json'), optional: true, own: true }]
  const paths = [
    join(folder, '.mcp.json'),
    join(folder, '.pi', 'mcp.json'),
    ...(project ? [project.path] : []),
  ]
  const isOwn = (path: string) => own.some((file) => resolve(file.path) === resolve(path))
  return { own, project: paths.filter((path) => !isOwn(path)) }
}

export interface FolderConfig {
  readonly config: Config
  readonly project: ProjectFiles
  /** Problems in the files, as sentences. */
  readonly problems: readonly string[]
}

export function readConfig(folder: string, projects: TrustedProjects): FolderConfig {
  const { own, project } = listConfigFiles(folder)
  const files = readProjectFiles(project, projects)
  const config = loadConfig({ files: [...own, ...files.trusted], workspaceFolder: folder })
  return { config, project: files, problems: config.problems.map(describeProblem) }
}

export interface ProjectFiles {
  readonly trusted: readonly ConfigFile[]
  /** Not decided for their current content. */
  readonly undecided: readonly ProjectFile[]
  readonly refused: readonly ProjectFile[]
}

function readProjectFiles(paths: readonly string[], projects: TrustedProjects): ProjectFiles {
  const files = paths.flatMap((path) => projects.read(path) ?? [])
  return {
    trusted: files.filter(({ isTrusted }) => isTrusted).map(({ path, text }) => ({ path, text })),
    undecided: files.filter(({ isTrusted }) => isTrusted === undefined),
    refused: files.filter(({ isTrusted }) => isTrusted === false),
  }
}

/** Servers listed in one question. */
const MOST_SHOWN = 12
const LONGEST = 160

/** One line per server that the file would start or connect to. */
export function describeServers({ path, text }: ProjectFile, folder: string): string {
  const { servers } = loadConfig({ files: [{ path, text }], workspaceFolder: folder })
  const lines = servers.map(({ name, endpoint, secrets }) => {
    const line = plain(`${name}: ${showEndpoint(endpoint, secrets)}`)
    return `  ${line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line}`
  })
  if (lines.length === 0) return '  no usable server'
  const more = lines.length - MOST_SHOWN
  return [...lines.slice(0, MOST_SHOWN), ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
}

/** Removes control characters, so that the file cannot move the cursor or hide text. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')

export function describeUntrusted({ path }: ProjectFile): string {
  return `Toolwell does not use ${plain(path)}: nobody has trusted it. The user decides: check the file, then start pi in its folder and enter /toolwell trust`
}
