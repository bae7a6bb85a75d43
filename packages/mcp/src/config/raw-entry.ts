/** An entry of a config file as it is written, and where that is. */
import { type ConfigDocument, type Path, pathText } from './document.js'
import type { ConfigProblem } from './problem.js'

/** An entry as it is written in a file, and where. */
export interface RawEntry {
  readonly name: string
  readonly document: ConfigDocument
  readonly path: Path
  readonly value: unknown
  /** Relative paths start here. */
  readonly folder: string
  /** A server of it that serves all projects runs here: beside its file, or at home where that is the user's own. */
  readonly sharedFolder: string
  /** In the user's own file: nobody else wrote it. */
  readonly isOwn: boolean
  /** Another file has changed how the server is started or reached. */
  readonly isPatched: boolean
  /** A file of another client: unknown keys in it are not refused. */
  readonly foreign: boolean
}

export function problemAt(
  raw: RawEntry,
  path: Path,
  message: string,
  fix: string,
  severity: ConfigProblem['severity'],
): ConfigProblem {
  const whole = [...raw.path, ...path]
  return {
    file: raw.document.file,
    path: pathText(whole),
    line: raw.document.lineOf(whole),
    message,
    fix,
    server: raw.name,
    severity,
  }
}
