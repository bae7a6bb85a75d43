/** Reads `hostTools` of a config file: which of the agent's own tools are deferred. */
import { isRecord, nearest } from '@toolwell/core/internal'
import { type ConfigDocument, type Path, pathText } from './document.js'
import { exampleOf, HOST_TOOLS_KEYS, misfit } from './keys.js'
import type { ConfigProblem } from './problem.js'

export interface HostTools {
  /** Names or patterns of the agent's own tools. */
  readonly defer: readonly string[]
}

/** What is wrong is in `problems`; the rest is used. */
export function hostToolsOf(
  document: ConfigDocument,
  foreign: boolean,
  problems: ConfigProblem[],
): HostTools {
  const refuse = (path: Path, message: string, fix: string) => {
    const { file } = document
    const severity = foreign ? 'warning' : 'error'
    problems.push({ file, path: pathText(path), line: document.lineOf(path), message, fix, severity })
  }
  const given = document.value?.hostTools
  if (given === undefined || given === null) return { defer: [] }
  if (!isRecord(given)) {
    refuse(['hostTools'], 'hostTools must be an object', 'Write { "defer": ["…"] }')
    return { defer: [] }
  }
  const known = Object.keys(HOST_TOOLS_KEYS)
  let defer: readonly string[] = []
  for (const [name, value] of Object.entries(given)) {
    const key = Object.hasOwn(HOST_TOOLS_KEYS, name) ? HOST_TOOLS_KEYS[name] : undefined
    const wrong = key && misfit(value, key)
    if (!key) {
      const [meant = 'defer'] = nearest(name, known, 1)
      refuse(
        ['hostTools', name],
        `unknown key ${JSON.stringify(name)}`,
        `Did you mean ${JSON.stringify(meant)}?`,
      )
    } else if (wrong) refuse(['hostTools', name], `${name} ${wrong}`, `Write ${exampleOf(key)}`)
    else defer = value as string[]
  }
  return { defer }
}
