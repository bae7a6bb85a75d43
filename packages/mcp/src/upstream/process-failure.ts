/** Why a program could not be started, and what it said before it ended, in words for whoever configured it. */
import { readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { StdioEndpoint } from '../config/server-config.js'

/** Says all there is to say of a program; its cause says it in the words of the protocol. */
export class ProgramFailure extends Error {}

export function startFailure(error: NodeJS.ErrnoException, { command, cwd }: StdioEndpoint): string {
  const shown = JSON.stringify(command)
  const folder = kindOf(cwd)
  // The platform reports this as a fault of the command.
  if (folder !== 'folder')
    return `the folder ${JSON.stringify(cwd)} that it should run in ${folder === 'file' ? 'is a file' : 'does not exist'}; correct "cwd" in its config, or make the folder`
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
      : `the command ${shown} may not be run; make it executable: chmod +x ${JSON.stringify(file)}`
  }
  return `the command ${shown} could not be started: ${error.message}`
}

/** Lines that say what went wrong. Where one looks like an error, from there on, without the stack below it. */
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

/** The program in the first line of a script that is there. */
function interpreterOf(file: string): string | undefined {
  try {
    const [, program] = /^#!\s*(\S+)/.exec(readFileSync(file, 'latin1').slice(0, 256)) ?? []
    return program
  } catch {
    return undefined
  }
}

function onPath(command: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, command)).find((file) => kindOf(file) !== undefined) ?? command
}
