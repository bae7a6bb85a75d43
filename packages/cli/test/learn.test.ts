/** `search --feedback` and `learn`: what was learned changes an answer, can be seen, and can be forgotten. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createToolwell } from '@toolwell/core'
import { fileUsage } from '@toolwell/core/usage'
import { describe, expect, it } from 'vitest'
import { folderWith, script, toolwell } from './support/run.js'

const tools = ['alpha', 'beta']
  .map((name) =>
    JSON.stringify({ name, server: 'lab', description: `Arranges widgets, ${name}.`, inputSchema: {} }),
  )
  .join('\n')
const files = (feedback: string) => folderWith({ 'tools.jsonl': tools, 'feedback.jsonl': feedback })
const search = (feedback: string) =>
  toolwell(['search', 'arrange widgets', '--catalog', 'tools.jsonl', '--feedback', 'feedback.jsonl'], {
    folder: files(feedback),
  })

describe('search --feedback', () => {
  it('learns before it answers', async () => {
    const plain = ['search', 'arrange widgets', '--catalog', 'tools.jsonl']
    expect((await toolwell(plain, { folder: files('') })).output).toMatch(/^ 1 {2}lab\/alpha/)
    for (const name of ['beta', 'lab/beta'])
      expect((await search(JSON.stringify({ query: 'arrange widgets', tools: [name] }))).output).toMatch(
        /^ 1 {2}lab\/beta/,
      )
  })

  it('is not needed for what the owner of a tool wrote', async () => {
    const [alpha = '', beta = ''] = tools.split('\n')
    const own = JSON.stringify({ ...JSON.parse(beta), examples: ['tidy up my widgets', 5] })
    const folder = folderWith({ 'tools.jsonl': `${alpha}\n${own}` })
    const { output } = await toolwell(['search', 'tidy up widgets', '--catalog', 'tools.jsonl'], { folder })
    expect(output).toMatch(/ 1 {2}lab\/beta/)
    expect(output).not.toContain('tidy')
  })

  it('says which tools it does not know, and answers all the same', async () => {
    const { code, errors, output } = await search('{"query":"arrange widgets","tools":["nosuch"]}')
    expect(code).toBe(0)
    expect(errors).toContain('feedback.jsonl:1: "nosuch"')
    expect(output).toContain('lab/alpha')
  })

  it.each(['{broken', '{"query":"x"}', '{"tools":["beta"]}', '[]'])(
    'refuses a line that is none: %s',
    async (line) => {
      const { code, errors } = await search(line)
      expect(code).toBe(2)
      expect(errors).toContain('feedback.jsonl:1')
      expect(errors).toContain('Write { "query": "…", "tools": ["…"] }')
    },
  )
})

describe('search --feedback --usage', () => {
  const lesson = (...names: string[]) => JSON.stringify({ query: 'arrange widgets', tools: names })
  const flags = ['--catalog', 'tools.jsonl', '--usage', 'usage.jsonl']
  const teach = (folder: string, ...more: string[]) =>
    toolwell(['search', '--feedback', 'feedback.jsonl', ...flags, ...more], { folder })
  const ask = (folder: string) => toolwell(['search', 'arrange widgets', ...flags], { folder })

  it('is known to later runs, and holds no text of the query', async () => {
    const folder = files(lesson('beta'))
    expect(await teach(folder)).toMatchObject({
      code: 0,
      output: 'Learned: 1 use of 1 tool, added to usage.jsonl.\n',
    })
    expect((await ask(folder)).output).toMatch(/^ 1 {2}lab\/beta/)
    expect(await readFile(join(folder, 'usage.jsonl'), 'utf8')).not.toContain('widget')
    expect((await toolwell(['learn', 'status', '--usage', 'usage.jsonl'], { folder })).output).toContain(
      '1  lab/beta',
    )
    expect(JSON.parse((await teach(folder, '--json')).output)).toEqual({ uses: 1, tools: 1 })
  })

  it('is known to hosts', async () => {
    const folder = files(lesson('beta'))
    const first = async () => {
      const well = createToolwell({
        mode: 'on',
        search: { usage: { store: fileUsage(join(folder, 'usage.jsonl')) } },
      })
      const own = tools.split('\n').map((line) => JSON.parse(line))
      well.catalogue.setSource('lab', { tools: own.map(({ server: _, ...tool }) => tool) })
      const conversation = await well.open({ id: 'one' })
      await conversation.begin({ requestId: '1', anchor: 'a', wire: 'none' })
      const input = { value: { query: 'arrange widgets' } }
      const call = { callId: 's', anchor: 's', name: conversation.loader, input }
      const [answer] = await conversation.run([call])
      return answer?.outcome.kind === 'search' && answer.outcome.result.matches[0]?.canonicalName
    }
    expect(await first()).toBe('lab__alpha')
    await teach(folder)
    expect(await first()).toBe('lab__beta')
  })

  it('answers a query that is given, too, and says on standard error what was learned', async () => {
    const { output, errors } = await teach(files(lesson('beta')), 'arrange widgets')
    expect(output).toMatch(/^ 1 {2}lab\/beta/)
    expect(errors).toBe('toolwell: Learned: 1 use of 1 tool, added to usage.jsonl.\n')
  })

  it('learns the known tools, and names the unknown ones', async () => {
    const folder = files(`${lesson('nosuch', 'beta')}\n{"query":"?!","tools":["alpha"]}`)
    const { code, errors, output } = await teach(folder)
    expect({ code, output }).toEqual({ code: 0, output: 'Learned: 1 use of 1 tool, added to usage.jsonl.\n' })
    expect(errors).toContain('feedback.jsonl:1: "nosuch"')
    expect(errors).toContain('feedback.jsonl:2: ?!')
    expect(await teach(files(lesson('nosuch')))).toMatchObject({ code: 1 })
  })

  it('writes nothing of a file with a broken line, nor to a file of a newer version', async () => {
    const broken = files(`${lesson('beta')}\n{broken`)
    expect((await teach(broken)).code).toBe(2)
    expect(existsSync(join(broken, 'usage.jsonl'))).toBe(false)
    const folder = files(lesson('beta'))
    await writeFile(join(folder, 'usage.jsonl'), '{"toolwell-usage":9}\n')
    expect(await teach(folder)).toMatchObject({ code: 2, errors: expect.stringContaining('newer') })
    expect(await readFile(join(folder, 'usage.jsonl'), 'utf8')).toBe('{"toolwell-usage":9}\n')
  })

  it('is ignored if it is from a newer version, and the query is still answered', async () => {
    const folder = files('')
    await writeFile(join(folder, 'usage.jsonl'), '{"toolwell-usage":9}\n')
    const { code, output, errors } = await ask(folder)
    expect([code, output]).toEqual([0, expect.stringContaining('lab/alpha')])
    expect(errors).toContain('newer version of Toolwell')
    expect(errors).toContain('Searching without it.')
  })

  it('is part of what an answer explains', async () => {
    const folder = files(lesson('beta'))
    await teach(folder)
    const explained = await toolwell(['search', 'arrange widgets', ...flags, '--explain'], { folder })
    expect(explained.output).toMatch(/its examples and uses add \d\.\d\d\n/)
  })

  it('does not count once the definition has changed', async () => {
    const folder = files(lesson('beta'))
    await teach(folder)
    await writeFile(join(folder, 'tools.jsonl'), tools.replace('widgets, beta', 'widgets, as beta'))
    expect((await ask(folder)).output).toMatch(/^ 1 {2}lab\/alpha/)
  })

  it('loses nothing where several processes add at once', async () => {
    const folder = files(Array.from({ length: 300 }, () => lesson('beta', 'alpha')).join('\n'))
    const words = [script, 'search', '--feedback', 'feedback.jsonl', ...flags]
    const run = () => promisify(execFile)(process.execPath, words, { cwd: folder })
    await Promise.all([run(), run(), run()])
    expect(await fileUsage(join(folder, 'usage.jsonl')).read()).toHaveLength(1800)
  })

  it('asks for a query, or for both files; and for a file that exists', async () => {
    const folder = files(lesson('beta'))
    const alone = ['search', '--catalog', 'tools.jsonl', '--feedback', 'feedback.jsonl']
    expect((await toolwell(alone, { folder })).errors).toContain('The query is missing')
    expect(await ask(folder)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('File not found: usage.jsonl'),
    })
  })
})

describe('learn', () => {
  const known = async () => {
    const folder = folderWith({})
    const example = (tool: string) => ({ principal: '', tool, fingerprint: 'f', words: [1, 2] })
    await fileUsage(join(folder, 'usage.jsonl')).append(['lab/beta', 'lab/beta', 'lab/alpha'].map(example))
    return folder
  }
  const learn = (folder: string, ...words: string[]) =>
    toolwell(['learn', ...words, '--usage', 'usage.jsonl'], { folder })

  it('says what is known, and forgets one tool or everything', async () => {
    const folder = await known()
    expect(await learn(folder, 'status')).toMatchObject({
      code: 0,
      output: 'Learned: 3 uses of 2 tools.\n   2  lab/beta\n   1  lab/alpha\n',
    })
    expect((await learn(folder, 'forget', '--tool', 'lab/beta')).output).toContain(
      'Forgotten: 2 uses of 1 tool.',
    )
    expect(JSON.parse((await learn(folder, 'status', '--json')).output)).toEqual({
      action: 'status',
      examples: 1,
      tools: [{ tool: 'lab/alpha', uses: 1 }],
    })
    await learn(folder, 'forget')
    expect((await learn(folder, 'status')).code).toBe(1)
  })

  it.each(['@lab/tools/beta', '@lab%2Ftools/beta'])(
    'forgets a tool by the id that a search prints: %s',
    async (id) => {
      const folder = folderWith({})
      const example = { principal: '', tool: '@lab%2Ftools/beta', fingerprint: 'f', words: [1] }
      await fileUsage(join(folder, 'usage.jsonl')).append([example])
      expect((await learn(folder, 'forget', '--tool', id)).code).toBe(0)
      expect((await learn(folder, 'status')).code).toBe(1)
    },
  )

  it('refuses what it cannot do', async () => {
    const folder = await known()
    expect((await learn(folder, 'teach')).code).toBe(2)
    expect((await toolwell(['learn', 'status'], { folder })).errors).toContain('--usage FILE')
    expect((await toolwell(['learn', 'status', '--usage', 'none'], { folder })).errors).toContain(
      'File not found: none',
    )
    await writeFile(join(folder, 'usage.jsonl'), '{"toolwell-usage":9}\n')
    expect(await learn(folder, 'status')).toMatchObject({ code: 2, errors: expect.stringContaining('newer') })
  })
})
