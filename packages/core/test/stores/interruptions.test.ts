/**
 * A host is killed or stopped at any step: before, within and after each append, and while a tool runs. Another host continues its
 * conversation at once; nothing acknowledged is lost or doubled, and no call runs twice.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import { checkLedger } from '@toolwell/core/internal/node'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLong } from '../../../../test/setup/tier.ts'
import { tool } from '../support/tools.js'

const program = fileURLToPath(new URL('./interrupted-host.mjs', import.meta.url))
/** As built: processes that are to be killed have to start at once. `npm test` builds first. */
const core = fileURLToPath(new URL('../../dist', import.meta.url))

let folder: string
const children = new Set<ChildProcess>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-interrupted-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

interface Said {
  readonly at?: string
  readonly acknowledged?: readonly string[]
  readonly outcome?: string
  readonly done?: boolean
}

/** The host, until it is interrupted; and what it says from then on. */
async function interrupted(signal: string, step: string, number: number) {
  const child = spawn(process.execPath, [program, core, folder, signal, step, `${number}`])
  children.add(child)
  const said: Said[] = []
  let open = ''
  let errors = ''
  let reach = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  child.stderr.on('data', (data) => {
    errors += data
  })
  child.stdout.on('data', (data) => {
    const lines = (open + data).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) said.push(JSON.parse(line))
    if (said.some(({ at }) => at !== undefined)) reach()
  })
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  void closed.then(() => children.delete(child))
  await Promise.race([signal === 'SIGKILL' ? closed : reached, closed])
  expect(said.map(({ at }) => at).filter(Boolean), errors).toEqual([step])
  return {
    said,
    async goOn() {
      child.kill('SIGCONT')
      await closed
      expect(errors).toBe('')
    },
  }
}

/** Someone else, with the same reply of the model to work on. */
async function goOn(name: string) {
  const ran: string[] = []
  const pay = tool('pay', { execute: () => ran.push('pay') })
  const conversation = await createToolwell({ tools: [pay], store: jsonlStore(folder) }).open({
    id: 'thread',
  })
  await conversation.begin({ requestId: name, anchor: name, wire: 'openai-chat' })
  const call = (anchor: string) => ({ callId: anchor, anchor, name: 'pay', input: { value: {} } })
  const [same, own] = await Promise.all([
    conversation.run([call('c')]),
    conversation.run([call(`${name} own`)]),
  ])
  await conversation.compact({ kept: {}, anchor: `${name} summary` })
  return {
    ran: ran.length,
    same: same[0]?.outcome.kind,
    own: own[0]?.outcome.kind,
    events: conversation.events,
  }
}

async function verify(said: readonly Said[], here: number): Promise<void> {
  const report = await checkLedger(join(folder, 'thread.jsonl'))
  expect(report.damage).toBeUndefined()
  const events = await jsonlStore(folder).read('thread')
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index))
  const stored = events.map(({ id, kind, anchor }) => `${id} ${kind} ${anchor}`)
  for (const each of said.flatMap(({ acknowledged = [] }) => acknowledged)) expect(stored).toContain(each)
  // The call of the model ran once at the most, in either process; its start was written once at the most.
  const file = join(folder, 'ran.txt')
  const there = existsSync(file) ? (await readFile(file, 'utf8')).trimEnd().split('\n').length : 0
  expect(there + here).toBeLessThanOrEqual(1)
  expect(
    events.filter(({ kind, anchor }) => kind === 'call-started' && anchor === 'c').length,
  ).toBeLessThanOrEqual(1)
  const requests = events.flatMap((event) => (event.kind === 'requested' ? [event.requestId] : []))
  expect(new Set(requests).size).toBe(requests.length)
}

/** 1 begin, 2 the start of the call, 3 its result, 4 a compaction, 5 begin. */
const APPENDS = [1, 2, 3, 4, 5]
const STEPS = ['before', 'half-written', 'written', 'after']
const places = [
  ...STEPS.flatMap((step) => APPENDS.map((number) => [step, number] as const)),
  ['running', 2] as const,
]
/** In `npm test` each step once, at another append each time. */
const tried = isLong
  ? places
  : [
      ...STEPS.map((step, index) => [step, APPENDS[(index * 2 + 1) % 5] ?? 1] as const),
      ['running', 2] as const,
    ]
/** An append is one write. A signal that only stops a process does not cut it in half. */
const stopped = tried.filter(([step]) => step !== 'half-written')

describe.skipIf(process.platform === 'win32')('a host', () => {
  it.each(tried)('that is killed %s append %i', async (step, number) => {
    const { said } = await interrupted('SIGKILL', step, number)
    const { ran, same, own } = await goOn('other')
    expect(own).toBe('result')
    // Either it had been started, and nobody runs it again, or it had not.
    expect(['result', 'already-started']).toContain(same)
    await verify(said, ran - 1)
  })

  it.each(stopped)('that is stopped %s append %i does not hold up another one', async (step, number) => {
    const { said, goOn: wake } = await interrupted('SIGSTOP', step, number)
    const { ran, own } = await goOn('other')
    expect(own).toBe('result')
    await wake()
    expect(said.at(-1)).toEqual({ done: true })
    await verify(said, ran - 1)
  })
})
