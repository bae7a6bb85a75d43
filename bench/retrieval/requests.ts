/**
 * Requests as people and agents write them, generated from the short queries of bench/newcomer: with typos, values, several needs,
 * names of servers and prefixes. Measured on the answer that an agent gets.
 */
import { readFile } from 'node:fs/promises'
import { createToolwell, loadTokenizer, type Tool } from '@toolwell/core'

interface Need {
  readonly query: string
  /** Ids of the tools that meet the need; none if no tool does. */
  readonly right: readonly string[]
}

interface Request {
  readonly text: string
  /** One list of right tools for each need. */
  readonly needs: readonly (readonly string[])[]
}

export interface RequestFigures {
  readonly kind: string
  readonly requests: number
  /** Share of needs with a right tool first (of the first need), loaded, shown with signature or schema, and at least named. */
  readonly first: number
  readonly loaded: number
  readonly shown: number
  readonly named: number
  /** Share of requests with the answer that nothing clearly fits. */
  readonly unclear: number
  readonly answerTokens: number
}

const LITERALS = [
  ' for ada@example.com',
  ', see https://example.com/send/mail?file=7',
  ' in ./reports/search/notes.txt',
  ' on 2026-03-14 at 10:30',
  ' called "weekly sales report"',
  ' for ticket #4711',
  ' with id 3f2a9c1e-0b7d-4c55-9a51-1f2e3d4c5b6a',
]

const generators: Readonly<Record<string, (needs: readonly Need[], place: number) => Request>> = {
  'as written': (needs, place) => request(needs, [place], ([text]) => text),
  'two typos': (needs, place) => request(needs, [place], ([text]) => misspell(text, place)),
  '"how do I …"': (needs, place) => request(needs, [place], ([text]) => `How do I ${text}?`),
  'with a literal': (needs, place) =>
    request(needs, [place], ([text]) => `${text}${LITERALS[place % LITERALS.length]}`),
  'two needs': (needs, place) => request(needs, [place, place + 37], ([one, two]) => `${one} and ${two}`),
  'a task of three needs': (needs, place) =>
    request(
      needs,
      [place, place + 37, place + 101],
      ([one, two, three]) =>
        `I am getting ready for the release and want to finish this before lunch. First ${one}. Then ${two}. Finally, ${three}.`,
    ),
  'with the server': (needs, place) => {
    const [right = ''] = needs[place]?.right ?? []
    const server = right.split('/')[0] ?? ''
    const own = (needs[place]?.right ?? []).filter((id) => id.startsWith(`${server}/`))
    return { text: `${needs[place]?.query} in ${nameServer(server)}`, needs: [own] }
  },
  'name with prefix': (needs, place) => {
    const [right = ''] = needs[place]?.right ?? []
    return { text: `mcp__${right.replace('/', '__')}`, needs: [[right]] }
  },
}

function request(
  needs: readonly Need[],
  places: readonly number[],
  write: (texts: readonly [string, string, string]) => string,
): Request {
  const chosen = places.map((place) => needs[place % needs.length] as Need)
  const texts = chosen.map(({ query }) => query)
  return {
    text: write([texts[0] ?? '', texts[1] ?? '', texts[2] ?? '']),
    needs: chosen.map(({ right }) => right),
  }
}

/** "modelcontextprotocol__server-github" → "github". */
function nameServer(server: string): string {
  const own = server.replace(/^.*__/, '').replace(/(?<![a-z])(?:mcp|servers?|data|api)(?![a-z])/g, ' ')
  return own.replace(/[-_\s]+/g, ' ').trim()
}

export async function measureRequests(tools: readonly Tool[]): Promise<RequestFigures[]> {
  const tokenizer = await loadTokenizer()
  const well = createToolwell({ mode: 'on', delivery: 'bridge', costs: { tokenizer } })
  const sources = new Map<string, Tool[]>()
  for (const { source = '', ...tool } of tools) sources.set(source, [...(sources.get(source) ?? []), tool])
  for (const [source, own] of sources) well.catalogue.setSource(source, { tools: own })
  const direct = well.direct()
  const ids = new Map(
    direct.tools().map(({ wireName, source, tool }) => [wireName, `${source}/${tool.name}`] as const),
  )
  const byName = new Map(direct.tools().map(({ source, tool }) => [tool.name, `${source}/${tool.name}`]))
  const idOf = (name: string) => ids.get(name) ?? byName.get(name) ?? ''

  async function measure(kind: string, requests: readonly Request[]): Promise<RequestFigures> {
    const sums = { first: 0, loaded: 0, shown: 0, named: 0, unclear: 0, tokens: 0 }
    let count = 0
    for (const { text, needs } of requests) {
      const { outcome, text: answer } = await direct.search({ query: text })
      if (outcome.kind !== 'search') throw new Error(`no search: ${answer}`)
      const { matches, others, unclear } = outcome.result
      const [cards = ''] = answer.split('\nMore names: ')
      const shown = matches
        .filter(({ canonicalName }) => cards.includes(canonicalName))
        .map(({ canonicalName }) => idOf(canonicalName))
      const loaded = matches.filter(({ fresh }) => fresh).map(({ canonicalName }) => idOf(canonicalName))
      const named = [...shown, ...others.map(({ name }) => idOf(name))]
      sums.tokens += tokenizer.count(answer)
      if (unclear || shown.length === 0) sums.unclear += 1
      for (const [place, right] of needs.entries()) {
        const has = (list: readonly string[]) => (list.some((id) => right.includes(id)) ? 1 : 0)
        count += 1
        sums.first += place === 0 ? has(shown.slice(0, 1)) * needs.length : 0
        sums.loaded += has(loaded)
        sums.shown += has(shown)
        sums.named += has(named)
      }
    }
    const share = (sum: number, all: number) => Math.round((sum / Math.max(1, all)) * 10_000) / 10_000
    return {
      kind,
      requests: requests.length,
      first: share(sums.first, count),
      loaded: share(sums.loaded, count),
      shown: share(sums.shown, count),
      named: share(sums.named, count),
      unclear: share(sums.unclear, requests.length),
      answerTokens: share(sums.tokens, requests.length),
    }
  }

  const all = (
    await Promise.all(
      ['ordinary', 'everyday', 'unseen', 'fresh'].map((name) => readNeeds(`newcomer/${name}`)),
    )
  ).flat()
  const met = all.filter(({ right }) => right.length > 0)
  const absent = [...all.filter(({ right }) => right.length === 0), ...(await readNeeds('absent/needs'))]
  const figures: RequestFigures[] = []
  for (const [kind, write] of Object.entries(generators))
    figures.push(
      await measure(
        kind,
        met.map((_, place) => write(met, place)),
      ),
    )
  const single = ({ query, right }: Need): Request => ({ text: query, needs: [right] })
  figures.push(await measure('in another language', (await readNeeds('newcomer/languages')).map(single)))
  figures.push(
    await measure(
      'no tool fits',
      absent.map(({ query }) => ({ text: query, needs: [[]] })),
    ),
  )
  return figures
}

/** Two typos: a letter is swapped, dropped, doubled by another one or replaced, never the first. */
export function misspell(text: string, seed: number): string {
  const words = text.split(' ')
  const long = [...words.keys()].filter((at) => /^[a-z]{5,}$/i.test(words[at] ?? ''))
  let state = seed * 7919 + 17
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let typos = 0; typos < 2 && long.length > 0; typos += 1) {
    const [at = 0] = long.splice(next(long.length), 1)
    const word = words[at] ?? ''
    const place = 1 + next(word.length - 2)
    const letter = 'abcdefghijklmnopqrstuvwxyz'[next(26)] ?? ''
    const [head, tail] = [word.slice(0, place), word.slice(place)]
    const forms = [
      `${head}${tail[1] ?? ''}${tail[0] ?? ''}${tail.slice(2)}`,
      `${head}${tail.slice(1)}`,
      `${head}${letter}${tail}`,
      `${head}${letter}${tail.slice(1)}`,
    ]
    words[at] = forms[next(forms.length)] ?? word
  }
  return words.join(' ')
}

async function readNeeds(path: string): Promise<Need[]> {
  const text = await readFile(new URL(`../${path}.jsonl`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ right: [], ...(JSON.parse(line) as { query: string; right?: readonly string[] }) }))
}
