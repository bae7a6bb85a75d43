/** Many questions of one server to many clients at the same time: none reaches the wrong client. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway } from './support/gateway.js'

const CLIENTS = 20
const QUESTIONS = 500

async function open(url: string, user: string, isModern: boolean): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: {} },
      ...(isModern ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    // The question names its client.
    content: { username: params.message === user ? user : `${user} was asked for ${params.message}` },
  }))
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
  )
  onTestFinished(() => client.close())
  return client
}

it.each(['all', 'client'])(
  'reaches only the client whose call caused it, with share %s',
  async (share) => {
    const { url } = await startGateway({
      mcpServers: {
        suite: {
          command: process.execPath,
          args: [fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url)), 'legacy'],
          cwd: fileURLToPath(new URL('.', import.meta.url)),
          share,
        },
      },
    })
    let answered = 0
    let refused = 0
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, at) => {
        const user = `user-${at}`
        // Requests outside a session count by their program, so they share a process.
        const client = await open(`${url}/mcp/all`, user, share === 'all' && at % 2 === 1)
        for (let count = 0; count < QUESTIONS; count++) {
          const called = client.callTool({ name: 'suite__test_elicitation', arguments: { message: user } })
          const { content } = await called.catch((error: Error) => ({
            content: [{ type: 'text', text: `refused: ${error.message}` }],
          }))
          const [{ text = '' } = {}] = content as { text?: string }[]
          expect(text).not.toContain('was asked for')
          if (text.includes(`"username":"${user}"`)) answered++
          else {
            expect(text).toMatch(/several clients have calls/)
            refused++
          }
        }
      }),
    )
    expect(answered + refused).toBe(CLIENTS * QUESTIONS)
    if (share === 'client') expect(refused).toBe(0)
  },
  900_000,
)
