import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { homeWith, misbehaving, poisoned, real } from './support/home.js'
import { toolwell } from './support/run.js'

it('searches the tools of servers, from the cache if they are known, and answers as for a catalogue', async () => {
  const { run, start, folder } = homeWith({
    'toolwell.json': {
      mcpServers: {
        filesystem: real('filesystem', '.'),
        memory: real('memory'),
        bad: misbehaving({
          tools: [poisoned, { name: 'rename_star', description: 'Renames a star.', inputSchema: {} }],
          log: 'LOG',
        }),
        dead: { command: 'no-such-program-anywhere' },
      },
    },
  })
  // The file of this folder needs no name.
  const config: string[] = []
  const words = ['search', 'read the text of a file', ...config]
  const first = await start([...words, '--json'])
  expect(first.code).toBe(0)
  const { matches, tools } = JSON.parse(first.output)
  expect(matches[0]).toMatchObject({ server: 'filesystem', id: expect.stringContaining('filesystem/read') })
  expect(first.errors).toContain('dead is not searched (failed): dead cannot be used')
  expect(first.errors).toContain('1 tool of bad is quarantined.')

  // The same tools from a file: the same answer.
  const inspected = JSON.parse((await run(['inspect', '--json'])).output)
  expect(tools).toBe(
    inspected.tools.filter(({ isQuarantined }: { isQuarantined: boolean }) => !isQuarantined).length,
  )
  const text = await run(words)
  expect(text.output).toMatch(/^ 1 {2}filesystem\/read/)
  expect((await run(['search', 'rename a star', ...config])).output).toMatch(/^ 1 {2}bad\/rename_star/)
  expect((await run(['search', 'adds', ...config])).output).not.toContain('bad/add')
  expect(
    (await start(['search', '--batch', '-', ...config], { input: '{"query":"rename a star"}\n' })).output,
  ).toContain('"id":"bad/rename_star"')
  const why = await run(['search', 'read the text of a file', ...config, '--why', 'create_entities'])
  expect(why).toMatchObject({ code: 1, output: expect.stringContaining('memory/create_entities') })
  // Only the first run started it.
  expect(readFileSync(join(folder, 'LOG'), 'utf8').match(/start/g)).toHaveLength(1)
})

it('searches one profile on request', async () => {
  const tools = ['rename_star', 'rename_moon'].map((name) => ({
    name,
    description: 'Renames.',
    inputSchema: {},
  }))
  const { run } = homeWith({
    'toolwell.json': {
      mcpServers: { sky: misbehaving({ tools }), other: misbehaving({ tools }) },
      profiles: { night: { servers: ['sky'], allow: ['*_star'] } },
    },
  })
  const ids = async (...words: string[]) =>
    JSON.parse((await run(['search', 'rename', '--json', ...words])).output)
      .matches.map(({ id }: { id: string }) => id)
      .sort()
  expect(await ids()).toEqual([
    'other/rename_moon',
    'other/rename_star',
    'sky/rename_moon',
    'sky/rename_star',
  ])
  expect(await ids('--profile', 'night')).toEqual(['sky/rename_star'])
  const inspected = JSON.parse((await run(['inspect', '--json', '--profile', 'night'])).output)
  expect(inspected.tools.map(({ name }: { name: string }) => name)).toEqual(['rename_star'])
  const wrong = await run(['doctor', '--profile', 'nihgt'])
  expect(wrong).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/no profile "nihgt".*Did you mean "night"\?/s),
  })
})

it.each([
  [['search', 'a', '--config', 'no.json'], /there is no such file/],
  [
    ['search', 'a', '--config', 'dead.json', '--timeout', '120'],
    /dead\.json contains no tools\. Check your servers/,
  ],
])('%j ends with 2', async (words, message) => {
  const { run } = homeWith({ 'dead.json': { mcpServers: { dead: { command: 'no-such-program-anywhere' } } } })
  const { code, output, errors } = await run(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toMatch(message)
})

it.each([
  [['search', 'a', '--config', 'a', '--catalog', 'b'], '--catalog and --config cannot be combined.'],
  [['search', 'a', '--config', 'a', '--timeout', 'x'], '--timeout "x" is not a valid number of seconds.'],
])('%j is refused: %s', async (words, message) => {
  const { code, output, errors } = await toolwell(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(message)
})

it('says why a known tool is not searched', async () => {
  const tools = ['rename_star', 'rename_moon', 'delete_star', 'paint_star'].map((name) => ({
    name,
    description: 'Does it to the sky.',
    inputSchema: {},
  }))
  const { run } = homeWith({
    'toolwell.json': {
      mcpServers: {
        sky: {
          ...misbehaving({ tools: [...tools, poisoned, { name: 'bare' }] }),
          allow: ['*_star', 'add', 'bare'],
          deny: ['delete_*'],
        },
      },
      profiles: { calm: { allow: ['rename_*', 'paint_*'], deny: ['sky/paint_*', 'sea/rename_*'] } },
    },
  })
  const why = async (name: string, ...words: string[]) => {
    const { code, output } = await run(['search', 'rename', '--why', name, ...words])
    expect(code).toBe(1)
    return output
  }
  expect(await why('delete_star')).toBe(
    'sky/delete_star is not searched: the config excludes it with "deny": ["delete_*"] in the entry of sky.\n',
  )
  expect(await why('sky/rename_moon')).toContain('with "allow" in the entry of sky, which does not name it.')
  expect(await why('sky__add')).toMatch(/^sky\/add is not searched: it is quarantined: .*secrecy/)
  expect(await why('bare')).toMatch(/^sky\/bare is not searched: it is unusable: it /)
  expect(await why('paint_star', '--profile', 'calm')).toContain(
    'with "deny": ["sky/paint_*"] in the profile.',
  )
  expect(await why('add', '--profile', 'calm')).toContain(
    'with "allow" in the profile, which does not name it.',
  )
  expect(await why('delete_star', '--profile', 'calm')).toContain('["delete_*"] in the entry of sky.')
  expect(JSON.parse(await why('delete_star', '--json'))).toMatchObject({
    outcome: 'not-searched',
    excluded: [{ server: 'sky', name: 'delete_star', by: 'config' }],
  })
  expect(await why('nothing_like_it')).toContain('Unknown tool')
})
