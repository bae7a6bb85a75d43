/** Prompts and resources of a view: their names in the gateway, and the server behind a name or URI. */
import { UriTemplate } from '@modelcontextprotocol/server'
import type { ReviewedOffers, ServerOffers } from '@toolwell/mcp'

export type Prompt = ServerOffers['prompts'][number]
export type Resource = ServerOffers['resources'][number]
export type ResourceTemplate = ServerOffers['templates'][number]

/** An entry under its name in the gateway. */
export interface Offer<T> {
  readonly source: string
  /** The name or URI as its server wrote it. */
  readonly given: string
  readonly name: string
  readonly entry: T
}

/** The server of a name or URI, and how the server wrote it. */
export interface Found {
  readonly source: string
  readonly given: string
}

/** Begins a URI that several servers have: `toolwell:SERVER:URI`. */
const SCHEME = 'toolwell:'
/** Links of results that are remembered. The oldest are dropped. */
const MOST_LINKS = 10_000

export class Offers {
  readonly #read: () => ReadonlyMap<string, ReviewedOffers>
  #known: readonly (readonly [string, ReviewedOffers])[] = []
  #index = indexOffers([])
  /** Servers of URIs that only a result has named. */
  readonly #links = new Map<string, string>()

  /** `read` returns the offers of each visible server. */
  constructor(read: () => ReadonlyMap<string, ReviewedOffers>) {
    this.#read = read
  }

  get prompts(): readonly Offer<Prompt>[] {
    return this.#current().prompts
  }

  get resources(): readonly Offer<Resource>[] {
    return this.#current().resources
  }

  get templates(): readonly Offer<ResourceTemplate>[] {
    return this.#current().templates
  }

  /** Finds a prompt by its name in the gateway, or by `SERVER__NAME`. */
  findPrompt(name: string): Found | undefined {
    return this.prompts.find(
      (each) => each.name === name || writePromptName(each.source, each.given) === name,
    )
  }

  /**
   * Finds the server of a listed URI, a link, or a URI of a template. Otherwise the only server with resources. Finds nothing that
   * the server lists and that may not be used.
   */
  findResource(uri: string): Found | undefined {
    const found = this.#find(uri)
    return found && this.#isHidden(found) ? undefined : found
  }

  #isHidden({ source, given }: Found): boolean {
    const { hidden, resources, templates } = this.#current()
    const own = hidden.get(source)
    if (own === undefined || own.size === 0) return false
    const isOwn = (each: Offer<object>) => each.source === source && each.given === given
    if (resources.some(isOwn) || templates.some(isOwn)) return false
    return own.has(given) || [...own].some((each) => each.includes('{') && matches(each, given))
  }

  #find(uri: string): Found | undefined {
    const { sources, resources, templates } = this.#current()
    const named = [...sources].find((source) => uri.startsWith(writeUri(source, '')))
    if (named !== undefined) return { source: named, given: uri.slice(writeUri(named, '').length) }
    // Of a server that may not be seen.
    if (uri.startsWith(SCHEME)) return undefined
    const listed = [...resources, ...templates].find(({ name }) => name === uri)
    if (listed) return listed
    const linked = this.#links.get(uri)
    if (linked !== undefined && sources.has(linked)) return { source: linked, given: uri }
    const matching = new Set(templates.filter(({ given }) => matches(given, uri)).map(({ source }) => source))
    const [only, ...others] = matching.size > 0 ? matching : sources
    return only === undefined || others.length > 0 ? undefined : { source: only, given: uri }
  }

  /** Names a URI in a result of a server so that it leads back to this server. */
  nameLink(source: string, uri: string): string {
    const isListed = this.#current().resources.some((each) => each.source === source && each.given === uri)
    const before = this.#links.get(uri)
    const found = this.findResource(uri)
    if (found ? found.source === source : !isListed && (before === undefined || before === source)) {
      this.#links.delete(uri)
      this.#links.set(uri, source)
      const [oldest] = this.#links.keys()
      if (this.#links.size > MOST_LINKS && oldest !== undefined) this.#links.delete(oldest)
      return uri
    }
    return writeUri(source, uri)
  }

  #current(): ReturnType<typeof indexOffers> {
    const now = [...this.#read()]
    const isSame =
      now.length === this.#known.length &&
      now.every(([source, offers], at) => this.#known[at]?.[0] === source && this.#known[at][1] === offers)
    if (!isSame) {
      this.#known = now
      this.#index = indexOffers(now)
    }
    return this.#index
  }
}

function writePromptName(source: string, name: string): string {
  return `${source}__${name}`
}

function writeUri(source: string, uri: string): string {
  return `${SCHEME}${encodeURIComponent(source)}:${uri}`
}

function indexOffers(known: readonly (readonly [string, ReviewedOffers])[]) {
  const all = <T>(
    read: (offers: ServerOffers) => readonly T[],
    nameOf: (entry: T) => string,
    prefix: (source: string, given: string) => string,
  ): Offer<T>[] => {
    const offers = known.flatMap(([source, each]) => {
      // If a server lists a name twice, the first entry counts.
      const byName = new Map([...read(each)].reverse().map((entry) => [nameOf(entry), entry]))
      return [...byName].map(([given, entry]) => ({ source, given, entry }))
    })
    const counts = new Map<string, number>()
    for (const { given } of offers) counts.set(given, (counts.get(given) ?? 0) + 1)
    return offers
      .map((offer) => {
        const isUnique = counts.get(offer.given) === 1 && !offer.given.startsWith(SCHEME)
        return { ...offer, name: isUnique ? offer.given : prefix(offer.source, offer.given) }
      })
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }
  const resources = all(
    (offers) => offers.resources,
    ({ uri }) => uri,
    writeUri,
  )
  const templates = all(
    (offers) => offers.templates,
    ({ uriTemplate }) => uriTemplate,
    writeUri,
  )
  const prompts = all(
    (offers) => offers.prompts,
    ({ name }) => name,
    writePromptName,
  )
  return {
    prompts,
    resources,
    templates,
    /** By server: URIs and URI templates that may not be used. */
    hidden: new Map(known.map(([source, { hidden }]) => [source, hidden])),
    /** Servers with resources. */
    sources: new Set([...resources, ...templates].map(({ source }) => source)),
  }
}

function matches(template: string, uri: string): boolean {
  try {
    return new UriTemplate(template).match(uri) !== null
  } catch {
    return false
  }
}
