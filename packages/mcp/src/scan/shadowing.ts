/** What a scan knows of all servers together: whose tool bears which name. */
import { type Finding, finding } from './finding.js'
import { isMixedScript, skeleton } from './fold.js'

export interface ScannedServer {
  readonly name: string
  readonly instructions?: string | undefined
  readonly tools: readonly unknown[]
}

export interface NameIndex {
  /** A tool of another server, and none of this one, has the name. */
  isForeign(server: string, name: string): boolean
  isOwn(server: string, name: string): boolean
  /** Tools whose names look like this one's without being it. */
  lookalikes(server: string, name: string): readonly { readonly server: string; readonly name: string }[]
  /** Another server has a tool of this name with nearly this description. */
  cloneOf(server: string, name: string, description: string): string | undefined
}

/** Share of words in common from which on two descriptions are one. */
const ALIKE = 0.6

/** A name of several words: two servers do not choose it by chance and describe it alike. */
const isTelling = (name: string) => /[a-z0-9][_\-./ ][a-z]|[a-z][A-Z]/i.test(name)

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, 2000)
      .toLowerCase()
      .match(/\p{L}{2,}/gu) ?? [],
  )

function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0
  for (const word of one) if (other.has(word)) common++
  return common / Math.max(1, one.size + other.size - common)
}

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

export function createNameIndex(servers: readonly ScannedServer[]): NameIndex {
  const owners = new Map<string, Set<string>>()
  const looks = new Map<string, { server: string; name: string }[]>()
  const texts = new Map<string, { server: string; words: ReadonlySet<string> }[]>()
  for (const { name: server, tools } of servers)
    for (const tool of tools) {
      const { name, description } = (typeof tool === 'object' && tool !== null ? tool : {}) as {
        name?: unknown
        description?: unknown
      }
      if (typeof name !== 'string' || name.length > 200) continue
      owners.set(plain(name), (owners.get(plain(name)) ?? new Set()).add(server))
      const look = looks.get(skeleton(name)) ?? []
      if (look.length < 50) look.push({ server, name })
      looks.set(skeleton(name), look)
      if (typeof description === 'string' && isTelling(name)) {
        const known = texts.get(plain(name)) ?? []
        if (known.length < 50) known.push({ server, words: wordsOf(description) })
        texts.set(plain(name), known)
      }
    }
  return {
    isForeign(server, name) {
      const bare = name.replace(/\(\)$/, '').replace(/^(?:mcp__)?[\w-]+(?:__|[:/.])(?=\w)/, '')
      // One word, or a short one, is more often a thing than a tool.
      if (plain(bare).length < 8 || !/[_-]|[a-z][A-Z]/.test(bare)) return false
      const found = owners.get(plain(bare)) ?? owners.get(plain(name))
      return found !== undefined && !found.has(server)
    },
    isOwn: (server, name) => owners.get(plain(name.replace(/\(\)$/, '')))?.has(server) ?? false,
    lookalikes: (server, name) =>
      (looks.get(skeleton(name)) ?? []).filter(
        (other) => other.server !== server && plain(other.name) !== plain(name),
      ),
    cloneOf(server, name, description) {
      const known = texts.get(plain(name))
      if (known === undefined || known.length < 2) return undefined
      const words = wordsOf(description)
      return known.find((other) => other.server !== server && overlap(other.words, words) >= ALIKE)?.server
    },
  }
}

const SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u

/** Names of parameters have no server: they are not compared. */
export function findNames(
  server: string | undefined,
  where: string,
  name: string,
  index: NameIndex,
): Finding[] {
  const findings: Finding[] = []
  const words = name.split(/[\s_\-./:]+/)
  const isMixed =
    words.some(isMixedScript) ||
    (words.some((word) => /^[a-z]+$/i.test(word)) &&
      words.some((word) => SCRIPT.test(word)) &&
      !/\s/.test(name))
  if (isMixed)
    findings.push(
      finding('deceptive-name', 'hard', where, name, 'mixes letters of several scripts that look alike'),
    )
  else if (/[^\u0020-\u007e]/.test(name) && name.normalize('NFKC') !== name.normalize('NFC'))
    findings.push(finding('deceptive-name', 'hard', where, name, 'uses letters that look like plain ones'))
  const [twin] = server === undefined ? [] : index.lookalikes(server, name)
  if (twin) {
    findings.push(
      finding(
        'shadowing',
        'hard',
        where,
        name,
        `looks like ${JSON.stringify(twin.name.slice(0, 60))} of ${JSON.stringify(twin.server.slice(0, 60))}`,
      ),
    )
  }
  return findings
}
