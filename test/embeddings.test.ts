/** Runs the HTTP example of examples/embeddings against a scripted endpoint. embeddings.long.test.ts runs the offline example. */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { guardChildren } from './setup/guard-children.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guard = guardChildren()

interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: { readonly model: string; readonly input: readonly string[] }
}

/** Two texts are alike if both are about how warm it is. */
const vectorOf = (text: string) => (/freezing|hot|temperature/.test(text) ? [1, 0.1] : [0, 1])

async function startEndpoint(status: number): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = ''
    for await (const part of request) text += part
    const body = JSON.parse(text) as Asked['body']
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    const data = body.input.map((each, index) => ({ object: 'embedding', index, embedding: vectorOf(each) }))
    response.writeHead(status, { 'content-type': 'application/json' })
    // In reverse order: the index decides.
    response.end(JSON.stringify(status === 200 ? { object: 'list', data: data.reverse() } : { error: 'no' }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`, asked }
}

async function run(...words: string[]) {
  const child = spawn(process.execPath, ['examples/embeddings/endpoint.mjs', ...words], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: guard, EMBEDDINGS_KEY: 'a-key' },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (part) => {
    output += part
  })
  child.stderr.on('data', (part) => {
    errors += part
  })
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, output, errors }
}

it('asks an endpoint of the OpenAI shape, each tool once, and finds by meaning what the words do not', async () => {
  const { url, asked } = await startEndpoint(200)
  const { code, output } = await run(url, 'some-model')
  expect(code).toBe(0)
  expect(output).toContain('it is freezing in the kitchen\n  words    –\n  meaning  home__set_thermostat\n')
  expect(asked[0]).toMatchObject({
    path: '/v1/embeddings',
    authorization: 'Bearer a-key',
    body: { model: 'some-model', input: expect.arrayContaining([expect.stringContaining('set thermostat')]) },
  })
  const texts = asked.flatMap(({ body }) => body.input)
  expect(texts.length).toBe(new Set(texts).size)
})

it('falls back to words if the endpoint fails, and reports it', async () => {
  const { url } = await startEndpoint(500)
  const { code, output, errors } = await run(url, 'some-model')
  expect(code).toBe(1)
  expect(output).toContain(
    'erase my documents\n  words    files__delete_file\n  meaning  files__delete_file\n',
  )
  expect(errors).toContain('embed was not used: Error: 500')
})

it('says how it is used', async () => {
  expect(await run()).toMatchObject({ code: 2, errors: expect.stringContaining('Usage:') })
})
