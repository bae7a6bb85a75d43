/** The built command as a separate process. `npm test` builds it first. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folderWith, issueTools } from './support/run.js'

const program = fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url))
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

function run(words: readonly string[], { folder = '.', input = '', env = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    input,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, stdout, stderr }
}

describe('the program', () => {
  const catalog = ['--catalog', 'tools.jsonl']

  it('finds, misses and refuses with 0, 1 and 2, from the folder it is called in', () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    expect(run(['search', 'create issue', ...catalog], { folder })).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^ 1 {2}forge\/create_issue/),
      stderr: '',
    })
    expect(run(['search', 'brew espresso', ...catalog], { folder })).toMatchObject({ status: 1, stdout: '' })
    expect(run(['search', 'issue', '--catalog', 'no.jsonl'], { folder })).toEqual({
      status: 2,
      stdout: '',
      stderr: 'toolwell: File not found: no.jsonl. Check the path after --catalog.\n',
    })
  })

  it('knows its version', () => {
    expect(run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  // Elsewhere a folder that a process runs in stays.
  it.runIf(process.platform === 'linux')('says what to do where the folder it is called in is gone', () => {
    const inGone = (...words: string[]) => {
      const folder = folderWith({})
      const script = 'cd "$0" && rm -r "$0" && exec "$@"'
      const { status, stdout, stderr } = spawnSync(
        'sh',
        ['-c', script, folder, process.execPath, program, ...words],
        { encoding: 'utf8', input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' },
      )
      return { status, stdout, stderr }
    }
    const message = 'The current folder no longer exists.'
    const fix = 'Change to an existing folder and try again.'
    for (const words of [['status'], ['connect', '--dry-run'], ['serve'], ['search', 'x'], ['doctor']])
      expect(inGone(...words)).toEqual({ status: 2, stdout: '', stderr: `toolwell: ${message} ${fix}\n` })
    expect(JSON.parse(inGone('status', '--json').stdout)).toEqual({ reason: 'failed', message, fix })
    expect(inGone('--version').stdout).toBe(`${version}\n`)
    const said =
      'The working folder of this client no longer exists. Restart the client in an existing folder.'
    for (const folder of [[], ['--folder', 'state']]) {
      const { status, stdout, stderr } = inGone('serve', '--stdio', ...folder)
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { message: expect.stringContaining(said) } })
      expect(stderr).toContain(`toolwell: ${said}\n`)
    }
  })

  it('reads queries from standard input', () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const { status, stdout } = run(['search', ...catalog, '--batch', '-'], {
      folder,
      input: '{"query":"letter"}\r\n{"query":"close_issue"}',
    })
    expect(status).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).matches[0].name),
    ).toEqual(['send_letter', 'close_issue'])
  })

  it('colours nothing in a pipe, whatever the environment', () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const { stdout } = run(['search', 'issue', ...catalog], {
      folder,
      env: { FORCE_COLOR: '3', TERM: 'xterm' },
    })
    expect(stdout).not.toContain('\u001b')
  })

  it.runIf(existsSync('/dev/full'))('says that the answer could not be written', () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [program, 'search', 'issue', ...catalog], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    })
    closeSync(full)
    expect(status).toBe(2)
    expect(stderr).toMatch(/^toolwell: The output could not be written: ENOSPC.*\n$/)
  })

  it('ends quietly when its reader does, though there is more to read', async () => {
    const queries = Array.from({ length: 50_000 }, () => ({ query: 'issue' }))
    const folder = folderWith({ 'tools.jsonl': issueTools, 'queries.jsonl': queries })
    const child = spawn(process.execPath, [program, 'search', ...catalog, '--batch', 'queries.jsonl'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', (chunk) => (errors += chunk))
    const [first] = await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = await once(child, 'close')
    expect(String(first)).toMatch(/^\{"query":"issue","unclear":false,"matches":\[\{"id":/)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
  })
})
