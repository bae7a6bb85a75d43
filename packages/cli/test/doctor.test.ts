import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import { homeWith, misbehaving, poisoned, real } from './support/home.js'
import { toolwell } from './support/run.js'

const WAIT = 240_000
interface Diagnosis {
  readonly rule: string
  readonly level: string
  readonly server?: string
  readonly tool?: string
  readonly message: string
  readonly fix: string
}
const named = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  ...more,
})

/** What SARIF 2.1.0 says of the parts that are written. */
const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } }
const SARIF = {
  type: 'object',
  required: ['version', 'runs'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', format: 'uri' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['tool'],
        additionalProperties: false,
        properties: {
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          tool: {
            type: 'object',
            required: ['driver'],
            additionalProperties: false,
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                additionalProperties: false,
                properties: {
                  name: { type: 'string' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id'],
                      additionalProperties: false,
                      properties: { id: { type: 'string' }, shortDescription: text },
                    },
                  },
                },
              },
            },
          },
          results: {
            type: 'array',
            items: {
              type: 'object',
              // The message is all that the standard asks for; code hosts want a rule and a place.
              required: ['message', 'ruleId', 'level', 'locations'],
              additionalProperties: false,
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level: { enum: ['none', 'note', 'warning', 'error'] },
                message: text,
                locations: {
                  type: 'array',
                  minItems: 1,
                  items: {
                    type: 'object',
                    required: ['physicalLocation'],
                    additionalProperties: false,
                    properties: {
                      physicalLocation: {
                        type: 'object',
                        required: ['artifactLocation', 'region'],
                        additionalProperties: false,
                        properties: {
                          artifactLocation: {
                            type: 'object',
                            additionalProperties: false,
                            required: ['uri'],
                            properties: { uri: { type: 'string', minLength: 1, format: 'uri-reference' } },
                          },
                          region: {
                            type: 'object',
                            additionalProperties: false,
                            required: ['startLine'],
                            properties: { startLine: { type: 'integer', minimum: 1 } },
                          },
                        },
                      },
                      logicalLocations: {
                        type: 'array',
                        items: {
                          type: 'object',
                          additionalProperties: false,
                          properties: {
                            name: { type: 'string' },
                            fullyQualifiedName: { type: 'string' },
                            kind: { enum: ['function', 'module'] },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

describe('doctor', () => {
  it(
    'finds what is wrong, names the fix for each, and writes it as SARIF',
    async () => {
      const { run, start, folder } = homeWith({
        'toolwell.json': {
          mcpServers: {
            memory: { ...real('memory'), env: { MEMORY_TOKEN: 'very-secret-value' } },
            again: { ...real('memory'), env: { MEMORY_TOKEN: 'very-secret-value' } },
            bad: misbehaving({
              tools: [
                poisoned,
                named('todo_write'),
                named('x'.repeat(70)),
                named('deep', {
                  description: 'y'.repeat(1500),
                  inputSchema: { type: 'object', properties: { 'a b': {} }, anyOf: [{ required: ['a b'] }] },
                }),
                { name: 'broken', description: 'Has no schema.' },
                named('Twin'),
                named('twin'),
                named('shared'),
                named('wordy', { description: 'so '.repeat(500) }),
              ],
            }),
            eager: {
              ...misbehaving({
                tools: [named('lead', { description: 'Use `follow`.' }), named('follow'), named('shared')],
              }),
              alwaysLoad: ['lead'],
            },
            dead: { command: 'no-such-program-anywhere' },
            far: { url: 'http://127.0.0.1:6000/mcp' },
            'far-too': { url: 'http://127.0.0.1:6000/mcp', type: 'http' },
            wrong: { command: 'x', comand: 'y' },
          },
        },
        'prompt.md': 'Always call read_graph first.',
      })
      const words = ['doctor', '--system', 'prompt.md', '--timeout', '120']
      const json = await start([...words, '--json', '--slow', '0.001'])
      expect(json).toMatchObject({ code: 1, errors: '' })
      const { diagnoses, isHealthy } = JSON.parse(json.output) as {
        diagnoses: Diagnosis[]
        isHealthy: boolean
      }
      expect(isHealthy).toBe(false)
      const has = (rule: string, level: string, more: object = {}) =>
        expect(diagnoses).toContainEqual(expect.objectContaining({ rule, level, ...more }))
      has('config', 'error', { server: 'wrong', message: expect.stringContaining('comand'), line: 1 })
      has('dead-server', 'error', { server: 'dead', fix: expect.stringContaining('"enabled": false') })
      has('slow-server', 'warning', { server: 'bad' })
      has('same-server', 'warning', { message: expect.stringMatching(/same server as (?:memory|again)/) })
      has('same-server', 'warning', { message: expect.stringMatching(/same server as far/) })
      has('lock', 'note', { fix: expect.stringContaining('toolwell lock') })
      has('poisoned', 'error', { server: 'bad', tool: 'add', fix: expect.stringContaining('Do not approve') })
      has('collision', 'note', { message: expect.stringContaining('case-twin') })
      has('long-name', 'warning', { tool: 'x'.repeat(70), message: expect.stringContaining('75 characters') })
      has('bad-schema', 'error', { tool: 'broken', fix: expect.stringContaining('"deny"') })
      has('portability', 'note', {
        tool: 'deep',
        message: expect.stringMatching(
          /^Anthropic, Chat Completions, OpenAI Responses would refuse.*anyOf as text in the description.*1 parameter renamed/,
        ),
      })
      has('portability', 'note', {
        tool: 'wordy',
        message: expect.stringMatching(/cut and the whole text is added to the schema, which costs tokens/),
        fix: expect.stringMatching(/a shorter description would save tokens\. Ask the author/),
      })
      has('always-loaded', 'warning', {
        tool: 'todo_write',
        fix: expect.stringContaining('"alwaysLoad": ["todo_write"]'),
      })
      has('ambient', 'warning', {
        message: expect.stringContaining('The system prompt names the deferred tool read_graph'),
      })
      has('ambient', 'warning', {
        tool: 'follow',
        message: expect.stringContaining(
          'The description of eager/lead, which is always sent, names the deferred tool follow',
        ),
      })
      for (const { message, fix } of diagnoses) {
        expect(message.length).toBeGreaterThan(10)
        expect(fix.length).toBeGreaterThan(10)
      }
      expect(json.output).not.toContain('very-secret-value')

      const shown = await run([...words, '--sarif', 'out.sarif'])
      expect(shown.code).toBe(1)
      expect(shown.output).toMatch(/^✗ A definition looks poisoned$/m)
      expect(shown.output).toMatch(/^✓ Servers list their tools quickly$/m)
      expect(shown.output).toMatch(/^ {6}→ Do not approve/m)
      expect(shown.output).toMatch(/\d+ errors, \d+ warnings, \d+ notes\.\n$/)
      const sarif = JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8'))
      expect(new Validator(SARIF as never, '2020-12', false).validate(sarif).errors).toEqual([])
      const [{ results, tool }] = sarif.runs
      for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
      const place = { artifactLocation: { uri: 'toolwell.json' }, region: { startLine: 1 } }
      for (const ruleId of ['lock', 'shared-name'])
        expect(results).toContainEqual(
          expect.objectContaining({ ruleId, locations: [{ physicalLocation: place }] }),
        )
      expect(results).toContainEqual(
        expect.objectContaining({
          ruleId: 'config',
          level: 'error',
          locations: [
            expect.objectContaining({
              physicalLocation: place,
            }),
          ],
        }),
      )
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
      expect(JSON.stringify(sarif)).not.toContain('very-secret-value')
    },
    WAIT,
  )

  it(
    'ends with 0 where nothing is wrong, and with 1 where a lock holds something back',
    async () => {
      const { run, folder } = homeWith({
        'toolwell.json': {
          mcpServers: { memory: real('memory'), odd: misbehaving({ changesWhile: 'CHANGED' }) },
        },
      })
      await run(['lock'])
      const well = await run(['doctor', '--json', '--slow', '600'])
      expect(well.code).toBe(0)
      expect(JSON.parse(well.output)).toMatchObject({ isHealthy: true, servers: 2, diagnoses: [] })
      mkdirSync(join(folder, 'CHANGED'))
      const held = await run(['doctor'])
      expect(held.code).toBe(1)
      expect(held.output).toMatch(/odd\/echo {2}It is quarantined: odd\/echo differs from toolwell\.lock/)
    },
    WAIT,
  )

  it.each([
    [
      'a prompt that is not there',
      ['--system', 'no.md'],
      'File not found: no.md. Check the path after --system.',
    ],
    ['a folder for a file', ['--system', '.'], '. is a folder. Give --system a file.'],
    ['no config', [], 'No config found'],
  ])('ends with 2 for %s', async (_, words, message) => {
    const { run } = homeWith({})
    const { code, output, errors } = await run(['doctor', ...words])
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain(message)
  })

  it(
    'says so where SARIF cannot be written',
    async () => {
      const { run, folder } = homeWith({ 'toolwell.json': { mcpServers: { odd: misbehaving({}) } } })
      const { code, errors } = await run(['doctor', '--sarif', 'no/such/folder.sarif'])
      expect(code).toBe(2)
      expect(errors).toMatch(/folder\.sarif cannot be written \(ENOENT\)\. Check that the folder exists/)
      expect(existsSync(join(folder, 'no'))).toBe(false)
    },
    WAIT,
  )
})

it.each([
  [['doctor', 'x'], 'Unexpected argument "x".'],
  [['doctor', '--slow', 'very'], '--slow "very" is not a valid number of seconds.'],
  [['doctor', '--sarif'], '--sarif needs a value.'],
  [['doctor', '--sarrif', 'a'], 'Did you mean --sarif?'],
])('%j is refused: %s', async (words, message) => {
  const { code, output, errors } = await toolwell(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(message)
})

it('names patterns in deny and allow that match no tool', async () => {
  const { run } = homeWith({
    'toolwell.json': {
      mcpServers: { odd: { ...misbehaving({ tools: [named('danger')] }), deny: ['dangr', 'ODD__danger'] } },
      profiles: { p: { allow: ['odd/nothing'] } },
    },
  })
  const { output } = await run(['doctor', '--json', '--slow', '600'])
  const found = output.match(/\S+ of the \w+ \S+ contains \S+ which matches no tool/g)
  expect(found?.map((each) => each.replaceAll('\\', '').replaceAll('"', ''))).toEqual([
    expect.stringContaining('deny of the server odd contains dangr,'),
    expect.stringContaining('allow of the profile p contains odd/nothing,'),
  ])
}, 240_000)

it('names deny rules for a server that is no longer in the config', async () => {
  const words = ['serve', '--stdio', '--client', 'claude-code', '--own', 'files,my-notes=notes']
  const args = [fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url)), ...words]
  const { run } = homeWith({
    'toolwell.json': { mcpServers: { fs: misbehaving({ tools: [named('write_file')] }) } },
    'home/.claude.json': { mcpServers: { toolwell: { command: process.execPath, args } } },
    'home/.claude/settings.json': {
      permissions: {
        deny: ['mcp__files__write_file', 'mcp__notes', 'mcp__fs__a', 'mcp__*__b', 'mcp__stays__c'],
      },
    },
  })
  const { output } = await run(['doctor', '--json', '--slow', '600'])
  const found = (JSON.parse(output).diagnoses as Diagnosis[]).filter(({ rule }) => rule === 'client-rules')
  expect(found).toMatchObject([
    {
      level: 'warning',
      message: 'Claude Code denies mcp__files__write_file, but the config has no server "files".',
      file: expect.stringContaining('settings.json'),
      fix: expect.stringContaining('If you renamed the server, rename it in the rule too'),
    },
    { message: 'Claude Code denies mcp__notes, but the config has no server "my-notes".' },
  ])
}, 240_000)

it('reports an entry of a project with broken escapes', async () => {
  const entry = (own: string) => ({
    command: 'toolwell',
    args: ['serve', '--stdio', '--client', 'claude-code', '--own', own],
  })
  const { run } = homeWith({
    'toolwell.json': { mcpServers: { odd: misbehaving({ tools: [named('a')] }) } },
    '.mcp.json': { mcpServers: { toolwell: { type: 'http', url: 'http://127.0.0.1:7411/mcp/%E0%A4%A' } } },
    'home/.claude.json': { mcpServers: { toolwell: entry('%zz') } },
  })
  const { output } = await run(['doctor', '--json', '--slow', '600'])
  expect(JSON.parse(output).diagnoses).toContainEqual(
    expect.objectContaining({
      rule: 'client-rules',
      level: 'error',
      message: expect.stringContaining('"%zz"'),
    }),
  )
}, 240_000)

it('names deny rules that an entry with --client but without --own cannot follow', async () => {
  const config = { mcpServers: { fs: misbehaving({ tools: [named('write_file')] }) } }
  const deny = [
    'mcp__files__write_file',
    'mcp__fs__write_file',
    'mcp__stays__c',
    'mcp__*__b',
    'mcp__toolwell__run_tool',
  ]
  const { run, home } = homeWith({
    'home/.claude.json': {
      mcpServers: { files: config.mcpServers.fs, stays: { command: 'x', args: ['${UNSET}'] } },
    },
    'home/.claude/settings.json': { permissions: { deny } },
  })
  const messages = async () => {
    const { output } = await run(['doctor', '--json', '--slow', '600'])
    const found = JSON.parse(output).diagnoses as Diagnosis[]
    return found.filter(({ rule }) => rule === 'client-rules').map(({ message }) => message)
  }
  expect((await run(['connect', '--yes', '--no-start'])).code).toBe(0)
  const [client, ours] = [join(home, '.claude.json'), join(home, '.config/toolwell/toolwell.json')]
  const written = readFileSync(client, 'utf8')
  writeFileSync(client, written.replace(/"--own",\s*"[^"]*"/, '"--all"'))
  expect(await messages()).toEqual([
    'Claude Code denies mcp__files__write_file, but its entry for Toolwell does not name this server after --own, so the rule may not apply.',
  ])
  // Written by hand, with the server under another name.
  rmSync(join(home, '.local/share/toolwell/connect'), { recursive: true })
  writeFileSync(ours, JSON.stringify(config))
  expect(await messages()).toEqual([
    'Claude Code denies mcp__files__write_file, but the config has no such server.',
  ])
}, 240_000)

it('names no server for a denied tool of the client itself', async () => {
  const { run } = homeWith({
    'toolwell.json': { mcpServers: { fs: misbehaving({ tools: [named('write_file')] }) } },
    'home/.gemini/settings.json': {
      mcpServers: { toolwell: { command: 'toolwell', args: ['serve', '--stdio', '--client', 'gemini'] } },
      tools: { exclude: ['run_shell_command', 'mcp_gone_write_file'] },
    },
  })
  const { output } = await run(['doctor', '--json', '--slow', '600'])
  const found = JSON.parse(output).diagnoses as Diagnosis[]
  expect(found.filter(({ rule }) => rule === 'client-rules').map(({ message }) => message)).toEqual([
    'Gemini CLI denies mcp_gone_write_file, but the config has no such server.',
  ])
}, 240_000)

it('names tools that a client denies but reaches without its rules', async () => {
  const toolwell = { type: 'http', url: 'http://127.0.0.1:7411/mcp/small' }
  const files = {
    'toolwell.json': {
      mcpServers: {
        files: misbehaving({ tools: [named('read_file'), named('write_file'), named('move_file')] }),
      },
      profiles: { small: { deny: ['move_file'] } },
    },
    'home/.claude.json': { mcpServers: { toolwell } },
    'home/.claude/settings.json': {
      permissions: { deny: ['mcp__files__write_file', 'mcp__files__move_file'] },
    },
    'home/.gemini/settings.json': {
      mcpServers: { toolwell: { httpUrl: 'http://127.0.0.1:7411/mcp' } },
      mcp: { excluded: 'files' },
    },
  }
  const { run } = homeWith(files)
  const { output } = await run(['doctor', '--json', '--slow', '600'])
  const found = (JSON.parse(output).diagnoses as Diagnosis[]).filter(({ rule }) => rule === 'client-rules')
  expect(found).toMatchObject([
    { level: 'error', message: expect.stringContaining('"mcp.excluded" must be a list of strings') },
    {
      level: 'warning',
      message: 'Claude Code denies files/write_file, but its entry for Toolwell does not carry this rule.',
      fix: expect.stringContaining('{"profiles":{"small":{"deny":["move_file","files/write_file"]}}}'),
    },
  ])
}, 240_000)
