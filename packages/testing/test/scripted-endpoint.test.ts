import { afterEach, describe, expect, it } from 'vitest'
import {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  startScriptedEndpoint,
} from '../src/scripted-endpoint.js'
import type { AnswerContext, Protocol } from '../src/shared/protocol.js'

interface Body {
  readonly ask: string
  readonly stream?: boolean
}

/** The smallest wire there is: one path, one field, and a word an event. */
function toyProtocol(contexts: AnswerContext[] = []): Protocol<Body> {
  return {
    name: 'toy',
    basePath: '/toy',
    match(path) {
      if (path === '/toy/ask') return {}
      return path === '/toy/ask:stream' ? { stream: true } : undefined
    },
    authorised: (headers, apiKey) => headers['x-toy-key'] === apiKey,
    violationOf(body) {
      if (typeof (body as Body | null)?.ask === 'string') return undefined
      return { message: 'Ask something.', param: 'ask', code: 'no_question' }
    },
    wantsStream: (body) => body.stream === true,
    renderOrder: (body) => body.ask,
    answer({ text = '', calls = [] }, _body, context) {
      contexts.push(context)
      const ids = calls.map(({ id }) => id ?? context.nextCallId('id-'))
      return {
        object: { text, ids },
        *stream() {
          for (const letter of text) yield letter
          yield '. The end.'
        },
      }
    },
    errorObject: (status, message, code, param) => ({ status, message, code, param }),
  }
}

const running: ScriptedEndpoint<Body>[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((endpoint) => endpoint.close()))
})

async function start(
  model: ScriptedEndpointOptions<Body>['model'],
  more: Partial<ScriptedEndpointOptions<Body>> = {},
  protocol = toyProtocol(),
) {
  const endpoint = await startScriptedEndpoint(protocol, { model, ...more })
  running.push(endpoint)
  return endpoint
}

function ask(endpoint: ScriptedEndpoint<Body>, body: unknown, path = '/ask', init: RequestInit = {}) {
  return fetch(endpoint.url + path, { method: 'POST', body: JSON.stringify(body), ...init })
}

describe('an endpoint of any wire', () => {
  it('is found under the base path of its protocol', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/toy$/)
    expect(await (await ask(endpoint, { ask: 'x' }, '/ask?beta=true')).json()).toEqual({
      text: 'Hi',
      ids: [],
    })
  })

  it('words its errors as the protocol does', async () => {
    const endpoint = await start([], { apiKey: 'secret' })
    const key = { headers: { 'x-toy-key': 'secret' } }
    const answers = [
      await ask(endpoint, {}, '/nowhere?x'),
      await ask(endpoint, undefined, '/ask', { method: 'GET', body: null }),
      await ask(endpoint, {}),
      await ask(endpoint, {}, '/ask', key),
      await ask(endpoint, { ask: 'x' }, '/ask', key),
    ]
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]))).toEqual([
      [
        404,
        {
          status: 404,
          message: 'Unknown request URL: POST /toy/nowhere?x.',
          code: 'unknown_url',
          param: null,
        },
      ],
      [
        405,
        {
          status: 405,
          message: 'Not allowed to GET on /toy/ask (Hint: it takes POST).',
          code: 'method_not_supported',
          param: null,
        },
      ],
      [401, { status: 401, message: 'Incorrect API key provided.', code: 'invalid_api_key', param: null }],
      [400, { status: 400, message: 'Ask something.', code: 'no_question', param: 'ask' }],
      [
        500,
        {
          status: 500,
          message: 'The script is exhausted: it has 0 replies and this is request 1.',
          code: 'script_failed',
          param: null,
        },
      ],
    ])
  })

  it('streams when the body asks for it or the path does', async () => {
    const endpoint = await start(() => ({ text: 'Hi' }))
    expect(await (await ask(endpoint, { ask: 'x', stream: true })).text()).toBe('Hi. The end.')
    expect(await (await ask(endpoint, { ask: 'x' }, '/ask:stream')).text()).toBe('Hi. The end.')
    expect((await ask(endpoint, { ask: 'x' })).headers.get('content-type')).toBe('application/json')
  })

  it('keeps the last piece of a cut stream to itself', async () => {
    const endpoint = await start([{ text: 'Hidden', cutAfter: 3 }])
    const response = await ask(endpoint, { ask: 'x', stream: true })
    let received = ''
    const reading = async () => {
      for await (const bytes of response.body ?? []) received += Buffer.from(bytes).toString()
    }
    await expect(reading()).rejects.toThrow('terminated')
    expect(received).toBe('Hid')
  })

  it('tells the protocol what came before, accepted requests only', async () => {
    const contexts: AnswerContext[] = []
    const endpoint = await start(() => ({ text: 'Hi' }), {}, toyProtocol(contexts))
    await ask(endpoint, { ask: 'one' })
    await ask(endpoint, {})
    await ask(endpoint, { ask: 'two' })
    expect(contexts.map(({ index, rendered, earlier }) => [index, rendered, earlier])).toEqual([
      [0, 'one', []],
      [1, 'two', ['one']],
    ])
  })

  it('counts the default ids of calls over its life', async () => {
    const call = { name: 'read', arguments: {} }
    const endpoint = await start(() => ({ calls: [call, { ...call, id: 'mine' }] }))
    const ids = async () => (await (await ask(endpoint, { ask: 'x' })).json()) as object
    expect([await ids(), await ids()]).toMatchObject([{ ids: ['id-1', 'mine'] }, { ids: ['id-2', 'mine'] }])
  })

  it('records a body that is not an object as an empty one', async () => {
    const plain = await start([])
    const given = await start([], { emptyBody: { ask: '' } })
    for (const endpoint of [plain, given]) {
      await ask(endpoint, 7)
      await fetch(`${endpoint.url}/ask`, { method: 'POST', body: '{"ask":' })
    }
    expect(plain.requests.map(({ raw, body, status }) => [raw, body, status])).toEqual([
      ['7', {}, 400],
      ['{"ask":', {}, 400],
    ])
    expect(given.requests.map(({ body, violation }) => [body, violation?.code])).toEqual([
      [{ ask: '' }, 'no_question'],
      [{ ask: '' }, 'invalid_json'],
    ])
  })

  it('breaks the connection when a protocol fails halfway through a stream', async () => {
    const failing: Protocol<Body> = {
      ...toyProtocol(),
      answer: () => ({
        object: {},
        *stream() {
          yield 'one'
          yield 'two'
          throw new Error('No more.')
        },
      }),
    }
    const endpoint = await start([{ text: '' }], {}, failing)
    await expect(ask(endpoint, { ask: 'x', stream: true }).then((answer) => answer.text())).rejects.toThrow()
  })
})

describe('a script with a slip', () => {
  const refused = (options: unknown) => startScriptedEndpoint(toyProtocol(), options as never)

  it('is refused at the start', async () => {
    await expect(refused({ modle: [] })).rejects.toThrow('needs a model: a list of replies')
    await expect(refused({ model: [{ text: 'x' }, { txt: 'x' }] })).rejects.toThrow(
      'Unknown option "txt" in model[1]. Did you mean "text"?',
    )
  })

  it('by a function is answered with status 500', async () => {
    const endpoint = await start(() => ({ txt: 'x' }) as never)
    const response = await ask(endpoint, { ask: 'a' })
    expect(response.status).toBe(500)
    expect(await response.text()).toContain('Did you mean')
  })
})
