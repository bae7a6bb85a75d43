/** `toolwell search` prints what an agent reads: over the gateway, and in a conversation with a provider. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createToolwell } from '@toolwell/core'
import { type ChatMessage, type ChatReply, openaiChat } from '@toolwell/core/openai-chat'
import { startScriptedChat } from '@toolwell/testing'
import { expect, it, onTestFinished } from 'vitest'
import { homeWith, misbehaving } from './support/home.js'

const program = fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url))

const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: 'object' as const, properties: { value: { type: 'string' } } },
})
const letters = [
  tool('send_letter', 'Writes a letter and takes it to the post office.'),
  tool('list_letters', 'Lists the letters in the office.'),
  tool('burn_letter', 'Burns a letter.'),
]
const tracker = [
  tool('create_issue', 'Opens a new issue in a repository.'),
  tool('close_issue', 'Closes an issue of a repository.'),
]
const QUERIES = [
  'send a letter',
  'create an issue and burn the letter',
  'burn a book',
  'letters in the tracker',
  'juggle zebras',
  'select:close_issue',
]

it('prints what an agent of the gateway reads, byte for byte', async () => {
  const { folder, home, start, run } = homeWith({
    'toolwell.json': {
      mcpServers: {
        office: { ...misbehaving({ tools: letters }), trust: 'follow' },
        tracker: { ...misbehaving({ tools: tracker }), trust: 'follow' },
      },
    },
  })
  const serving = start(['serve', '--config', join(folder, 'toolwell.json'), '--port', '0'])
  onTestFinished(async () => {
    await run(['stop'])
    await serving
  })
  await expect.poll(async () => (await run(['status'])).code, { timeout: 60_000 }).toBe(0)
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  onTestFinished(() => client.close())
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'serve', '--stdio'],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        XDG_CONFIG_HOME: join(home, '.config'),
        XDG_CACHE_HOME: join(home, '.cache'),
        XDG_DATA_HOME: join(home, '.local', 'share'),
        XDG_STATE_HOME: join(home, '.local', 'state'),
      },
      cwd: folder,
    }),
  )
  for (const query of QUERIES) {
    const { content } = await client.callTool({ name: 'find_tools', arguments: { query } })
    const [{ text } = { text: '' }] = content as { text: string }[]
    const { output } = await run(['search', query, '--answer'])
    expect(output).toBe(`${text}\n`)
  }
})

it('prints for a file what a program gets that sends its tools, byte for byte', async () => {
  const all = [
    ...letters.map((each) => ({ ...each, server: 'office' })),
    ...tracker.map((each) => ({ ...each, server: 'tracker' })),
  ]
  const { run } = homeWith({ 'tools.jsonl': all.map((each) => JSON.stringify(each)).join('\n') })
  const well = createToolwell({
    tools: all.map(({ server, ...each }) => ({ ...each, source: server })),
    mode: 'on',
    delivery: 'bridge',
  })
  for (const query of QUERIES) {
    const model = await startScriptedChat({
      model: [{ calls: [{ name: 'tool_search', arguments: { query } }] }, { text: 'done' }],
    })
    onTestFinished(() => model.close())
    const chat = openaiChat(await well.open({ id: query }))
    const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
    const turn = await chat.begin(messages)
    const body = JSON.stringify({ model: 'any', ...turn.parts })
    const response = await fetch(`${model.url}/chat/completions`, { method: 'POST', body })
    const { messages: results } = await turn.run((await response.json()) as ChatReply)
    const [machine, ...answer] = String(results[0]?.content).split('\n')
    expect(machine).toMatch(/^toolwell\/1 /)
    const { output } = await run(['search', query, '--answer', '--catalog', 'tools.jsonl'])
    expect(output).toBe(`${answer.join('\n')}\n`)
  }
})

it('prints scores only in their order: an agent gets first what clearly fits', async () => {
  const { run } = homeWith({
    'tools.jsonl': [...letters, ...tracker].map((each) => JSON.stringify(each)).join('\n'),
  })
  for (const query of QUERIES.filter((each) => !each.startsWith('select:'))) {
    const found = async (...flags: string[]): Promise<{ score?: number }[]> => {
      const words = ['search', query, '--json', '--catalog', 'tools.jsonl', ...flags]
      return JSON.parse((await run(words)).output).matches
    }
    for (const match of await found()) expect(match).not.toHaveProperty('score')
    const scores = (await found('--no-cutoff')).map(({ score = Number.NaN }) => score)
    expect(scores).toEqual([...scores].sort((first, second) => second - first))
  }
})
