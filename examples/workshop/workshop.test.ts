/** The workshop's tools do what their definitions say, on a real folder. */
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Validator } from '@cfworker/json-schema'
import type { Tool } from '@toolwell/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleCalls } from './example-calls.ts'
import { createWorkshop } from './index.ts'

const folders: string[] = []
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'workshop-'))
  folders.push(folder)
  return folder
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

function toolsOf(folder: string): Map<string, Tool> {
  const { ownTools, servers } = createWorkshop(folder)
  return new Map([...ownTools, ...servers.flatMap(({ tools }) => tools)].map((tool) => [tool.name, tool]))
}

async function call(
  tools: Map<string, Tool>,
  name: string,
  input: Record<string, unknown>,
): Promise<unknown> {
  const tool = tools.get(name)
  if (!tool?.execute) throw new Error(`no tool ${name}`)
  return tool.execute(input, { callId: 'call-1' })
}

/** Every object schema inside a schema, with the way to it. */
function objectSchemas(schema: unknown, way = ''): { way: string; schema: Record<string, unknown> }[] {
  if (typeof schema !== 'object' || schema === null) return []
  const record = schema as Record<string, unknown>
  const inner = Object.entries(record).flatMap(([key, value]) => objectSchemas(value, `${way}/${key}`))
  return 'properties' in record && record.type === 'object' ? [{ way, schema: record }, ...inner] : inner
}

describe('the definitions of the workshop', () => {
  const { ownTools, servers } = createWorkshop('.')
  const tools = [...ownTools, ...servers.flatMap((server) => server.tools)]

  it('number about sixty, under names and aliases that are unique', () => {
    const names = tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])])
    expect(new Set(names).size).toBe(names.length)
    expect(tools.length).toBeGreaterThanOrEqual(56)
    expect(tools.length).toBeLessThanOrEqual(64)
  })

  it('name the server as source of its tools, and none for the own tools', () => {
    for (const server of servers)
      for (const tool of server.tools) expect(tool.source, tool.name).toBe(server.name)
    for (const tool of ownTools) expect(tool.source, tool.name).toBeUndefined()
  })

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s has a legal schema and a known risk',
    (_, tool) => {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      for (const { way, schema } of objectSchemas(tool.inputSchema)) {
        const properties = schema.properties as Record<string, Record<string, unknown>>
        expect(Object.keys(properties), way).toEqual(
          expect.arrayContaining([...((schema.required as string[]) ?? [])]),
        )
        for (const [name, property] of Object.entries(properties))
          expect(property.description, `${way} ${name}`).toBeTruthy()
      }
      expect(tool.risk ?? tool.annotations?.readOnlyHint).toBeDefined()
      const [firstLine = ''] = tool.description.split('\n')
      expect(firstLine).toMatch(/\.$/)
    },
  )

  it('are all covered by the example calls, with input that their schemas accept', () => {
    const called = new Set(exampleCalls.map((example) => example.tool))
    expect([...called].sort()).toEqual(tools.map((tool) => tool.name).sort())
    for (const { tool: name, input } of exampleCalls) {
      const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {}
      expect(new Validator(schema, '2020-12', false).validate(input).errors, name).toEqual([])
    }
  })
})

describe('a run through every tool', () => {
  let folder = ''
  let tools = new Map<string, Tool>()
  beforeAll(async () => {
    folder = await createFolder()
    tools = toolsOf(folder)
  })

  // In order: each call builds on what the ones before it left in the folder.
  it.each(exampleCalls.map((example, index) => [index + 1, example.tool, example] as const))(
    'call %i: %s returns and leaves what it should',
    async (_, name, example) => {
      const result = await call(tools, name, example.input)
      if (typeof example.result === 'string') expect(result).toBe(example.result)
      else expect(JSON.parse(JSON.stringify(result))).toMatchObject(example.result)
      for (const [file, part] of Object.entries(example.files ?? {})) {
        const content = await readFile(path.join(folder, file), 'utf8').catch(() => null)
        if (part === null) expect(content, file).toBeNull()
        else expect(content, file).toContain(part)
      }
    },
  )

  it('gives the same results when it is repeated in another folder', async () => {
    const again = toolsOf(await createFolder())
    const once = toolsOf(await createFolder())
    for (const { tool, input } of exampleCalls)
      expect(await call(again, tool, input), tool).toEqual(await call(once, tool, input))
  })
})

describe('the workspace folder', () => {
  const outside = '../outside.txt'
  it.each([
    ['read_file', { path: outside }],
    ['read_file', { path: '/etc/hostname' }],
    ['write_file', { path: 'a/../../outside.txt', content: 'x' }],
    ['edit_file', { path: outside, edits: [{ old_text: 'a', new_text: 'b' }] }],
    ['list_folder', { path: '..' }],
    ['search_text', { pattern: 'a', path: '..' }],
    ['create_issue', { title: 'Some title', attachments: [{ path: outside }] }],
    [
      'export_calendar',
      { from: '2026-03-02T09:00:00Z', to: '2026-03-03T09:00:00Z', path: '../calendar.ics' },
    ],
    ['import_csv', { path: outside, table: 'rows' }],
    ['add_changelog_entry', { path: outside, group: 'Added', text: 'Something new.' }],
    ['create_draft', { subject: 'a', body: { content: 'b' }, attachments: [{ path: outside }] }],
  ])('is not left by %s %j', async (name, input) => {
    const tools = toolsOf(await createFolder())
    await expect(call(tools, name, input)).rejects.toThrow(/outside the workspace\. Use a path relative to/)
  })

  it('is not left through a link, even one that leads nowhere yet', async () => {
    const folder = await createFolder()
    const elsewhere = await createFolder()
    await symlink(elsewhere, path.join(folder, 'link'))
    await symlink(path.join(elsewhere, 'later.txt'), path.join(folder, 'dangling.txt'))
    const tools = toolsOf(folder)
    for (const target of ['link/file.txt', 'dangling.txt'])
      await expect(call(tools, 'write_file', { path: target, content: 'x' })).rejects.toThrow(
        /outside the workspace/,
      )
  })

  it('sees calls of one turn one after another, so that numbers stay unique', async () => {
    const tools = toolsOf(await createFolder())
    const titles = ['First issue', 'Second issue', 'Third issue']
    const results = await Promise.all(titles.map((title) => call(tools, 'create_issue', { title })))
    expect(results).toMatchObject([{ number: 1 }, { number: 2 }, { number: 3 }])
  })

  it('stays usable after a call that failed', async () => {
    const tools = toolsOf(await createFolder())
    await expect(call(tools, 'get_issue', { number: 9 })).rejects.toThrow(/list_issues/)
    await expect(call(tools, 'list_issues', {})).resolves.toMatchObject({ total: 0 })
  })
})

describe('merging branches', () => {
  it('refuses a file that both sides changed, and takes a side when told to', async () => {
    const folder = await createFolder()
    const tools = toolsOf(folder)
    const commit = async (content: string) => {
      await call(tools, 'write_file', { path: 'note.txt', content })
      await call(tools, 'create_commit', { message: { summary: content } })
    }
    await commit('base')
    await call(tools, 'create_branch', { name: 'other' })
    await commit('ours')
    await call(tools, 'switch_branch', { name: 'other' })
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('base')
    await commit('theirs')
    await call(tools, 'switch_branch', { name: 'main' })
    await expect(call(tools, 'merge_branch', { source: 'other' })).rejects.toThrow(/note\.txt.*on_conflict/)
    await call(tools, 'merge_branch', { source: 'other', on_conflict: 'take_theirs' })
    expect(await readFile(path.join(folder, 'note.txt'), 'utf8')).toBe('theirs')
  })
})
