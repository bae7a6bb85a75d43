/** Several processes on one conversation: no event is lost or doubled, no call runs twice, and nothing is thrown that can be tried again. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkLedger } from '@toolwell/core/internal/node'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { expect, it, onTestFinished } from 'vitest'
import { isLong } from '../../../../test/setup/tier.ts'

const program = fileURLToPath(new URL('./racing-host.mjs', import.meta.url))
/** As built: processes that are to be killed have to start at once. `npm test` builds first. */
const core = fileURLToPath(new URL('../../dist', import.meta.url))
const ROUNDS = isLong ? 25 : 5

interface Seen {
  readonly thrown: readonly string[]
  readonly requests: readonly string[]
  readonly outcomes: Readonly<Record<string, string>>
}

it.each(isLong ? [2, 3, 4, 8] : [3])('%i processes', async (count) => {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-races-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const hosts = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Seen> => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        program,
        core,
        folder,
        `p${index}`,
        `${ROUNDS}`,
      ])
      return JSON.parse(stdout)
    }),
  )
  expect(hosts.flatMap(({ thrown }) => thrown)).toEqual([])
  expect((await checkLedger(join(folder, 'thread.jsonl'))).damage).toBeUndefined()
  const events = await jsonlStore(folder).read('thread')
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index))

  // Every request that was begun, and every usage record, is there once.
  const begun = events.flatMap((event) => (event.kind === 'requested' ? [event.requestId] : []))
  const measured = events.flatMap((event) => (event.kind === 'measured' ? [event.requestId] : []))
  const requests = hosts.flatMap((host) => host.requests).sort()
  expect(requests).toHaveLength(count * ROUNDS)
  expect(begun.sort()).toEqual(requests)
  expect(measured.sort()).toEqual(requests)

  // Every call ran once, including the calls all hosts made; the other hosts got that answer.
  const ran = (await readFile(join(folder, 'ran.txt'), 'utf8')).trimEnd().split('\n')
  const shared = Array.from({ length: ROUNDS }, (_, round) => `shared ${round}`)
  expect(ran.sort()).toEqual([...shared, ...requests.map((request) => `own ${request}`)].sort())
  for (const anchor of shared) {
    const kinds = hosts.map(({ outcomes }) => outcomes[anchor]).sort()
    expect(kinds).toEqual([...Array(count - 1).fill('already-started'), 'result'])
  }
  const settled = events.flatMap(({ kind, anchor }) => (kind === 'call-succeeded' ? [anchor] : []))
  expect(settled.sort()).toEqual([...ran].sort())
})
