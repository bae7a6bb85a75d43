/** Laws of `connect` and `undo`, on random configs of every format. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { stringify as stringifyToml } from 'smol-toml'
import { expect, it } from 'vitest'
import { stringify as stringifyYaml } from 'yaml'
import { runs } from '../../../test/setup/tier.ts'
import { changeServers } from '../src/connect/edit/change-servers.js'
import { parseClient } from '../src/shared/clients/read-client.js'
import { type Kind, type RandomDocument, randomDocuments, randomEntry } from './support/random-documents.js'
import { toolwell } from './support/run.js'

/** Which client has a file of this kind, and what its servers are below. */
const CLIENTS: Readonly<Record<Kind, { file: string; key: string }>> = {
  strict: { file: '.gemini/settings.json', key: 'mcpServers' },
  json: { file: '.cursor/mcp.json', key: 'mcpServers' },
  toml: { file: '.codex/config.toml', key: 'mcp_servers' },
  yaml: { file: '.config/goose/config.yaml', key: 'extensions' },
  list: { file: '.continue/config.yaml', key: 'mcpServers' },
}

const plainWord = fc.stringMatching(/^[a-z]{1,8}$/)
const server = (kind: Kind) =>
  fc
    .record({
      program: plainWord,
      args: fc.array(fc.string({ maxLength: 8 }), { maxLength: 3 }),
      more: randomEntry,
    })
    .map(({ program, args, more }) =>
      kind === 'yaml'
        ? { ...more, type: 'stdio', cmd: program, args, enabled: true }
        : { ...more, command: program, args },
    )

const documents = randomDocuments({
  keyOf: (kind) => CLIENTS[kind].key,
  // Some entries can be moved, and some are not servers at all.
  entryOf: (kind) => fc.oneof({ arbitrary: server(kind), weight: 3 }, randomEntry),
})

/** One client with this file, in a temporary home. */
async function withHome<T>(
  { kind, source }: RandomDocument,
  work: (home: {
    file: string
    ours: string
    run: (...words: string[]) => ReturnType<typeof toolwell>
  }) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-law-'))
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_DATA_HOME: join(folder, 'data'),
  }
  try {
    const file = join(folder, CLIENTS[kind].file)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, source)
    const ours = join(env.XDG_CONFIG_HOME, 'toolwell', 'toolwell.json')
    return await work({ file, ours, run: (...words) => toolwell(words, { folder, env }) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const valueIn = (text: string, { format }: RandomDocument) => {
  const parsed = parseClient(text, format, '')
  if ('problem' in parsed) throw new Error(parsed.problem.message)
  return JSON.parse(JSON.stringify(parsed.value))
}

/** Servers by name; a table that is empty, or none, is the same. */
const comparable = (value: Record<string, unknown>, { table }: RandomDocument) => {
  const [key = ''] = table.path
  const { [key]: servers, ...others } = value
  const entries = Array.isArray(servers)
    ? servers.map((each: { name: string }) => [each.name, each] as const)
    : Object.entries(servers ?? {})
  return { others, servers: Object.fromEntries(entries) }
}

const written = (value: unknown, { format }: RandomDocument) =>
  format === 'json'
    ? JSON.stringify(value, null, 4)
    : format === 'toml'
      ? stringifyToml(value)
      : stringifyYaml(value)

it('connect, then undo, is the identity on bytes', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(documents, (document) =>
      withHome(document, async ({ file, ours, run }) => {
        const connected = await run('connect', '--yes', '--json')
        const answer = JSON.parse(connected.output)
        expect([connected.code, answer.refused]).toEqual([0, []])
        taken += answer.clients[0].taken.length
        const after = readFileSync(file, 'utf8')
        expect(valueIn(after, document)).not.toEqual(valueIn(document.source, document))
        // A second time nothing changes.
        await run('connect', '--yes')
        expect(readFileSync(file, 'utf8')).toBe(after)
        expect((await run('undo', '--yes')).code).toBe(0)
        expect(readFileSync(file, 'utf8')).toBe(document.source)
        expect(existsSync(ours)).toBe(false)
      }),
    ),
    { numRuns: runs(240) },
  )
  expect(taken).toBeGreaterThan(0)
})

const foreign = { type: 'stdio', cmd: 'theirs', command: 'theirs' }

/** Changes a client, or its user, may make to the file meanwhile. */
const EDITS: Readonly<Record<string, (text: string, document: RandomDocument) => string>> = {
  'a key in front': (text, { format }) => {
    if (format === 'toml') return `foreign = true # mine\n${text}`
    if (format === 'yaml') return `foreign: true # mine\n${text}`
    return text.replace('{', '{ "foreign": true,')
  },
  'a key, and the whole file rewritten': (text, document) =>
    written({ ...valueIn(text, document), foreign: true }, document),
  'a server': (text, { format, table }) =>
    changeServers(text, format, table, { remove: [], add: [{ name: 'foreign-one', value: foreign }] }),
  'all written anew': (text, document) => written(valueIn(text, document), document),
}

it('connect, an edit by another program, and undo keep that edit and nothing of Toolwell', async () => {
  await fc.assert(
    fc.asyncProperty(documents, fc.constantFrom(...Object.keys(EDITS)), (document, edit) =>
      withHome(document, async ({ file, ours, run }) => {
        await run('connect', '--yes')
        const edited = EDITS[edit]?.(readFileSync(file, 'utf8'), document) ?? ''
        writeFileSync(file, edited)
        const { code, output, errors } = await run('undo', '--yes')
        expect([code, errors, code === 0 ? '' : output]).toEqual([0, '', ''])
        const undone = readFileSync(file, 'utf8')
        const before = comparable(valueIn(document.source, document), document)
        const after = comparable(valueIn(undone, document), document)
        if (edit === 'all written anew') expect(undone).toBe(document.source)
        expect(after).toEqual({
          others: { ...before.others, ...(edit.startsWith('a key') ? { foreign: true } : {}) },
          servers: {
            ...before.servers,
            ...(edit === 'a server'
              ? { 'foreign-one': document.table.isList ? { name: 'foreign-one', ...foreign } : foreign }
              : {}),
          },
        })
        if (edit === 'a key in front')
          expect(undone).toContain(document.format === 'json' ? '"foreign"' : '# mine')
        expect(existsSync(ours)).toBe(false)
      }),
    ),
    { numRuns: runs(240) },
  )
})
