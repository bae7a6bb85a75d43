/**
 * The shortest way to `serve --stdio`: a session of an agent keeps one of these for as long as it lives, so nothing is loaded that
 * it does not need. Words that it does not know are left to the command itself.
 */
import { resolve } from 'node:path'
import { defaultGatewayFolder } from '@toolwell/gateway/bridge'
import { runStdio } from './run-stdio.js'

/** False where the words are not these alone. */
export async function runThin(words: readonly string[]): Promise<boolean> {
  const flags = new Map<string, string>()
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const isValued = word === '--profile' || word === '--folder'
    const value = isValued ? words[++at] : ''
    const isKnown = isValued || word === '--stdio' || word === '--all'
    if (!isKnown || value === undefined || (isValued && (value === '' || value.startsWith('-')))) return false
    flags.set(word, value)
  }
  const folder = flags.get('--folder')
  await runStdio({
    folder: folder === undefined ? defaultGatewayFolder() : resolve(folder),
    profile: flags.get('--profile'),
    all: flags.has('--all'),
  })
  return true
}
