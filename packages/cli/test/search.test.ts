import { describe, expect, it } from 'vitest'
import { folderWith, issueTools, toolwell } from './support/run.js'

const folder = () => folderWith({ 'tools.jsonl': issueTools })
const search = (query: string, ...flags: string[]) =>
  toolwell(['search', query, '--catalog', 'tools.jsonl', ...flags], { folder: folder() })
const json = async (query: string, ...flags: string[]) => {
  const { code, output, errors } = await search(query, '--json', ...flags)
  return { code, errors, ...JSON.parse(output) }
}

describe('an answer', () => {
  it('lists the tools in the order an agent gets, with what the search does and the first line of the description', async () => {
    const { code, output, errors } = await search('create issue')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const [first, second] = output.split('\n')
    expect(first).toMatch(/^ 1 {2}forge\/create_issue \[1\] {2,}loaded +Opens a new issue in a repository\.$/)
    expect(second).toBe('More names: close_issue')
  })

  it('takes words without quotes, and text behind a double dash', async () => {
    const words = ['search', '--catalog', 'tools.jsonl', 'send', 'a', 'letter']
    expect(await toolwell(words, { folder: folder() })).toMatchObject({
      code: 0,
      output: expect.stringContaining('send_letter'),
    })
    const dashed = ['search', '--catalog', 'tools.jsonl', '--', '--letter']
    expect((await toolwell(dashed, { folder: folder() })).output).toContain('send_letter')
  })

  it('as JSON has documented keys', async () => {
    const answer = await json('create issue', '--limit', '1')
    expect(answer).toEqual({
      code: 0,
      errors: '',
      query: 'create issue',
      tools: 4,
      unclear: false,
      matches: [
        {
          id: 1,
          name: 'create_issue',
          certainty: 1,
          relevance: expect.any(Number),
          loaded: true,
          server: 'forge',
          description: 'Opens a new issue in a repository.',
        },
      ],
      others: ['close_issue'],
      answer: expect.stringContaining('1 tool loaded.'),
      remarks: [],
    })
  })

  it('is printed exactly as an agent reads it', async () => {
    const { output } = await search('create issue', '--answer')
    expect(output).toBe(`${(await json('create issue')).answer}\n`)
    expect((await search('juggle zebras', '--answer')).output).toContain('Found no tool for "juggle zebras".')
  })

  it('has at most as many matches as asked for', async () => {
    expect((await json('issue', '--limit', '1')).matches).toHaveLength(1)
    expect((await json('issue', '--limit', '999999')).matches).toHaveLength(2)
  })

  it('holds what lies below the cut-off only when asked', async () => {
    const query = 'quartz espresso grinder burr hopper portafilter office'
    const { code, matches, missed } = await json(query)
    expect({ code, matches }).toEqual({ code: 1, matches: [] })
    expect(missed).toMatchObject({ reason: 'below-cut-off', belowCutOff: [{ name: 'send_letter' }] })
    expect(await json(query, '--no-cutoff')).toMatchObject({ code: 0, matches: [{ name: 'send_letter' }] })
    const { errors } = await search(query)
    expect(errors).toMatch(
      /Below the cut-off of 0\.\d+: send_letter \(0\.\d\d\)\. To show them, add --no-cutoff\./,
    )
  })

  it('names a word that has to be there and nowhere is', async () => {
    const { code, remarks } = await json('+nosuch issue')
    expect({ code, remarks }).toEqual({
      code: 1,
      remarks: ['No tool has "+nosuch" in its name, aliases, server, domain or group.'],
    })
    expect((await search('+nosuch issue')).errors).toContain('No tool has "+nosuch"')
  })

  it('fits the screen', async () => {
    const words = ['search', 'issue', '--catalog', 'tools.jsonl']
    const env = { NO_COLOR: '1' }
    const { output } = await toolwell(words, { folder: folder(), screen: { output: 70 }, env })
    for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(70)
    expect(output).toContain('…')
  })
})

describe('a query', () => {
  it('is read with the grammar of the search tool', async () => {
    const ids = async (query: string) => (await json(query)).matches.map(({ name }: { name: string }) => name)
    expect(await ids('server:forge')).toEqual(['close_issue', 'create_issue'])
    expect(await ids('server:SKY issue weather')).toEqual(['weather_today'])
    expect(await ids('+close issue')).toEqual(['close_issue'])
    expect(await ids('select:send_letter,sky/weather_today,1')).toEqual([
      'send_letter',
      'weather_today',
      'create_issue',
    ])
  })

  it('that filters by or selects an unknown name gets the nearest name', async () => {
    expect((await search('server:frge issue')).errors).toContain(
      'No tool has the server "frge". Nearest: "forge".',
    )
    expect((await json('server:frge')).missed.reason).toBe('not-found')
    expect((await search('select:sendletter')).errors).toContain('"sendletter". Nearest: "send_letter".')
    expect(await search('unload:send_letter')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('works only in a conversation'),
    })
  })

  it.each([
    ['please show me the', 'no-words'],
    ['🧮 🎉', 'no-words'],
    ['\ud800 \udfff', 'no-words'],
    ['.* [+]+ (?:', 'no-words'],
    ['^(a|b)*$ [a-z]+', 'not-found'],
    ['"', 'no-words'],
    ['brew espresso', 'not-found'],
  ])('%j ends with 1 and a reason', async (query, reason) => {
    expect(await json(query)).toMatchObject({ code: 1, matches: [], missed: { reason } })
    const { code, output, errors } = await search(query)
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(/^No tool matches .* Searched 4 tools\.\n.+\n$/)
  })

  it('names the words that no tool has, as they were written', async () => {
    expect((await search('brew espresso')).errors).toContain('Words that no tool has: brew, espresso.')
  })

  it('of 100 kB is cut, and says so', async () => {
    const { code, output, errors } = await search(`letter ${'x'.repeat(100_000)}`, '--no-cutoff')
    expect(code).toBe(0)
    expect(output).toContain('send_letter')
    expect(errors).toBe('toolwell: The query was cut to 4096 characters.\n')
  })
})

describe('--explain', () => {
  it('shows each word with what it adds by field, and words that a match lacks', async () => {
    const { output } = await search('open an issue in oslo', '--explain', '--no-cutoff')
    const [first = ''] = output.split(/^ 2 {2}/m)
    expect(first).toMatch(/^ {6}issue +\d+\.\d\d {2}name \d+\.\d\d, .*\(in 2 tools\)$/m)
    expect(first).toMatch(/^ {6}oslo +- {2}not in this tool \(in 0 tools\)$/im)
    expect(first).toMatch(/^ {6}sum \d+\.\d\d/m)
  })

  it('adds up, in JSON, to the score', async () => {
    const { matches } = await json('open an issue', '--explain', '--no-cutoff')
    expect(matches).toHaveLength(2)
    for (const { score, explanation } of matches) {
      const sum = explanation.terms.reduce((all: number, term: { score: number }) => all + term.score, 0)
      expect(sum).toBeCloseTo(explanation.words, 3)
      // Stored strengths are rounded to a byte.
      expect(Math.abs(score - sum * (explanation.effect ?? 1)) / score).toBeLessThan(0.05)
      for (const term of explanation.terms) {
        const parts = Object.values(term.fields as Record<string, number>)
        expect(parts.reduce((all, part) => all + part, 0)).toBeCloseTo(term.score, 3)
      }
    }
  })

  it('says that a tool does something else than is asked for', async () => {
    const { output } = await search('create issue', '--explain', '--no-cutoff')
    const [, second = ''] = output.split(/^ 2 {2}/m)
    expect(second).toContain('close_issue')
    expect(second).toMatch(/^ {6}its action is unknown or differs from the query: multiplied by 0\.6$/m)
    const { matches } = await json('create issue', '--explain', '--no-cutoff')
    expect(matches[1].explanation.effect).toBe(0.6)
  })

  it('says that a name goes before all words', async () => {
    expect((await search('close_issue', '--explain')).output).toContain('the query contains its name (exact)')
    expect((await json('close_issue', '--explain')).matches[0].explanation.name).toBe('exact')
  })
})

describe('--why', () => {
  const why = (name: string, query: string, ...flags: string[]) => search(query, '--why', name, ...flags)

  it.each([
    [
      'create_issue',
      'create issue',
      0,
      /^forge\/create_issue \[1\] is found: number 1, relevance 1\.00\.\n {6}/,
    ],
    ['creat_isue', 'issue', 1, /^Unknown tool "creat_isue"\. Nearest: create_issue\.\n$/],
    ['send_letter', 'issue', 1, /^send_letter is not found: it has none of the words issue,/],
    ['send_letter', 'please', 1, /^send_letter is not found: the query has no significant words/],
    ['send_letter', '+forge letter', 1, /^send_letter is excluded: .* do not contain \+forge\.\n$/],
    ['send_letter', 'server:forge letter', 1, /^send_letter does not pass the filters of the query\.\n$/],
    [
      'send_letter',
      'quartz espresso grinder burr hopper portafilter office',
      1,
      /^send_letter is not found: its relevance is 0\.\d\d, below the cut-off of 0\.\d+\..* It has: office\. It lacks: /,
    ],
  ])('%s for %j ends with %d', async (name, query, code, text) => {
    const { output, ...rest } = await why(name, query)
    expect(rest).toEqual({ code, errors: '' })
    expect(output).toMatch(text)
  })

  it('says how many matches would show it', async () => {
    const { code, output } = await why('close_issue', 'create issue', '--limit', '1')
    expect(code).toBe(1)
    expect(output).toMatch(
      /is number 2, beyond the limit of 1; the last match shown is forge\/create_issue \[1\]\. To show it, add --limit 2\./,
    )
  })

  it('asks back where several tools have that name', async () => {
    const folder = folderWith({
      'a.json': { tools: issueTools.slice(3) },
      'b.json': { tools: issueTools.slice(3) },
    })
    const ask = (name: string) => toolwell(['search', 'letter', '--catalog', '.', '--why', name], { folder })
    expect((await ask('send_letter')).output).toBe(
      '2 tools are called "send_letter". Give the id of one: a/send_letter, b/send_letter.\n',
    )
    expect((await ask('b/send_letter')).output).toMatch(/^b\/send_letter is found: number 2/)
  })

  it('answers in JSON with the facts', async () => {
    const query = 'create issue'
    expect(await json(query, '--why', 'close_issue', '--limit', '1')).toMatchObject({
      code: 1,
      query,
      name: 'close_issue',
      outcome: 'beyond-limit',
      id: 'close',
      rank: 2,
      last: 1,
      explanation: { terms: expect.any(Array) },
    })
    expect(await json('server:sky x', '--why', 'send_letter')).toMatchObject({ outcome: 'filtered-out' })
  })
})
