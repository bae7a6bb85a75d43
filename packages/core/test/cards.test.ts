/** The list of hidden tools: its text about each tool and its server. */
import { createToolwell, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { server } from './support/tools.js'

const user = [{ role: 'user', content: 'Hello' }]

async function cards(tools: readonly Tool[], about = '', cardBudget = 1500): Promise<string> {
  const well = createToolwell({ mode: 'on', limits: { cardBudget } })
  well.catalogue.setSource('crm', { tools, description: about })
  const { parts } = await openaiChat(await well.open({ id: 'a' })).begin(user)
  const loader = parts.tools?.find((tool) => tool.function.name === 'tool_search')
  return loader?.function.description ?? ''
}

const described = (description: string): Tool[] => [
  {
    name: 'read',
    description,
    inputSchema: { type: 'object', properties: {} },
  },
]

describe('U4: a card shows the first line that says something', () => {
  it.each([
    ['a picture and a word', '\n    🎯 Purpose\n      1. Reads one contact.\n', 'Reads one contact.'],
    ['a word and a colon', '🎯 Purpose:\n- Reads one contact.', 'Reads one contact.'],
    ['a heading', '# Read\n\nReads one contact.', 'Reads one contact.'],
    ['a bold heading', '**Purpose**\nReads one contact.', 'Reads one contact.'],
    ['a tag', '<purpose>\nReads one contact.\n</purpose>', 'Reads one contact.'],
    [
      'a fenced example',
      'Example request:\n```sh\ncurl -X GET /contacts\n```\nReads one contact.',
      'Reads one contact.',
    ],
    ['a short line that is not a heading', 'Read contact\nArgs: id', 'Read contact'],
    [
      'a sentence that ends in a colon',
      'Reads one contact in one of two ways:\n- by id',
      'Reads one contact in one of two ways:',
    ],
    ['three words that end in a colon', 'Example request body:\nReads one contact.', 'Reads one contact.'],
    ['a short sentence that ends in a colon', 'Read a single contact:\n- by id', 'Read a single contact:'],
    ['quotes of a text in code', '"""\nReads one contact.\n"""', 'Reads one contact.'],
    ['quotes on its own line', '"""Reads one contact."""', 'Reads one contact.'],
    ['a mark of a list without words', '1.\nReads one contact.', 'Reads one contact.'],
    ['a brace', '{\nReads one contact.', 'Reads one contact.'],
    ['a table', '| id | name |\n|----|------|\nReads one contact.', 'Reads one contact.'],
    ['tags', '<p>Reads one contact.</p>', 'Reads one contact.'],
    ['a heading in tags', '<h1>Purpose</h1>\nReads one contact.', 'Reads one contact.'],
    ['a placeholder that is not a tag', 'Reads /contacts/<id>', 'Reads /contacts/<id>'],
    ['headings alone', '# Read\n## Contact', '# Read'],
    [
      'a section of warnings',
      'Guardrails:\n1. Changes data.\n\nPurpose:\n1. Reads one contact.',
      'Reads one contact.',
    ],
    [
      'its own first line, whatever is headed below',
      'Reads one contact.\nArgs:\ndescription:\nSome text.',
      'Reads one contact.',
    ],
    ['a list of one', '1. Reads one contact.', 'Reads one contact.'],
    ['a number that is no mark', '1.5 times faster reads', '1.5 times faster reads'],
  ])('behind %s', async (_, description, line) => {
    const quoted = JSON.stringify(line).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')
    expect(await cards(described(description))).toContain(`- crm__read: ${quoted}`)
  })

  const warning = 'This tool changes data.'
  const changing = (name: string, purpose: string): Tool => ({
    name,
    description: `${warning}\n${purpose}`,
    inputSchema: { type: 'object', properties: {} },
  })

  it('behind one with which three tools of the source begin', async () => {
    const text = await cards([
      changing('create', 'Creates one contact.'),
      changing('update', 'Updates one contact.'),
      changing('delete', ''),
    ])
    expect(text).toContain('- crm__create: "Creates one contact."')
    expect(text).toContain('- crm__update: "Updates one contact."')
    expect(text).toContain(`- crm__delete: "${warning}"`)
    const two = await cards([changing('create', 'Creates.'), changing('update', 'Updates.')])
    expect(two).toContain(`- crm__create: "${warning}"`)
  })

  it('stays as it was when a tool arrives that begins alike', async () => {
    const well = createToolwell({ mode: 'on' })
    const tools = [changing('create', 'Creates one contact.'), changing('update', 'Updates one contact.')]
    well.catalogue.setSource('crm', { tools })
    const chat = openaiChat(await well.open({ id: 'a' }))
    const before = await chat.begin(user)
    well.catalogue.setSource('crm', { tools: [...tools, changing('merge', 'Merges two contacts.')] })
    const { parts } = await chat.begin([...user, { role: 'assistant', content: 'Hi.' }, ...user])
    expect(JSON.stringify(parts.tools)).toBe(JSON.stringify(before.parts.tools))
    expect(JSON.stringify(parts.messages)).toContain('- crm__merge: \\"Merges two contacts.\\"')
  })
})

describe('U4: a server description', () => {
  const tools = server('crm', ['read', 'write'], { description: 'word '.repeat(30) })

  it('comes first among the cards of the server, quoted', async () => {
    expect(await cards(tools, 'Contacts of <sales>.\nMore.')).toContain(
      '["crm"]: "Contacts of \\u003csales\\u003e."\n- crm__read: ',
    )
  })

  it.each(['# CRM – Instructions\n\n', '## Overview\n', '**Notes**\n', 'Instructions:\n'])(
    'comes first as its first meaningful line: after %j',
    async (heading) => {
      for (const budget of [1500, 50])
        expect(await cards(tools, `${heading}Keeps contacts.`, budget)).toMatch(/"crm".*: "Keeps contacts\."/)
    },
  )

  it('comes before the names if cards do not fit', async () => {
    expect(await cards(tools, 'Contacts.', 50)).toContain('["crm"]: "Contacts." crm__read, crm__write')
  })

  it('gives way to the cards, where both do not fit', async () => {
    const without = await cards(tools)
    const listed = without.slice(without.indexOf('2 tools not loaded'))
    const budget = Math.ceil(listed.length / 4) + 8
    const text = await cards(tools, 'About '.repeat(16), budget)
    expect(text).toContain('["crm"]\n- crm__read: ')
    expect(text).not.toContain('About')
  })
})
