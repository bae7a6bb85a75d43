/** The server that the conformance suite expects behind an endpoint, as far as tools go, in both eras over stdio. */
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const AUDIO = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='
const text = (value) => ({ type: 'text', text: value })
const image = { type: 'image', data: IMAGE, mimeType: 'image/png' }
const resource = (uri, mimeType, content) => ({
  type: 'resource',
  resource: { uri, mimeType, text: content },
})
const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
const strings = (...names) => Object.fromEntries(names.map((name) => [name, { type: 'string' }]))

/** By name: the arguments, and what is done with them. */
const TOOLS = {
  test_simple_text: [[], () => [text('This is a simple text response for testing.')]],
  test_image_content: [[], () => [image]],
  test_audio_content: [[], () => [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }]],
  test_embedded_resource: [
    [],
    () => [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  ],
  test_multiple_content_types: [
    [],
    () => [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  ],
  test_tool_with_progress: [
    [],
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        await pause()
      }
      return [text('Done.')]
    },
  ],
  test_tool_with_logging: [
    [],
    async (_, { mcpReq }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
        await pause()
      }
      return [text('Logged.')]
    },
  ],
  test_sampling: [
    ['prompt'],
    async ({ prompt }, { server }) => {
      const messages = [{ role: 'user', content: text(prompt) }]
      const { content } = await server.createMessage({ messages, maxTokens: 100 })
      return [text(`LLM response: ${content.text}`)]
    },
  ],
  test_elicitation: [
    ['message'],
    async ({ message }, { server }) => {
      const requestedSchema = { type: 'object', properties: strings('username', 'email') }
      const { action, content } = await server.elicitInput({ message, requestedSchema })
      return [text(`User response: action: ${action}, content: ${JSON.stringify(content)}`)]
    },
  ],
}

serveStdio(() => {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    { capabilities: { tools: {}, logging: {} } },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: [...Object.entries(TOOLS), ['test_error_handling', [[]]]].map(([name, [names]]) => ({
      name,
      description: `Does what the suite asks of ${name}.`,
      inputSchema: { type: 'object', properties: strings(...names), required: names },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = TOOLS[params.name]
    if (!tool)
      return { isError: true, content: [text('This tool intentionally returns an error for testing')] }
    return { content: await tool[1](params.arguments ?? {}, { ...context, server }) }
  })
  return server
})
