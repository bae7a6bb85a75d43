/** A stdio server that answers `echo` correctly and every other call badly. */
import { createInterface } from 'node:readline'

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const result = (text) => ({ content: [{ type: 'text', text }] })
const whole = (id, text) => JSON.stringify({ jsonrpc: '2.0', id, result: result(text) })

const writeDeep = (id, content, levels, key = '_meta') => {
  const lists = '['.repeat(levels) + ']'.repeat(levels)
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{${content},"${key}":{"a":${lists}}}}\n`)
}

const CALLS = {
  echo: (id, { text = '' }) => write({ id, result: result(text) }),
  /** Exits in the middle of its answer. */
  crash: (id) => process.stdout.write(whole(id, 'half').slice(0, 40), () => process.exit(7)),
  /** Exits before its answer. */
  vanish: () => process.exit(0),
  garbage: (id) => {
    process.stdout.write('Loading …\n\n{"not":"a message"}\n[1,2\n\u0000\u0001\n"text"\n')
    write({ id, result: result('after the garbage') })
  },
  silent: () => undefined,
  huge: (id, { size }) => write({ id, result: result('x'.repeat(size)) }),
  /** Invalid UTF-8 in the middle of a text. */
  bytes: (id) => {
    const [before, after] = whole(id, 'a|b').split('|')
    process.stdout.write(
      Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from(`${after}\n`)]),
    )
  },
  twice: (id) => {
    write({ id, result: result('first') })
    write({ id, result: result('second') })
  },
  strangers: (id) => {
    for (const other of [id + 1000, 'nobody', null]) write({ id: other, result: result('not yours') })
    write({ id, result: result('yours') })
  },
  /** Nested too deep for JSON.stringify. */
  deep: (id, { levels, isMeta }) => {
    const content = '"content":[{"type":"text","text":"deep"}]'
    writeDeep(id, content, levels, isMeta ? '_meta' : 'structuredContent')
  },
  /** An invalid result. */
  none: (id, { value }) => write({ id, result: value }),
  shapeless: (id) => write({ id, result: { content: 'text' } }),
  refused: (id) => write({ id, error: { code: -32050, message: 'Not today', data: { until: 'tomorrow' } } }),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo: { name: 'hostile', version: '1.0.0' },
      },
    })
  else if (method === 'tools/list')
    write({
      id,
      result: {
        tools: Object.keys(CALLS).map((name) => ({
          name,
          description: `Does ${name}.`,
          inputSchema: { type: 'object' },
        })),
      },
    })
  else if (method === 'prompts/list') write({ id, result: { prompts: [{ name: 'deep' }] } })
  else if (method === 'resources/list')
    write({ id, result: { resources: [{ name: 'deep', uri: 'deep://' }] } })
  else if (method === 'prompts/get') writeDeep(id, '"messages":[]', 100_000)
  else if (method === 'resources/read') writeDeep(id, '"contents":[]', 100_000)
  else if (method === 'tools/call') CALLS[params.name]?.(id, params.arguments ?? {})
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } })
})
