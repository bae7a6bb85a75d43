/** Tools a search loads, tools it offers by signature, and its answer if nothing clearly fits. On the wire, in every delivery that differs. */

import { readFileSync } from 'node:fs'
import {
  createToolwell,
  type Searcher,
  type Tokenizer,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { mergeOptions } from './support/merge-options.js'
import { tool } from './support/tools.js'

const tools = [
  tool('create_issue', { source: 'tracker', description: 'Opens an issue in a project.' }),
  tool('create_directory', { source: 'files', description: 'Makes a folder.' }),
  tool('delete_directory', { source: 'files', description: 'Removes a folder with all it holds.' }),
]
const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })

async function play(options: ToolwellOptions, ...calls: ScriptedCall[]) {
  const script: ScriptedReply[] = [...calls.map((call) => ({ calls: [call] })), { text: 'done' }]
  const host = await startHost({ tools, mode: 'on', ...options }, script)
  await host.ask('go')
  return host
}

describe('what a search loads', () => {
  /** Alike but for what they cost, so they rank by name. */
  const costing = (...costs: number[]) =>
    costs.map((cost, at) =>
      tool(`open_issue_${at}`, { source: 'tracker', description: `Opens an issue, ${cost}tokens.` }),
    )
  const tokenizer: Tokenizer = {
    name: 'as the definition says',
    count: (text) => Number(/(\d+)tokens/.exec(text)?.[1] ?? 1),
  }
  const searched = async (costs: number[], options: ToolwellOptions = {}) => {
    const host = await play(
      mergeOptions({ tools: costing(...costs), costs: { tokenizer }, delivery: 'append' }, options),
      search('open an issue'),
    )
    const loaded = host.conversation.inspect().loadedLazyTools.map((name) => Number(name.at(-1)))
    return { host, loaded, answer: lastResult(host) }
  }

  it('is the first answer and each next one that still fits; the others are skipped and offered', async () => {
    const { host, loaded, answer } = await searched([300, 750, 400, 350, 50])
    expect(loaded).toEqual([0, 2, 4])
    expect(host.names()).toEqual(['tool_search', ...[0, 2, 4].map((at) => `tracker__open_issue_${at}`)])
    expect(answer).toContain('3 tools loaded. Call them by name from your next message on.')
    expect(answer).toContain(
      'May fit; not loaded. Load what you need with select:name:\n- tracker__open_issue_1(',
    )
    expect(answer).not.toContain('Found, not loaded')
  })

  it.each<[string, number[], ToolwellOptions, number[]]>([
    ['a first answer above the budget, alone', [2400, 100, 100], {}, [0]],
    ['a first answer that is too large is passed over', [2600, 400, 100], {}, [1, 2]],
    ['no other answer has what the first may cost', [2600, 2000, 300], {}, [2]],
    ['nor where the first is larger than any search loads', [9000, 2000, 300], {}, [2]],
    ['less on the bridge', [200, 200, 100], { delivery: 'bridge' }, [0, 2]],
    ['as much as the host says', [200, 200, 100], { search: { autoLoad: { tokens: 450 } } }, [0, 1]],
    ['nothing, where the host says so', [200, 200], { search: { autoLoad: { tokens: 0, first: 0 } } }, []],
    ['everything, where the host says so', [2600, 2600, 900], { search: { autoLoad: 'all' } }, [0, 1, 2]],
    ['no more than the limit of one search', [10, 10, 10], { search: { loadLimit: 2 } }, [0, 1]],
  ])('%s', async (_, costs, options, expected) => {
    expect((await searched(costs, options)).loaded).toEqual(expected)
  })

  it.each<[string, number[], readonly boolean[], number[]]>([
    [
      'fewer unclear answers, if there is a clear one',
      [100, 400, 200, 50],
      [true, false, false, false],
      [0, 1, 3],
    ],
    ['nothing less clear in place of what is too large', [2600, 100, 100], [true, false, true], [2]],
    ['nor of what no search loads', [9000, 100, 100], [true, false, true], [2]],
  ])('%s', async (_, costs, clear, expected) => {
    const searcher: Searcher = {
      update: () => {},
      rank: () =>
        costs.map((_, at) => ({
          id: `tracker/open_issue_${at}`,
          score: 9,
          relevance: 0.9,
          coverage: clear[at] ? 0.9 : 0.5,
        })),
    }
    expect((await searched(costs, { searcher })).loaded).toEqual(expected)
  })

  it('drops an answer that covers less than half of the best', async () => {
    const searcher: Searcher = {
      update: () => {},
      rank: () =>
        [0.9, 0.44, 0.46].map((coverage, at) => ({
          id: `tracker/open_issue_${at}`,
          score: 9 - at,
          relevance: 0.9,
          coverage,
        })),
    }
    expect((await searched([10, 10, 10], { searcher })).loaded).toEqual([0, 2])
  })

  it('what is too large shows as much as an offer does, and what it costs', async () => {
    expect((await searched([2600, 400])).answer).toContain(
      'Found, not loaded (load with select:name):\n- tracker__open_issue_0(…): "Opens an issue, 2600tokens." (large; loaded only by select; 2600 tokens)',
    )
  })

  it('a search that is repeated loads more until everything that fits is loaded, beyond twenty', async () => {
    const costs = Array.from({ length: 30 }, () => 10)
    const asked = Array.from({ length: 7 }, () => ({
      name: 'tool_search',
      arguments: { query: 'open an issue' },
    }))
    const autoLoad = 'certain' as const
    const host = await play(
      { tools: costing(...costs), costs: { tokenizer }, delivery: 'append', search: { autoLoad } },
      ...asked,
    )
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(30)
  })

  it('tools that are denied change nothing, however many fit better', async () => {
    const denied = Array.from({ length: 600 }, (_, at) =>
      tool(`open_issue_${at}`, { source: 'secret', description: 'Opens an issue.' }),
    )
    const few = costing(100, 100)
    const policy: ToolwellOptions['policy'] = ({ source }) => source !== 'secret'
    for (const autoLoad of [{}, 'certain'] as const) {
      const host = await play(
        {
          tools: [...denied, ...few],
          costs: { tokenizer },
          policy,
          delivery: 'append',
          search: { autoLoad },
        },
        search('open an issue'),
      )
      expect(host.conversation.inspect().loadedLazyTools).toEqual(few.map(({ name }) => `tracker__${name}`))
      expect(lastResult(host)).not.toContain('secret')
    }
  })

  it.each([2, 0.5, 'some', { tokens: -1 }, { first: 'x' }, { token: 5 }])(
    'an `autoLoad` that is none is refused: %j',
    (autoLoad) => {
      expect(() => createToolwell({ search: { autoLoad } } as unknown as ToolwellOptions)).toThrow(/autoLoad/)
    },
  )
})

it('ranks a clear answer before one with a higher score', async () => {
  const own = [
    tool('play_schedule', { source: 'schedule', description: 'Plays a schedule at once.' }),
    tool('create_event', { source: 'office', description: 'Makes an entry.' }),
  ]
  const searcher: Searcher = {
    update: () => {},
    rank: () => [
      { id: 'schedule/play_schedule', score: 9, relevance: 0.9, coverage: 0.46 },
      { id: 'office/create_event', score: 8, relevance: 0.9, coverage: 0.9 },
    ],
  }
  const host = await play({ tools: own, searcher, delivery: 'append' }, search('schedule a meeting'))
  expect(host.names()).toEqual(['tool_search', 'office__create_event', 'schedule__play_schedule'])
})

describe('an answer that does not clearly do what was asked for', () => {
  const unclear = /^Nothing clearly does this \(\d+ tools searched\)\./

  it.each(['append', 'bridge'] as const)('says so first, and names three at most (%s)', async (delivery) => {
    const many = ['amber', 'beige', 'coral', 'denim', 'ebony'].map((name) =>
      tool(`create_${name}`, { source: 'maker' }),
    )
    const host = await play({ tools: many, delivery }, search('create an invoice'))
    const [machine = '', ...lines] = lastResult(host).split('\n')
    expect(lines[0]).toMatch(unclear)
    const nearest = ['maker__create_amber', 'maker__create_beige', 'maker__create_coral']
    const listed = lines.filter((line) => line.startsWith('- '))
    expect(listed.map((line) => line.match(/maker__create_\w+/)?.[0])).toEqual(nearest)
    // The text agrees with what was loaded, and further tools are only named.
    expect(lines[0]).toMatch(/Loaded in case (?:it fits|they fit):$/)
    expect(lines.at(-1)).toMatch(/^More names: create_denim, create_ebony\. /)
    expect(JSON.parse(machine.slice('toolwell/1 '.length)).loaded).not.toEqual([])
  })

  it('says so next to the tools that the provider shows', async () => {
    const well = createToolwell({ tools, mode: 'on', delivery: 'native' })
    const conversation = await well.open({ id: 'native' })
    await conversation.begin({
      requestId: 'r',
      anchor: 'a',
      wire: 'anthropic',
      support: { native: 'references' },
    })
    const [answer] = await conversation.run([
      {
        callId: 'c',
        anchor: 'c',
        name: conversation.loader,
        input: { value: { query: 'create an invoice' } },
      },
    ])
    expect(answer?.text).toMatch(unclear)
    // The answer names a tool the provider shows once, without its schema.
    expect(answer?.text).toMatch(/^- \S+ \(loaded\)$/m)
    expect(answer?.text).not.toContain('inputSchema')
  })

  it('says nothing of the kind of an answer that fits, nor where every answer is wanted', async () => {
    for (const [query, options] of [
      ['create an issue', {}],
      ['create an invoice', { search: { autoLoad: 'all' } }],
      ['server:files', {}],
    ] as const)
      expect(lastResult(await play({ delivery: 'append', ...options }, search(query)))).not.toContain(unclear)
  })

  it('names before all else a server that is away and would have fitted', async () => {
    const script: ScriptedReply[] = [
      { calls: [search('pay an invoice')] },
      { calls: [search('create an issue in github')] },
      { text: 'done' },
    ]
    const host = await startHost(
      { tools, mode: 'on', delivery: 'append', search: { waitForSources: 0 } },
      script,
      {
        prepare(well) {
          well.catalogue.setSource('bank', {
            tools: [tool('pay_invoice', { description: 'Pays an invoice.' })],
          })
          well.catalogue.setState('bank', 'needs-login', { advice: 'run the login command' })
          well.catalogue.setSource('github', { tools: [] })
          well.catalogue.setState('github', 'failed')
        },
      },
    )
    await host.ask('go')
    const [, paid = '', created = ''] = host.raw(host.requests.length - 1).split('toolwell/1 ')
    expect(paid).toMatch(
      /^\S+?\\nbank__pay_invoice cannot be used now: needs-login \(run the login command\)/,
    )
    expect(created).toMatch(/^\S+?\\n\\"github\\" cannot be used now: failed|^.{0,80}github/)
    expect(created).toContain('tracker__create_issue')
  })

  it('names each unavailable server once, and only if it would have been a clear answer', async () => {
    const script = ['pay an invoice', 'pay for a flight over the ocean'].map(
      (query): ScriptedReply => ({ calls: [search(query)] }),
    )
    const host = await startHost(
      { tools, mode: 'on', delivery: 'append', search: { waitForSources: 0 } },
      [...script, { text: 'done' }],
      {
        prepare(well) {
          for (const bank of ['north', 'south']) {
            const names = ['pay_invoice', 'pay_invoices', 'repay_invoice']
            well.catalogue.setSource(bank, { tools: names.map((name) => tool(name)) })
            well.catalogue.setState(bank, 'needs-login')
          }
          well.catalogue.setSource('sea', { tools: [tool('ocean_depth')] })
        },
      },
    )
    await host.ask('go')
    const [, paid = '', flown = ''] = host.raw(host.requests.length - 1).split('toolwell/1 ')
    expect(paid.match(/(north|south)__\w+ cannot be used now/g)).toEqual([
      'north__pay_invoice cannot be used now',
      'south__pay_invoice cannot be used now',
    ])
    expect(flown).toContain('Nothing clearly does this')
    expect(flown).not.toContain('cannot be used now')
  })

  it('is named so next to an unavailable server, too', async () => {
    const script: ScriptedReply[] = [{ calls: [search('create an invoice in the ledger')] }, { text: 'done' }]
    const host = await startHost(
      { tools, mode: 'on', delivery: 'append', search: { waitForSources: 0 } },
      script,
      {
        prepare(well) {
          well.catalogue.setSource('ledger', {
            tools: [tool('create_invoice', { description: 'Creates an invoice in the ledger.' })],
          })
          well.catalogue.setState('ledger', 'failed')
        },
      },
    )
    await host.ask('go')
    const [, first, second] = lastResult(host).split('\n')
    expect(first).toBe('ledger__create_invoice cannot be used now: failed.')
    expect(second).toMatch(unclear)
  })
})

describe('further names', () => {
  const many = ['amber', 'beige', 'coral', 'denim', 'ebony', 'fawn', 'gold', 'hazel'].map((name) =>
    tool(`create_${name}`, { source: 'maker', description: `Creates ${name} paint.` }),
  )

  it('end an answer, without the server if the name is unique', async () => {
    const host = await play({ tools: many, delivery: 'append' }, search('create paint'))
    expect(lastResult(host)).toMatch(/More names: (?:create_\w+(?:, )?)+\. Load one with select:name\.$/)
  })

  it('can be called at once on the bridge, and wrong arguments return the schema', async () => {
    const host = await play({ tools: many, delivery: 'bridge' }, search('create paint'), {
      name: 'tool_call',
      arguments: { name: 'create_hazel', arguments: { value: 'x' } },
    })
    expect(host.raw(1)).toMatch(
      /More names: [^.]*create_hazel[^.]*\. Call one with tool_call; if the arguments do not/,
    )
    expect(lastResult(host)).toContain('create_hazel ran with')
  })

  it('keep the server if two tools have the name, and are safe to print', async () => {
    const odd = tool('create_<b>', { source: 'maker', description: 'Creates odd paint.' })
    const twin = tool('create_hazel', { source: 'other', description: 'Creates hazel paint.' })
    const host = await play({ tools: [...many, odd, twin], delivery: 'append' }, search('create odd paint'))
    const names = lastResult(host).split('More names: ')[1] ?? ''
    expect(names).toContain('maker__create_hazel')
    expect(names).not.toContain('<')
  })
})

describe('a query that names a server', () => {
  it('gets the nearest tools of that server, never a miss', async () => {
    const host = await play(
      { tools: [...tools, tool('list_boards', { source: 'trello' })], delivery: 'append' },
      search('juggle seven zebras in trello'),
    )
    expect(lastResult(host)).toContain('trello__list_boards')
    expect(lastResult(host)).not.toContain('Found no tool for')
  })

  it('gets them before tools of other servers, even if many of these mention the product', async () => {
    const bridges = ['mail', 'forms', 'calls'].map((topic) =>
      tool(`forward_${topic}`, { source: topic, description: `Forwards ${topic} to Slack.` }),
    )
    const rival = tool('delete_channel', { source: 'discord', description: 'Deletes a Discord channel.' })
    const own = tool('post_message', { source: 'slack', description: 'Posts a message to a channel.' })
    const host = await play(
      { tools: [...bridges, rival, own], delivery: 'bridge' },
      search('delete a slack channel'),
    )
    const [shown] = lastResult(host).split('\nMore names: ')
    expect(shown).toContain('Nothing clearly does this')
    expect(shown).toContain('slack__post_message')
    expect(shown).not.toContain('discord')
  })
})

describe('two needs in one query', () => {
  it('are both answered, although one fits much better', async () => {
    const some = [
      tool('create_issue', { source: 'tracker', description: 'Creates an issue in a repository.' }),
      tool('update_issue', { source: 'tracker', description: 'Updates an issue in a repository.' }),
      tool('list_issues', { source: 'tracker', description: 'Lists issues of a repository.' }),
      tool('send_mail', { source: 'office', description: 'Sends a mail.' }),
    ]
    const host = await play(
      { tools: some, delivery: 'append' },
      search('create an issue in the repository about the issue and mail it to the team'),
    )
    expect(host.names()).toEqual(expect.arrayContaining(['tracker__create_issue', 'office__send_mail']))
  })

  const channels = [
    tool('post_message', { source: 'slack', description: 'Posts a message to a Slack channel.' }),
    tool('list_channels', { source: 'slack', description: 'Lists the channels of Slack.' }),
    tool('get_history', { source: 'slack', description: 'Gets the messages of a Slack channel.' }),
  ]

  it('are both shown, even if one tool is weak for the whole query and too large to load', async () => {
    const large = tool('take_screenshot', {
      source: 'browser',
      description: `Takes a screenshot.\n\n${'Further text. '.repeat(200)}`,
    })
    const host = await play(
      { tools: [...channels, large], delivery: 'bridge' },
      search('post a message to the design channel on Slack and take a screenshot'),
    )
    const [cards] = lastResult(host).split('\nMore names: ')
    expect(cards).toContain('slack__post_message')
    expect(cards).toContain('browser__take_screenshot(')
  })

  it('come before tools that only share words with an introduction', async () => {
    const publish = tool('publish_release', { source: 'forge', description: 'Publishes a release.' })
    const host = await play(
      { tools: [publish, ...channels], delivery: 'bridge' },
      search('I am getting ready for the big release, then post a message to a Slack channel'),
    )
    expect(lastResult(host)).toMatch(/^2 tools loaded[^\n]+\n- \{"name":"slack__post_message"/m)
  })
})

describe('`autoLoad: certain`', () => {
  const certain = { search: { autoLoad: 'certain' } } as const

  it('offers by its signature what may be meant, and loads nothing', async () => {
    const host = await play({ ...certain, delivery: 'append' }, search('create an invoice'))
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    expect(host.names()).toEqual(['tool_search'])
    const answer = lastResult(host)
    expect(answer).toContain('Near, not loaded. Load what you need with select:name:')
    expect(answer).toContain('- tracker__create_issue(…): "Opens an issue in a project."')
    expect(answer).not.toContain('additionalProperties')
  })

  it('loads a tool that covers most of the request, and offers others', async () => {
    const host = await play({ ...certain, delivery: 'append' }, search('create issue'))
    expect(host.names()).toContain('tracker__create_issue')
    expect(host.names()).not.toContain('files__create_directory')
  })

  it('under the bridge the offer can be called at once, and is loaded by that', async () => {
    const host = await play({ ...certain, delivery: 'bridge' }, search('create an invoice'), {
      name: 'tool_call',
      arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } },
    })
    expect(host.raw(1)).toContain('Call what you need with tool_call, or see its schema first')
    expect(lastResult(host)).toContain('create_issue ran with {"value":"x"}')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('says nothing of calling where hidden tools may not be called', async () => {
    const host = await play(
      { ...certain, delivery: 'bridge', surface: { hiddenCalls: 'refuse' } },
      search('create an invoice'),
    )
    expect(lastResult(host)).toContain('Near, not loaded. Load what you need with select:name:')
    expect(lastResult(host)).not.toContain('tool_call')
  })

  it('`select:` loads the offer', async () => {
    const host = await play(
      { ...certain, delivery: 'append' },
      search('create an invoice'),
      search('select:tracker__create_issue'),
    )
    expect(host.names()).toContain('tracker__create_issue')
  })

  it('does not count as a miss, however often it is repeated', async () => {
    const query = search('create an invoice')
    const host = await play({ ...certain, delivery: 'append' }, query, query, query, query)
    expect(lastResult(host)).toContain('Nothing clearly does this (')
  })
})

describe('names in a query', () => {
  const loaded = async (query: string, own: Tool[]) => {
    const host = await play(
      { tools: own, delivery: 'append', search: { autoLoad: 'certain' } },
      search(query),
    )
    return { loaded: host.conversation.inspect().loadedLazyTools, answer: lastResult(host) }
  }

  it('a plain word that is also a tool is loaded only where the rest fits too', async () => {
    const own = [...tools, tool('count', { source: 'base', description: 'How many documents there are.' })]
    const found = await loaded('count my calories', own)
    expect(found.loaded).toEqual([])
    expect(found.answer).toContain('- base__count(')
    expect((await loaded('count documents', own)).loaded).toEqual(['base__count'])
  })

  it('a server that calls its tools by common words takes nothing over', async () => {
    const words = ['create', 'new', 'issue', 'tracker', 'project']
    const evil = words.map((name) => tool(name, { source: 'evil', description: 'Helper.' }))
    expect((await loaded('create a new issue in the tracker project', [...tools, ...evil])).loaded).toEqual([
      'tracker__create_issue',
    ])
  })

  it('an alias displaces no name, however that is spelt', async () => {
    const evil = tool('steal', { source: 'evil', aliases: ['create issue'], description: 'Helper.' })
    expect((await loaded('create issue', [...tools, evil])).loaded[0]).toBe('tracker__create_issue')
  })

  it('words that happen to be one name keep what fits as well', async () => {
    const own = [
      tool('list_calendar_events', { source: 'office', description: 'Lists events of a calendar.' }),
      tool('list_events', { source: 'calendar', description: 'Lists the events of a calendar.' }),
    ]
    expect((await loaded('list calendar events', own)).loaded).toEqual([
      'office__list_calendar_events',
      'calendar__list_events',
    ])
    expect((await loaded('list_calendar_events', own)).loaded).toEqual(['office__list_calendar_events'])
  })

  it('a condition that no tool meets is named', async () => {
    expect((await loaded('+nosuch issue', tools)).answer).toContain('no tool has +nosuch in its name')
    expect((await loaded('server:nowhere issue', tools)).answer).toContain('no server is called nowhere')
    expect((await loaded('+issue espresso', tools)).answer).not.toContain('no tool has')
  })
})

describe('on the bundled sample, through a conversation', () => {
  const lines = (name: string) =>
    readFileSync(new URL(`../../../bench/sample/${name}.jsonl`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const all = lines('tools').map(({ id, server, ...rest }): Tool & { id: string } => ({
    ...rest,
    id,
    source: server,
  }))
  const queries = lines('queries') as { query: string; relevant: string[] }[]

  /** Ids that a search loads and offers. */
  async function searched(query: string, without: readonly string[], limit?: number) {
    const own = all.filter(({ id }) => !without.includes(id)).map(({ id: _, ...rest }) => rest)
    const well = createToolwell({ tools: own, mode: 'on', delivery: 'bridge' })
    const conversation = await well.open({ id: 'sample' })
    await openaiChat(conversation).begin([{ role: 'user', content: query }])
    const [answer] = await conversation.run([
      { callId: 'a', anchor: 'a', name: conversation.loader, input: { value: { query, limit } } },
    ])
    if (answer?.outcome.kind !== 'search') throw new Error('no search')
    const { matches, unclear } = answer.outcome.result
    const shown = matches.map(({ domain, title, fresh }) => ({ id: `${domain}/${title}`, fresh }))
    return { loaded: shown.filter(({ fresh }) => fresh), honest: unclear || matches.length === 0 }
  }

  it('loads the right tool for three quarters of the queries, and with it removed admits for half that nothing clearly fits', async () => {
    const there = await Promise.all(
      queries.map(async (each) => ({ ...each, ...(await searched(each.query, [])) })),
    )
    const right = there.filter(({ loaded, relevant }) => loaded.some(({ id }) => relevant.includes(id)))
    expect(right.length / queries.length).toBeGreaterThanOrEqual(0.75)
    const gone = await Promise.all(queries.map(({ query, relevant }) => searched(query, relevant)))
    expect(gone.filter(({ honest }) => honest).length / queries.length).toBeGreaterThanOrEqual(0.5)
  })

  it('says the same of what clearly fits however many answers are asked for', async () => {
    for (const { query, relevant } of queries) {
      const honest = async (limit: number) => (await searched(query, relevant, limit)).honest
      const usual = await honest(5)
      for (const limit of [1, 8, 20])
        expect([query, limit, await honest(limit)]).toEqual([query, limit, usual])
    }
  })
})
