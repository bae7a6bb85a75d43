/** What the list of hidden tools says of a tool and of its server. */
import { createToolwell, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { server } from './support/tools.js'

const user = [{ role: 'user', content: 'Hello' }]

async function cards(tools: readonly Tool[], about = '', cardBudget = 1500): Promise<string> {
  const well = createToolwell({ mode: 'on', cardBudget })
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
    ['a short line that is no heading', 'Read contact\nArgs: id', 'Read contact'],
    [
      'a sentence that ends in a colon',
      'Reads one contact in one of two ways:\n- by id',
      'Reads one contact in one of two ways:',
    ],
    ['headings alone', '# Read\n## Contact', '# Read'],
    ['a list of one', '1. Reads one contact.', 'Reads one contact.'],
    ['a number that is no mark', '1.5 times faster reads', '1.5 times faster reads'],
  ])('behind %s', async (_, description, line) => {
    expect(await cards(described(description))).toContain(`- crm__read: ${JSON.stringify(line)}`)
  })
})

describe('U4: what a server says of itself', () => {
  const tools = server('crm', ['read', 'write'], { description: 'word '.repeat(30) })

  it('stands at the head of its cards, quoted', async () => {
    expect(await cards(tools, 'Contacts of <sales>.\nMore.')).toContain(
      '["crm"]: "Contacts of \\u003csales\\u003e."\n- crm__read: ',
    )
  })

  it('stands at the head of its names, where cards do not fit', async () => {
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
