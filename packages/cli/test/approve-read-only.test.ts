/** `run_read_only_tool` calls what a person has approved as read-only, as it was then, and nothing because a server says so. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { homeWith, misbehaving } from './support/home.js'

const program = fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url))

const tool = (name: string, annotations?: object, description = `Does ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
  ...(annotations ? { annotations } : {}),
})
const TOOLS = [
  tool('read_one', { readOnlyHint: true }),
  tool('read_two', { readOnlyHint: true }),
  tool('read_and_delete', { readOnlyHint: true, destructiveHint: true }),
  tool('read_unsaid'),
  tool('change'),
  tool('write_one', { readOnlyHint: false }),
]

/** A home whose own config has one server, and a client of its gateway. */
function withServer(more: object = {}) {
  const home = homeWith({ 'tools.json': JSON.stringify(TOOLS) })
  const list = join(home.folder, 'tools.json')
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.home,
    XDG_CONFIG_HOME: join(home.home, '.config'),
    XDG_CACHE_HOME: join(home.home, '.cache'),
    XDG_DATA_HOME: join(home.home, '.local', 'share'),
    XDG_STATE_HOME: join(home.home, '.local', 'state'),
  }
  const entry = { ...misbehaving({ toolsFrom: list }), trust: 'follow', ...more }
  const config = join(home.folder, 'toolwell.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { files: entry } }))
  const approve = (...words: string[]) =>
    home.atTerminal(['approve', '--read-only', ...words, '--config', config])
  const open = async () => {
    // The gateway uses the same file.
    const serving = home.start(['serve', '--config', config, '--port', '0'])
    onTestFinished(async () => {
      await home.run(['stop'])
      await serving
    })
    await expect.poll(async () => (await home.run(['status'])).code, { timeout: 60_000 }).toBe(0)
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, 'serve', '--stdio'],
        env,
        cwd: home.folder,
      }),
    )
    const call = async (name: string, input: object) => {
      const { content } = await client.callTool({ name, arguments: input as Record<string, unknown> })
      return (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
    }
    return {
      read: (name: string) => call('run_read_only_tool', { name: `files__${name}`, arguments: {} }),
      call: (name: string) => call('run_tool', { name: `files__${name}`, arguments: {} }),
      search: (query: string) => call('find_tools', { query }),
    }
  }
  return { ...home, list, approve, open }
}

const REFUSED = 'not approved as read-only'

describe('approve --read-only', () => {
  it('counts in a gateway that runs, until it is revoked', async () => {
    const { approve, open } = withServer()
    const { read, search } = await open()
    expect(await read('read_one')).toContain(REFUSED)
    expect((await approve('files/read_one')).code).toBe(0)
    expect(await read('read_one')).toBe('{}')
    expect(await search('select:files__read_one,files__read_two')).toContain(
      'Approved as read-only, so run_read_only_tool may call it: files__read_one.',
    )
    expect(await read('read_two')).toContain(REFUSED)
    const revoked = await approve('--revoke', 'files')
    expect(revoked.output).toMatch(/No longer approved as read-only:[\s\S]*files\/read_one/)
    expect(await read('read_one')).toContain(REFUSED)
  })

  it('holds for a tool as it was, and for no other definition of it', async () => {
    const { approve, open, list } = withServer()
    const { read, call } = await open()
    await approve('files/write_one')
    expect(await read('write_one')).toBe('{}')
    writeFileSync(list, JSON.stringify([...TOOLS.slice(0, -1), tool('write_one', undefined, 'Does more.')]))
    // A changed tool is followed: it can be called, but not as read-only.
    expect(await call('change')).toBe('changed')
    await expect.poll(() => read('write_one'), { timeout: 60_000 }).toContain(REFUSED)
    expect(await call('write_one')).toBe('{}')
    const { output } = await approve('--json')
    expect(JSON.parse(output).tools).toContainEqual({
      server: 'files',
      tool: 'write_one',
      serverSays: 'nothing',
      isApproved: false,
      by: null,
      hasChanged: true,
    })
  })

  it('shows what the server says, and takes by a pattern only what it calls read-only', async () => {
    const { approve } = withServer({ readOnly: ['read_two'] })
    const { output, code } = await approve()
    expect(code).toBe(0)
    expect(output).toMatch(/files\/read_one +read-only +no\n/)
    expect(output).toMatch(/files\/read_two +read-only +by the config\n/)
    expect(output).toMatch(/files\/read_and_delete +changes things +no\n/)
    expect(output).toMatch(/files\/read_unsaid +– +no\n/)
    const taken = JSON.parse((await approve('files/read_*', '--json')).output)
    const names = (tools: { tool: string }[]) => tools.map((each) => each.tool)
    expect(names(taken.approved)).toEqual(['read_one', 'read_two'])
    expect(names(taken.left)).toEqual(['read_and_delete', 'read_unsaid'])
    const named = JSON.parse((await approve('files/read_unsaid', '--json')).output)
    expect(named).toMatchObject({
      approved: [{ tool: 'read_unsaid', by: 'person', isApproved: true }],
      left: [],
    })
    const all = JSON.parse((await approve('--json')).output).tools as { tool: string; isApproved: boolean }[]
    expect(names(all.filter(({ isApproved }) => isApproved))).toEqual(['read_one', 'read_two', 'read_unsaid'])
  })

  it.each([
    [['files/nothing'], /No usable tool matches "files\/nothing"/],
    [['--revoke'], /--revoke needs --read-only/],
  ])('refuses %j in words', async (words, problem) => {
    const { approve } = withServer()
    const { code, errors } = await approve(...words)
    expect(code).toBe(2)
    expect(errors).toMatch(problem)
  })

  it('takes a damaged record for none', async () => {
    const { approve, home } = withServer()
    await approve('files/read_one')
    const folder = join(home, '.local', 'share', 'toolwell', 'read-only')
    const [file = ''] = readdirSync(folder)
    for (const damaged of ['', '{', '[]', '{"toolwell":1,"tools":{"read_one":7,"__proto__":"x"}}']) {
      writeFileSync(join(folder, file), damaged)
      expect((await approve()).output).toMatch(/files\/read_one +read-only +no\n/)
    }
    expect((await approve('files/read_one')).output).toMatch(/files\/read_one +read-only +approved\n/)
  })
})
