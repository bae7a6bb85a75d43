/** The config that counts in a folder: the user's files, and those of the folder that the user has trusted. */
import { type Config, describeProblem, loadConfig } from '@toolwell/mcp'
import type { TrustedProjects } from '@toolwell/mcp/internal'
import { configFiles } from './config-files.js'
import { type ProjectFiles, projectFiles } from './project-files.js'

export interface FolderConfig {
  readonly config: Config
  readonly project: ProjectFiles
  /** What is wrong with the files, in words. */
  readonly problems: readonly string[]
}

export function readConfig(folder: string, projects: TrustedProjects): FolderConfig {
  const { own, project } = configFiles(folder)
  const files = projectFiles(project, projects)
  const config = loadConfig({ files: [...own, ...files.trusted], workspaceFolder: folder })
  return { config, project: files, problems: config.problems.map(describeProblem) }
}
