/** Every move from one provider to another, at awkward moments. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ATTEMPTS } from '../agent/send.ts'
import { openSession } from '../agent/session.ts'
import { declaredNames, storyOf } from './story.ts'
import {
  active,
  closeWorlds,
  createWorld,
  FINDABLE,
  MOVES,
  searches,
  select,
  use,
  wireName,
} from './world.ts'

afterEach(closeWorlds)

describe.each(MOVES)('a move from %s to %s', (from, to) => {
  /** A session whose server fails when it should read the answer of the first tool. */
  async function interrupted() {
    const world = await createWorld()
    const session = await openSession(world.createHost(from), 'main')
    world.queue.push(
      () => ({ calls: [select(0)] }),
      (body) => ({ calls: [use(body, wireName(0), { number: 1 })] }),
      ...Array.from({ length: ATTEMPTS }, () => () => ({ status: 503, error: 'overloaded' })),
    )
    await expect(session.ask('File issue 1.')).rejects.toThrow('503')
    return { ...world, session }
  }
  const begun = [
    'user: File issue 1.',
    `search: select:${wireName(0)}`,
    'found',
    `call: ${wireName(0)} {"number":1}`,
  ]

  it('saves a loop whose server is down, and runs nothing twice', async () => {
    const { session, queue, ran, lastBody, refusals } = await interrupted()
    await session.moveTo(to)
    queue.push(() => ({ text: 'Filed.' }))
    expect(await session.ask()).toBe('Filed.')
    expect(refusals()).toEqual([])
    expect(storyOf(lastBody(to))).toEqual([...begun, 'answer: create_issue 1: done'])
    expect(ran).toEqual(['create_issue 1'])
  })

  it('answers a call whose answer a crash has lost', async () => {
    const { folder, createHost, queue, lastBody, refusals, ran } = await interrupted()
    const file = join(folder, 'main.transcript')
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    await writeFile(file, `${lines.slice(0, -1).join('\n')}\n`)
    const session = await openSession(createHost(from), 'main')
    await session.moveTo(to)
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 1 })] }))
    queue.push(() => ({ text: 'Filed.' }))
    expect(await session.ask()).toBe('Filed.')
    expect(refusals()).toEqual([])
    const story = storyOf(lastBody(to))
    expect(story.slice(0, 4)).toEqual(begun)
    expect(story[4]).toMatch(/^answer: This call was run and succeeded/)
    expect(story.slice(5)).toEqual([begun[3], 'answer: create_issue 1: done'])
    expect(ran).toEqual(['create_issue 1', 'create_issue 1'])
  })

  it('and back without a message in between continues as if it had stayed', async () => {
    const { session, endpoints, queue, lastBody, refusals } = await interrupted()
    const dead = endpoints[from].requests.at(-1)?.raw
    await session.moveTo(to)
    await session.moveTo(from)
    queue.push(() => ({ calls: [select(1)] }))
    queue.push((body) => ({ calls: [use(body, wireName(1), { number: 2 })] }))
    queue.push(() => ({ text: 'Filed and sent.' }))
    expect(await session.ask()).toBe('Filed and sent.')
    expect(endpoints[from].requests.at(-3)?.raw).toBe(dead)
    expect(endpoints[to].requests).toEqual([])
    expect(refusals()).toEqual([])
    expect(storyOf(lastBody(from)).slice(4)).toEqual([
      'answer: create_issue 1: done',
      `search: select:${wireName(1)}`,
      'found',
      `call: ${wireName(1)} {"number":2}`,
      'answer: send_letter 2: done',
    ])
    expect(active(session)).toEqual([wireName(0), wireName(1)])
  })

  it('tells a call of a tool that has vanished meanwhile, and loads the tool when it is back', async () => {
    const { createHost, queue, lastBody, refusals, ran, source } = await createWorld()
    const host = createHost(from)
    const session = await openSession(host, 'main')
    queue.push(
      () => ({ calls: [select(0), select(1)] }),
      (body) => ({ calls: [use(body, wireName(0), { number: 1 }), use(body, wireName(1), { number: 2 })] }),
      () => ({ text: 'Filed and sent.' }),
    )
    await session.ask('File issue 1 and send letter 2.')
    host.well.catalogue.removeSource('tracker')
    await session.moveTo(to)
    queue.push(
      (body) => ({ calls: [use(body, wireName(0), { number: 3 }), use(body, wireName(1), { number: 4 })] }),
      () => ({ text: 'Only sent.' }),
    )
    expect(await session.ask('The same for 3 and 4.')).toBe('Only sent.')
    expect(active(session)).toEqual([wireName(1)])
    expect(JSON.stringify(lastBody(to))).toContain('create_issue 1: done')
    expect(ran).toEqual(['create_issue 1', 'send_letter 2', 'send_letter 4'])

    source(host.well, 'tracker')
    await session.moveTo(from)
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 5 })] }))
    queue.push(() => ({ text: 'Filed.' }))
    expect(await session.ask('File issue 5.')).toBe('Filed.')
    expect(ran.at(-1)).toBe('create_issue 5')
    expect([...active(session)].sort()).toEqual([wireName(1), wireName(0)])
    expect(searches(session)).toBe(2)
    expect(refusals()).toEqual([])
  })

  it('tells a call of a vanished tool as text where found tools are declared by name', async () => {
    const { createHost, queue, lastBody, refusals } = await createWorld({ delivery: 'append' })
    const host = createHost(from)
    const session = await openSession(host, 'main')
    queue.push(
      () => ({ calls: [select(0)] }),
      (body) => ({ calls: [use(body, wireName(0), { number: 1 })] }),
      () => ({ text: 'Filed.' }),
    )
    await session.ask('File issue 1.')
    host.well.catalogue.removeSource('tracker')
    await session.moveTo(to)
    queue.push(() => ({ text: 'I cannot.' }))
    await session.ask('File issue 2.')
    expect(refusals()).toEqual([])
    expect(JSON.stringify(lastBody(to))).toContain('create_issue 1: done')
    expect(declaredNames(lastBody(to))).not.toContain(wireName(0))
  })
})

it.each(MOVES)('brings a conversation without deferral from %s to %s', async (from, to) => {
  const { createHost, queue, lastBody, refusals } = await createWorld({
    mode: 'auto',
    costs: { threshold: 4000 },
  })
  const session = await openSession(createHost(from), 'main')
  for (const [index, wire] of [from, to, from].entries()) {
    await session.moveTo(wire)
    queue.push((body) => ({ calls: [use(body, wireName(index), { number: index })] }))
    queue.push(() => ({ text: `Done ${index}.` }))
    await session.ask(`Do ${index}.`)
    expect(declaredNames(lastBody(wire))).toHaveLength(FINDABLE.length + 1)
  }
  const done = [0, 1, 2].flatMap((index) => [
    `user: Do ${index}.`,
    `call: ${wireName(index)} {"number":${index}}`,
    `answer: ${FINDABLE[index]?.[1]} ${index}: done`,
    `model: Done ${index}.`,
  ])
  expect(storyOf(lastBody(from))).toEqual(done.slice(0, -1))
  expect(session.conversation.inspect().mode).toBe('off')
  expect(refusals()).toEqual([])
})

it('keeps its wire if there is no server for the move', async () => {
  const { createHost, queue } = await createWorld()
  const { anthropic } = createHost('anthropic').servers
  const servers = anthropic ? { anthropic } : {}
  const session = await openSession({ ...createHost('anthropic'), servers }, 'main')
  await expect(session.moveTo('google')).rejects.toThrow('no server for google')
  queue.push(() => ({ text: 'Here.' }))
  expect(await session.ask('Where are you?')).toBe('Here.')
  expect(session.wire).toBe('anthropic')
})
