// Claude Agent SDK. Needs ANTHROPIC_API_KEY; `npm run examples -- claude-agent-sdk` needs no key.
// npm install @anthropic-ai/claude-agent-sdk@0.3.325 @modelcontextprotocol/sdk@1.32.2 zod@4.6.7
import { query } from '@anthropic-ai/claude-agent-sdk'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createToolwell, defineTool } from '@toolwell/core'

const invoice = (action: string) =>
  defineTool({
    name: `${action}_invoice`,
    description: `To ${action} one invoice`,
    inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
    execute: ({ number }) => `invoice ${number}: ${action} done`,
  })
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', {
  description: 'Invoices',
  tools: ['send', 'void', 'print'].map(invoice),
})
const conversation = await well.open({ id: 'thread-1' })
await conversation.begin({ requestId: 'start', anchor: 'start', wire: 'anthropic' }) // from here on arguments are checked

const instance = new McpServer({ name: 'well', version: '1.0.0' }, { capabilities: { tools: {} } })
instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [...well.catalogue.entries()].map(({ wireName, tool }) => ({
    name: wireName,
    description: tool.description,
    inputSchema: { ...tool.inputSchema, type: 'object' as const },
    _meta: {
      'anthropic/alwaysLoad': well.explain(wireName)?.deferred === false,
      ...(tool.searchHint === undefined ? {} : { 'anthropic/searchHint': tool.searchHint }),
    },
  })),
}))
instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
  const callId = `call-${requestId}`
  const input = { value: params.arguments ?? {} }
  const [answer] = await conversation.run([{ callId, anchor: callId, name: params.name, input }])
  const isError = answer?.outcome.kind !== 'result'
  return { content: [{ type: 'text', text: answer?.text ?? '' }], isError }
})

const options = {
  mcpServers: { well: { type: 'sdk' as const, name: 'well', instance } },
  allowedTools: ['mcp__well__*'],
}
for await (const message of query({ prompt: 'Send invoice 7.', options }))
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result)
