/** Prompts, resources and completions of a server outside the rights of a token give the same bytes as those of no server. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { fileStorage, hashToken, type Rights } from '@toolwell/gateway/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { entry, startGateway, temporary } from './support/gateway.js'

const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))
const suite = {
  command: process.execPath,
  args: [FIXTURE],
  cwd: fileURLToPath(new URL('.', import.meta.url)),
}
const files = entry(oddServer('files', { tools: [describedTool('read_file')] }))
const profiles = { work: { servers: ['files'] } }
const TOKEN = 'tw_a-token-with-rights-for-tests'

async function readOffers(mcpServers: object, rights: Rights, isModern: boolean) {
  const storage = fileStorage(temporary())
  await storage.tokens.add({ name: 'limited', hash: hashToken(TOKEN), createdAt: 0, rights })
  const { url } = await startGateway({ mcpServers, profiles }, { storage })
  const client = new Client(
    { name: 'test', version: '1' },
    isModern ? { versionNegotiation: { mode: 'auto' } } : {},
  )
  onTestFinished(() => client.close())
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const open = (path: string) =>
    client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit: { headers } }))
  await open('/mcp')
  await client.callTool({ name: 'find_tools', arguments: { query: 'anything' } })
  await client.close()
  await open('/mcp')
  const name = 'test_prompt_with_arguments'
  const asked: Record<string, () => Promise<unknown>> = {
    resources: () => client.listResources(),
    templates: () => client.listResourceTemplates(),
    read: () => client.readResource({ uri: 'test://static-text' }),
    template: () => client.readResource({ uri: 'test://template/7/data' }),
    prefixed: () => client.readResource({ uri: 'toolwell:suite:test://static-text' }),
    prompts: () => client.listPrompts(),
    prompt: () => client.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } }),
    prefixedPrompt: () => client.getPrompt({ name: `suite__${name}`, arguments: { arg1: 'a', arg2: 'b' } }),
    completion: () =>
      client.complete({
        ref: { type: 'ref/prompt', name },
        argument: { name: 'arg1', value: 'part' },
      }),
  }
  const found: Record<string, string> = { capabilities: JSON.stringify(client.getServerCapabilities()) }
  for (const [path, answer] of Object.entries(asked))
    found[path] = await answer().then(
      (value) => JSON.stringify(value),
      (error: Error) => error.message,
    )
  return found
}

describe.each([true, false])('with the newer protocol: %s', (isModern) => {
  it('passes only prompts and resources in the rights', async () => {
    const found = await readOffers({ files, suite }, { servers: ['s*'], readOnly: true }, isModern)
    expect(found.resources).toContain('test://static-text')
    expect(found.read).toContain('This is the content')
    expect(found.prompt).toContain('Prompt with arguments')
    expect(found.completion).toContain('party')
  })

  it.each<[string, Rights]>([
    ['servers', { servers: ['files'] }],
    ['profile', { profile: 'work' }],
    ['tools', { tools: ['*'] }],
  ])('hides everything outside the %s of the token', async (_, rights) => {
    const found = await readOffers({ files, suite }, rights, isModern)
    expect(found).toEqual(await readOffers({ files }, rights, isModern))
    expect(Object.values(found).join('\n')).not.toMatch(/static-text"|This is the content|Prompt with/)
  })
})
