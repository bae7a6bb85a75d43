/** A line that names the command can be pasted where it was printed. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { calledAs } from '../src/shared/called-as.js'
import { homeWith } from './support/home.js'
import { folderWith, script, toolwell } from './support/run.js'

const program = [process.execPath, script] as const

it('is what npm was told where npm runs it', () => {
  expect(calledAs(program, { npm_lifecycle_event: 'toolwell' })).toBe('npm run -s toolwell --')
  expect(calledAs(program, { npm_command: 'exec' })).toBe('npx toolwell')
})

it('is its name where that is on the PATH, and the whole of it elsewhere', () => {
  const folder = folderWith({})
  mkdirSync(join(folder, 'bin'))
  const PATH = join(folder, 'bin')
  expect(calledAs(program, { PATH })).toBe(`${process.execPath} ${script}`)
  expect(calledAs(program, { PATH: dirname(process.execPath) })).toBe(`node ${script}`)
  symlinkSync(script, join(PATH, 'toolwell'))
  expect(calledAs(program, { PATH })).toBe('toolwell')
  // Another one of that name is another one.
  expect(calledAs([process.execPath, join(folder, 'other.mjs')], { PATH })).not.toBe('toolwell')
})

it('stands in what is printed', async () => {
  const { folder, home } = homeWith({ 'home/.cursor/mcp.json': '{ "mcpServers": {} }' })
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config') }
  const run = (...words: string[]) => toolwell(words, { folder, env, name: 'npx toolwell' })
  expect((await run('connect', '--yes')).output).toContain('To go back: npx toolwell undo\n')
  expect((await run('status', '--folder', 'x')).output).toBe(
    `No gateway is running. Start it with: npx toolwell serve --folder ${join(folder, 'x')}\n`,
  )
  expect((await run('status', 'x')).errors).toContain('See: npx toolwell status --help')
})
