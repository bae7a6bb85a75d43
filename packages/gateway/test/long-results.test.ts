/** Results that are too long for a client: a head and a handle, every character readable, nothing else changed. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { estimate } from '@toolwell/core'
import { memoryResults } from '@toolwell/core/result'
import { resultFolder } from '@toolwell/core/stores/results'
import { fileStorage, hashToken } from '@toolwell/gateway/storage'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { type Answer, CLIENT_KINDS, openClient, type TestClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const outputSchema = { type: 'object', properties: { rows: { type: 'array' } } }
const tools = [describedTool('give'), describedTool('give_rows', { outputSchema })]
const servers = (more: object = {}) => ({ mcpServers: { odd: entry(oddServer('odd', { tools }), more) } })

/** A file with the result that the server gives. */
function store(result: object): { readonly file: string } {
  const file = join(temporary(), 'result.json')
  writeFileSync(file, JSON.stringify(result))
  return { file }
}
const textResult = (text: string) => ({ content: [{ type: 'text', text }] })
const give = (client: TestClient, result: object) =>
  client.call('run_tool', { name: 'odd__give', arguments: store(result) })
const textOf = ({ content }: Answer) => content.map(({ text = '' }) => text).join('\n')
const handleOf = (answer: Answer) => /"handle": "(r_[\w-]+)"/.exec(textOf(answer))?.[1] ?? ''

/** 318,000 characters in lines, with letters of several scripts. */
const long = Array.from({ length: 5300 }, (_, row) =>
  `row ${row}: ${'né 漢 🙂 words '.repeat(5)}`.slice(0, 60),
)
  .join('\n')
  .slice(0, 318_000)

it.each(CLIENT_KINDS)(
  '318,000 characters cost at most 2,000 tokens, and %s reads each of them',
  async (kind) => {
    const { url } = await startGateway(servers())
    const client = await openClient(kind, `${url}/mcp`)
    const shortened = await give(client, textResult(long))
    expect(estimate.count(JSON.stringify(shortened))).toBeLessThanOrEqual(2000)
    expect(textOf(shortened)).toContain(`The result is too long: ${long.length} characters`)
    const handle = handleOf(shortened)
    expect(handle).toMatch(/^r_[\w-]{22}$/)
    let read = ''
    while (read.length < long.length) {
      const answer = await client.text('read_result', { handle, characters: `${read.length + 1}` })
      expect(estimate.count(answer)).toBeLessThanOrEqual(8000)
      read += answer.slice(answer.indexOf('\n') + 1)
    }
    expect(read).toBe(long.toWellFormed())
  },
)

it('reads lines, matches and values of JSON', async () => {
  const rows = Array.from({ length: 4000 }, (_, id) => ({ id, 'a name': `row ${id}`, list: [id, id + 1] }))
  const { url } = await startGateway(servers())
  const client = await openClient('v2 modern', `${url}/mcp`, authorized, 'codex-mcp-client')
  const shortened = await give(client, textResult(JSON.stringify({ rows }, null, 1)))
  expect(textOf(shortened)).toContain('Read the rest with mcp__toolwell__read_result: {"handle"')
  const handle = handleOf(shortened)
  const read = (input: object) => client.text('read_result', { handle, ...input })
  expect(await read({ lines: '1-3' })).toBe('[lines 1-3 of 32004; the next begin at 4]\n{\n "rows": [\n  {')
  expect(await read({ find: 'row 3999' })).toContain('occurs in 1 place')
  expect(await read({ path: 'rows[3999]["a name"]' })).toBe('[lines 1-1 of 1]\nrow 3999')
  expect(await read({ path: '$.rows.7.list' })).toContain('7,\n  8')
  expect(await read({ path: '/rows/7/a name' })).toContain('row 7')
  expect(await read({ path: 'rows', characters: '1-5' })).toMatch(
    /^\[characters 1-5 of \d+; the next begin at 6\]/,
  )
  expect(await read({ path: 'rows[0].nothing' })).toBe(
    'Nothing is at "rows[0].nothing". The nearest value has: "id", "a name", "list".',
  )
  expect(await read({ path: 'rows[0].id.deeper' })).toContain('has no keys')
  expect(await read({ lines: '99999' })).toContain('the result has 32004 lines')
  const wrapped = { name: 'mcp__toolwell__read_result', arguments: { handle, path: 'rows[1].id' } }
  expect(await client.text('run_tool', wrapped)).toBe('[lines 1-1 of 1]\n1')
  const plain = handleOf(await give(client, textResult(long)))
  expect(await client.text('read_result', { handle: plain, path: 'rows' })).toContain('is not JSON')
})

it.each([
  ['text', textResult('x '.repeat(7000))],
  ['an error', { ...textResult('no '.repeat(6000)), isError: true }],
  ['an image', { content: [{ type: 'image', data: 'A'.repeat(200_000), mimeType: 'image/png' }] }],
  ['a sound', { content: [{ type: 'audio', data: 'A'.repeat(200_000), mimeType: 'audio/wav' }] }],
  [
    'the same text and structure',
    { ...textResult(JSON.stringify({ a: 'y '.repeat(6000) })), structuredContent: { a: 'y '.repeat(6000) } },
  ],
])('passes %s below the limit unchanged', async (_, result) => {
  const { url } = await startGateway(servers())
  for (const path of ['/mcp', '/mcp/all']) {
    const client = await openClient('v2 legacy', url + path)
    const [name, input] =
      path === '/mcp'
        ? ['run_tool', { name: 'odd__give', arguments: store(result) }]
        : ['odd__give', store(result)]
    expect(await client.call(name as string, input as object)).toEqual(result)
  }
})

it('keeps images, links and errors next to a head, and structure within the kept text', async () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const link = { type: 'resource_link', uri: 'file:///a.txt', name: 'a' }
  const embedded = { type: 'resource', resource: { uri: 'file:///b.txt', text: 'b '.repeat(20_000) } }
  const content = [{ type: 'text', text: 'first' }, image, embedded, link]
  const { url } = await startGateway(servers())
  const client = await openClient('v2 modern', `${url}/mcp`)
  const result = await give(client, { content, structuredContent: { end: 'last' }, isError: true })
  expect(result.isError).toBe(true)
  expect(result.structuredContent).toBeUndefined()
  expect(result.content.slice(1)).toEqual([image, link])
  const handle = handleOf(result)
  expect(await client.text('read_result', { handle, find: '"last"' })).toContain('{"end":"last"}')
  expect(textOf(result)).toMatch(/^first\nb b/)
})

it('never shortens a tool with an output schema that the client calls by name', async () => {
  const structuredContent = { rows: Array.from({ length: 30_000 }, (_, row) => row) }
  const result = { ...textResult(JSON.stringify(structuredContent)), structuredContent }
  const { url } = await startGateway(servers())
  const all = await openClient('v2 legacy', `${url}/mcp/all`)
  expect(await all.call('odd__give_rows', store(result))).toEqual(result)
  // Through run_tool, the client does not know the schema.
  const three = await openClient('v2 legacy', `${url}/mcp`)
  const shortened = await three.call('run_tool', { name: 'odd__give_rows', arguments: store(result) })
  expect(shortened.structuredContent).toBeUndefined()
  const handle = handleOf(shortened)
  expect(await three.text('read_result', { handle, path: 'rows[29999]' })).toContain('29999')
  const names = async (client: TestClient) => (await client.listAll()).map(({ name }) => name)
  expect(await names(all)).toEqual(['read_result', 'odd__give', 'odd__give_rows'])
  expect(await names(three)).toEqual(['find_tools', 'run_read_only_tool', 'run_tool', 'read_result'])
})

it('has the limit of the config, or one for the client', async () => {
  const result = textResult('word '.repeat(12_000))
  const isShort = async (client: TestClient) => handleOf(await give(client, result)) !== ''
  const { url } = await startGateway(servers())
  expect(await isShort(await openClient('v2 modern', `${url}/mcp`))).toBe(true)
  expect(await isShort(await openClient('v2 modern', `${url}/mcp`, authorized, 'claude-code'))).toBe(false)
  const { url: open } = await startGateway(servers({ maxResultTokens: 0 }))
  expect(await isShort(await openClient('v2 modern', `${open}/mcp`))).toBe(false)
  const { url: strict } = await startGateway(servers({ maxResultTokens: 500 }))
  const client = await openClient('v2 modern', `${strict}/mcp`, authorized, 'claude-code')
  const shortened = await give(client, result)
  expect(estimate.count(textOf(shortened))).toBeLessThan(500)
})

it('gives a result to its principal alone, until it expires, from a bounded folder', async () => {
  const folder = temporary()
  const store = resultFolder(folder, { maxBytes: 1_000_000, maxAge: 24 * 3600 * 1000 })
  const { tokens } = fileStorage(temporary())
  await tokens.add({ name: 'all', hash: hashToken('tw_all'), createdAt: 0, rights: {} })
  const first = await startGateway(servers(), { storage: { results: store, tokens } })
  const [one, two] = [temporary(), temporary()]
  const within = (url: string, place: string, token: object = authorized) =>
    openClient('v2 modern', `${url}/mcp`, { ...token, 'X-Toolwell-Workspace': place })
  const owner = await within(first.url, one)
  const handle = handleOf(await give(owner, textResult(long)))
  expect(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777).toBe(0o600)
  const gone = async (client: TestClient) => {
    const answer = await client.call('read_result', { handle })
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toContain('is no longer kept, or belongs to another conversation')
    expect(textOf(answer)).not.toContain('row 0')
  }
  await gone(await within(first.url, two))
  await gone(await within(first.url, one, { Authorization: 'Bearer tw_all' }))
  for (const wrong of ['', '../../etc/passwd', 'r_', `${handle}x`, handle.toLowerCase()])
    expect((await owner.call('read_result', { handle: wrong })).isError).toBe(true)
  await first.gateway.close()
  // Kept over a restart.
  const second = await startGateway(servers(), { storage: { results: store } })
  const later = await within(second.url, one)
  expect(await later.text('read_result', { handle })).toContain('row 0')
  for (let round = 0; round < 4; round++) await give(later, textResult(long))
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  expect(size).toBeLessThan(1_000_000)
  await gone(later)
  const last = handleOf(await give(later, textResult(long)))
  expect(await later.text('read_result', { handle: last })).toContain('row 0')
  const yesterday = Date.now() / 1000 - 24 * 3600
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), yesterday, yesterday)
  expect((await later.call('read_result', { handle: last })).isError).toBe(true)
})

it('says so if a result could not be kept', async () => {
  const full = { ...memoryResults(), write: () => Promise.reject(new Error('no space left')) }
  const { url } = await startGateway(servers(), { storage: { results: full } })
  const client = await openClient('v2 modern', `${url}/mcp`)
  expect(textOf(await give(client, textResult(long)))).toContain('The rest was not kept; request less.')
})
