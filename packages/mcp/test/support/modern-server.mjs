/** A server of the newer protocol: stateless, asks by answering with a question, says how long its list holds. */
import { acceptedContent, inputRequired, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

export function createModernServer(options = {}) {
  const server = new Server(
    { name: 'modern', version: '1.0.0' },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: 'A modern server.',
      ...(options.cacheHints ? { cacheHints: options.cacheHints } : {}),
    },
  )
  const inputSchema = {
    type: 'object',
    properties: { question: { type: 'string' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
  }
  server.setRequestHandler('tools/list', () => ({
    tools: (options.tools ?? ['echo', 'ask']).map((name) => ({
      name,
      description: `Does ${name}.`,
      inputSchema,
    })),
  }))
  server.setRequestHandler('tools/call', (request, context) => {
    const { name, arguments: input = {} } = request.params
    options.onCall?.(name, context)
    if (name !== 'ask') return { content: [{ type: 'text', text: JSON.stringify(input) }] }
    const given = acceptedContent(context.mcpReq.inputResponses, 'who')
    if (given) return { content: [{ type: 'text', text: JSON.stringify(given) }] }
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: input.question ?? 'Who?', requestedSchema }) },
    })
  })
  return server
}

if (process.argv[2] === 'stdio') serveStdio(() => createModernServer())
if (process.argv[2] === 'stdio-modern') serveStdio(() => createModernServer(), { legacy: 'reject' })
