/** Everything that a host can do, at a provider that has not seen the beginning. */
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../agent/session.ts'
import type { Answer } from '../agent/wires.ts'
import { declaredNames, type RequestBody, storyOf } from './story.ts'
import { active, closeWorlds, createWorld, searches, select, use, WIRES, wireName } from './world.ts'

afterEach(closeWorlds)

describe.each(WIRES)('a session that has come to %s from elsewhere', (wire) => {
  async function arrived() {
    const world = await createWorld()
    const session = await openSession(world.createHost(WIRES.find((other) => other !== wire) ?? wire), 'main')
    world.queue.push(
      () => ({ calls: [select(0)] }),
      (body) => ({ calls: [use(body, wireName(0), { number: 1 })] }),
      () => ({ text: 'Filed.' }),
    )
    await session.ask('File issue 1.')
    await session.moveTo(wire)
    return { ...world, session }
  }

  it('repeats a request of which the answer broke off, with the same bytes', async () => {
    const { session, queue, endpoints } = await arrived()
    queue.push(
      () => ({ cutAfter: 3, text: 'Nothing' }),
      () => ({ text: 'Nothing more.' }),
    )
    expect(await session.ask('What else?')).toBe('Nothing more.')
    const { requests } = endpoints[wire]
    expect(requests.map(({ raw }) => raw)).toEqual([requests[0]?.raw, requests[0]?.raw])
  })

  it('takes the figures of the provider into its accounts', async () => {
    const { createHost, queue, endpoints } = await createWorld()
    const answers: Answer[] = []
    const host = { ...createHost(wire), onRequest: ({ answer }: { answer: Answer }) => answers.push(answer) }
    const session = await openSession(host, 'main')
    queue.push(
      () => ({ calls: [select(0)] }),
      () => ({ text: 'Found.' }),
    )
    await session.ask('Find it.')
    expect(answers).toHaveLength(endpoints[wire].requests.length)
    for (const { usage } of answers) {
      expect(usage.inputTokens).toBeGreaterThan(usage.cachedTokens ?? Number.NaN)
      expect(usage.outputTokens).toBeGreaterThan(0)
    }
    const { accounting } = session.conversation.inspect()
    expect(accounting.provider.inputTokens).toBe(
      answers.reduce((sum, { usage }) => sum + (usage.inputTokens ?? 0), 0),
    )
  })

  it('asks for permission with the tool that will really run', async () => {
    const { session, queue, approved, ran, lastBody } = await arrived()
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 13 })] }))
    queue.push(() => ({ text: 'You did not want it.' }))
    await session.ask('File issue 13.')
    expect(approved).toEqual(['create_issue', 'create_issue'])
    expect(ran).toEqual(['create_issue 1'])
    expect(storyOf(lastBody(wire)).at(-1)).toContain('the user did not allow it')
  })

  it('has a sub-agent there', async () => {
    const { session, queue, endpoints, refusals, ran } = await arrived()
    const task = { task: 'Send letter 2.', tools: ['mail/send_letter'] }
    queue.push(
      (body) => ({ calls: [use(body, 'delegate', task)] }),
      (body) => ({ calls: [use(body, wireName(1), { number: 2 })] }),
      () => ({ text: 'Sent.' }),
      () => ({ text: 'The helper has sent it.' }),
    )
    expect(await session.ask('Have letter 2 sent.')).toBe('The helper has sent it.')
    expect(declaredNames(endpoints[wire].requests[1]?.body as RequestBody)).toEqual([wireName(1)])
    expect(ran).toEqual(['create_issue 1', 'send_letter 2'])
    expect(active(session)).toEqual([wireName(0)])
    expect(refusals()).toEqual([])
  })

  it('compacts, and uses without a search what was found before', async () => {
    const { session, queue, createHost, lastBody, refusals, ran } = await arrived()
    queue.push(() => ({ text: 'Nothing.' }))
    await session.ask('What else?')
    queue.push(() => ({ text: 'Issue 1 was filed.' }))
    await session.ask('Really?')
    queue.push(() => ({ text: 'Issue 1 is filed.' }))
    await session.compact()
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 2 })] }))
    queue.push(() => ({ text: 'Filed.' }))
    const resumed = await openSession(createHost('openai-chat'), 'main')
    expect(await resumed.ask('File issue 2.')).toBe('Filed.')
    expect(storyOf(lastBody(wire))).toEqual([
      'user: Summary of the work so far: Issue 1 is filed.',
      'user: What else?',
      'model: Nothing.',
      'user: Really?',
      'model: Issue 1 was filed.',
      'user: File issue 2.',
      `call: ${wireName(0)} {"number":2}`,
      'answer: create_issue 2: done',
    ])
    expect(ran.at(-1)).toBe('create_issue 2')
    expect(searches(resumed)).toBe(1)
    expect(refusals()).toEqual([])
  })

  it('forks before and behind the move', async () => {
    const { session, queue, refusals, lastBody } = await arrived()
    queue.push(() => ({ calls: [select(1)] }))
    queue.push(() => ({ text: 'Found.' }))
    await session.ask('Find the letters.')
    const early = await session.fork('early', 1)
    const late = await session.fork('late', session.messages.length)
    expect([early.wire, late.wire]).toEqual([wire, wire])
    queue.push(() => ({ text: 'So be it.' }))
    await early.ask('Stop.')
    expect(storyOf(lastBody(wire))).toEqual(['user: File issue 1.', 'user: Stop.'])
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 2 })] }))
    queue.push(() => ({ text: 'Filed.' }))
    await late.ask('File issue 2.')
    expect([active(early), active(late)]).toEqual([[], [wireName(0), wireName(1)]])
    expect(refusals()).toEqual([])
  })
})
