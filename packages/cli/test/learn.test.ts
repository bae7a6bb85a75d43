/** `search --feedback` and `learn`: what was learned changes an answer, can be seen, and can be forgotten. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileUsage } from '@toolwell/core/usage'
import { describe, expect, it } from 'vitest'
import { folderWith, toolwell } from './support/run.js'

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
      'Forgotten: 2 uses of 1 tools.',
    )
    expect(JSON.parse((await learn(folder, 'status', '--json')).output)).toEqual({
      action: 'status',
      examples: 1,
      tools: [{ tool: 'lab/alpha', uses: 1 }],
    })
    await learn(folder, 'forget')
    expect((await learn(folder, 'status')).code).toBe(1)
  })

  it('refuses what it cannot do', async () => {
    const folder = await known()
    expect((await learn(folder, 'teach')).code).toBe(2)
    expect((await toolwell(['learn', 'status'], { folder })).errors).toContain('--usage FILE')
    expect((await toolwell(['learn', 'status', '--usage', 'none'], { folder })).errors).toContain(
      'no file none',
    )
    await writeFile(join(folder, 'usage.jsonl'), '{"toolwell-usage":9}\n')
    expect(await learn(folder, 'status')).toMatchObject({ code: 2, errors: expect.stringContaining('newer') })
  })
})
