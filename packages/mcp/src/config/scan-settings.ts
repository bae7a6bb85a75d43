/** Reads `scan` of a config file: which rules of the scan are switched off. */
import { isRecord, nearest } from '@toolwell/core/internal'
import { type RuleSettings, ruleProblem } from '../trust/scan/rules.js'
import { type ConfigDocument, type Path, pathText } from './document.js'
import type { ConfigProblem } from './problem.js'

const KEYS = ['rules']

/** What is wrong is in `problems`; the rest is used. */
export function scanSettingsOf(
  document: ConfigDocument,
  foreign: boolean,
  problems: ConfigProblem[],
): RuleSettings {
  const refuse = (path: Path, message: string, fix: string) => {
    const { file } = document
    const severity = foreign ? 'warning' : 'error'
    problems.push({ file, path: pathText(path), line: document.lineOf(path), message, fix, severity })
  }
  const scan = document.value?.scan
  if (scan === undefined || scan === null) return {}
  if (!isRecord(scan)) {
    refuse(['scan'], 'scan must be an object', 'Write { "rules": { "steer-preference": "off" } }')
    return {}
  }
  for (const key of Object.keys(scan).filter((each) => !KEYS.includes(each))) {
    const [known = 'rules'] = nearest(key, KEYS, 1)
    refuse(['scan', key], `unknown key ${JSON.stringify(key)}`, `Did you mean ${JSON.stringify(known)}?`)
  }
  const { rules = {} } = scan
  if (!isRecord(rules)) {
    refuse(['scan', 'rules'], 'rules must be an object', 'Write { "steer-preference": "off" }')
    return {}
  }
  const off: Record<string, 'off'> = {}
  for (const [id, value] of Object.entries(rules)) {
    const problem = ruleProblem(id, value)
    if (problem) refuse(['scan', 'rules', id], problem.message, problem.fix)
    else off[id] = 'off'
  }
  return off
}
