/** What is wrong with a config file, where, and what to do about it. Problems are data: one of them never hides the other servers. */

export interface ConfigProblem {
  readonly file: string
  /** Where in the file, as `mcpServers.github.args[1]`; empty for the file as a whole. */
  readonly path: string
  /** Counted from 1; undefined where the file could not be read at all. */
  readonly line: number | undefined
  readonly message: string
  readonly fix: string
  /** The server that cannot be used because of it. */
  readonly server?: string
  /** A warning does not stop anything from working. */
  readonly severity: 'error' | 'warning'
}

export function describeProblem(problem: ConfigProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`
  const path = problem.path === '' ? '' : ` ${problem.path}`
  return `${place}${path}: ${sentence(problem.message)} ${sentence(problem.fix)}`
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}
