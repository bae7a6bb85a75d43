/** Clients of both SDKs and both protocol generations over HTTP, with real servers. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { someOf } from '../../../test/setup/tier.ts'
import { eventually } from '../../mcp/test/support/processes.js'
import { realServer } from '../../mcp/test/support/real-servers.js'
import { CLIENT_KINDS, openClient } from './support/clients.js'
import { entry, startGateway, temporary } from './support/gateway.js'

const everything = () => entry(realServer('everything'), { readOnly: ['echo', 'get-tiny*'] })

/** Listed once for all tests of this file. */
const known = { cache: memoryCache(), firstUse: memoryFirstUse() }

async function start() {
  const folder = temporary()
  writeFileSync(join(folder, 'hello.txt'), 'Hello from a file.')
  const started = await startGateway(
    {
      mcpServers: {
        everything: everything(),
        files: entry(realServer('filesystem', [folder]), { alwaysLoad: ['read_text_file'] }),
      },
      profiles: { reading: { servers: ['files'], allow: ['read_*'] } },
    },
    { connect: known },
  )
  started.gateway.prepare()
  // Its folder is new in each test, so nothing is cached.
  const isListed = () =>
    started.of('server').some(({ event }) => event.kind === 'server-listed' && event.server === 'files')
  await eventually(isListed, 'the files are listed')
  return { ...started, files: folder }
}

describe('a client over HTTP', () => {
  it.each(CLIENT_KINDS)('of %s searches, reads and calls through three tools', async (kind) => {
    const { url, files, gateway } = await start()
    const client = await openClient(kind, `${url}/mcp`)
    expect(client.version).toBe(kind === 'v2 modern' ? '2026-07-28' : '2025-11-25')
    expect(client.instructions).toContain('find_tools')
    const tools = await client.list()
    expect(tools.map(({ name }) => name)).toEqual([
      'find_tools',
      'run_read_only_tool',
      'run_tool',
      'files__read_text_file',
    ])
    for (const { _meta: meta } of tools) expect(meta).toMatchObject({ 'anthropic/alwaysLoad': true })
    expect(tools.map(({ annotations }) => (annotations as { readOnlyHint?: boolean })?.readOnlyHint)).toEqual(
      [true, true, false, true],
    )

    const found = await client.text('find_tools', { query: 'add two numbers' })
    expect(found).toContain('everything__get-sum')
    expect(found).toContain('"inputSchema"')
    const load = /"name":"everything__get-sum".*?"load":"(\w+)"/.exec(found)?.[1]
    const sum = { name: 'Get_Sum', arguments: { a: 2, b: 3 }, load }
    expect(await client.text('run_tool', sum)).toBe('The sum of 2 and 3 is 5.')
    expect(await client.text('files__read_text_file', { path: join(files, 'hello.txt') })).toBe(
      'Hello from a file.',
    )

    expect(await client.text('find_tools', { query: 'select:echo' })).toContain(
      'Approved as read-only, so run_read_only_tool may call it: everything__echo.',
    )
    expect(await client.text('run_read_only_tool', { name: 'echo', arguments: { message: 'hi' } })).toBe(
      'Echo: hi',
    )
    // Only the server itself declares the tool read-only.
    const refused = await client.call('run_read_only_tool', {
      name: 'files__read_text_file',
      arguments: { path: 'hello.txt' },
    })
    expect(refused).toMatchObject({ isError: true })
    expect(refused.content[0]?.text).toContain('not approved as read-only')
    const { counts } = await gateway.inspect()
    expect(counts).toMatchObject({ calls: 3, searches: 2, refused: 1 })
  })

  it.each(someOf(CLIENT_KINDS, 1))('of %s lists and calls every tool under its own name', async (kind) => {
    const { url, files } = await start()
    const client = await openClient(kind, `${url}/mcp/all`)
    const tools = await client.list()
    expect(tools.length).toBeGreaterThan(20)
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).sort())
    // Clients that defer tools search names and descriptions.
    expect(tools.find(({ name }) => name === 'everything__echo')?.description).toMatch(
      /\n\nServer: everything, "[^"]+"$/,
    )
    expect(
      tools.find(({ name }) => name === 'everything__get-structured-content')?.outputSchema,
    ).toBeDefined()
    const weather = await client.call('everything__get-structured-content', { location: 'New York' })
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) })
    expect(await client.text('files__read_text_file', { path: join(files, 'hello.txt') })).toBe(
      'Hello from a file.',
    )
  })

  it.each(someOf(CLIENT_KINDS, 2))('of %s gets results as the server gave them', async (kind) => {
    const { url } = await start()
    const client = await openClient(kind, `${url}/mcp`)
    const image = await client.call('run_read_only_tool', { name: 'get-tiny-image', arguments: {} })
    expect(image.content.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
    const annotated = await client.call('run_tool', {
      name: 'get-annotated-message',
      arguments: { messageType: 'error' },
    })
    expect(annotated.content[0]).toMatchObject({ annotations: { priority: 1 } })
    // The gateway answers; the upstream server is not named.
    expect(JSON.stringify(annotated._meta ?? {})).not.toContain('everything')
  })

  it.each(someOf(CLIENT_KINDS, 3))(
    'of %s sees of a profile what is in it, and may call no more',
    async (kind) => {
      const { url, gateway } = await start()
      const client = await openClient(kind, `${url}/mcp/reading/all`)
      const names = (await client.list()).map(({ name }) => name)
      expect(names).toContain('files__read_text_file')
      expect(names.filter((name) => !name.startsWith('files__read_'))).toEqual([])
      const three = await openClient(kind, `${url}/mcp/reading`)
      expect(await three.text('find_tools', { query: 'select:echo,files__write_file' })).not.toContain(
        'inputSchema',
      )
      const denied = await three.text('run_tool', { name: 'files__write_file', arguments: {} })
      expect(denied).toContain('Found no tool named')
      const all = await openClient(kind, `${url}/mcp`)
      await all.text('run_tool', { name: 'files__list_allowed_directories', arguments: {} })
      await three.text('run_tool', { name: 'files__read_text_file', arguments: { path: 'none' } })
      // Profiles share processes.
      const { serverSets } = await gateway.inspect()
      expect(serverSets).toHaveLength(1)
      expect(serverSets[0]?.servers.flatMap(({ pids }) => pids)).toHaveLength(1)
    },
  )

  it.each(someOf(CLIENT_KINDS, 4))('of %s receives progress, and can cancel', async (kind) => {
    const { url, of } = await start()
    const client = await openClient(kind, `${url}/mcp`)
    await client.list()
    const seen: number[] = []
    const stop = new AbortController()
    const call = client.call(
      'run_tool',
      { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
      {
        signal: stop.signal,
        onprogress: ({ progress }) => {
          seen.push(progress)
          if (seen.length === 3) stop.abort()
        },
      },
    )
    await expect(call).rejects.toThrow()
    expect(seen.length).toBeGreaterThanOrEqual(3)
    expect(await client.text('run_tool', { name: 'echo', arguments: { message: 'still here' } })).toBe(
      'Echo: still here',
    )
    expect(of('call').at(-1)).toMatchObject({ tool: 'everything__echo', what: 'run', isError: false })
  })

  it.each(someOf(CLIENT_KINDS, 5))('of %s is answered in words where it errs', async (kind) => {
    const { url } = await start()
    const client = await openClient(kind, `${url}/mcp`)
    await client.list()
    const wrong = await client.call('run_tool', { name: 'get-sum', arguments: { a: 'one' } })
    expect(wrong.isError).toBe(true)
    expect(wrong.content[0]?.text).toMatch(/"a": "Must be number, not string\."[\s\S]*"inputSchema"/)
    expect(await client.text('run_tool', { name: 'get_summ', arguments: {} })).toContain(
      'everything__get-sum',
    )
    expect(await client.text('run_tool', { nonsense: 1 })).toContain('"name": "Is missing')
    expect(
      await client.text('run_tool', { name: 'echo', arguments: { message: 'x' }, load: 'old' }),
    ).toContain('inputSchema')
    await expect(client.call('no_such_tool')).rejects.toThrow(/no_such_tool/)
  })
})
