/** Runs the hosts of docs/guides/several-processes.md as they are printed there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedChat } from '@toolwell/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { withoutPostgres } from './skip.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = readFileSync(join(root, 'docs/guides/several-processes.md'), 'utf8')
const [agent = '', host = '', worker = '', handler = ''] = [
  ...page.matchAll(/^```[tj]s\n([\s\S]*?)^```/gm),
].map(([, code = '']) => code)

let folder = ''
let server: PostgresServer
const children: ChildProcess[] = []
beforeAll(async () => {
  if (withoutPostgres) return
  folder = mkdtempSync(join(tmpdir(), 'toolwell-several-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, code] of Object.entries({ agent, host, worker, handler }))
    writeFileSync(join(folder, `${name}.ts`), code)
  server = await startPostgres()
  await server.pool.query('create table threads (id text primary key, messages text not null)')
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const pays = [
  { calls: [{ name: 'tool_search', arguments: { query: 'pay an invoice' } }] },
  { calls: [{ name: 'tool_call', arguments: { name: 'billing__pay_invoice', arguments: { number: 7 } } }] },
  { text: 'Invoice 7 is paid.' },
]

async function startThread(id: string) {
  const messages = [{ role: 'user', content: 'Pay invoice 7.' }]
  await server.pool.query('insert into threads values ($1, $2)', [id, JSON.stringify(messages)])
  return startScriptedChat({ model: pays })
}

function start(file: string, modelUrl: string, words: readonly string[] = [], port = 0): ChildProcess {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), `${file}.ts`, ...words], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: server.url, MODEL_URL: modelUrl, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

async function readAll(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (bytes) => {
    text += bytes
  })
  await once(child, 'close')
  return text
}

/** The stored history: the results that the model read. */
async function readResults(id: string): Promise<string> {
  const { rows } = await server.pool.query('select messages from threads where id = $1', [id])
  return rows[0].messages
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Resolves when something listens on the port. */
async function waitForPort(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the host ended')
}

describe.skipIf(withoutPostgres)('the guide', () => {
  it('serves one conversation with two processes in turn', async () => {
    const model = await startThread('http')
    const ports = [await findFreePort(), await findFreePort()]
    const hosts = ports.map((port) => start('host', model.url, [], port))
    await Promise.all(ports.map((port, index) => waitForPort(port, hosts[index] as ChildProcess)))
    const answers = []
    for (const turn of [0, 1, 0]) {
      const response = await fetch(`http://127.0.0.1:${ports[turn]}/threads/http`, { method: 'POST' })
      answers.push(await response.json())
    }
    expect(answers).toEqual([{}, {}, { answer: 'Invoice 7 is paid.' }])
    expect(await readResults('http')).toContain('"content":"Invoice 7 is paid."')
    const tools = model.requests.map(({ body }) => JSON.stringify((body as { tools: unknown }).tools))
    expect(new Set(tools).size, 'every request has the same tools array').toBe(1)
    await model.close()
  })

  it('continues a job in another process after kill -9', async () => {
    const model = await startThread('job')
    const first = start('worker', model.url, ['job'])
    await once(first.stdout as NodeJS.ReadableStream, 'data')
    first.kill('SIGKILL')
    await once(first, 'close')
    expect(await readAll(start('worker', model.url, ['job']))).toMatch(/Invoice 7 is paid\.\n$/)
    await model.close()
  })

  it('handles one event per process', async () => {
    const model = await startThread('event')
    const answers = []
    for (let count = 0; count < 3; count += 1)
      answers.push(await readAll(start('handler', model.url, ['event'])))
    expect(answers).toEqual(['{}\n', '{}\n', '{"answer":"Invoice 7 is paid."}\n'])
    await model.close()
  })
})
