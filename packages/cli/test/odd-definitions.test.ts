/** Servers that list what nobody can use, or only in part: every verb says the same of them, and every entry is accounted for. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { homeWith, misbehaving, poisoned } from './support/home.js'

const WAIT = 240_000
const named = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  ...more,
})
const unsound = named('unsound', {
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'strin' },
      mode: { $ref: '#/$defs/Missing' },
      name: { type: 'string', pattern: '[' },
      count: 5,
    },
  },
})
const list = [
  named('good'),
  unsound,
  poisoned,
  named('secret_tool'),
  named('good'),
  named('twin'),
  named('twin', { description: 'Does something else.' }),
  { name: 'bare', description: 'Has no schema.' },
  { description: 'Has no name.', inputSchema: { type: 'object' } },
  named(' '),
  null,
  named('listed', { inputSchema: { type: 'array' } }),
]
const config = (tools: readonly unknown[] = list, more: object = {}) => ({
  mcpServers: { odd: { ...misbehaving({ tools }), deny: ['secret_*'], ...more } },
})

interface Diagnosis {
  readonly rule: string
  readonly level: string
  readonly tool?: string
  readonly message: string
  readonly fix: string
}
const diagnosesOf = (output: string) => (JSON.parse(output) as { diagnoses: Diagnosis[] }).diagnoses

describe('a server with entries that are not tools', () => {
  it(
    'is counted alike by inspect, doctor, lock and search, and no entry vanishes',
    async () => {
      const { run, folder } = homeWith({ 'toolwell.json': config() })
      const json = await run(['inspect', '--json'])
      const { servers, tools } = JSON.parse(json.output)
      const [odd] = servers
      const held = Object.keys(odd.quarantined)
      expect(odd).toMatchObject({ tools: 4, denied: ['secret_tool'] })
      expect(held.sort()).toEqual(['add', 'twin'])
      expect(odd.unusable.map(({ entry, name }: { entry: number; name?: string }) => [entry, name])).toEqual([
        [5, 'good'],
        [7, 'twin'],
        [8, 'bare'],
        [9, undefined],
        [10, undefined],
        [11, undefined],
        [12, 'listed'],
      ])
      for (const { reason } of odd.unusable) expect(reason.length).toBeGreaterThan(8)
      expect(odd.tools + odd.denied.length + odd.unusable.length).toBe(list.length)
      expect(tools).toHaveLength(odd.tools)
      const usable = odd.tools - held.length

      const shown = await run(['inspect'])
      expect(shown.output).toMatch(/^1 server, 4 tools, 2 of them quarantined, and 7 unusable/)
      expect(shown.output).toContain('odd: 7 entries of its list unusable')
      expect(shown.output).toMatch(/^Unusable\n {2}odd: entry 5 \(good\) is listed again/m)
      expect(shown.output).toContain('odd: entry 9 has no name')

      const doctor = diagnosesOf((await run(['doctor', '--json'])).output)
      const out = doctor.filter(({ message }) => message.startsWith('It is unusable'))
      expect(out).toHaveLength(odd.unusable.length)
      for (const { rule, level, tool } of out)
        expect([rule, level]).toEqual([
          'bad-schema',
          tool === 'good' || tool === 'twin' ? 'warning' : 'error',
        ])
      const back = doctor.filter(({ rule }) => rule === 'quarantined').map(({ tool }) => tool)
      // A tool that looks poisoned is named as such.
      expect(back).toEqual(['twin'])
      expect(held.sort()).toEqual(['add', 'twin'])

      const search = await run(['search', 'espresso grinder hopper', '--config', 'toolwell.json'])
      expect(search.errors).toContain(`Searched ${usable} tools`)
      expect(search.errors).toContain('7 tools of odd are unusable')
      expect(search.errors).toContain('2 tools of odd are quarantined')

      const lock = await run(['lock'])
      expect(lock.output).toContain(`1 server, ${usable} tools.`)
      expect(lock.output).toContain('unusable, and not pinned: odd: entry 8 (bare) has no inputSchema')
      const pinned = Object.keys(
        JSON.parse(readFileSync(join(folder, 'toolwell.lock'), 'utf8')).servers.odd.tools,
      )
      expect(pinned).toEqual(['good', 'unsound'])
      const after = JSON.parse((await run(['inspect', '--json'])).output).servers[0]
      expect([after.tools, Object.keys(after.quarantined).sort()]).toEqual([4, ['add', 'twin']])
    },
    WAIT,
  )

  it('is the same from the cache', async () => {
    const { run } = homeWith({ 'toolwell.json': config() })
    const first = JSON.parse((await run(['inspect', '--json'])).output).servers[0]
    const second = JSON.parse((await run(['inspect', '--json'])).output).servers[0]
    expect(second).toMatchObject({ state: 'cached', tools: 4 })
    expect(second.unusable).toEqual(first.unusable)
  })
})

describe('a schema that is not sound', () => {
  it('is named by doctor, place by place, with what is wrong and the fix', async () => {
    // By a file: what a config holds may be hidden.
    const { run } = homeWith({
      'manners.json': { tools: [named('good'), unsound] },
      'toolwell.json': { mcpServers: { odd: misbehaving({ from: 'manners.json' }) } },
    })
    const { code, output } = await run(['doctor', '--json'])
    const found = diagnosesOf(output).filter(({ rule }) => rule === 'bad-schema')
    expect(found.map(({ level, tool }) => [level, tool])).toEqual(found.map(() => ['warning', 'unsound']))
    expect(found.map(({ message }) => message)).toEqual([
      'inputSchema.properties.path.type has to be one of the seven types of JSON, or a list of them, not "strin".',
      'inputSchema.properties.mode.$ref leads nowhere: there is no "#/$defs/Missing" in the schema.',
      'inputSchema.properties.name.pattern has to be a regular expression, not "[".',
      'inputSchema.properties.count has to be a schema, not 5.',
    ])
    for (const { fix } of found) expect(fix).toContain('Ask the author to fix it')
    // Toolwell repairs it for all of them.
    expect(diagnosesOf(output).some(({ rule }) => rule === 'portability')).toBe(false)
    expect(code).toBe(0)
  })
})

describe('a tool with hard findings', () => {
  it(
    'is to be kept out, says every hint; once it is, nobody complains',
    async () => {
      const tools = [named('good'), poisoned, { name: 'bare' }]
      const { run, folder } = homeWith({ 'toolwell.json': config(tools) })
      const way = '"deny": ["add"] in the entry of odd'
      const { quarantined } = JSON.parse((await run(['inspect', '--json'])).output).servers[0]
      expect(quarantined.add).toContain(way)
      expect(quarantined.add).not.toContain('--approve')
      const doctor = await run(['doctor'])
      expect(doctor.output).toMatch(/^✗ A definition looks poisoned$/m)
      expect(doctor.output).toContain('It is quarantined: secrecy in description')
      expect(doctor.output).toContain(way)
      expect(doctor.output).not.toContain('--approve')
      const lock = await run(['lock'])
      expect(lock.output).toContain(way)
      expect(lock.output).not.toContain('--approve')
      const check = await run(['lock', '--check'])
      expect(check).toMatchObject({ code: 1 })
      expect(check.output).toContain(`odd/add looks poisoned. Do not approve it. Keep it out: ${way}`)
      expect(check.output).not.toContain('--approve')
      const gate = await run(['inspect', '--max-tokens', '1'])
      expect(gate.errors).toContain('starting with odd/good')

      writeFileSync(join(folder, 'toolwell.json'), JSON.stringify(config(tools, { deny: ['bare', 'add'] })))
      expect(await run(['lock', '--check'])).toMatchObject({ code: 0 })
      const healthy = await run(['doctor'])
      expect(healthy.output).toMatch(/^✓ Nothing waits for approval$/m)
      expect(healthy).toMatchObject({ code: 0 })
      expect((await run(['lock'])).code).toBe(0)
    },
    WAIT,
  )

  it('is not advised to be sent always', async () => {
    const bad = { ...poisoned, name: 'todo_write' }
    const { run } = homeWith({ 'toolwell.json': config([named('good'), bad]) })
    const { output } = await run(['doctor', '--json'])
    expect(diagnosesOf(output).some(({ rule }) => rule === 'always-loaded')).toBe(false)
  })
})

describe('without a lock', () => {
  it(
    'tools that changed, joined and left since they were first seen are named',
    async () => {
      const { run, folder } = homeWith({ 'list.json': '' })
      const write = (tools: readonly object[]) =>
        writeFileSync(join(folder, 'list.json'), JSON.stringify(tools))
      // One command whatever it lists, so that it is the same server.
      const server = { ...misbehaving({ toolsFrom: 'list.json' }) }
      writeFileSync(join(folder, 'toolwell.json'), JSON.stringify({ mcpServers: { odd: server } }))
      write([named('stays'), named('changes'), named('leaves')])
      expect((await run(['inspect'])).output).toContain('3 tools of odd are trusted on first use')
      write([named('stays'), named('changes', { description: 'Does more.' }), named('joins')])
      const shown = await run(['inspect', '--refresh'])
      expect(shown.output).toContain('odd/changes has changed since it was first seen.')
      expect(shown.output).toContain('odd: leaves of odd is gone since it was first seen.')
      expect(shown.output).toContain('odd: joins of odd is new since it was first seen.')
      const changed = diagnosesOf((await run(['doctor', '--json'])).output).filter(
        ({ rule }) => rule === 'changed',
      )
      expect(changed.map(({ message }) => message)).toEqual([
        'leaves of odd is gone since it was first seen.',
      ])
      const check = await run(['lock', '--check'])
      expect(check).toMatchObject({ code: 2, output: '' })
      expect(check.errors).toContain('odd/changes has changed since it was first seen')
    },
    WAIT,
  )
})
