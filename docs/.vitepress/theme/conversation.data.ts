/** Plays one conversation with five real MCP servers and a scripted model, and keeps the bytes of every request. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadTokenizer } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { everyTool } from '../../../examples/proof/reading.ts'
import { openProof, projectOf, seedProject } from '../../../examples/proof/setup.ts'

export interface Step {
  readonly title: string
  readonly text: string
  /** Tokens of this request, and how many of them are the start of the request before. */
  readonly tokens: number
  readonly cached: number
  /** Tokens of the same request with every definition in it. */
  readonly everything: number
  readonly loaded: readonly string[]
  /** The messages that the request before does not have, as JSON. */
  readonly added: string
}

export interface PlayedConversation {
  readonly servers: number
  readonly tools: number
  readonly steps: readonly Step[]
}

declare const data: PlayedConversation

export { data }

const SYSTEM = 'You are a careful engineer.'

const call = (name: string, input: object, id: string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
})

async function play(): Promise<PlayedConversation> {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-site-'))
  await seedProject(folder)
  const tokenizer = await loadTokenizer()
  const { well, servers } = openProof({ folder, url: '', tokenizer, delivery: 'bridge', mode: 'on' })
  try {
    await servers.settled(120_000)
    const conversation = await well.open({ id: 'site' })
    const chat = openaiChat(conversation)
    const everyDefinition = everyTool(well, tokenizer)
    const steps: Step[] = []
    let before = ''
    let known: readonly string[] = []
    let messages: ChatMessage[] = [{ role: 'system', content: SYSTEM }]

    const send = async (title: string, text: string, reply: ChatMessage) => {
      const turn = await chat.begin(messages)
      const { tools = [], messages: sent } = turn.parts
      const body = JSON.stringify([tools, sent])
      let same = 0
      while (same < before.length && before[same] === body[same]) same++
      const pieces = sent.map((message) => JSON.stringify(message))
      const added = sent.filter((_, index) => !known.includes(pieces[index] ?? ''))
      steps.push({
        title,
        text,
        tokens: tokenizer.count(body),
        cached: tokenizer.count(body.slice(0, same)),
        everything: everyDefinition + tokenizer.count(JSON.stringify(sent)),
        loaded: conversation.inspect().loadedLazyTools,
        added: JSON.stringify(steps.length === 0 ? { tools, messages: sent } : added, null, 2).replaceAll(
          projectOf(folder),
          '/project',
        ),
      })
      before = body.slice(0, -2)
      known = pieces
      const { messages: results } = await turn.run({ choices: [{ message: reply }] })
      messages = [...messages, reply, ...results]
    }

    const read = {
      name: 'filesystem__read_text_file',
      arguments: { path: join(projectOf(folder), 'src/invoice.js') },
    }
    messages.push({ role: 'user', content: 'Why is the total of an invoice too low?' })
    await send(
      'First request',
      'The model gets three tools instead of all. The description of tool_search lists the hidden ones, one line each, as far as they fit.',
      call('tool_search', { query: 'read a text file' }, 'call_1'),
    )
    await send(
      'After the search',
      'Toolwell has answered the search with the definitions of the tools that it loaded. The tools array is the same as before, so the prompt cache stays valid.',
      call('tool_call', read, 'call_2'),
    )
    await send(
      'After the call',
      'Toolwell has checked the arguments, started the server for its first call, and passed the result on.',
      { role: 'assistant', content: 'The loop ends one item too early: `i < items.length - 1`.' },
    )
    const shorter: ChatMessage[] = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: 'Summary so far: the loop in src/invoice.js ends one item too early.' },
    ]
    await chat.compact(messages, shorter)
    messages = [
      ...shorter,
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', content: 'Show me the file again.' },
    ]
    await send(
      'After a compaction',
      'The search answer is no longer in the history, but the tools stay loaded. Toolwell sends their definitions again, so the model needs no second search.',
      call('tool_call', read, 'call_3'),
    )
    return { servers: servers.inspect().length, tools: well.catalogue.size - 1, steps }
  } finally {
    await servers.close()
    await rm(folder, { recursive: true, force: true })
  }
}

export default { load: play }
