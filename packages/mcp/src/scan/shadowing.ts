/** What a scan knows of all servers together: whose tool bears which name. Grows as servers become known. */
import { type Finding, finding } from './finding.js'
import { isMixedScript, skeleton } from './fold.js'

export interface ScannedServer {
  readonly name: string
  readonly instructions?: string | undefined
  readonly tools: readonly unknown[]
}

/** A question that was put to the index: its kind, then the name. */
export type Ask = `${'foreign' | 'own' | 'lookalike' | 'clone'}:${string}`

export interface NameIndex {
  add(server: ScannedServer): void
  /** A tool of another server, and none of this one, has the name. */
  isForeign(server: string, name: string): boolean
  isOwn(server: string, name: string): boolean
  /** Tools whose names look like this one's without being it. */
  lookalikes(server: string, name: string): readonly { readonly server: string; readonly name: string }[]
  /** Another server has a tool of this name with nearly this description. */
  cloneOf(server: string, name: string, description: string): string | undefined
  /** What the index says now; empty for no. */
  answer(server: string, ask: Ask): string
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

/** What could be the name of another server's tool. One word, or a short one, is more often a thing than a tool. */
function toolNameIn(name: string): string | undefined {
  const bare = name.replace(/\(\)$/, '').replace(/^(?:mcp__)?[\w-]+(?:__|[:/.])(?=\w)/, '')
  return plain(bare).length < 8 || !/[_-]|[a-z][A-Z]/.test(bare) ? undefined : bare
}

interface Described {
  readonly server: string
  readonly description: string
  /** Made when it is first compared. */
  words?: ReadonlySet<string>
}

const wordsIn = (text: Described): ReadonlySet<string> => {
  text.words ??= wordsOf(text.description)
  return text.words
}

export function createNameIndex(servers: readonly ScannedServer[]): NameIndex {
  const owners = new Map<string, Set<string>>()
  const looks = new Map<string, { server: string; name: string }[]>()
  const texts = new Map<string, Described[]>()
  const add = ({ name: server, tools }: ScannedServer) => {
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
        if (known.length < 50) known.push({ server, description })
        texts.set(plain(name), known)
      }
    }
  }
  for (const server of servers) add(server)
  const index: Omit<NameIndex, 'answer'> = {
    add,
    isForeign(server, name) {
      const bare = toolNameIn(name)
      if (bare === undefined) return false
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
      return known.find((other) => other.server !== server && overlap(wordsIn(other), words) >= ALIKE)?.server
    },
  }
  return {
    ...index,
    answer(server, ask) {
      const [kind, name] = [ask.slice(0, ask.indexOf(':')), ask.slice(ask.indexOf(':') + 1)]
      if (kind === 'foreign') return index.isForeign(server, name) ? 'yes' : ''
      if (kind === 'own') return index.isOwn(server, name) ? 'yes' : ''
      if (kind === 'lookalike') {
        const [twin] = index.lookalikes(server, name)
        return twin ? `${twin.server}/${twin.name}` : ''
      }
      const own = texts.get(plain(name))?.find((text) => text.server === server)
      return (own && index.cloneOf(server, name, own.description)) ?? ''
    },
  }
}

/** The same index, which writes down what it is asked. Names that could be no tool's are not worth a line. */
export function recording(index: NameIndex, asked: Map<Ask, string>): NameIndex {
  const note = (server: string, ask: Ask) => asked.set(ask, index.answer(server, ask))
  return {
    ...index,
    isForeign(server, name) {
      if (toolNameIn(name) !== undefined) note(server, `foreign:${name}`)
      return index.isForeign(server, name)
    },
    isOwn(server, name) {
      note(server, `own:${name}`)
      return index.isOwn(server, name)
    },
    lookalikes(server, name) {
      note(server, `lookalike:${name}`)
      return index.lookalikes(server, name)
    },
    cloneOf(server, name, description) {
      note(server, `clone:${name}`)
      return index.cloneOf(server, name, description)
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
