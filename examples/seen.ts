/**
 * Writes docs/guide/what-the-model-sees.md: one conversation over the real wire, with every request as it was sent. `npx tsx
 * examples/seen.ts` prints the page, `--write` saves it. A test compares the two.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, defineTool, type Tool, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import {
  anthropicProtocol,
  chatProtocol,
  type Protocol,
  type RecordedRequest,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { openSession, type Session } from './agent/session.ts'
import type { WireName } from './agent/wires.ts'

const PAGE = new URL('../docs/guide/what-the-model-sees.md', import.meta.url)

const number = { type: 'integer', description: 'The number of the issue' }
const issue = (name: string, description: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { number }, required: ['number'] },
  execute: (input) => `${name} ${input.number}: done`,
  ...more,
})
const clock = defineTool({
  name: 'clock',
  description: 'The time now.',
  inputSchema: { type: 'object', properties: {} },
  execute: () => '12:00',
})
const tracker = [
  issue('close_issue', 'Close an issue.', { guidelines: ['Never close an issue that someone works on.'] }),
  issue('label_issue', 'Put a label on an issue.'),
  {
    name: 'list_people',
    description: 'List the people of the project.',
    inputSchema: { type: 'object', properties: {} },
    execute: () => ['Ada'],
  },
]
const calendar: Tool[] = [
  {
    name: 'create_event',
    description: 'Put an event into the calendar.',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' }, day: { type: 'string', description: 'YYYY-MM-DD' } },
      required: ['title', 'day'],
    },
    execute: ({ title }) => `created ${title}`,
  },
]

type Body = Record<string, unknown>
interface Stage {
  readonly well: Toolwell
  readonly session: Session
  readonly requests: readonly RecordedRequest<Body>[]
  /** Sends a user message; the model answers with these replies. */
  say(text: string, ...replies: readonly ScriptedReply[]): Promise<void>
  queue(...replies: readonly ScriptedReply[]): void
}

async function stage<Result>(
  wire: WireName,
  protocol: Protocol<object>,
  options: ToolwellOptions,
  play: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-seen-'))
  const queue: ScriptedReply[] = []
  const endpoint = await startScriptedEndpoint(protocol as unknown as Protocol<Body>, {
    model: () => queue.shift() ?? { status: 500, error: 'the script has no more steps' },
  })
  try {
    const well = createToolwell({ tools: [clock], mode: 'on', ...options })
    well.catalogue.setSource('tracker', { description: 'Issues', tools: tracker })
    const session = await openSession(
      {
        well,
        servers: { [wire]: { url: endpoint.url, model: 'scripted' } },
        wire,
        folder,
        system: 'You are a careful clerk.',
      },
      'page',
    )
    const result = await play({
      well,
      session,
      requests: endpoint.requests,
      async say(text, ...replies) {
        queue.push(...replies)
        await session.ask(text)
      },
      queue: (...replies) => void queue.push(...replies),
    })
    const refused = endpoint.requests.find(({ violation }) => violation)
    if (refused) throw new Error(`The endpoint refused a request: ${refused.violation?.message}`)
    return result
  } finally {
    await endpoint.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const call = (name: string, input: object, id: string): ScriptedReply => ({
  calls: [{ name, arguments: input as Record<string, unknown>, id }],
})
const through = (name: string, input: object, id: string) => call('tool_call', { name, arguments: input }, id)

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
const list = (body: Body | undefined, field: string) => (body?.[field] ?? []) as readonly unknown[]

/** Messages of a request that an earlier one does not have. */
function added(later: Body | undefined, earlier: Body | undefined): readonly unknown[] {
  const known = list(earlier, 'messages').map((message) => JSON.stringify(message))
  return list(later, 'messages').filter((message) => !known.includes(JSON.stringify(message)))
}

function description(body: Body | undefined, name: string): string {
  type Declared = { readonly function: { readonly name: string; readonly description: string } }
  const tools = list(body, 'tools') as readonly Declared[]
  return tools.find((tool) => tool.function.name === name)?.function.description ?? ''
}

/** Counts the characters of an earlier request that are unchanged at the start of a later one, in the provider's order. */
function kept(earlier: Body | undefined, later: Body | undefined): string {
  const text = ({ tools, system, messages }: Body = {}) =>
    JSON.stringify([tools, system, messages]).slice(0, -2)
  const [before, after] = [text(earlier), text(later)]
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return same === before.length ? `all ${before.length} characters` : `${same} of ${before.length} characters`
}

async function bridge(): Promise<string> {
  const protocol = chatProtocol({ maxDescription: 1024 }) as unknown as Protocol<object>
  return stage(
    'openai-chat',
    protocol,
    { delivery: 'bridge' },
    async ({ well, session, requests, say, queue }) => {
      await say(
        'Close issue 7.',
        call('tool_search', { query: 'close an issue' }, 'call_1'),
        through('tracker__close_issue', { number: 7 }, 'call_2'),
        { text: 'Issue 7 is closed.' },
      )
      await say('What time is it?', call('clock', {}, 'call_3'), { text: 'Noon.' })
      well.catalogue.setSource('calendar', { description: 'Dates', tools: calendar })
      await say('Invite Ada for Friday.', through('calendar__create_event', { name: 'Ada' }, 'call_4'), {
        text: 'Which Friday?',
      })
      queue({ text: 'Issue 7 was closed; Ada is to be invited for a Friday.' })
      await session.compact()
      await say('The 20th of November.', { text: 'Noted.' })
      const [first, second, third, , time, fourth, fifth] = requests.map(({ body }) => body)
      const last = requests.at(-1)?.body
      return `## Bridge: the tools array never changes

Chat Completions, \`delivery: 'bridge'\`.

### The first request

It declares one tool of the host, the search tool and the bridge. The three tools of the tracker are three lines in the description of the search
tool. The section after the system prompt says that there are more tools.

${json({ messages: list(first, 'messages'), tools: list(first, 'tools') })}

### The search

The model searches for \`close an issue\`. The second request begins with ${kept(first, second)} of the first and adds these messages. The first line
of the answer is for machines. The whole schema follows, and the guidelines of the tool, which the model has not seen before.

${json(added(second, first))}

### The call

Found tools are called through \`tool_call\`. The arguments are checked against the schema above before the tool runs. Kept: ${kept(second, third)}.

${json(added(third, second))}

### A server that joins, and a guess

Meanwhile the calendar has joined. A notice after the user's next message announces it; no byte before it changes. Kept: ${kept(time, fourth)}.

${json(added(fourth, time))}

The model guesses the arguments instead of searching. The tool does not run, and the answer contains its schema. Kept: ${kept(fourth, fifth)}.

${json(added(fifth, fourth))}

### After a compaction

The history is now a summary and the last two turns, and everything before the messages may change. The loaded tool stays loaded. It has left the
list of the search tool, and the calendar has joined it. The schema and guidelines of the loaded tool were only in the dropped part, so they follow
the newest message.

${json({ messages: list(last, 'messages') })}

The description of the search tool is now:

\`\`\`text
${description(last, 'tool_search')}
\`\`\`
`
    },
  )
}

async function native(): Promise<string> {
  const protocol = anthropicProtocol() as unknown as Protocol<object>
  return stage('anthropic', protocol, { delivery: 'native' }, async ({ requests, say }) => {
    await say(
      'Close issue 7.',
      call('tool_search', { query: 'close an issue' }, 'toolu_1'),
      call('tracker__close_issue', { number: 7 }, 'toolu_2'),
      { text: 'Issue 7 is closed.' },
    )
    const [first, second] = requests.map(({ body }) => body)
    const names = list(first, 'tools').map((tool) => JSON.stringify(tool))
    return `## Native: the provider shows found tools

Anthropic Messages, \`delivery: 'native'\`. The first request declares the host's tool and the search tool as above, and one tool that no model
can see (\`toolwell_reserve\`): if a model calls it, deferral does not work at this provider. The search answer is a reference, and the tool is called
by its own name. The second request adds these messages:

${json(added(second, first))}

It also declares the found tool, which the model sees only from the reference on:

${json(list(second, 'tools').filter((tool) => !names.includes(JSON.stringify(tool))))}
`
  })
}

async function append(): Promise<string> {
  const protocol = chatProtocol({ maxDescription: 1024 }) as unknown as Protocol<object>
  return stage('openai-chat', protocol, { delivery: 'append' }, async ({ requests, say }) => {
    await say(
      'Close issue 7.',
      call('tool_search', { query: 'close an issue' }, 'call_1'),
      call('tracker__close_issue', { number: 7 }, 'call_2'),
      { text: 'Issue 7 is closed.' },
    )
    const [first, second] = requests.map(({ body }) => body)
    const names = (body: Body | undefined) =>
      list(body, 'tools').map((tool) => (tool as { function: { name: string } }).function.name)
    return `## Append: found tools join the array

Chat Completions, \`delivery: 'append'\`. The array was \`${names(first).join('`, `')}\` and is then \`${names(second).join('`, `')}\`. The answer contains
only the name, because the definition is in the array. The provider reads tools before messages, so it reads the conversation again: it kept
${kept(first, second)} of the first request.

${json(added(second, first))}
`
  })
}

const page = `# What the model sees

\`npx tsx examples/seen.ts\` sent every byte below and writes this page; a test compares the two. The model is scripted, the loop is
[examples/agent](../../examples/agent/session.ts), and the endpoint refuses what a strict server refuses. JSON is formatted here and sent in one line.
“Kept” counts the unchanged characters at the start of the next request, in the order tools, system prompt, messages.

${await bridge()}
${await native()}
${await append()}`.trimEnd()

if (process.argv.includes('--write')) await writeFile(PAGE, `${page}\n`)
else process.stdout.write(`${page}\n`)
