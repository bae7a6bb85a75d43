/** The tools that the conformance suite expects behind an endpoint, over stdio in both protocol generations. */
import { MissingRequiredClientCapabilityError, Server } from '@modelcontextprotocol/server'
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

/** Keywords of draft 2020-12 that a list must pass on. */
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: strings('street', 'city') } },
  properties: {
    ...strings('name', 'phone', 'email'),
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of the dialect.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}
const SCHEMAS = {
  json_schema_2020_12_tool: SCHEMA_2020_12,
  test_custom_header: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  },
}

/** Toggled by every call of `test_trigger_tool_change`. */
let hasMore = false

/** By name: input schema and handler. */
const TOOLS = {
  json_schema_2020_12_tool: [[], () => [text('ok')]],
  test_custom_header: [['region'], ({ region }) => [text(region)]],
  test_missing_capability: [
    [],
    (_, { mcpReq }) => {
      const declared = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
      if (declared.sampling) return [text('It can be asked.')]
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
    },
  ],
  test_logging_tool: [[], () => [text('Nobody asked for a log.')]],
  test_streaming_elicitation: [[], () => [text('Nobody can be asked.')]],
  test_trigger_tool_change: [
    [],
    async (_, { server }) => {
      hasMore = !hasMore
      await server.sendToolListChanged()
      return [text('Changed.')]
    },
  ],
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
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...Object.entries(TOOLS),
      ['test_error_handling', [[]]],
      ...(hasMore ? [['test_comes_and_goes', [[]]]] : []),
    ].map(([name, [names]]) => ({
      name,
      description: `Does what the suite asks of ${name}.`,
      inputSchema: SCHEMAS[name] ?? { type: 'object', properties: strings(...names), required: names },
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
