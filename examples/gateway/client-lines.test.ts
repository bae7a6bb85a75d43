import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientLines, REMOVAL, REMOVE } from './client-lines.ts'

const WORDS = [
  '/usr/bin/node',
  '/a clone/toolwell.mjs',
  'serve',
  '--stdio',
  '--folder',
  "/it's here",
] as const

it('connects every client over stdio, with words that a shell reads as they are', () => {
  const lines = clientLines(WORDS)
  for (const client of ['Claude Code', 'Codex', 'Cursor', 'VS Code', 'Gemini CLI', 'Inspector'])
    expect(lines.find((line) => line.startsWith(client))).toContain('--stdio')
  expect(lines.filter((line) => line.includes('Bearer'))).toEqual([
    'over HTTP    the URL above, with the header "Authorization: Bearer TOKEN"',
  ])
  if (process.platform === 'win32') return
  const read = (line = '') =>
    spawnSync('sh', ['-c', `printf '%s\\n' ${line.slice(13)}`], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n')
  expect(read(lines[0])).toEqual([
    'claude',
    'mcp',
    'add',
    '--scope',
    'user',
    'toolwell',
    '--',
    ...WORDS,
    '--client',
    'claude-code',
  ])
  const [command, ...args] = WORDS
  expect(JSON.parse(read(lines[3])[2] ?? '')).toEqual({
    name: 'toolwell',
    command,
    args: [...args, '--client', 'vscode'],
  })
})

it('says how to remove what every line adds, in the docs too', () => {
  const added = clientLines(WORDS).map((line) => /(\w+ mcp) add (--scope user )?/.exec(line))
  const removed = added.flatMap((match) => (match ? [`${match[1]} remove ${match[2] ?? ''}toolwell`] : []))
  expect(removed).toEqual(REMOVE)
  const docs = readFileSync(new URL('../../docs/guides/uninstall.md', import.meta.url), 'utf8')
  for (const command of REMOVE) {
    expect(REMOVAL).toContain(command)
    expect(docs).toContain(`\`${command}\``)
  }
})
