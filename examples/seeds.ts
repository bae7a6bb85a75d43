/** `npm run examples -- seeds`: one task in the systems that Toolwell comes from, each with its own names, over a real wire. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadTokenizer } from '@toolwell/core'
import { type ChatRequestBody, startScriptedChat } from '@toolwell/core/testing'
import { openSession } from './host.ts'
import { dim, heading, line, thousands } from './proof/print.ts'
import { calibanSystem } from './seeds/caliban.ts'
import { sfSystem } from './seeds/sf.ts'
import { superAgentSystem } from './seeds/super-agent.ts'
import { createTools, MARK, type SeedSystem, task } from './seeds/system.ts'

const systems: readonly SeedSystem[] = [sfSystem, superAgentSystem, calibanSystem]
const tokenizer = await loadTokenizer()
const folder = await mkdtemp(join(tmpdir(), 'toolwell-seeds-'))

line(`The task, in all of them: ${task} ${dim('(the model is scripted; the loop and the wire are real)')}`)
try {
  for (const system of systems) await play(system)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function play(system: SeedSystem): Promise<void> {
  const { loader, target, ask } = system
  const { own, tracker, done } = createTools()
  const chat = await startScriptedChat({
    model: [
      { calls: [{ name: loader, arguments: ask }] },
      { calls: [{ name: target, arguments: { number: 7 } }] },
      { text: 'Issue 7 is closed.' },
    ],
  })
  const session = await openSession(
    {
      well: system.open(own, tracker),
      servers: { 'openai-chat': { url: chat.url, model: 'scripted' } },
      folder,
      system: 'You are a careful clerk.',
      countTokens: tokenizer.count,
    },
    system.name,
  )
  const said = await session.ask(task)
  await chat.close()

  const [before, after] = chat.requests
  assert.ok(before && after && said === 'Issue 7 is closed.')
  assert.deepEqual(done, ['close_issue 7'])
  assert.ok(names(before.body).includes(loader) && !names(before.body).includes(target))
  assert.ok(!before.raw.includes(MARK) && after.raw.includes(MARK))
  assert.ok(chat.requests.every(({ violation }) => violation === undefined))

  heading(system.name)
  show('before', before.body)
  line(`  model   ${loader} ${JSON.stringify(ask)}`)
  show('after', after.body)
  line(`  model   ${target} {"number":7}`)
  for (const fact of system.report(session.conversation)) line(`  then    ${fact}`)
}

function names({ tools = [] }: ChatRequestBody): string[] {
  return tools.map((tool) => tool.function.name)
}

function show(label: string, body: ChatRequestBody): void {
  const tokens = tokenizer.count(JSON.stringify(body.tools ?? []))
  line(`  ${label.padEnd(6)}  ${names(body).join(', ')} ${dim(`(${thousands(tokens)} tokens)`)}`)
  const system = body.messages.find(({ role }) => role === 'system')?.content
  const section = typeof system === 'string' ? system.split('\n').slice(2) : []
  for (const text of section.filter((each) => each !== '')) line(dim(`          ${text}`))
}
