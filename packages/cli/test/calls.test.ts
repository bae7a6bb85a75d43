/** `toolwell calls`: the audit log, chosen by time, server, tool and principal. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditRecord, auditFile } from '@toolwell/gateway/storage'
import { expect, it } from 'vitest'
import { homeWith } from './support/home.js'
import { toolwell } from './support/run.js'

const record = (more: Partial<AuditRecord>): AuditRecord => ({
  time: new Date().toISOString(),
  principal: 'owner',
  client: 'codex 1.0',
  folder: '/work',
  server: 'github',
  tool: 'create_issue',
  outcome: 'ok',
  milliseconds: 1234,
  bytesIn: 20,
  bytesOut: 4000,
  tokensIn: 5,
  tokensOut: 1000,
  arguments: '0123456789abcdef',
  ...more,
})

async function withCalls(records: readonly AuditRecord[]) {
  const home = homeWith({})
  const folder = join(home.home, '.local', 'state', 'toolwell', 'gateway')
  mkdirSync(folder, { recursive: true })
  const audit = auditFile(folder)
  for (const each of records) audit.append(each)
  await audit.flush()
  const tools = async (...words: string[]) =>
    (await home.run(['calls', '--json', ...words])).output
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as AuditRecord).tool]))
  return { ...home, audit, folder, tools }
}

it('shows who called what, and the outcome', async () => {
  const { run } = await withCalls([
    record({ time: '2026-01-02T03:04:05.678Z' }),
    record({ tool: 'get_issue', outcome: 'error', milliseconds: 12_345, principal: 'ci', folder: '' }),
    record({ server: '', tool: 'gone\u001b[31m\nx', outcome: 'refused', reason: 'unknown', client: '' }),
  ])
  const { code, output } = await run(['calls'], { env: { TZ: 'UTC' } })
  expect(code).toBe(0)
  const [head, first, second, third, , last] = output.split('\n')
  expect(head).toMatch(/^time +outcome +took +tokens +tool +caller$/)
  expect(first).toMatch(
    /^2026-01-0[23] \d\d:04:05 {2}ok +1,234 ms +1,000 {2}github\/create_issue +owner, codex 1\.0, \/work$/,
  )
  expect(second).toMatch(/ error +12 s +1,000 {2}github\/get_issue +ci, codex 1\.0$/)
  expect(third).toContain('(unknown)')
  expect(third).not.toContain('\u001b')
  expect(last).toBe('3 calls: 1 ok, 1 failed, 1 refused. Results of about 3,000 tokens.')
})

it('chooses by time, server, tool and principal', async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const { tools, run } = await withCalls([
    ...Array.from({ length: 30 }, (_, at) => record({ time: ago(600 - at), tool: `old_${at}` })),
    record({ time: ago(50), tool: 'delete_issue', principal: 'ci' }),
    record({ time: ago(5), tool: 'delete_note', server: 'notes', principal: 'stdio:codex' }),
  ])
  expect(await tools()).toHaveLength(20)
  expect((await tools('--since', '1d')).length).toBe(32)
  expect(await tools('--since', '1h')).toEqual(['delete_issue', 'delete_note'])
  expect(await tools('--since', '10m')).toEqual(['delete_note'])
  expect(await tools('--tool', 'delete_*')).toEqual(['delete_issue', 'delete_note'])
  expect(await tools('--server', 'notes')).toEqual(['delete_note'])
  expect(await tools('--principal', 'stdio:*')).toEqual(['delete_note'])
  expect(await run(['calls', '--tool', 'nothing'])).toEqual({
    code: 1,
    output: '',
    errors: 'toolwell: No calls match.\n',
  })
  expect(await run(['calls', '--since', 'yesterday'])).toMatchObject({
    code: 2,
    errors: expect.stringContaining('--since "yesterday" is not a duration.'),
  })
})

it('says so if nothing was ever called, and skips damaged lines', async () => {
  const { run, folder } = await withCalls([])
  expect((await run(['calls'])).code).toBe(1)
  writeFileSync(join(folder, 'calls.jsonl'), `{"time":"9999\nnot json\n${JSON.stringify(record({}))}\n`)
  expect((await run(['calls'])).output).toContain('1 call: 1 ok')
})

it('follows new calls until nobody reads them, each once', async () => {
  const first = record({ tool: 'first' })
  const { folder, home, audit } = await withCalls([first])
  const printed: string[] = []
  let next = 0
  // Two calls may end in the same millisecond.
  const add = () => {
    const time = new Date().toISOString()
    for (const _ of [1, 2]) audit.append(record({ tool: `next_${next++}`, time }))
  }
  const { code } = await toolwell(['calls', '--follow', '--json'], {
    folder,
    env: { HOME: home, XDG_STATE_HOME: join(home, '.local', 'state') },
    closesAfter: 3,
    onOutput(text) {
      printed.push(
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as AuditRecord).tool),
      )
      add()
    },
  })
  expect(code).toBe(0)
  expect(printed).toEqual(['first', 'next_0', 'next_1', 'next_2', 'next_3'])
})
