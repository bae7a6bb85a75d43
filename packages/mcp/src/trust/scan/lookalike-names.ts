/** Names that are not what they look like. */
import { type Finding, finding } from './finding.js'
import { FOREIGN_LETTERS, isMixedScript, latinised } from './fold.js'
import type { NameIndex } from './name-index.js'

/** Names of parameters have no server: they are not compared with other names. */
export function findLookalikeNames(
  server: string | undefined,
  where: string,
  name: string,
  index: NameIndex,
): Finding[] {
  const words = name.split(/[\s_\-./:]+/)
  const isMixed =
    words.some(isMixedScript) ||
    (words.some((word) => /^[a-z]+$/i.test(word)) &&
      words.some((word) => FOREIGN_LETTERS.test(word) && latinised(word.toLowerCase()) !== undefined) &&
      !/\s/.test(name))
  if (isMixed)
    return [
      finding('lookalike-name', 'hard', where, name, 'mixes letters of several scripts that look alike'),
    ]
  if (/[^\u0020-\u007e]/.test(name) && name.normalize('NFKC') !== name.normalize('NFC'))
    return [finding('lookalike-name', 'hard', where, name, 'uses letters that look like plain ones')]
  const twin = server === undefined ? undefined : index.lookalike(server, name)
  if (!twin) return []
  const why = `looks like ${shown(twin.name)} of ${shown(twin.server)}`
  return [finding('lookalike-name', twin.isOld ? 'soft' : 'hard', where, name, why)]
}

const shown = (name: string) => JSON.stringify(name.slice(0, 60).replace(/[^\u0020-\u007e]/g, '?'))
