/** A ledger on disk with several writers, which are killed or stopped at any byte and at any moment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell, type LedgerEvent, type LedgerStore } from '@toolwell/core'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isLong } from '../../../../test/setup/tier.ts'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'
import { host, tool } from './boundaries.js'
import { WIRES, type Wire } from './wires.js'

let folder: string
const children = new Set<ChildProcess>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-killed-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const tools = () => [
  tool('read_file'),
  tool('create_issue', { source: 'tracker' }),
  tool('find', { source: 'café' }),
]
const wire = WIRES[0] as Wire

/** A real conversation's ledger, as the bytes of each append. */
async function recorded(): Promise<readonly Buffer[]> {
  const files = jsonlStore(folder)
  const store: LedgerStore = {
    read: (_, from) => files.read('thread', from),
    append: (_, expected, events) => files.append('thread', expected, events),
  }
  const played = await host(wire, { tools: tools(), delivery: 'bridge', store })
  await played.run({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
  await played.run(
    { name: 'read_file', arguments: {} },
    { name: 'tool_search', arguments: { query: '🧰 é\u2028' } },
  )
  const bytes = await readFile(join(folder, 'thread.jsonl'))
  await rm(join(folder, 'thread.jsonl'))
  // Every append ends with its newline, and the next one begins with another.
  const starts = [0]
  for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', at + 1)) starts.push(at + 1)
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1]))
}

describe('a writer that dies', () => {
  it('at every byte of every append loses nothing acknowledged, and the next append works', async () => {
    const lines = await recorded()
    expect(lines.length).toBeGreaterThan(4)
    const file = join(folder, 'thread.jsonl')
    let before = Buffer.alloc(0)
    let known: LedgerEvent[] = []
    for (const line of lines) {
      const whole = Buffer.concat([before, line])
      const added = (JSON.parse(line.toString('utf8').slice(10)) as { events: LedgerEvent[] }).events
      const both = [...known, ...added]
      for (let cut = line.length - 2; cut >= 0; cut--) {
        await writeFile(file, whole.subarray(0, before.length + cut))
        const store = jsonlStore(folder)
        expect(await store.read('thread'), `cut at byte ${cut}`).toEqual(known)
        // An append waits for the disk: only at both ends of a line, and at some places in between.
        if (cut > 3 && cut < line.length - 12 && cut % 61 !== 0) continue
        await store.append('thread', known.length, added)
        expect(await jsonlStore(folder).read('thread'), `after a cut at byte ${cut}`).toEqual(both)
      }
      // Only the last newline is missing: the line counts.
      await writeFile(file, whole.subarray(0, -1))
      expect(await jsonlStore(folder).read('thread')).toEqual(both)
      before = whole
      known = both
      await writeFile(file, before)
      expect(await jsonlStore(folder).read('thread')).toEqual(known)
    }
  }, 60_000)

  it('leaves a conversation that resumes from every torn tail', async () => {
    const lines = await recorded()
    const file = join(folder, 'thread.jsonl')
    for (let count = 0; count <= lines.length; count++) {
      await writeFile(file, Buffer.concat(lines.slice(0, count)))
      const next = lines[count]
      if (next) await appendFile(file, next.subarray(0, next.length >> 1))
      const well = createToolwell({
        tools: tools(),
        mode: 'on',
        delivery: 'bridge',
        store: jsonlStore(folder),
      })
      const conversation = await well.open({ id: 'thread' })
      const before = conversation.events.length
      const turn = await wire.open(conversation).begin([wire.user('Go on.')], {})
      expect(wire.violationOf(turn.parts)).toBeUndefined()
      const again = await createToolwell({ store: jsonlStore(folder) }).open({ id: 'thread' })
      expect(again.events).toEqual(conversation.events)
      expect(again.events.length).toBeGreaterThan(before)
    }
  })
})

/** The store as plain JavaScript: a writer that has to be compiled first is slow to die. */
let compiled: string
beforeAll(async () => {
  compiled = await mkdtemp(join(tmpdir(), 'toolwell-compiled-'))
  await writeFile(join(compiled, 'package.json'), '{"type":"module"}')
  const sources = fileURLToPath(new URL('../../src', import.meta.url))
  const inside = ['base', 'ledger', 'ledger/stores']
  for (const folder of inside) await mkdir(join(compiled, folder), { recursive: true })
  const files = await Promise.all(
    inside.map(async (folder) => (await readdir(join(sources, folder))).map((name) => join(folder, name))),
  )
  for (const name of files.flat().flatMap((each) => (each.endsWith('.ts') ? [each.slice(0, -3)] : []))) {
    const source = await readFile(join(sources, `${name}.ts`), 'utf8')
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    await writeFile(join(compiled, `${name}.js`), ts.transpileModule(source, { compilerOptions }).outputText)
  }
})
afterAll(() => rm(compiled, { recursive: true, force: true }))

/** Appends without end, and reports each append when it is acknowledged. */
const WRITER = `
const { jsonlStore } = await import(process.argv[1])
const [, , folder, name, pause] = process.argv
const store = jsonlStore(folder)
const text = 'é🧰'.repeat(200 + 900 * (folder.length % 2))
let count = 0
let { length } = await store.read('shared')
for (;;) {
  const size = 1 + (count % 3)
  const events = Array.from({ length: size }, (_, index) => ({ id: length + index, anchor: name + ' ' + count, kind: 'compacted', kept: { text } }))
  try {
    await store.append('shared', length, events)
    process.stdout.write(name + ' ' + count + ' ' + size + '\\n')
    count++
    length += size
    if (pause) await new Promise((resolve) => setTimeout(resolve, Number(pause)))
  } catch (error) {
    if (error.code !== 'ledger-conflict') { process.stdout.write('failed ' + error.message + '\\n'); process.exit(1) }
    length = error.data.found
  }
}
`

interface Writer {
  readonly child: ChildProcess
  /** Appends that were acknowledged, by name, with the number of events. */
  readonly acknowledged: Map<string, number>
  readonly failed: string[]
  until(count: number): Promise<void>
  kill(): Promise<void>
}

/** `pause`: milliseconds between two appends, so that others have their turn. */
function write(name: string, pause = 0): Writer {
  const given = [join(compiled, 'ledger/stores/jsonl.js'), folder, name, ...(pause > 0 ? [`${pause}`] : [])]
  const parameters = ['--input-type=module', '-e', WRITER, ...given]
  const child = spawn(process.execPath, parameters)
  children.add(child)
  const acknowledged = new Map<string, number>()
  const failed: string[] = []
  const waiting: { readonly count: number; readonly go: () => void }[] = []
  let open = ''
  child.stdout?.on('data', (data: Buffer) => {
    const lines = (open + data.toString('utf8')).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) {
      const [who = '', number = '', size = ''] = line.split(' ')
      if (who === 'failed') failed.push(line)
      else acknowledged.set(`${who} ${number}`, Number(size))
    }
    for (const { count, go } of waiting) if (acknowledged.size >= count) go()
  })
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  void closed.then(() => {
    children.delete(child)
    for (const { go } of waiting) go()
  })
  return {
    child,
    acknowledged,
    failed,
    until: (count) =>
      new Promise((go) => {
        const isOver = acknowledged.size >= count || !children.has(child)
        if (isOver) go()
        else waiting.push({ count, go })
      }),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Everything acknowledged by now is there, whole and in one piece; everything else is whole or not there at all. */
async function check(writers: readonly Writer[]): Promise<void> {
  const told = writers.flatMap(({ acknowledged }) => [...acknowledged])
  const events = await jsonlStore(folder).read('shared')
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index))
  const runs: [string, number][] = []
  for (const { anchor } of events) {
    const last = runs.at(-1)
    if (last?.[0] === anchor) last[1]++
    else runs.push([anchor, 1])
  }
  expect(new Set(runs.map(([anchor]) => anchor)).size, 'an append was torn apart').toBe(runs.length)
  const stored = new Map(runs)
  for (const { failed } of writers) expect(failed).toEqual([])
  for (const [anchor, size] of told) expect(stored.get(anchor), `acknowledged: ${anchor}`).toBe(size)
  for (const [anchor, size] of stored)
    expect(size, `whole: ${anchor}`).toBe(1 + (Number(anchor.split(' ')[1]) % 3))
}

/** A place that differs from round to round, and is the same on every run of the tests. */
const jitter = (round: number) => 1 + ((round * 7919) % 7)

describe('a process', () => {
  it('that is killed among its appends loses none that was acknowledged, and leaves no other file', async () => {
    const all: Writer[] = []
    for (let round = 0; round < 16; round++) {
      const writer = write(`r${round}`)
      all.push(writer)
      await writer.until(jitter(round))
      expect(writer.acknowledged.size, 'it wrote').toBeGreaterThanOrEqual(jitter(round))
      // Right behind an acknowledgement the next append is under way.
      if (round % 3 > 0) await new Promise((resolve) => setTimeout(resolve, round % 5))
      await writer.kill()
      await check(all)
    }
    const { length } = await jsonlStore(folder).read('shared')
    await jsonlStore(folder).append('shared', length, [{ id: length, anchor: 'end 0', kind: 'cleared' }])
    await check(all)
    expect(await readdir(folder)).toEqual(['shared.jsonl'])
  }, 60_000)

  it('and another on one ledger, both killed again and again, never share a line', async () => {
    const all: Writer[] = []
    let survivor = write('s', 5)
    all.push(survivor)
    for (let round = 0; round < 8; round++) {
      const writer = write(`t${round}`, 5)
      all.push(writer)
      await Promise.all([writer.until(jitter(round)), survivor.until(survivor.acknowledged.size + 3)])
      const victim = round % 2 === 0 ? writer : survivor
      await victim.kill()
      if (victim === survivor) survivor = writer
      const before = survivor.acknowledged.size
      await survivor.until(before + 2)
      expect(survivor.acknowledged.size, 'the other one goes on').toBeGreaterThan(before)
      await check(all)
    }
    await survivor.kill()
    await check(all)
  }, 60_000)

  it.skipIf(process.platform === 'win32')(
    'that is stopped does not block five others, and none of six loses an append, no matter which is killed',
    async () => {
      const all: Writer[] = []
      const start = () => {
        const writer = write(`w${all.length}`, 10)
        all.push(writer)
        return writer
      }
      const six = Array.from({ length: 6 }, start)
      await Promise.all(six.map((writer) => writer.until(1)))
      for (let round = 0; round < (isLong ? 24 : 6); round++) {
        const [stopped, other, killed] = [0, 1, 3].map((step) => six[(round + step) % 6] as Writer)
        if (!stopped || !other || !killed) continue
        await new Promise((resolve) => setTimeout(resolve, jitter(round)))
        stopped.child.kill('SIGSTOP')
        // Nobody waits for a stopped writer.
        await other.until(other.acknowledged.size + 2)
        await killed.kill()
        six[six.indexOf(killed)] = start()
        stopped.child.kill('SIGCONT')
        await stopped.until(stopped.acknowledged.size + 1)
        await check(all)
      }
      await Promise.all(six.map((writer) => writer.kill()))
      await check(all)
    },
    120_000,
  )
})
