/** Plays the task in one system over a real wire and returns its requests and answers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tokenizer } from '@toolwell/core'
import { type ChatRequestBody, startScriptedChat } from '@toolwell/testing'
import { openSession } from '../agent/session.ts'
import { createTools, MARK, type SeedSystem, task } from './system.ts'

export interface Sent {
  /** Names, in order. */
  readonly tools: readonly string[]
  /** Tokens of the tools array and of the whole request. */
  readonly toolTokens: number
  readonly tokens: number
  /** The section about deferred tools in the system prompt, if any. */
  readonly section: string
  /** Description of the loader. */
  readonly loader: string
  /** Notice after the last tool result, if any. */
  readonly told: string
  readonly body: ChatRequestBody
}

export interface Played {
  readonly system: string
  readonly loader: string
  readonly ask: SeedSystem['ask']
  readonly before: Sent
  /** Answer of the loader. */
  readonly answer: string
  readonly after: Sent
  readonly target: string
  /** Output of the system API afterwards. */
  readonly report: readonly string[]
}

const PROMPT = 'You are a careful clerk.'

export async function play(system: SeedSystem, tokenizer: Tokenizer): Promise<Played> {
  const { name, loader, target, ask } = system
  const { own, tracker, done } = createTools()
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-seeds-'))
  const chat = await startScriptedChat({
    model: [
      { calls: [{ name: loader, arguments: ask }] },
      { calls: [{ name: target, arguments: { number: 7 } }] },
      { text: 'Issue 7 is closed.' },
    ],
  })
  try {
    const session = await openSession(
      {
        well: system.open(own, tracker),
        servers: { 'openai-chat': { url: chat.url, model: 'scripted' } },
        folder,
        system: PROMPT,
      },
      name,
    )
    const said = await session.ask(task)
    const [before, after] = chat.requests
    assert.ok(before && after && said === 'Issue 7 is closed.')
    assert.deepEqual(done, ['close_issue 7'])
    assert.ok(!before.raw.includes(MARK) && after.raw.includes(MARK))
    assert.ok(chat.requests.every(({ violation }) => violation === undefined))
    const played: Played = {
      system: name,
      loader,
      ask,
      before: sent(before.body, loader, tokenizer),
      answer: String(after.body.messages.findLast(({ role }) => role === 'tool')?.content ?? ''),
      after: sent(after.body, loader, tokenizer),
      target,
      report: system.report(session.conversation),
    }
    assert.ok(played.before.tools.includes(loader) && !played.before.tools.includes(target))
    assert.deepEqual(played.after.tools, [...played.before.tools, target])
    return played
  } finally {
    await chat.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function sent(body: ChatRequestBody, loader: string, { count }: Tokenizer): Sent {
  const { tools = [], messages } = body
  const results = messages.findLastIndex(({ role }) => role === 'tool')
  const behind = results < 0 ? [] : messages.slice(results + 1)
  const system = messages.find(({ role }) => role === 'system')?.content
  return {
    tools: tools.map((tool) => tool.function.name),
    toolTokens: count(JSON.stringify(tools)),
    tokens: count(JSON.stringify(body)),
    section: typeof system === 'string' ? system.slice(PROMPT.length).trim() : '',
    loader: tools.find((tool) => tool.function.name === loader)?.function.description ?? '',
    told: behind.map(({ content }) => String(content)).join('\n'),
    body,
  }
}
