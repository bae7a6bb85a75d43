/** Call ids that collide, or that another server refuses. */
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../agent/session.ts'
import { openTranscript } from '../agent/transcript.ts'
import type { WireName } from '../agent/wires.ts'
import { storyOf } from './story.ts'
import { closeWorlds, createWorld, MOVES, use, WIRES, wireName } from './world.ts'

afterEach(closeWorlds)

/** Ids that one server creates and others refuse. */
const ODD_ID: Readonly<Record<WireName, string>> = {
  anthropic: `toolu_${'x'.repeat(90)}`,
  'openai-chat': 'call.1/ä b',
  'openai-responses': `call:1/ä b ${'x'.repeat(50)}`,
  google: `function 1/ä ${'x'.repeat(90)}`,
}

describe.each(MOVES)('a move from %s to %s', (from, to) => {
  const filed = (...numbers: number[]) => [
    ...numbers.map((number) => `call: ${wireName(0)} {"number":${number}}`),
    ...numbers.map((number) => `answer: create_issue ${number}: done`),
  ]

  it('brings calls along whose ids only their own server takes', async () => {
    const { createHost, queue, lastBody, refusals } = await createWorld()
    const session = await openSession(createHost(from), 'main')
    queue.push(
      (body) => ({
        calls: [1, 2].map((number) => ({
          ...use(body, wireName(0), { number }),
          id: `${ODD_ID[from]}${number}`,
        })),
      }),
      () => ({ text: 'Filed.' }),
    )
    await session.ask('File issues 1 and 2.')
    await session.moveTo(to)
    queue.push((body) => ({ calls: [use(body, wireName(0), { number: 3 })] }))
    queue.push(() => ({ text: 'Filed too.' }))
    await session.ask('File issue 3.')
    const story = [
      'user: File issues 1 and 2.',
      ...filed(1, 2),
      'model: Filed.',
      'user: File issue 3.',
      ...filed(3),
    ]
    expect(storyOf(lastBody(to))).toEqual(story)
    await session.moveTo(from)
    queue.push(() => ({ text: 'No.' }))
    await session.ask('Anything else?')
    expect(storyOf(lastBody(from))).toEqual([...story, 'model: Filed too.', 'user: Anything else?'])
    expect(JSON.stringify(lastBody(from))).toContain(`${ODD_ID[from]}2`)
    expect(refusals()).toEqual([])
  })

  it('tells calls apart that have the same id at both', async () => {
    const { createHost, queue, lastBody, refusals } = await createWorld()
    const session = await openSession(createHost(from), 'main')
    for (const [index, wire] of [from, to, from].entries()) {
      await session.moveTo(wire)
      const id = index === 2 ? 'call_2' : 'call_1'
      queue.push((body) => ({ calls: [{ ...use(body, wireName(0), { number: index }), id }] }))
      queue.push(() => ({ text: `Filed ${index}.` }))
      await session.ask(`File issue ${index}.`)
    }
    expect(storyOf(lastBody(to))).toEqual([
      'user: File issue 0.',
      ...filed(0),
      'model: Filed 0.',
      'user: File issue 1.',
      ...filed(1),
    ])
    expect(storyOf(lastBody(from))).toEqual([
      ...storyOf(lastBody(to)),
      'model: Filed 1.',
      'user: File issue 2.',
      ...filed(2),
    ])
    expect(refusals()).toEqual([])
  })
})

it.each(WIRES)('brings calls along that have no ids at all, to %s', async (wire) => {
  const { folder, createHost, queue, lastBody, refusals } = await createWorld({ delivery: 'append' })
  const history = await openTranscript(folder, 'main', 'google')
  const asked = { role: 'user', parts: [{ text: 'File them.' }] }
  const calls = (...numbers: number[]) => [
    {
      role: 'model',
      parts: numbers.map((number) => ({ functionCall: { name: 'delegate', args: { number } } })),
    },
    {
      role: 'user',
      parts: numbers.map((number) => ({
        functionResponse: { name: 'delegate', response: { result: `${number}: done` } },
      })),
    },
  ]
  await history.append(asked, ...calls(1, 2), ...calls(3), { role: 'model', parts: [{ text: 'Filed.' }] })
  const session = await openSession(createHost(wire), 'main')
  await session.moveTo(wire)
  queue.push(() => ({ text: 'Three.' }))
  await session.ask('How many?')
  expect(refusals()).toEqual([])
  expect(storyOf(lastBody(wire))).toEqual([
    'user: File them.',
    'call: delegate {"number":1}',
    'call: delegate {"number":2}',
    'answer: 1: done',
    'answer: 2: done',
    'call: delegate {"number":3}',
    'answer: 3: done',
    'model: Filed.',
    'user: How many?',
  ])
})
