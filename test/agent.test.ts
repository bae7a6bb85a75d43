/** The agent of examples/agent: its command, permissions, files, transcripts, and bad input. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Tool } from '@toolwell/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readAgent } from '../examples/agent/extensions.ts'
import { createPermissions } from '../examples/agent/permissions.ts'
import { workspaceTools } from '../examples/agent/tools.ts'
import { openTranscript, transcriptFile } from '../examples/agent/transcript.ts'
import { inWorld } from './e2e/seeds/play.ts'
import { guardChildren } from './setup/guard-children.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guard = guardChildren()

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'toolwell-agent-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

function run(...words: string[]) {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, ...env } = process.env
  return spawnSync(process.execPath, ['--import', 'tsx', 'examples/agent/main.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, NODE_OPTIONS: guard },
  })
}

describe('the command', () => {
  it('prints help, and reports what is missing', () => {
    const { status, stdout } = run('--help')
    expect(status).toBe(0)
    for (const word of ['--resume', '--fork', '--retry', 'Examples:', 'ANTHROPIC_API_KEY'])
      expect(stdout).toContain(word)
    const refused = (...words: string[]) => {
      const { status: code, stderr } = run(...words)
      expect(code).toBe(2)
      return stderr
    }
    expect(refused('-p', 'x')).toMatch(
      /No API key.*ANTHROPIC_API_KEY or OPENAI_API_KEY or GEMINI_API_KEY.*--url/,
    )
    expect(refused('-p', 'x', '--surfaces', 'sf')).toContain('--surfaces')
    const there = ['--url', 'http://127.0.0.1:9/v1', '--workspace', folder()]
    expect(refused('-p', 'x', ...there, '--resume', 'gone')).toContain('Unknown session gone')
  })
})

describe('permissions', () => {
  const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
    name,
    description: '',
    inputSchema: {},
    ...more,
  })
  const asked = (name: string, input: Record<string, unknown>, more: Partial<Tool> = {}) =>
    ({
      id: name,
      name,
      wireName: name,
      callId: 'c',
      input,
      tool: tool(name, more),
      context: { callId: 'c' },
    }) as const

  it('hide denied tools, and refuse calls by their arguments without hiding the tool', () => {
    const policy = createPermissions({ deny: ['memory/*', 'bash(git push*)'] }).policy(() => 'auto')
    const ask = (id: string, action: 'see' | 'call', input?: Record<string, unknown>) =>
      policy({ action, id, name: id, source: '', tool: tool(id), ...(input ? { input } : {}) })
    expect(ask('memory/read_graph', 'see')).toBe(false)
    expect(ask('bash', 'see')).toBe(true)
    expect(ask('bash', 'call', { command: 'git push origin' })).toBe(false)
    expect(ask('bash', 'call', { command: 'git status' })).toBe(true)
  })

  it('allow reading, ask about the rest, and refuse it if nobody can answer', async () => {
    const alone = createPermissions({ allow: ['bash(git *)'] })
    expect(await alone.approve(asked('read', {}, { risk: 'read' }), 'ask')).toBe('')
    expect(await alone.approve(asked('bash', { command: 'git log' }), 'ask')).toBe('')
    expect(await alone.approve(asked('bash', { command: 'ls' }), 'ask')).toContain('--allow bash')
    expect(await alone.approve(asked('bash', { command: 'ls' }), 'auto')).toBe('')
    const strict = createPermissions({}, async () => false)
    expect(await strict.approve(asked('write', {}), 'ask')).toBe('the user did not allow it')
  })
})

describe('files', () => {
  it('outside the workspace cannot be reached, even through a link; a missing workspace is reported', async () => {
    const workspace = folder()
    const outside = folder()
    writeFileSync(join(outside, 'secret'), 'secret')
    symlinkSync(outside, join(workspace, 'link'))
    const tools = new Map(workspaceTools(workspace).map((each) => [each.name, each]))
    const use = async (name: string, input: Record<string, unknown>) =>
      tools.get(name)?.execute?.(input, { callId: 'c' })
    for (const path of ['../x', join(outside, 'secret'), 'link/secret', 'link/new'])
      await expect(use('write', { path, content: '' })).rejects.toThrow('outside the workspace')
    await use('write', { path: 'a/b.txt', content: 'one\ntwo\n' })
    expect(await use('read', { path: 'a/b.txt', offset: 2, limit: 1 })).toBe('two')
    expect(await use('glob', { pattern: '**/*.txt' })).toBe('a/b.txt')
    expect(await use('grep', { expression: 'tw.' })).toBe('a/b.txt:2: two')
    await expect(use('edit', { path: 'a/b.txt', old: 'o', new: 'x' })).rejects.toThrow('2 times')
    rmSync(workspace, { recursive: true })
    await expect(use('read', { path: 'a/b.txt' })).rejects.toThrow('is gone')
  })
})

describe('a transcript', () => {
  it('removes a torn last line, and reports the number of a damaged or newer line', async () => {
    const sessions = folder()
    const file = transcriptFile(sessions, 'main')
    await (await openTranscript(sessions, 'main', 'google')).append({
      role: 'user',
      parts: [{ text: 'Hi.' }],
    })
    const whole = readFileSync(file, 'utf8')
    appendFileSync(file, '{"type":"message","wire":"goo')
    expect((await openTranscript(sessions, 'main', 'google')).said).toHaveLength(1)
    expect(readFileSync(file, 'utf8')).toBe(whole)
    appendFileSync(file, '{"type":"hologram"}\n')
    await expect(openTranscript(sessions, 'main', 'google')).rejects.toThrow(
      /line 3: .*"hologram".*newer version/,
    )
    writeFileSync(file, `${whole}not json\n`)
    await expect(openTranscript(sessions, 'main', 'google')).rejects.toThrow(/line 3: .*invalid JSON/)
  })
})

describe('a sub-agent’s file', () => {
  it('is read with its lists, and refused with a reason', () => {
    const text =
      '---\nname: scout\ndescription: "Looks around"\ntools: [read, memory/*]\ninherit_active_mcp: false\n---\nBe brief.\n'
    expect(readAgent(text, 'scout.md')).toEqual({
      name: 'scout',
      description: 'Looks around',
      tools: ['read', 'memory/*'],
      inherit_active_mcp: false,
      prompt: 'Be brief.',
    })
    expect(() => readAgent('Be brief.', 'a.md')).toThrow('a.md: it has no front matter with a name.')
    expect(() => readAgent('---\nname: a\nmodle: x\n---\n', 'a.md')).toThrow('"modle: x" is not known')
    expect(() => readAgent('---\nname: a\ninherit_active_mcp: maybe\n---\n', 'a.md')).toThrow('true or false')
  })
})

it('a model that never stops calling tools is stopped', async () => {
  await inWorld('sf', 'openai-chat', async (world) => {
    mkdirSync(join(world.workspace, 'src'))
    const session = await (await world.open()).open('main')
    world.script(
      ...Array.from({ length: 100 }, (_, index) => [{ name: 'glob', arguments: { pattern: `${index}` } }]),
    )
    await expect(session.ask('Go.')).rejects.toThrow('still calling tools after 100 replies')
  })
})

it('a long session is compacted by itself, keeps its to-do list and can be searched', async () => {
  await inWorld('qwen-code', 'anthropic', async (world) => {
    const session = await (await world.open({ contextTokens: 1 })).open('main')
    const todos = [{ text: 'Find the acorn', state: 'doing' }]
    await world.ask(session, 'The word is hazel.', [{ name: 'todo_write', arguments: { todos } }])
    await world.ask(session, 'Two.')
    world.script(
      { text: 'They began.' },
      [world.seed.find('query_journal')],
      [{ name: 'query_journal', arguments: { words: 'HAZEL' } }],
    )
    await world.ask(session, 'Which word?')
    expect(world.events).toContainEqual(expect.objectContaining({ kind: 'compaction' }))
    const last = world.sent.at(-1)?.raw ?? ''
    expect(last).toContain('They began.')
    expect(last).toContain('doing: Find the acorn')
    expect(world.events).toContainEqual(
      expect.objectContaining({ kind: 'tool-result', text: expect.stringContaining('The word is hazel.') }),
    )
  })
})
