/** The bridge alone, between a pipe as client and a small fake daemon: what it answers, keeps and sends. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { PassThrough } from 'node:stream'
import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/server'
import { keepForOwner, profileFault, runBridge } from '@toolwell/gateway/bridge'
import { loadConfig } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../mcp/test/support/processes.js'
import { createProof } from '../src/bridge/folder.js'
import { readMessage } from '../src/bridge/messages.js'
import { readStartTime } from '../src/bridge/processes.js'
import { temporary } from './support/gateway.js'

interface Line {
  readonly id?: string | number | null
  readonly method?: string
  readonly error?: { readonly code: number; readonly message: string }
}

/** A bridge whose start command only leaves a mark. `patience`: milliseconds until it gives up waiting for a daemon. */
function bridge(
  folder: string,
  { refusal, patience = 60_000 }: { readonly refusal?: string; readonly patience?: number } = {},
) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const mark = join(folder, 'mark')
  const lines: Line[] = []
  const problems: string[] = []
  createInterface({ input: output }).on('line', (line) => lines.push(JSON.parse(line)))
  const over = runBridge({
    folder,
    path: '/mcp',
    workspace: folder,
    refusal,
    command: [
      process.execPath,
      '-e',
      `require('fs').writeFileSync(${JSON.stringify(mark)}, process.argv.slice(1).join(' '))`,
      'serve',
    ],
    patience,
    input,
    output,
    onProblem: (message) => problems.push(message),
  })
  onTestFinished(async () => {
    input.end()
    await over
  })
  const send = (...messages: (object | string)[]) => {
    for (const each of messages)
      input.write(`${typeof each === 'string' ? each : JSON.stringify({ jsonrpc: '2.0', ...each })}\n`)
  }
  return {
    lines,
    problems,
    send,
    input,
    over,
    wasStarted: () => existsSync(mark),
    words: () => readFileSync(mark, 'utf8'),
  }
}

/** A daemon that proves its identity and passes every line to the test. */
async function daemon(
  folder: string,
  onLine: (line: Line, socket: Duplex) => void,
  more: object = {},
  refusal?: string,
) {
  const file = join(folder, 'daemon.json')
  const seen: Line[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const challenge = searchParams.get('challenge') ?? ''
    const port = request.socket.localPort ?? 0
    response.end(
      JSON.stringify({ instance: 'x', proof: createProof('k', { port, instance: 'x', challenge }) }),
    )
  }).listen(0, '127.0.0.1')
  server.on('upgrade', (_, socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (refusal !== undefined) {
      const body = JSON.stringify({ error: { message: refusal } })
      socket.end(
        `HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
      return
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: toolwell-stdio\r\n\r\n')
    createInterface({ input: socket }).on('line', (line) => {
      seen.push(JSON.parse(line))
      onLine(JSON.parse(line), socket)
    })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const facts = {
    pid: process.pid,
    port,
    instance: 'x',
    key: 'k',
    version: '1',
    protocol: 1,
    start: readStartTime(process.pid),
    ...more,
  }
  writeFileSync(file, JSON.stringify(facts))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return {
    seen,
    /** Keeps its file. */
    kill: close,
    /** Like a normal stop: removes the file first. */
    stop() {
      rmSync(file)
      close()
    },
  }
}

const CALL = { method: 'tools/call', params: { name: 'x', arguments: {} } }

it.each([
  ['{bad json', null, -32700],
  ['5', null, -32600],
  ['[]', null, -32600],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600],
  ['{"jsonrpc":"2.0","id":78,"method":5}', 78, -32600],
  ['{"jsonrpc":"2.0","id":79,"method":"ping","params":[1]}', 79, -32600],
  ['{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":5}}', 'a', -32600],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600],
  ['{"id":1,"method":"ping"}', 1, -32600],
])('%s is answered at once, and never reaches a daemon', async (line, id, code) => {
  const folder = temporary()
  const { seen } = await daemon(folder, ({ id: asked }, socket) =>
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked, result: {} })}\n`),
  )
  const { send, lines } = bridge(folder)
  send(line, { id: 'next', method: 'ping' })
  await eventually(() => lines.length === 2, 'both are answered')
  expect(lines[0]).toMatchObject({ id, error: { code } })
  expect(seen.map((each) => each.id)).toEqual(['next'])
})

it('rejects a request that HTTP would refuse for its size, and continues', async () => {
  const folder = temporary()
  const { seen } = await daemon(folder, ({ id: asked }, socket) =>
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked, result: {} })}\n`),
  )
  const { send, lines } = bridge(folder)
  const text = (bytes: number) => ({
    ...CALL,
    params: { name: 'x', arguments: { text: 'é'.repeat(bytes / 2) } },
  })
  send({ id: 1, ...text(17 * 2 ** 20) }, { id: 2, ...text(15 * 2 ** 20) })
  await eventually(() => lines.length === 2, 'both are answered')
  const refused = { code: -32600, message: 'The request must not be larger than 16777216 bytes.' }
  expect(lines).toMatchObject([
    { id: 1, error: refused },
    { id: 2, result: {} },
  ])
  expect(seen.map((each) => each.id)).toEqual([2])
})

it('takes for a message what the daemon takes for one, and nothing else', () => {
  const odd = [undefined, null, 5, 1.5, 'x', true, [], [1], {}]
  const metas = odd.flatMap((value) => [
    value,
    { progressToken: value },
    { 'io.modelcontextprotocol/related-task': value },
    { 'io.modelcontextprotocol/related-task': { taskId: value } },
  ])
  const messages = [
    ...odd,
    ...odd.map((jsonrpc) => ({ jsonrpc, id: 1, method: 'ping' })),
    ...odd.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
    ...odd.map((method) => ({ jsonrpc: '2.0', id: 1, method })),
    ...odd.map((more) => ({ jsonrpc: '2.0', id: 1, method: 'ping', more })),
    ...odd.map((params) => ({ jsonrpc: '2.0', id: 1, method: 'ping', params })),
    ...metas.flatMap((_meta) => [
      { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta } },
      { jsonrpc: '2.0', method: 'notifications/x', params: { _meta } },
    ]),
  ].flatMap((value) => (value === undefined ? [] : [JSON.stringify(value)]))
  for (const line of messages) {
    const value = JSON.parse(line)
    const isTaken = isJSONRPCRequest(value) || isJSONRPCNotification(value)
    expect('message' in readMessage(line), line).toBe(isTaken)
  }
})

it('answers what came before the end of its input, and then ends', async () => {
  const folder = temporary()
  const asked: (() => void)[] = []
  const { seen } = await daemon(folder, ({ id }, socket) => {
    asked.push(() => socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`))
  })
  const { send, lines, input, over } = bridge(folder)
  send({ id: 1, method: 'tools/list' }, { id: 2, ...CALL }, { id: 3, method: 'subscriptions/listen' })
  input.end()
  await eventually(() => seen.length === 3, 'all are under way')
  for (const answer of asked.slice(0, 2)) answer()
  // A subscription is answered only at the end.
  await over
  expect(lines.map(({ id }) => id)).toEqual([1, 2])
})

it('sends a request again a few times only, where the daemon is lost each time', async () => {
  const folder = temporary()
  const { seen } = await daemon(folder, (_, socket) => socket.destroy())
  const { send, lines, wasStarted } = bridge(folder)
  send({ id: 1, method: 'ping' })
  await eventually(() => lines.length === 1, 'it is answered')
  expect(lines[0]).toMatchObject({ id: 1, error: { code: -32603 } })
  expect(lines[0]?.error?.message).toContain('lost 3 times')
  expect(seen).toHaveLength(3)
  expect(wasStarted()).toBe(false)
})

it('starts no daemon for old requests after a stop, and does for the next one', async () => {
  const folder = temporary()
  const { seen, stop } = await daemon(folder, () => undefined)
  const { send, lines, wasStarted } = bridge(folder, { patience: 2000 })
  send({ id: 1, method: 'subscriptions/listen' }, { id: 2, ...CALL })
  await eventually(() => seen.length === 2, 'both are under way')
  stop()
  await eventually(() => lines.length === 2, 'both are answered')
  expect(lines.map(({ id }) => id)).toEqual([1, 2])
  expect(lines[0]?.error?.message).toContain('it was stopped')
  expect(JSON.stringify(lines[1])).toContain('Nobody knows whether the tool did its work')
  expect([wasStarted(), existsSync(join(folder, 'starting'))]).toEqual([false, false])
  send({ id: 3, method: 'ping' })
  await eventually(wasStarted, 'a daemon is started')
})

it('never sends a call that was cancelled before there was a daemon, and never answers for it', async () => {
  const folder = temporary()
  // Another process is about to start a daemon.
  writeFileSync(join(folder, 'starting'), `${process.pid} ${readStartTime(process.pid)}`)
  const { send, lines } = bridge(folder)
  const cancelled = (requestId: number) => ({ method: 'notifications/cancelled', params: { requestId } })
  send({ id: 1, ...CALL }, cancelled(1), { id: 2, method: 'ping' })
  const { seen, stop } = await daemon(folder, () => undefined)
  await eventually(() => seen.length === 1, 'what waits is sent')
  expect(seen[0]?.id).toBe(2)
  // The daemon is notified about a running call.
  send({ id: 3, ...CALL }, cancelled(3))
  await eventually(() => seen.length === 3, 'the daemon has both')
  stop()
  await eventually(() => lines.length === 1, 'the other is answered')
  send('{')
  await eventually(() => lines.length === 2, 'the last line is answered')
  expect(lines.map(({ id }) => id)).toEqual([2, null])
})

it.each([['999999999 gone'], [`${process.pid} another`]])(
  'does not wait for a start whose beginner is gone (%s)',
  async (left) => {
    const folder = temporary()
    writeFileSync(join(folder, 'starting'), left)
    const { wasStarted, problems } = bridge(folder, { patience: 2000 })
    // The bridge gives up before such a start would expire.
    await eventually(() => problems.length > 0, 'it gives up')
    expect(wasStarted()).toBe(true)
  },
)

it('passes on the answer to every request, whatever its id', async () => {
  const folder = temporary()
  await daemon(folder, ({ id }, socket) =>
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`),
  )
  const { send, lines } = bridge(folder)
  send({ id: 'toolwell-bridge', method: 'ping' }, { id: 2, method: 'ping' })
  await eventually(() => lines.some(({ id }) => id === 2), 'the second is answered')
  expect(lines.map(({ id }) => id)).toEqual(['toolwell-bridge', 2])
})

it('restarts a killed daemon with its config and port, and notifies a client of the earlier one', async () => {
  const folder = temporary()
  const words = ['--config', '/other.json', '--port', '7499']
  const { kill } = await daemon(
    folder,
    ({ id }, socket) => socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`),
    { words },
  )
  const { send, lines, wasStarted, words: started } = bridge(folder)
  send({ id: 1, method: 'initialize' }, { method: 'notifications/initialized' })
  await eventually(() => lines.length === 1, 'it has begun')
  kill()
  send({ id: 2, method: 'ping' })
  await eventually(wasStarted, 'a daemon is started')
  await eventually(() => started() !== '', 'its words are written')
  expect(started()).toBe('serve --config /other.json --port 7499')
  await daemon(folder, ({ id }, socket) => {
    if (id !== undefined) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`)
  })
  send({ id: 3, method: 'ping' })
  await eventually(() => lines.some(({ id }) => id === 3), 'the next request is answered')
  expect(lines.map(({ method }) => method)).toContain('notifications/tools/list_changed')
})

it('sets a log aside that has grown, when it starts a daemon', async () => {
  const folder = temporary()
  const log = join(folder, 'gateway.log')
  for (const letter of ['a', 'b']) {
    writeFileSync(log, letter.repeat(2 ** 20 + 1))
    const { send, lines } = bridge(folder, { patience: 2000 })
    send({ id: 1, method: 'ping' })
    await eventually(() => lines.length === 1, 'it is answered')
    expect(readFileSync(`${log}.old`, 'utf8')[0]).toBe(letter)
    expect(readFileSync(log, 'utf8').length).toBeLessThan(10_000)
  }
})

it('starts no daemon on a folder reserved for a separate program, and names that program', async () => {
  const folder = temporary()
  keepForOwner(folder, 'cd /clone && npm start')
  const { send, lines, problems, wasStarted } = bridge(folder)
  send({ id: 1, method: 'initialize' }, { id: 2, ...CALL })
  await eventually(() => lines.length === 2, 'both are answered')
  expect(lines[0]?.error?.message).toContain('not running. Start it with: cd /clone && npm start')
  expect(JSON.stringify(lines[1])).toContain('cd /clone && npm start')
  expect(problems[0]).toContain('cd /clone && npm start')
  expect([wasStarted(), existsSync(join(folder, 'starting'))]).toEqual([false, false])
  // A running daemon is found as usual.
  const { seen } = await daemon(folder, () => undefined)
  send({ id: 3, method: 'ping' })
  await eventually(() => seen.some(({ id }) => id === 3), 'the daemon is asked')
})

it('says that it is refused where the daemon was reached and says no', async () => {
  const folder = temporary()
  await daemon(folder, () => undefined, {}, 'Unknown profile "nope".')
  const { lines, send } = bridge(folder)
  send({ id: 1, method: 'tools/list' })
  await eventually(() => lines.length > 0, 'an answer')
  expect(lines[0]?.error?.message).toBe(
    'The gateway refuses this client, and the request was not made: Unknown profile "nope".',
  )
})

it('refuses a request whose id is that of another under way, until that is answered or cancelled', async () => {
  const folder = temporary()
  const sockets: Duplex[] = []
  const { seen } = await daemon(folder, (_, socket) => void sockets.push(socket))
  const { lines, send } = bridge(folder)
  const refused = () => lines.filter(({ id, error }) => id === null && error?.code === -32000)
  send({ id: 9, ...CALL })
  await eventually(() => seen.length === 1, 'the daemon has it')
  send({ id: 9, method: 'ping' }, { id: '9', method: 'ping' })
  await eventually(() => seen.length === 2, 'another id is another')
  expect(refused()).toHaveLength(1)
  expect(refused()[0]?.error?.message).toContain('The id 9 belongs')
  sockets[0]?.write('{"jsonrpc":"2.0","id":9,"result":{}}\n')
  await eventually(() => lines.some(({ id }) => id === 9), 'it is answered')
  send({ id: 9, ...CALL })
  await eventually(() => seen.length === 3, 'the id is free')
  send({ method: 'notifications/cancelled', params: { requestId: 9 } }, { id: 9, method: 'ping' })
  await eventually(() => seen.length === 5, 'it is free again')
  expect(refused()).toHaveLength(1)
  expect(seen.map(({ id }) => id)).toEqual([9, '9', 9, undefined, 9])
})

it('answers everything itself where its client cannot be served, and starts nothing', async () => {
  const { lines, problems, send, wasStarted } = bridge(temporary(), {
    refusal: 'No profile can be called "all".',
  })
  send({ id: 1, method: 'tools/list' })
  await eventually(() => lines.length > 0, 'an answer')
  send({ id: 2, ...CALL })
  await eventually(() => lines.length > 1, 'another answer')
  expect(lines[0]?.error?.message).toBe(
    'The gateway refuses this client, and the request was not made: No profile can be called "all".',
  )
  expect(JSON.stringify(lines[1])).toContain('the call was not made')
  expect(problems[0]).toBe('No profile can be called "all".')
  expect(wasStarted()).toBe(false)
})

it.each(['', ' ', 'all', '.', '..', 'a/b', 'a\\b', 'work', 'All', '...', 'a b', 'é', '%2e'])(
  'takes the name %j for a profile exactly where a config can have it',
  (name) => {
    const text = JSON.stringify({ mcpServers: {}, profiles: { [name]: {} } })
    const { profiles } = loadConfig({ files: [{ path: 'toolwell.json', text }] })
    expect(profileFault(name) === undefined).toBe(Object.hasOwn(profiles, name))
  },
)
