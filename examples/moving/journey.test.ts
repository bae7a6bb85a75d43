/** One conversation over four providers and back: nothing is lost, and no strict server refuses a request. */
import type { ToolwellOptions } from '@toolwell/core'
import { afterEach, describe, expect, it } from 'vitest'
import { ATTEMPTS } from '../agent/send.ts'
import { openSession } from '../agent/session.ts'
import { storyOf } from './story.ts'
import {
  active,
  closeWorlds,
  createWorld,
  FINDABLE,
  JOURNEY,
  searches,
  select,
  use,
  wireName,
} from './world.ts'

afterEach(closeWorlds)

/** Deliveries: one line for each way in which found tools reach the model. */
const DELIVERIES = ['auto', 'append', 'bridge', 'native'] as const satisfies ToolwellOptions['delivery'][]

describe.each(DELIVERIES)('a conversation over four providers and back, delivered by %s', (delivery) => {
  it('keeps what was loaded and tells what was said, in order, at every one of them', async () => {
    const { queue, createHost, endpoints, lastBody, refusals, ran } = await createWorld({ delivery })
    const session = await openSession(createHost(JOURNEY[0]), 'main')
    const story: string[] = []
    const deliveries: unknown[] = []
    for (const [index, wire] of JOURNEY.entries()) {
      await session.moveTo(wire)
      const before = active(session)
      const found = wireName(index)
      queue.push(
        () => ({ text: `Looking at ${wire}.`, calls: [select(index)] }),
        // The first provider found the tool; all others use it without a new search.
        (body) => ({
          calls: [use(body, found, { number: index }), use(body, wireName(0), { number: 10 * index })],
        }),
        () => ({ text: `Done at ${wire}.` }),
      )
      const asked = endpoints[wire].requests.length
      expect(await session.ask(`Work at ${wire}.`)).toBe(`Done at ${wire}.`)

      story.push(
        `user: Work at ${wire}.`,
        `model: Looking at ${wire}.`,
        `search: select:${found}`,
        'found',
        `call: ${found} {"number":${index}}`,
        `call: ${wireName(0)} {"number":${10 * index}}`,
        `answer: ${FINDABLE[index]?.[1]} ${index}: done`,
        `answer: create_issue ${10 * index}: done`,
      )
      expect(storyOf(lastBody(wire))).toEqual(story)
      story.push(`model: Done at ${wire}.`)
      expect(refusals()).toEqual([])
      expect(endpoints[wire].requests.length - asked).toBe(3)
      expect(active(session)).toEqual([...before, found])
      expect(searches(session)).toBe(index + 1)
      expect(session.wire).toBe(wire)
      deliveries.push(session.conversation.inspect().delivery)
    }
    if (delivery !== 'auto') expect(deliveries).toContain(delivery)
    expect(active(session)).toEqual(JOURNEY.map((_, index) => wireName(index)))
    expect(ran).toHaveLength(2 * JOURNEY.length)
  })

  it('resumes with the same bytes in another process, at every point', async () => {
    const { queue, createHost, endpoints, refusals } = await createWorld({ delivery })
    for (const [index, wire] of JOURNEY.entries()) {
      const session = await openSession(createHost('google'), 'main')
      await session.moveTo(wire)
      queue.push(() => ({ calls: [select(index)] }))
      // The host gives up after this many attempts.
      for (let attempt = 0; attempt < ATTEMPTS; attempt++)
        queue.push(() => ({ status: 503, error: 'overloaded' }))
      await expect(session.ask(`Work at ${wire}.`)).rejects.toThrow('503')
      const { requests } = endpoints[wire]
      const dead = requests.at(-1)?.raw
      expect(requests.at(-3)?.raw).toBe(dead)

      // No wire is given: the transcript knows it.
      const resumed = await openSession(createHost('openai-chat'), 'main')
      expect(resumed.wire).toBe(wire)
      queue.push((body) => ({ calls: [use(body, wireName(index), { number: index })] }))
      queue.push(() => ({ text: 'Done.' }))
      await resumed.ask()
      expect(requests.at(-2)?.raw).toBe(dead)
      expect(active(resumed)).toContain(wireName(index))
    }
    expect(refusals()).toEqual([])
  })
})
