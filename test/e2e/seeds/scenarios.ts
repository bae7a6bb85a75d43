/** The scenarios that every seed plays in the agent: one for each event in the life of a session. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { configWith, type Step, type World } from './driver.ts'
import { startProgram } from './process.ts'

const SERVER = 'memory'
/** A tool that only reads; a tool that writes. */
const LOOK = 'read_graph'
const CHANGE = 'create_entities'
const ENTITY = { entities: [{ name: 'Acorn', entityType: 'project', observations: ['It has a bug.'] }] }

export interface Scenario {
  readonly title: string
  /** Only in the long tier, because it starts processes. */
  readonly long?: boolean
  /** The npm servers; default: `memory`. */
  readonly servers?: readonly string[]
  play(world: World): Promise<void>
}

const look = (world: World) => world.seed.wireName(SERVER, LOOK)
const change = (world: World) => world.seed.wireName(SERVER, CHANGE)
const call = (name: string, input: object = {}): Step => [
  { name, arguments: input as Record<string, unknown> },
]
const find = (world: World, name: string): Step => [world.seed.find(name)]
const last = (world: World) => world.sent.at(-1)
const results = (world: World) =>
  world.events.flatMap((event) => (event.kind === 'tool-result' ? [`${event.outcome} ${event.tool}`] : []))
const loads = (world: World) => world.events.flatMap((event) => (event.kind === 'load' ? [event.tool] : []))

export const SCENARIOS: readonly Scenario[] = [
  {
    title: 'a tool is hidden, found, loaded, declared with the next request, and called',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = change(world)
      await world.ask(session, 'Remember it.', find(world, name), call(name, ENTITY))
      const [first, second, third] = world.sent
      expect(first?.names).toContain(world.seed.loader)
      expect(first?.names).not.toContain(name)
      expect(second?.names).toContain(name)
      // Earlier declarations keep their place.
      expect(second?.names.slice(0, first?.names.length)).toEqual(first?.names)
      expect(third?.names).toEqual(second?.names)
      expect(loads(world)).toEqual([name])
      expect(results(world)).toEqual([`result ${SERVER}/${CHANGE}`])
      expect(await world.file('memory.jsonl')).toContain('Acorn')
      expect(await world.file('.agent/sessions/main.transcript')).toContain('Remember it.')
    },
  },
  {
    title: 'a session that is opened again still has the tool: no second search',
    async play(world) {
      const name = look(world)
      await world.ask(await (await world.open()).open('main'), 'Look.', find(world, name))
      const before = last(world)
      const session = await (await world.open()).open('main')
      expect(session.conversation.inspect().loadedLazyTools).toEqual([name])
      await world.ask(session, 'Look again.', call(name))
      expect(world.sent[world.sent.length - 2]?.names).toEqual(before?.names)
      expect(results(world)).toEqual([`result ${SERVER}/${LOOK}`])
      expect(session.conversation.inspect().searchHistory).toHaveLength(1)
    },
  },
  {
    title: 'a fork knows what was loaded by then, and neither changes the other',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = look(world)
      await world.ask(session, 'Hello.')
      const early = session.messages.length
      await world.ask(session, 'Look.', find(world, name))
      const before = await session.fork('before', early)
      const after = await session.fork('after', session.messages.length)
      await world.ask(before, 'And now?')
      expect(last(world)?.names).not.toContain(name)
      await world.ask(after, 'And now?')
      expect(last(world)?.names).toContain(name)
      const other = change(world)
      await world.ask(after, 'Remember it.', find(world, other))
      await world.ask(session, 'Go on.')
      expect(last(world)?.names).toContain(name)
      expect(last(world)?.names).not.toContain(other)
    },
  },
  {
    title: 'a compaction between load and use keeps the tool',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = look(world)
      await world.ask(session, 'Look.', find(world, name))
      world.script({ text: 'They looked for a tool.' })
      await session.compact(0)
      expect(session.messages).toHaveLength(1)
      await world.ask(session, 'Use it.', call(name))
      expect(last(world)?.names).toContain(name)
      expect(last(world)?.raw).toContain('They looked for a tool.')
      expect(results(world)).toEqual([`result ${SERVER}/${LOOK}`])
      // The file keeps messages that the model no longer gets.
      expect(await world.file('.agent/sessions/main.transcript')).toContain('"Look."')
    },
  },
  {
    title: 'a request is repeated with the same bytes after 429, 529 and a cut stream',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = look(world)
      const busy: readonly Step[] = [
        { status: 429, error: 'too many', headers: { 'retry-after': '1' } },
        { status: 529, error: 'overloaded' },
        { cutAfter: 3, text: 'I was going to say' },
      ]
      await world.ask(session, 'Look.', find(world, name), ...busy, call(name))
      const tries = world.sent.slice(1, 5).map(({ raw }) => raw)
      expect(new Set(tries).size).toBe(1)
      expect(world.sent[1]?.names).toContain(name)
      expect(results(world)).toEqual([`result ${SERVER}/${LOOK}`])
      expect(world.events.filter(({ kind }) => kind === 'retry')).toHaveLength(3)
      expect(world.events).toContainEqual(expect.objectContaining({ kind: 'retry', wait: 1000 }))
    },
  },
  {
    title:
      'a sub-agent starts with what its parent loaded, unless its file says otherwise, and changes nothing there',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = look(world)
      const other = change(world)
      const child = (agent: string, ...steps: Step[]): Step[] => [
        call('delegate', { task: `Look, ${agent}.`, agent }),
        ...steps,
        { text: 'I looked.' },
      ]
      await world.ask(
        session,
        'Look.',
        find(world, name),
        ...child('heir', call(name), ...(world.seed.freshHas ? [] : [find(world, other)])),
        ...child('fresh'),
        ...child('narrow'),
      )
      const of = (agent: string) => world.sent.find(({ raw }) => raw.includes(`You are the ${agent}.`))
      expect(of('heir')?.names.includes(name)).toBe(world.seed.heirHas)
      expect(of('fresh')?.names.includes(name)).toBe(world.seed.freshHas)
      expect(of('narrow')?.names).toEqual(['read'])
      for (const agent of ['heir', 'fresh', 'narrow']) expect(of(agent)?.names).not.toContain('delegate')
      expect(results(world)).toContain(`result ${SERVER}/${LOOK}`)
      expect(session.conversation.inspect().loadedLazyTools).toEqual([name])
      expect(last(world)?.names).not.toContain(other)
    },
  },
  {
    title: 'a tool that is forbidden after it was loaded does not run, and is as good as gone',
    async play(world) {
      const name = change(world)
      await world.ask(await (await world.open()).open('main'), 'Find it.', find(world, name))
      const agent = await world.open({ permissions: { deny: [`${SERVER}/${CHANGE}`] } })
      const session = await agent.open('main')
      await world.ask(session, 'Remember it.', call(name, ENTITY), find(world, name))
      expect(results(world)).toEqual([expect.not.stringMatching(/^result/)])
      expect(world.events.some(({ kind }) => kind === 'tool-call')).toBe(false)
      await expect(world.file('memory.jsonl')).rejects.toThrow('ENOENT')
      expect(session.conversation.inspect().loadedLazyTools).toEqual([])
      // After it is allowed again, the tool returns.
      const again = await (await world.open()).open('main')
      await world.ask(again, 'Now.', call(name, ENTITY))
      expect(await world.file('memory.jsonl')).toContain('Acorn')
    },
  },
  {
    title:
      'plan mode changes nothing: looking works, changing waits for the approved plan, and no byte before it moves',
    async play(world) {
      const agent = await world.open({ ask: async () => true })
      const session = await agent.open('main')
      const [see, write] = [look(world), change(world)]
      await world.ask(session, 'Prepare.', find(world, write))
      await session.setMode('plan')
      await world.ask(
        session,
        'Plan.',
        call(write, ENTITY),
        call('bash', { command: 'touch made' }),
        find(world, see),
        call(see),
      )
      expect(results(world).map((result) => result.startsWith('result'))).toEqual([false, false, true])
      await expect(world.file('memory.jsonl')).rejects.toThrow('ENOENT')
      await expect(world.file('made')).rejects.toThrow('ENOENT')
      expect(last(world)?.names.slice(0, 5)).toEqual(world.sent[0]?.names.slice(0, 5))
      await world.ask(session, 'Go.', call('exit_plan_mode', { plan: 'Remember it.' }), call(write, ENTITY))
      expect(session.mode).toBe('ask')
      expect(await world.file('memory.jsonl')).toContain('Acorn')
    },
  },
  {
    title: 'at another provider the tool is still loaded',
    async play(world) {
      const session = await (await world.open()).open('main')
      const name = look(world)
      await world.ask(session, 'Look.', find(world, name), call(name))
      const next = (['anthropic', 'google', 'openai-chat', 'openai-responses'] as const).find(
        (wire) => wire !== world.wire,
      )
      await session.moveTo(next ?? 'google')
      await world.ask(session, 'Look again.', call(name))
      expect(last(world)?.wire).toBe(next)
      expect(last(world)?.names).toContain(name)
      await session.moveTo(world.wire)
      await world.ask(session, 'And back.', call(name))
      expect(last(world)?.wire).toBe(world.wire)
      expect(results(world)).toEqual(Array(3).fill(`result ${SERVER}/${LOOK}`))
      expect(session.conversation.inspect().searchHistory).toHaveLength(1)
    },
  },
  {
    title:
      'a dead server is restarted; a changed or removed server is announced; a returning server brings the tool back',
    async play(world) {
      const agent = await world.open()
      const session = await agent.open('main')
      const name = look(world)
      await world.ask(session, 'Look.', find(world, name), call(name))
      const [pid = 0] = agent.servers.inspect().flatMap(({ pids }) => pids)
      process.kill(pid, 'SIGKILL')
      await world.ask(session, 'Look again.', call(name))
      expect(results(world)).toEqual(Array(2).fill(`result ${SERVER}/${LOOK}`))
      // The server changes: its list no longer has the tool.
      agent.servers.update(await configWith(world, [SERVER], { deny: [LOOK] }))
      await agent.servers.settled(60_000)
      await world.ask(session, 'Look again.', call(name))
      expect(results(world).at(-1)).not.toMatch(/^result/)
      // The server is removed.
      agent.servers.update(await configWith(world, [SERVER], { enabled: false }))
      await world.ask(session, 'Look again.', call(name))
      expect(results(world).at(-1)).not.toMatch(/^result/)
      // The server returns.
      agent.servers.update(await configWith(world, [SERVER]))
      await agent.servers.settled(60_000)
      await world.ask(session, 'Look again.', call(name))
      expect(results(world).at(-1)).toBe(`result ${SERVER}/${LOOK}`)
      expect(session.conversation.inspect().loadedLazyTools).toEqual([name])
    },
  },
  {
    title: 'a crash between the record of a load and its answer repeats the request, and the tool is there',
    async play(world) {
      const name = look(world)
      await world.ask(await (await world.open()).open('main'), 'Look.', find(world, name))
      const file = join(world.workspace, '.agent/sessions/main.transcript')
      const lines = (await world.file('.agent/sessions/main.transcript')).trimEnd().split('\n')
      const asked = lines.findIndex((line) => line.includes('"Look."')) + 1
      // The ledger has the load; the last line of the transcript is torn.
      await writeFile(file, `${lines.slice(0, asked).join('\n')}\n${lines[asked]?.slice(0, 20)}`)
      const session = await (await world.open()).open('main')
      await world.ask(session, undefined, find(world, name), call(name))
      expect(world.sent[2]?.raw).toBe(world.sent[0]?.raw)
      expect(last(world)?.names).toContain(name)
      expect(loads(world)).toEqual([name])
      expect(results(world)).toEqual([`result ${SERVER}/${LOOK}`])
    },
  },
  {
    title: 'another process resumes the session with the tool, and forks it from before the load without',
    long: true,
    async play(world) {
      const name = look(world)
      world.script(find(world, name), { text: 'Found.' })
      expect((await startProgram(world, '-p', 'Look.', '--session', 'main').ended).code).toBe(0)
      world.script(call(name), { text: 'Seen.' })
      const resumed = await startProgram(world, '--resume', 'main', '-p', 'Use it.').ended
      expect(resumed.code).toBe(0)
      expect(resumed.events).toContainEqual(expect.objectContaining({ kind: 'session', loaded: [name] }))
      expect(resumed.events).toContainEqual(
        expect.objectContaining({ kind: 'tool-result', outcome: 'result' }),
      )
      expect(world.sent[2]?.names).toContain(name)
      world.script({ text: 'Nothing yet.' })
      const forked = await startProgram(
        world,
        '--fork',
        'main',
        '--at',
        '1',
        '--session',
        'copy',
        '-p',
        'Hm.',
      ).ended
      expect(forked.code).toBe(0)
      expect(last(world)?.names).not.toContain(name)
    },
  },
  {
    title:
      'after a kill between the load and the next step, it continues in a new process with the same bytes',
    long: true,
    async play(world) {
      const name = look(world)
      const killed = startProgram(world, '-p', 'Look.', '--session', 'main')
      world.script(find(world, name), () => {
        killed.child.kill('SIGKILL')
        return killed.ended.then(() => ({ text: 'Nobody hears this.' }))
      })
      expect((await killed.ended).code).toBeNull()
      await vi.waitFor(() => expect(world.sent).toHaveLength(2))
      world.script(call(name), { text: 'Seen.' })
      const { code, events } = await startProgram(world, '--retry', 'main').ended
      expect(code).toBe(0)
      expect(world.sent[2]?.raw).toBe(world.sent[1]?.raw)
      expect(world.sent[2]?.names).toContain(name)
      expect(events).toContainEqual(expect.objectContaining({ kind: 'tool-result', outcome: 'result' }))
      expect(events.some(({ kind }) => kind === 'search')).toBe(false)
    },
  },
  {
    title: 'four servers: one tool of each is found and called, and the others stay hidden',
    long: true,
    servers: ['filesystem', 'memory', 'everything', 'sequential-thinking'],
    async play(world) {
      await writeFile(join(world.workspace, 'note.txt'), 'An acorn.')
      const session = await (await world.open()).open('main')
      const wanted = [
        ['filesystem', 'read_text_file', { path: join(world.workspace, 'note.txt') }],
        ['memory', LOOK, {}],
        ['everything', 'echo', { message: 'hello' }],
        [
          'sequential-thinking',
          'sequentialthinking',
          { thought: 'One.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        ],
      ] as const
      for (const [server, tool, input] of wanted) {
        const name = world.seed.wireName(server, tool)
        await world.ask(session, `Use ${tool}.`, find(world, name), call(name, input))
      }
      expect(results(world)).toEqual(wanted.map(([server, tool]) => `result ${server}/${tool}`))
      const added = last(world)?.names.filter((name) => !world.sent[0]?.names.includes(name))
      expect(added).toEqual(wanted.map(([server, tool]) => world.seed.wireName(server, tool)))
    },
  },
]
