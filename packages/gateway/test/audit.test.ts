/** The audit log: one line for each call of a tool, without arguments, in bounded files, and never in the way of a call. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditRecord, auditFile } from '@toolwell/gateway/storage'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { CLIENT_KINDS, openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const tools = ['give', 'fail', 'refuse'].map((name) => describedTool(name))
const servers = { mcpServers: { odd: entry(oddServer('odd', { tools })) } }

/** A file with the result that the server gives. */
function store(result: object): { readonly file: string } {
  const file = join(temporary(), 'result.json')
  writeFileSync(file, JSON.stringify(result))
  return { file }
}

it.each(CLIENT_KINDS)('records each call of %s, however it is made', async (kind) => {
  const folder = temporary()
  const audit = auditFile(folder)
  const { url } = await startGateway(servers, { storage: { audit } })
  const place = temporary()
  const headers = { ...authorized, 'X-Toolwell-Workspace': place }
  const few = await openClient(kind, `${url}/mcp`, headers, 'a-client')
  const every = await openClient(kind, `${url}/mcp/all`, headers, 'a-client')
  const secret = store({ content: [{ type: 'text', text: 'né 1234' }] })
  const long = store({ content: [{ type: 'text', text: 'a secret word '.repeat(10_000) }] })
  const broken = store({ content: [{ type: 'text', text: 'no' }], isError: true })
  await few.text('find_tools', { query: 'give' })
  await few.call('run_tool', { name: 'odd__give', arguments: secret })
  await every.call('odd__give', secret)
  await few.call('run_tool', { name: 'odd__give', arguments: broken })
  await few.call('run_tool', { name: 'odd__give', arguments: long })
  await few.call('run_read_only_tool', { name: 'odd__give', arguments: secret })
  await few.call('run_tool', { name: 'odd__gove', arguments: { word: 'unseen' } })
  await every.call('odd__nothing', secret).catch(() => undefined)
  await few.call('run_tool', { name: 'odd__give', arguments: 'none' })
  await few.call('run_tool', { name: 7 })
  await audit.flush()
  const records = await audit.read(0)
  expect(records.map(({ server, tool, outcome, reason }) => [server, tool, outcome, reason])).toEqual([
    ['odd', 'give', 'ok', undefined],
    ['odd', 'give', 'ok', undefined],
    ['odd', 'give', 'error', undefined],
    ['odd', 'give', 'ok', undefined],
    ['odd', 'give', 'refused', 'not-read-only'],
    ['', 'odd__gove', 'refused', 'unknown'],
    ['', 'odd__nothing', 'refused', 'unknown'],
    ['odd', 'give', 'refused', 'invalid'],
    ['', 'run_tool', 'refused', 'invalid'],
  ])
  const [first, second, , fourth] = records as [AuditRecord, AuditRecord, AuditRecord, AuditRecord]
  expect(first).toMatchObject({ principal: 'owner', folder: place, bytesOut: 8, tokensOut: 3 })
  expect(first.client).toMatch(/^a-client /)
  expect(first.bytesIn).toBe(JSON.stringify(secret).length)
  expect(second.arguments).toBe(first.arguments)
  expect(fourth.arguments).not.toBe(first.arguments)
  // The server returned all of it, the model reads the head.
  expect(fourth.bytesOut).toBe(140_000)
  expect(fourth.tokensOut).toBeLessThan(2000)
  const text = readFileSync(join(folder, 'calls.jsonl'), 'utf8')
  for (const word of [secret.file, 'né 1234', 'unseen', 'secret word']) expect(text).not.toContain(word)
  expect(statSync(join(folder, 'calls.jsonl')).mode & 0o777).toBe(0o600)
})

const record = (tool: string, time = new Date().toISOString()): AuditRecord => ({
  time,
  principal: 'owner',
  client: '',
  folder: '',
  server: 'a',
  tool,
  outcome: 'ok',
  milliseconds: 1,
  bytesIn: 2,
  bytesOut: 3,
  tokensIn: 1,
  tokensOut: 1,
  arguments: '0',
})

it('rotates its files and keeps the newest records', async () => {
  const folder = temporary()
  const audit = auditFile(folder, { maxBytes: 5000, files: 3 })
  for (let round = 0; round < 300; round++) {
    audit.append(record(`tool_${round}`))
    if (round % 5 === 0) await audit.flush()
  }
  await audit.flush()
  expect(readdirSync(folder).sort()).toEqual(['calls.1.jsonl', 'calls.2.jsonl', 'calls.jsonl'])
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  expect(size).toBeLessThan(3 * 6500)
  const kept = (await audit.read(0)).map(({ tool }) => Number(tool.slice(5)))
  expect(kept.at(-1)).toBe(299)
  expect(kept).toEqual(kept.map((_, index) => 300 - kept.length + index))
})

it('skips half a line and reads from a time on', async () => {
  const folder = temporary()
  writeFileSync(
    join(folder, 'calls.jsonl'),
    `${JSON.stringify(record('old', '2020-01-01T00:00:00.000Z'))}\n{"time":"20`,
  )
  const audit = auditFile(folder)
  audit.append(record('new'))
  await audit.flush()
  expect((await audit.read(0)).map(({ tool }) => tool)).toEqual(['old', 'new'])
  expect((await audit.read(Date.now() - 60_000)).map(({ tool }) => tool)).toEqual(['new'])
})

it('runs calls on a full disk, and counts the records that are lost', async () => {
  const folder = temporary()
  const file = join(folder, 'calls.jsonl')
  symlinkSync('/dev/full', file)
  const audit = auditFile(folder)
  const { url, gateway } = await startGateway(servers, { storage: { audit } })
  const client = await openClient('v2 modern', `${url}/mcp`)
  const call = async () => {
    const given = store({ content: [{ type: 'text', text: 'done' }] })
    expect(await client.text('run_tool', { name: 'odd__give', arguments: given })).toBe('done')
    await audit.flush()
  }
  await call()
  await call()
  expect((await gateway.inspect()).lost.calls).toEqual({ count: 2, reason: 'ENOSPC' })
  rmSync(file)
  await call()
  expect(await audit.read(0)).toHaveLength(1)
  expect(audit.lost.count).toBe(2)
  rmSync(file)
  mkdirSync(file)
  await call()
  expect(audit.lost).toEqual({ count: 3, reason: 'EISDIR' })
})
