/** Describes why a program could not be started, and its last output, for the author of the config. */

import { statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { readSmallFile } from '../config/read-small-file.js'
import type { StdioEndpoint } from '../config/server-config.js'

/** A complete description of a failed program. Its cause is the protocol error. */
export class ProgramFailure extends Error {}

export function startFailure(error: NodeJS.ErrnoException, { command, cwd }: StdioEndpoint): string {
  const shown = JSON.stringify(command)
  const folder = kindOf(cwd)
  // The platform reports a missing folder as an error of the command.
  if (folder !== 'folder')
    return `its working folder ${JSON.stringify(cwd)} ${folder === 'file' ? 'is a file' : 'does not exist'}; correct "cwd" in its config, or create the folder`
  if (error.code === 'ENOENT') {
    const isPath = /[\\/]/.test(command)
    const interpreter = isPath ? interpreterOf(command) : undefined
    if (interpreter !== undefined)
      return `the first line of ${shown} names ${JSON.stringify(interpreter)}, which was not found; install it, or correct the line`
    return isPath
      ? `there is no program ${shown}; correct "command" in its config, or install it`
      : `the command ${shown} was not found on the PATH; install it, or give its full path`
  }
  if (error.code === 'EACCES') {
    const file = /[\\/]/.test(command) ? command : onPath(command)
    return kindOf(file) === 'folder'
      ? `the command ${shown} is a folder; name the program in it`
      : `the command ${shown} is not executable; run: chmod +x ${JSON.stringify(file)}`
  }
  return `the command ${shown} could not be started: ${error.message}`
}

/** Extracts the lines that say what went wrong: from the first error line on, without the stack. */
export function tellingLines(text: string): string {
  const lines = text
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
    .split('\n')
    .map((line) => line.replace(/[\p{C}\s]+/gu, ' ').trim())
    .filter((line) => line !== '' && !/^at \S/.test(line))
  const error = lines.findIndex((line) => ERROR.test(line))
  return lines
    .slice(Math.max(error, 0))
    .slice(0, MOST_LINES)
    .map((line) => (line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line))
    .join(' ')
}

const ERROR = /^(?:\w*(?:Error|Exception)\b|error\b|fatal\b|panic\b|npm (?:ERR!|error))/i
const MOST_LINES = 3
const MOST_CHARACTERS = 200

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined
  }
}

/** The interpreter in the first line of a script. */
function interpreterOf(file: string): string | undefined {
  try {
    const [, program] = /^#!\s*(\S+)/.exec(readSmallFile(file).toString('latin1', 0, 256)) ?? []
    return program
  } catch {
    return undefined
  }
}

function onPath(command: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, command)).find((file) => kindOf(file) !== undefined) ?? command
}
