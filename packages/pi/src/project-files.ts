/**
 * The config files of the folder where pi runs. A cloned folder must not start programs because pi was started in it: each file
 * counts once the user has said so, and as it is then.
 */
import { type ConfigFile, loadConfig } from '@toolwell/mcp'
import { type ProjectFile, showEndpoint, type TrustedProjects } from '@toolwell/mcp/internal'

export interface ProjectFiles {
  readonly trusted: readonly ConfigFile[]
  /** Nobody has said anything of them as they are now. */
  readonly undecided: readonly ProjectFile[]
  readonly refused: readonly ProjectFile[]
}

export function projectFiles(paths: readonly string[], projects: TrustedProjects): ProjectFiles {
  const files = paths.flatMap((path) => projects.read(path) ?? [])
  return {
    trusted: files.filter(({ isTrusted }) => isTrusted).map(({ path, text }) => ({ path, text })),
    undecided: files.filter(({ isTrusted }) => isTrusted === undefined),
    refused: files.filter(({ isTrusted }) => isTrusted === false),
  }
}

/** So many servers of a file are named in a question. */
const MOST_SHOWN = 12
const LONGEST = 160

/** What a file would start or reach, a line for each server. */
export function serversIn({ path, text }: ProjectFile, folder: string): string {
  const { servers } = loadConfig({ files: [{ path, text }], workspaceFolder: folder })
  const lines = servers.map(({ name, endpoint, secrets }) => {
    const line = plain(`${name}: ${showEndpoint(endpoint, secrets)}`)
    return `  ${line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line}`
  })
  if (lines.length === 0) return '  no server that could be used'
  const more = lines.length - MOST_SHOWN
  return [...lines.slice(0, MOST_SHOWN), ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
}

/** The file is somebody else's: nothing in it moves the cursor or hides a word. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')

/** Run in the folder, it trusts what is there. */
export const TRUST_COMMAND = 'pi -p "/toolwell trust"'

export function untrustedLine({ path }: ProjectFile): string {
  return `Toolwell does not use ${plain(path)}: nobody has trusted it. Look at it, and then run in its folder: ${TRUST_COMMAND}`
}
