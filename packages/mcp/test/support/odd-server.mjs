/**
 * A server on standard input and output with scripted behaviour, also behaviour no server should have. Plain JSON-RPC, so that
 * nothing keeps it from misbehaving. Its options come as JSON in the first argument; the second marks the process.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const given = JSON.parse(process.argv[2] ?? '{}')
const manners = { ...given, ...(given.from ? JSON.parse(readFileSync(given.from, 'utf8')) : {}) }
const log = (line) => manners.log && appendFileSync(manners.log, `${line}\n`)
log(`start ${process.pid}`)

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = (id, result) => write({ id, result })
const refuse = (id, code, message) => write({ id, error: { code, message } })
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] })
const never = () => new Promise(() => {})
/** Its texts may name the folder it runs in. */
const here = (said) => said.replaceAll('{cwd}', process.cwd())

if (manners.diesAtStart) {
  process.stderr.write(`${manners.diesAtStart}\n`)
  process.exit(3)
}
if (manners.diesWhile && existsSync(manners.diesWhile)) process.exit(4)
if (manners.garbage) process.stdout.write('Welcome to the server!\n{"not":"a message"}\n\n[1,2\n')
if (manners.helper) {
  const helper = spawn('sleep', ['1000'], { stdio: 'inherit' })
  log(`helper ${helper.pid}`)
}
if (manners.stubborn)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => log(signal))
if (manners.flood)
  (function more() {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n`
    process.stdout.write(line.repeat(1000), () => setImmediate(more))
  })()
if (manners.storm) setInterval(() => write({ method: 'notifications/tools/list_changed' }), manners.storm)
if (manners.endless)
  (function more() {
    process.stdout.write('x'.repeat(1024 * 1024), () => setImmediate(more))
  })()

const asked = new Map()
let nextId = 1
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${nextId++}`
    asked.set(id, resolve)
    write({ id, method, params })
  })

const named = (name, more = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  ...more,
})
/** Tools that report the caller's data, the server's state and its folder. */
const MORE = ['cwd', 'told', 'log', 'refuse', 'count']
let greeting
let counted = 0
let round = 0
let calls = 0
const ignored = []
function tools() {
  round++
  if (manners.count)
    return Array.from({ length: manners.count }, (_, index) =>
      named(`tool_${index}`, {
        description: `Tool number ${index} of a long list, which does thing ${index}.`,
      }),
    )
  if (manners.toolsFrom) return JSON.parse(readFileSync(manners.toolsFrom, 'utf8'))
  const list = manners.tools ?? [
    named('echo', { annotations: { readOnlyHint: true } }),
    named('write'),
    named('pid'),
    named('wait'),
    named('die'),
    named('die_read', { annotations: { readOnlyHint: true } }),
    named('ask'),
    named('sample'),
    named('roots'),
    named('progress'),
    named('change'),
    named('fail'),
    ...(manners.more ? MORE.map((name) => named(name)) : []),
  ]
  if (manners.shuffles) return round % 2 ? list : [...list].reverse()
  if (manners.changesWhile && existsSync(manners.changesWhile))
    return list.map((tool) => (tool.name === 'echo' ? { ...tool, description: 'Changed.' } : tool))
  return list
}

async function call({ name, arguments: input = {}, _meta: meta }) {
  log(`call ${name} ${JSON.stringify(input)}`)
  calls++
  // Every other time before it has done its work, every other time after.
  if (manners.diesEvery && calls % manners.diesEvery === 0) {
    if (calls % (2 * manners.diesEvery) === 0) log(`done ${JSON.stringify(input)}`)
    // Requests that came with it are answered.
    await new Promise((resolve) => setImmediate(resolve))
    process.exit(9)
  }
  if (manners.delay) await new Promise((resolve) => setTimeout(resolve, manners.delay))
  while (manners.answersOnce && !existsSync(manners.answersOnce))
    await new Promise((resolve) => setTimeout(resolve, 20))
  if (name === 'pid') return text(process.pid)
  if (name.startsWith('give')) return JSON.parse(readFileSync(input.file, 'utf8'))
  // It continues with a cancelled call, and still answers.
  if (name === 'wait' && input.ignoresCancellation) {
    await new Promise((resolve) => ignored.push(resolve))
    log('done in spite of it')
    return text('too late')
  }
  if (name === 'wait') return never()
  if (name === 'die' || name === 'die_read') {
    if (input.unless && existsSync(input.unless)) return text('survived')
    if (input.unless) appendFileSync(input.unless, '')
    process.exit(7)
  }
  if (name === 'cwd') return text(process.cwd())
  if (name === 'told')
    return text(
      JSON.stringify({ capabilities: greeting.capabilities, meta, env: process.env[input.env ?? ''] }),
    )
  if (name === 'count') return text(++counted)
  if (name === 'refuse') throw { code: input.code ?? -32042, message: 'Not like this', data: input.data }
  if (name === 'log') {
    for (let line = 0; line < (input.lines ?? 0); line++)
      write({ method: 'notifications/message', params: { level: 'debug', data: `line ${line}` } })
    for (const level of ['debug', 'warning'])
      write({ method: 'notifications/message', params: { level, logger: 'odd', data: input.data ?? level } })
    return text('logged')
  }
  if (name === 'fail') return { ...text('it did not work'), isError: true }
  if (name === 'ask')
    return text(
      JSON.stringify(
        await ask('elicitation/create', {
          mode: 'form',
          message: input.question ?? 'Who?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      ),
    )
  if (name === 'sample')
    return text(
      JSON.stringify(
        await ask('sampling/createMessage', {
          messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
          maxTokens: 10,
        }),
      ),
    )
  if (name === 'roots') return text(JSON.stringify(await ask('roots/list', {})))
  if (name === 'progress') {
    const { steps = 3, every = 0 } = input
    for (let step = 1; step <= steps; step++) {
      write({
        method: 'notifications/progress',
        params: { progressToken: meta?.progressToken, progress: step, total: steps, message: `step ${step}` },
      })
      if (every > 0) await new Promise((resolve) => setTimeout(resolve, every))
    }
    return text('done')
  }
  if (name === 'announce') {
    write({ method: 'notifications/tools/list_changed' })
    return text('announced')
  }
  if (name === 'change') {
    manners.tools = [...tools(), named(input.name ?? 'fresh')]
    write({ method: 'notifications/tools/list_changed' })
    return text('changed')
  }
  log(`done ${JSON.stringify(input)}`)
  return text(JSON.stringify(input))
}

async function handle({ id, method, params }) {
  if (method === 'initialize') {
    if (manners.mute || (manners.muteWhile && existsSync(manners.muteWhile))) return
    greeting = params
    return answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: {
        tools: { listChanged: true },
        ...(manners.more ? { logging: {} } : {}),
        ...(manners.offersFrom ? { prompts: {}, resources: {}, completions: {} } : {}),
      },
      serverInfo: { name: 'odd', version: '1.0.0', title: manners.title ?? 'An odd server' },
      ...(manners.instructions ? { instructions: here(manners.instructions) } : {}),
    })
  }
  if (method === 'tools/list') {
    log('list')
    if (manners.muteList) return
    while (manners.listsOnce && !existsSync(manners.listsOnce))
      await new Promise((resolve) => setTimeout(resolve, 20))
    // The raw text, unchanged: nested deeper than a program here could write.
    if (manners.rawFrom) {
      const list = readFileSync(manners.rawFrom, 'utf8')
      return process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":${list}}}\n`)
    }
    if (manners.noList) return answer(id, { tools: 'none' })
    const list = JSON.parse(here(JSON.stringify(tools())))
    if (!manners.page)
      return answer(id, { tools: list, ...(manners.ttlMs === undefined ? {} : { ttlMs: manners.ttlMs }) })
    const from = Number(params?.cursor ?? 0)
    const next = from + manners.page
    const more = next < list.length || manners.circle
    return answer(id, {
      tools: list.slice(from, next),
      ...(more ? { nextCursor: String(manners.circle ? 0 : next) } : {}),
    })
  }
  if (method === 'tools/call') {
    try {
      return answer(id, await call(params))
    } catch (error) {
      return write({ id, error })
    }
  }
  if (manners.offersFrom) {
    const { prompts, resources, templates } = JSON.parse(readFileSync(manners.offersFrom, 'utf8'))
    const told = `${params?.name ?? params?.uri} of ${process.pid}`
    const answers = {
      'prompts/list': { prompts },
      'resources/list': { resources },
      'resources/templates/list': { resourceTemplates: templates },
      'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: told } }] },
      'resources/read': { contents: [{ uri: params?.uri, text: told }] },
      'completion/complete': { completion: { values: ['a'] } },
    }
    if (Object.hasOwn(answers, method)) return answer(id, answers[method])
  }
  if (method === 'logging/setLevel') {
    log(`level ${params.level}`)
    return answer(id, {})
  }
  if (method === 'server/discover' && manners.diesOnProbe) process.exit(5)
  if (method === 'server/discover' && (manners.ignoresProbe || manners.muteWhile)) return
  if (id !== undefined) refuse(id, -32601, 'Method not found')
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const message = JSON.parse(line)
  if (message.method === 'notifications/cancelled') {
    log(`cancelled ${message.params.requestId}`)
    for (const resume of ignored.splice(0)) resume()
  }
  if (message.method === 'notifications/roots/list_changed') log('roots changed')
  if (message.method === undefined) {
    asked.get(message.id)?.(message.result ?? message.error)
    asked.delete(message.id)
    return
  }
  handle(message)
})
lines.on('close', () => {
  log('end of input')
  if (!manners.stubborn) process.exit(0)
})
if (manners.stubborn) setInterval(() => {}, 1000)
