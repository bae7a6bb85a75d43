/** Programs that cannot start, or end before the first MCP message: each error names its cause and what to do. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import { connectServers, defineServer, memoryCache, memoryFirstUse, type StdioEndpoint } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { temporary } from './support/temporary.js'

async function reasonOf(
  endpoint: Partial<Omit<StdioEndpoint, 'type'>> & { command: string },
  connectTimeout = 60_000,
): Promise<string> {
  const lines: string[] = []
  const { catalogue } = createToolwell({ debug: (line) => void lines.push(line) })
  const servers = connectServers(catalogue, [defineServer('notes', endpoint)], {
    firstUse: memoryFirstUse(),
    logs: false,
    cache: memoryCache(),
    connectTimeout,
  })
  try {
    await servers.settled(90_000)
    const [report] = servers.inspect()
    expect(report?.state).toBe('failed')
    // Nothing that a screen would act upon.
    expect(report?.reason).not.toMatch(/\p{Cc}/u)
    expect(lines[1]?.startsWith('source "notes" is failed: notes cannot be used: ')).toBe(true)
    return report?.reason ?? ''
  } finally {
    await servers.close()
  }
}

const saying = (script: string) => reasonOf({ command: process.execPath, args: ['-e', script] })

describe.skipIf(process.platform === 'win32')('a command that cannot be started', () => {
  const script = (text: string, mode: number) => {
    const file = join(temporary(), 'run')
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  it('is not on the PATH', async () => {
    expect(await reasonOf({ command: 'no-such-program-anywhere' })).toBe(
      'notes cannot be used: the command "no-such-program-anywhere" was not found on the PATH; install it, or give its full path',
    )
  })

  it('is not where it should be', async () => {
    const command = join(temporary(), 'none')
    expect(await reasonOf({ command })).toBe(
      `notes cannot be used: there is no program "${command}"; correct "command" in its config, or install it`,
    )
  })

  it('may not be run', async () => {
    const command = script('#!/bin/sh\n', 0o600)
    expect(await reasonOf({ command })).toContain(`is not executable; run: chmod +x "${command}"`)
  })

  it('is a folder', async () => {
    expect(await reasonOf({ command: temporary() })).toContain('is a folder; name the program in it')
  })

  it('wants a program that is not there', async () => {
    const command = script('#!/no/such/interpreter -x\n', 0o700)
    expect(await reasonOf({ command })).toContain(
      `the first line of "${command}" names "/no/such/interpreter", which was not found`,
    )
  })

  it('has no folder to run in', async () => {
    const cwd = join(temporary(), 'none')
    const missing = await reasonOf({ command: process.execPath, cwd })
    expect(missing).toContain(`its working folder "${cwd}" does not exist; correct "cwd"`)
    const file = script('', 0o600)
    expect(await reasonOf({ command: process.execPath, cwd: file })).toContain('is a file; correct "cwd"')
    mkdirSync(cwd)
    expect(await reasonOf({ command: 'no-such-program-anywhere', cwd })).toContain('on the PATH')
  })
})

it('is tried again without the reason it failed for before', async () => {
  const events: unknown[] = []
  const server = defineServer('notes', { command: process.execPath, args: ['-e', 'process.exit(4)'] })
  const servers = connectServers(createToolwell().catalogue, [server], {
    firstUse: memoryFirstUse(),
    logs: false,
    cache: memoryCache(),
    onEvent: (event) => events.push(event),
  })
  try {
    await servers.settled(90_000)
    await servers.refresh('notes').catch(() => undefined)
    const again = { kind: 'server-state', server: 'notes', state: 'connecting', reason: '' }
    expect(events.slice(2)).toContainEqual(again)
  } finally {
    await servers.close()
  }
})

describe('a program that ends', () => {
  it('is quoted with what it wrote to standard output', async () => {
    expect(await saying(`console.log('\\u001b[31mListening on port 3000\\u0007'); process.exit(0)`)).toBe(
      'notes cannot be used: the server exited with code 0: it wrote "Listening on port 3000" to standard output, which is not MCP',
    )
  })

  it('is quoted with its error, not with the stack below it', async () => {
    const reason = await saying(`
      console.error('starting');
      function deep(n) { if (n > 0) return deep(n - 1); throw new TypeError('no licence in \\u001b[1mnotes.key') }
      deep(8)`)
    expect(reason).toMatch(/exited with code 1: TypeError: no licence in notes\.key/)
    expect(reason).not.toMatch(/starting|at deep/)
  })

  it('is quoted with its first lines where none looks like an error', async () => {
    const reason = await saying(
      `console.error('please give a folder'); console.error('see the manual'); process.exit(9)`,
    )
    expect(reason).toContain('exited with code 9: please give a folder see the manual')
  })

  it('without a word is to be run by hand', async () => {
    expect(await saying('process.exit(4)')).toContain(
      'exited with code 4; run its command by hand to see why',
    )
  })
})

it.skipIf(process.platform === 'win32')(
  'a program that never speaks MCP is given up, and quoted',
  async () => {
    // A shell, because it speaks at once on a busy machine too.
    const args = ['-c', "echo 'Need to install notes? (y)' >&2; sleep 1000"]
    expect(await reasonOf({ command: '/bin/sh', args }, 900)).toMatch(
      /not ready within 900 ms, and said: Need to install notes\? \(y\); check that it is an MCP server/,
    )
  },
)
