/**
 * Fills the JSON of docs/concepts/how-a-request-is-built.md: one conversation, every request as it was sent.
 * `npx tsx examples/seen.ts` prints the page, `--write` writes it. A test compares both.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
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

const PAGE = new URL('../docs/concepts/how-a-request-is-built.md', import.meta.url)

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

/** The messages of a request that an earlier one does not have. */
function added(later: Body | undefined, earlier: Body | undefined): readonly unknown[] {
  const known = list(earlier, 'messages').map((message) => JSON.stringify(message))
  return list(later, 'messages').filter((message) => !known.includes(JSON.stringify(message)))
}

function description(body: Body | undefined, name: string): string {
  type Declared = { readonly function: { readonly name: string; readonly description: string } }
  const tools = list(body, 'tools') as readonly Declared[]
  return tools.find((tool) => tool.function.name === name)?.function.description ?? ''
}

/** How many characters of an earlier request are the start of a later one, in the provider's order. */
function kept(earlier: Body | undefined, later: Body | undefined): string {
  const text = ({ tools, system, messages }: Body = {}) =>
    JSON.stringify([tools, system, messages]).slice(0, -2)
  const [before, after] = [text(earlier), text(later)]
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return same === before.length ? `all ${before.length} characters` : `${same} of ${before.length} characters`
}

type Blocks = Readonly<Record<string, string>>

async function bridge(): Promise<Blocks> {
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
      return {
        first: json({ messages: list(first, 'messages'), tools: list(first, 'tools') }),
        search: json(added(second, first)),
        call: json(added(third, second)),
        notice: json(added(fourth, time).at(-1)),
        guess: json(added(fifth, fourth).at(-1)),
        compacted: `${json(list(last, 'messages').at(-1))}\n\nThe description of the search tool is now:\n\n\`\`\`text\n${description(last, 'tool_search')}\n\`\`\``,
        kept: [
          '| delivery | after | kept |',
          '| --- | --- | --- |',
          `| bridge | a search | ${kept(first, second)} |`,
          `| bridge | a call | ${kept(second, third)} |`,
          `| bridge | a server that joined | ${kept(time, fourth)} |`,
        ].join('\n'),
      }
    },
  )
}

async function native(): Promise<Blocks> {
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
    return {
      native: json(added(second, first).at(-1)),
      declared: json(list(second, 'tools').find((tool) => !names.includes(JSON.stringify(tool)))),
    }
  })
}

async function append(): Promise<Blocks> {
  const protocol = chatProtocol({ maxDescription: 1024 }) as unknown as Protocol<object>
  return stage('openai-chat', protocol, { delivery: 'append' }, async ({ requests, say }) => {
    await say(
      'Close issue 7.',
      call('tool_search', { query: 'close an issue' }, 'call_1'),
      call('tracker__close_issue', { number: 7 }, 'call_2'),
      { text: 'Issue 7 is closed.' },
    )
    const [first, second] = requests.map(({ body }) => body)
    return {
      append: json(added(second, first).at(-1)),
      kept: `| append | a search | ${kept(first, second)} |`,
    }
  })
}

const [bridged, appended] = [await bridge(), await append()]
const blocks: Blocks = {
  ...bridged,
  ...(await native()),
  ...appended,
  kept: `${bridged.kept}\n${appended.kept}`,
}
const page = (await readFile(PAGE, 'utf8')).replace(
  /(<!-- seen: ([a-z]+) -->\n)[\s\S]*?(<!-- end -->)/g,
  (_, start: string, name: string, end: string) => {
    const block = blocks[name]
    if (block === undefined) throw new Error(`Unknown mark "seen: ${name}" in ${PAGE.pathname}.`)
    return `${start}\n${block}\n\n${end}`
  },
)

if (process.argv.includes('--write')) await writeFile(PAGE, page)
else process.stdout.write(page)
