/** Requests in everyday words: synonyms, short forms, names of servers, and mere detail. */
import { describe, expect, it } from 'vitest'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { SearchDocument } from '../../src/search/searcher.js'
import { synonyms } from '../../src/search/words/synonyms.js'
import { stem } from '../../src/search/words/tokenize.js'
import { stopWords } from '../../src/search/words/word-lists.js'
import { createExamplesIndexes } from '../../src/usage/examples.js'

function documentFor(id: string, description: string): SearchDocument {
  const [server = '', name = ''] = id.split('/')
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', parameters: '' }
  return { id, name, server, description, ...empty }
}

function searcherOf(...documents: readonly (readonly [id: string, description: string])[]) {
  const searcher = createLexicalSearcher()
  searcher.update({ put: documents.map(([id, description]) => documentFor(id, description)) })
  return {
    ids: (text: string) => searcher.rank({ text, must: [] }).map(({ id }) => id),
    hit: (text: string, id: string) => searcher.rank({ text, must: [] }).find((hit) => hit.id === id),
    searcher,
  }
}

describe('words that people say for those of the tools', () => {
  const { ids, hit } = searcherOf(
    ['ops/mute_monitor', 'Mutes a monitor.'],
    ['ops/list_monitors', 'Lists monitors.'],
    ['audio/cut_silence', 'Cuts silence out of a recording.'],
  )

  it('lead to them', () => {
    const first = searcherOf(['ops/mute_host', 'Mutes a host.'], ['ops/list_hosts', 'Lists hosts.'])
    expect(first.ids('snooze the host')[0]).toBe('ops/mute_host')
  })

  it('count more where a tool says them itself', () => {
    expect(ids('silence')[0]).toBe('audio/cut_silence')
  })

  it('lead one way only', () => {
    expect(ids('mute')).toEqual(['ops/mute_monitor'])
  })

  it('account for less than the word itself, and for more than a hint', () => {
    const said = hit('snooze monitor', 'ops/mute_monitor')?.coverage ?? 0
    expect(said).toBeLessThan(hit('mute monitor', 'ops/mute_monitor')?.coverage ?? 0)
    expect(said).toBeGreaterThan(hit('snooze monitor', 'ops/list_monitors')?.coverage ?? 1)
  })

  it('account for each of two that mean one thing', () => {
    const { hit } = searcherOf(['cal/availability', 'Availability of people.'], ['cal/free', 'Frees a seat.'])
    const coverage = (text: string) => hit(text, 'cal/availability')?.coverage ?? 0
    expect(coverage('free slot')).toBeGreaterThan(1.5 * coverage('free gnome'))
  })

  it('are in order, say something, and are not the word itself', () => {
    const words = Object.keys(synonyms)
    expect(words).toEqual([...words].sort())
    expect(new Set(words.map(stem)).size).toBe(words.length)
    for (const [word, said] of Object.entries(synonyms)) {
      const stems = said.split(' ').map(stem)
      expect([word, new Set([stem(word), ...stems]).size]).toEqual([word, stems.length + 1])
      expect([word, said.split(' ').filter((each) => stopWords.has(each))]).toEqual([word, []])
    }
  })
})

describe('short forms', () => {
  it.each([
    ['repos', 'repository'],
    ['repository', 'repo'],
    ['env vars', 'environment_variable'],
    ['organisations', 'org'],
  ])('"%s" is "%s"', (asked, name) => {
    const { ids } = searcherOf([`a/${name}`, ''], ['b/other', 'Something else.'])
    expect(ids(asked)).toEqual([`a/${name}`])
  })
})

describe('a server that a request names', () => {
  const rows = searcherOf(
    ['excel/add_table_row', 'Adds a row to a table.'],
    ['airtable/create_record', 'Creates a record in a table.'],
    ['airtable/list_bases', 'Lists bases.'],
    ['airtable/delete_record', 'Deletes a record.'],
  )

  it('goes before others, whatever else their words share', () => {
    expect(rows.ids('add a row to a table')[0]).toBe('excel/add_table_row')
    expect(rows.ids('add a row to airtable')[0]).toBe('airtable/create_record')
  })

  it('is explained', () => {
    const document = documentFor('excel/add_table_row', 'Adds a row to a table.')
    expect(rows.searcher.explain('add a row to airtable', document)).toMatchObject({ server: 0.8 })
    expect(rows.searcher.explain('add a row to a table', document)).not.toHaveProperty('server')
  })

  it('is the one with the most words of the request in its name', () => {
    const { ids } = searcherOf(
      ['google-drive/delete_event_file', 'Deletes a file of an event.'],
      ['google-calendar/delete_event', 'Deletes an event.'],
      ['google-calendar/list_events', 'Lists events.'],
      ['office/delete_event', 'Deletes an event of a calendar.'],
    )
    expect(ids('delete event in google calendar')[0]).toBe('google-calendar/delete_event')
  })

  it('is not recognised if other servers use the word', () => {
    const { searcher } = searcherOf(
      ['memory/store', 'Stores a fact in memory.'],
      ['vm/memory_usage', 'Memory of a machine.'],
      ['vm/memory_limit', 'Sets the memory of a machine.'],
    )
    const document = documentFor('vm/memory_usage', 'Memory of a machine.')
    expect(searcher.explain('memory usage', document)).not.toHaveProperty('server')
  })

  it('is none in a request that tells a story', () => {
    const story =
      'after lunch airtable came up again and now somebody wants tables rows columns sheets charts exported nightly'
    const document = documentFor('excel/add_table_row', 'Adds a row to a table.')
    expect(rows.searcher.explain(story, document)).not.toHaveProperty('server')
  })

  it('is not confused with a tool of the same name on another server', () => {
    const { ids } = searcherOf(
      ['cloud/datadog', 'Operations of the partner.'],
      ['datadog/list_incidents', 'Lists incidents.'],
      ['datadog/get_incident', 'Gets an incident.'],
    )
    expect(ids('open incidents in datadog')[0]).toBe('datadog/list_incidents')
    expect(ids('datadog')[0]).toBe('cloud/datadog')
  })
})

describe('several things', () => {
  it('are asked of what lists them, one of what gives it', () => {
    const { ids } = searcherOf(['a/get_pod', 'A pod.'], ['a/list_pods', 'All pods.'])
    expect(ids('which pods')[0]).toBe('a/list_pods')
  })
})

describe('what is said in other words', () => {
  const { ids } = searcherOf(
    ['chat/add_reaction', 'Adds a reaction emoji to a message of the team.'],
    ['chat/post_message', 'Posts a message to a channel.'],
    ['calendar/accept_event', 'Accepts an event.'],
    ['calendar/decline_event', 'Declines an event.'],
    ['cluster/manage_rollout', 'Manages the rollout of a deployment.'],
    ['cluster/list_deployments', 'Lists deployments.'],
    ['mongodb/find', 'Finds documents.'],
    ['files/find', 'Finds documents.'],
    ['board/create_story', 'Creates a comment on a task.'],
    ['board/delete_task', 'Deletes a task, and each comment on it.'],
  )

  it.each([
    ['tell the team the deploy is finished', 'chat/post_message'],
    ['say yes to the event', 'calendar/accept_event'],
    ['say no to the event', 'calendar/decline_event'],
    ['roll out the deployment', 'cluster/manage_rollout'],
    ['find documents in mongo', 'mongodb/find'],
    ['comment on a task', 'board/create_story'],
  ])('%s', (text, id) => {
    expect(ids(text)[0]).toBe(id)
  })
})

describe('detail', () => {
  const { hit } = searcherOf(
    ['chat/send_note', 'Sends a note.'],
    ['people/find_accountant', 'Finds an accountant.'],
    ['team/list_colleagues', 'Lists colleagues.'],
  )
  const coverage = (text: string) => hit(text, 'chat/send_note')?.coverage ?? 0

  it('is missed less than what is asked for', () => {
    expect(coverage('send a note to an accountant')).toBeGreaterThan(coverage('send an accountant note'))
  })

  it.each(['before', 'until', 'without'])('is what follows "%s"', (word) => {
    expect(coverage(`send a note ${word} an accountant`)).toBeGreaterThan(coverage('send an accountant note'))
  })

  it('is what something is like', () => {
    const { hit } = searcherOf(['ops/restart_pod', 'Restarts a pod.'], ['app/list_crashes', 'Lists crashes.'])
    const own = (text: string) => hit(text, 'ops/restart_pod')?.coverage ?? 0
    expect(own('restart the crashed pod')).toBeGreaterThan(own('restart the crash pod'))
  })

  it('is the subject if nothing came before it', () => {
    const { hit } = searcherOf(['net/connect_port', 'Connects a port.'], ['net/office', 'Office hours.'])
    const own = (text: string) => hit(text, 'net/connect_port')?.coverage ?? 0
    expect(own('connect to the office')).toBe(own('connect office'))
  })
})

describe('a product', () => {
  const { hit } = searcherOf(
    ['chat/send_post', 'Sends a post.'],
    ['slack/post_message', 'Posts a message.'],
    ['slack/list_channels', 'Lists channels.'],
    ['crawler/read_page', 'Reads a page, of LinkedIn too.'],
  )

  it.each(['linkedin', 'wordpress'])('of which a tool knows nothing is not what it does: %s', (product) => {
    const named = hit(`send a post to ${product}`, 'chat/send_post')?.coverage ?? 1
    const other = hit('send a post to hogwarts', 'chat/send_post')?.coverage ?? 0
    expect(named).toBeLessThan(other)
  })

  it('is what a tool does whose server is called so', () => {
    expect(hit('post a message to slack', 'slack/post_message')?.coverage).toBe(1)
  })
})

describe('a literal in a request', () => {
  const { ids } = searcherOf(
    ['bank/transfer_money', 'Transfers dollars to a recipient.'],
    ['mail/send_mail', 'Sends an email to an address.'],
    ['notes/write_note', 'Writes a note.'],
  )
  it.each([
    '20 dollars to ada@example.com',
    'transfer money for "send the email note"',
    'transfer money, see https://mail.example.com/notes/send',
    'transfer money with reference NOTE-20',
  ])('does not decide the ranking: %s', (query) => {
    expect(ids(query)[0]).toBe('bank/transfer_money')
  })

  it('counts if the query consists of literals', () => {
    expect(ids('"write note"')[0]).toBe('notes/write_note')
  })

  const files = searcherOf(
    ['graph/read_graph', 'Reads the whole graph.'],
    ['files/read_text', 'Reads a file.'],
    ['browser/open_url', 'Opens a URL.'],
    ['boxes/open_box', 'Opens a box.'],
  )
  it.each([
    ['read /srv/notes.yaml', 'files/read_text'],
    ['open https://example.com/box', 'browser/open_url'],
  ])('says what an action without an object is about: %s', (query, id) => {
    expect(files.ids(query)[0]).toBe(id)
  })
  it('leaves an action without an object unclear if its kind is unknown', () => {
    expect(files.hit('open 48213377', 'boxes/open_box')?.coverage).toBeLessThan(
      files.hit('open', 'boxes/open_box')?.coverage ?? 0,
    )
  })
})

describe('a misspelt word', () => {
  const { ids } = searcherOf(
    ['github/create_issue', 'Opens a ticket.'],
    ['github/create_branch', 'Starts a line of work.'],
    ['calendar/list_appointments', 'Shows the day.'],
  )
  it.each([
    ['creat an isssue', 'github/create_issue'],
    ['show my apointmnets', 'calendar/list_appointments'],
    ['new brnach please', 'github/create_branch'],
  ])('is read as the nearest word of a name: %s', (query, id) => {
    expect(ids(query)[0]).toBe(id)
  })

  it('is not repaired by the name of a hidden tool', () => {
    const { searcher } = searcherOf(['a/list_zeppelins', ''], ['b/list_trains', 'Also moves zeppelins.'])
    const query = { text: 'zepelins', must: [] }
    expect(searcher.rank(query).map(({ id }) => id)).toContain('b/list_trains')
    expect(searcher.rank({ ...query, hidden: (id) => id === 'a/list_zeppelins' })).toEqual([])
  })

  it('stays unchanged if a tool has it', () => {
    expect(searcherOf(['a/list_forms', ''], ['b/list_farms', '']).ids('farms')[0]).toBe('b/list_farms')
  })
})

describe('use', () => {
  it('gives back what a tool lost by what its words say that it does', () => {
    const searcher = createLexicalSearcher()
    const put = [
      documentFor('a/delete_tray', 'Handles a tray.'),
      documentFor('b/get_tray', 'Handles a tray.'),
    ]
    searcher.update({ put })
    const createIndex = createExamplesIndexes()
    const examples = createIndex()
    const uses = ['show the broken tray', 'show a broken tray', 'show my broken tray'].map((query) =>
      examples.hashWords(query),
    )
    examples.put([['a/delete_tray', uses]])
    const rank = (learned: boolean) =>
      searcher.rank({
        text: 'show the broken tray',
        must: [],
        ...(learned ? { learned: [examples.index] } : {}),
      })
    expect(rank(false)[0]?.id).toBe('b/get_tray')
    const [first] = rank(true)
    expect(first?.id).toBe('a/delete_tray')
    // Its words score no more than before: use alone loads nothing.
    const before = rank(false).find(({ id }) => id === 'a/delete_tray')?.score ?? 0
    expect(first?.ownScore).toBeGreaterThan(0)
    expect(first?.ownScore).toBeLessThan(1.05 * before)
  })

  it('ranks no tool first that the words do not find', () => {
    const searcher = createLexicalSearcher()
    searcher.update({
      put: [documentFor('files/write_file', 'Writes a text file.'), documentFor('bland/helper', 'Helps.')],
    })
    const examples = createExamplesIndexes()()
    const text = 'tidy the rusty gizmo in a file'
    examples.put([['bland/helper', Array.from({ length: 8 }, () => examples.hashWords(text))]])
    const ids = searcher.rank({ text, must: [], learned: [examples.index] }).map(({ id }) => id)
    expect(ids).toEqual(['files/write_file', 'bland/helper'])
  })
})
