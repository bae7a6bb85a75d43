/** A printed line with the command can be pasted into the same shell. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { findCommandName, withCommandName } from '../src/shared/this-command.js'
import { homeWith, misbehaving } from './support/home.js'
import { folderWith, script, toolwell } from './support/run.js'

const program = [process.execPath, script] as const

it('is the npm command if npm runs it', () => {
  expect(findCommandName(program, { npm_lifecycle_event: 'toolwell' })).toBe('npm run -s toolwell --')
  expect(findCommandName(program, { npm_command: 'exec' })).toBe('npx toolwell')
})

it('is its name if that is on the PATH, and otherwise the full command', () => {
  const folder = folderWith({})
  mkdirSync(join(folder, 'bin'))
  const PATH = join(folder, 'bin')
  expect(findCommandName(program, { PATH })).toBe(`${process.execPath} ${script}`)
  expect(findCommandName(program, { PATH: dirname(process.execPath) })).toBe(`node ${script}`)
  symlinkSync(script, join(PATH, 'toolwell'))
  expect(findCommandName(program, { PATH })).toBe('toolwell')
  // Another one of that name is another one.
  expect(findCommandName([process.execPath, join(folder, 'other.mjs')], { PATH })).not.toBe('toolwell')
})

it('appears in the printed output', async () => {
  const { folder, home } = homeWith({ 'home/.cursor/mcp.json': '{ "mcpServers": {} }' })
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config') }
  const run = (...words: string[]) => toolwell(words, { folder, env, name: 'npx toolwell' })
  expect((await run('connect', '--yes')).output).toContain('To restore them: npx toolwell undo\n')
  expect((await run('status', '--folder', 'x')).output).toBe(
    `No gateway is running. A connected client starts it. To start it yourself, run: npx toolwell serve --folder ${join(folder, 'x')}\n`,
  )
  expect((await run('status', 'x')).errors).toContain('See: npx toolwell status --help')
})

it('appears in hints of packages that only know the plain name', async () => {
  expect(withCommandName('Write it with: toolwell lock', 'npx toolwell')).toBe(
    'Write it with: npx toolwell lock',
  )
  expect(withCommandName('See `toolwell doctor --config a`', 'x')).toBe('See `x doctor --config a`')
  for (const text of [
    'a version of toolwell that',
    'in /my/toolwell lock',
    'npx toolwell lock',
    'toolwell.json',
  ])
    expect(withCommandName(text, 'npx toolwell')).toBe(text)
  // Every verb can be hinted at.
  const { output } = await toolwell(['--help'])
  for (const [, verb] of output.matchAll(/^ {2}([a-z]+) {2,}\S/gm))
    expect(withCommandName(`toolwell ${verb}`, 'x')).toBe(`x ${verb}`)
})

it('appears in the answers of every verb that names another verb', async () => {
  const { folder, home } = homeWith({
    'toolwell.json': { mcpServers: { odd: misbehaving({}) } },
    'home/.cursor/mcp.json': { mcpServers: { a: { command: 'a-server' } } },
  })
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: join(home, 'data') },
    ...{ XDG_CONFIG_HOME: join(home, 'config'), XDG_CACHE_HOME: join(home, 'cache') },
    XDG_STATE_HOME: join(home, 'state'),
    NO_COLOR: '1',
  }
  const run = async (...words: string[]) => {
    const { output, errors } = await toolwell(words, {
      folder,
      env,
      name: 'npx tw',
      screen: { output: 1000 },
    })
    return output + errors
  }
  expect(await run('approve', '--read-only')).toContain('with: npx tw approve --read-only SERVER/TOOL\n')
  expect(await run('approve', '--read-only', 'x/y')).toContain(
    'List the tools with: npx tw approve --read-only\n',
  )
  expect(await run('lock', '--check')).toContain('Create the lock with: npx tw lock\n')
  expect(await run('doctor')).toMatch(/→ .*with: npx tw lock\n/)
  expect(await run('import', '--to', 'other.json', '--yes')).toContain(
    'List the servers with: npx tw inspect\n',
  )
  expect(await run('approve', '--yes')).toContain('Write: npx tw approve --yes SERVER')
})
