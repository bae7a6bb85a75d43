/** `serve`, `status`, `stop` and `token` in this process: one gateway from its start to its end. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith, toolwell } from './support/run.js'

const CONFIG = { mcpServers: { none: { command: 'no-such-program', enabled: false } } }

function place(files: Readonly<Record<string, unknown>> = { 'toolwell.json': CONFIG }) {
  const folder = folderWith(files)
  const env = {
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_DATA_HOME: join(folder, 'data'),
  }
  const run = (...words: string[]) =>
    toolwell(words, { folder, env, ...(words.includes('--trust') ? { screen: { output: 100 } } : {}) })
  return { folder, run, env }
}

describe('serve', () => {
  it('serves until it is stopped, and says where', async () => {
    const { folder, run, env } = place()
    let isListening: (text: string) => void = () => undefined
    const listening = new Promise<string>((resolve) => {
      isListening = resolve
    })
    const serving = toolwell(['serve', '--config', 'toolwell.json', '--port', '0', '--json'], {
      folder,
      env,
      onOutput: (text) => isListening(text),
    })
    const { url, tokenFile } = JSON.parse(await listening)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(tokenFile).toContain(join(folder, 'state'))

    const { output: token } = await run('token')
    const asked = await fetch(`${url}/status`, { headers: { Authorization: `Bearer ${token.trim()}` } })
    expect(asked.status).toBe(200)

    const text = await run('status')
    expect(text.code).toBe(0)
    expect(text.output).toContain(`${url}/mcp`)
    expect(text.output).toContain('runs until you stop it')
    expect(text.output).toContain('disabled')
    const json = JSON.parse((await run('status', '--json')).output)
    expect(json).not.toHaveProperty('key')
    expect(json).toMatchObject({ running: true, startedBy: 'person', clients: [], counts: { calls: 0 } })

    const second = await run('serve', '--config', 'toolwell.json', '--port', '0')
    expect(second).toMatchObject({ code: 1 })
    expect(second.errors).toContain('Stop it with: toolwell stop\n')
    const elsewhere = await toolwell(
      ['serve', '--port', '0', '--folder', join(folder, 'state', 'toolwell', 'gateway')],
      { folder, env: { ...env, XDG_STATE_HOME: join(folder, 'other') } },
    )
    expect(elsewhere.errors).toContain(`toolwell stop --folder ${join(folder, 'state')}`)

    const fresh = JSON.parse((await run('token', '--new', '--json')).output)
    expect(fresh.token).not.toBe(token.trim())
    const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
    const found = await findDaemon(join(folder, 'state', 'toolwell', 'gateway'))
    if (found.kind !== 'running') throw new Error('it is not running')
    await askDaemon(found, 'POST', '/stop')
    expect((await serving).code).toBe(0)
    expect((await run('status')).code).toBe(1)
  })

  it('of npm start is named by status where no other runs', async () => {
    const { folder, env } = place()
    const program = [process.execPath, join(folder, 'packages', 'cli', 'bin', 'toolwell.mjs')] as const
    const state = join(folder, 'node_modules', '.toolwell-start', 'gateway')
    const status = (...words: string[]) => toolwell(['status', ...words], { folder, env, program })
    const none =
      'No gateway is running. A connected client starts it. To start it yourself, run: toolwell serve\n'
    expect(await status()).toMatchObject({ code: 1, output: none })
    let serving: Promise<unknown> | undefined
    await new Promise<void>((onOutput) => {
      const words = ['serve', '--config', 'toolwell.json', '--port', '0', '--folder', state]
      serving = toolwell(words, { folder, env, onOutput: () => onOutput() })
    })
    expect(await status()).toMatchObject({
      code: 1,
      output: `${none}The gateway of npm start is running: toolwell status --folder ${state}\n`,
    })
    expect((await status('--folder', state)).code).toBe(0)
    const { findDaemon, askDaemon } = await import('@toolwell/gateway/bridge')
    const found = await findDaemon(state)
    if (found.kind !== 'running') throw new Error('it is not running')
    await askDaemon(found, 'POST', '/stop')
    await serving
  })

  it('is stopped by stop, which says so', async () => {
    const { folder, run, env } = place()
    const listening = new Promise<void>((resolve) => {
      void toolwell(['serve', '--config', 'toolwell.json', '--port', '0'], {
        folder,
        env,
        onOutput: () => resolve(),
      })
    })
    await listening
    // It runs in this process, which does not end: the test only checks that it is asked, and answers.
    const { findDaemon, askDaemon } = await import('@toolwell/gateway/bridge')
    const state = join(folder, 'state', 'toolwell', 'gateway')
    const found = await findDaemon(state)
    if (found.kind !== 'running') throw new Error('it is not running')
    await askDaemon(found, 'POST', '/stop')
    await expect.poll(async () => (await run('status')).code, { timeout: 60_000 }).toBe(1)
    expect(await run('stop')).toMatchObject({ code: 1, output: 'No gateway is running.\n' })
  })

  it.each([
    [['serve', '--port', 'x'], 'is not a valid port'],
    [['serve', '--port', '99999'], 'is not a valid port'],
    [['serve', '--all'], 'need --stdio'],
    [['serve', '--profile', 'a'], 'need --stdio'],
    [['serve', '--stdio', '--port', '1'], 'its own port'],
    [['serve', '--config', 'none.json'], 'File not found'],
    [['serve', '--trust', 'nowhere'], 'does not exist or is not readable'],
  ])('%j ends with 2 and the next step', async (words, message) => {
    const { run } = place()
    const { code, errors } = await run(...words)
    expect(code).toBe(2)
    expect(errors).toContain(message)
  })

  it('that a client has started says which port it could not have, how it stops, and what to do instead', async () => {
    const { folder, run, env } = place()
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    let said = ''
    const words = ['serve', '--by-bridge', '--config', 'toolwell.json', '--port', String(port)]
    const serving = toolwell(words, {
      folder,
      env,
      onOutput: (text) => {
        said += text
      },
    })
    await expect.poll(() => said, { timeout: 60_000 }).toContain('It stops ten minutes')
    expect(said).toContain(
      `! Another program uses port ${port}, so the gateway chose another port and accepts stdio clients only. `,
    )
    expect(said).not.toContain('token')
    expect(said).toContain('It stops ten minutes after the last client, or with: toolwell stop\n')
    expect(said).not.toContain('Ctrl-C')
    const second = await run('serve', '--config', 'toolwell.json', '--port', '0')
    expect(second.code).toBe(1)
    expect(second.errors).toMatch(
      /^toolwell: A gateway is already running: process \d+, http:\/\/127\.0\.0\.1:\d+\/mcp\. A stdio client started it\. Another program uses port \d+, so the gateway accepts stdio clients only\. .* run this command again: toolwell stop\n$/,
    )
    expect(second.errors).toContain(`port ${port},`)
    const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
    const found = await findDaemon(join(folder, 'state', 'toolwell', 'gateway'))
    if (found.kind !== 'running') throw new Error('it is not running')
    await askDaemon(found, 'POST', '/stop')
    expect((await serving).code).toBe(0)
  })

  it('says that a port is taken, and a folder cannot be used', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { run, folder } = place()
    const busy = await run('serve', '--config', 'toolwell.json', '--port', String(port))
    expect(busy).toMatchObject({ code: 2 })
    expect(busy.errors).toContain('--port PORT')
    writeFileSync(join(folder, 'file'), '')
    const unusable = await run('serve', '--config', 'toolwell.json', '--folder', 'file')
    expect(unusable).toMatchObject({ code: 2 })
    expect(unusable.errors).toContain('--folder')
    expect((await run('token', '--folder', 'file')).code).toBe(2)
  })

  it('uses the config of a project once it is trusted', async () => {
    const { run, folder } = place()
    mkdirSync(join(folder, 'project'))
    writeFileSync(join(folder, 'project', 'toolwell.json'), JSON.stringify(CONFIG))
    const { code, output } = await run('serve', '--trust', 'project')
    expect(code).toBe(0)
    expect(output).toContain(join(folder, 'project', 'toolwell.json'))
  })
})

describe('a config of which something cannot be used', () => {
  /** Output of `serve`, then of `status`, about it. */
  async function said(files: Readonly<Record<string, unknown>>, ...words: string[]) {
    const { folder, run, env } = place(files)
    let isListening: () => void = () => undefined
    const listening = new Promise<void>((resolve) => {
      isListening = resolve
    })
    const serving = toolwell(['serve', '--port', '0', ...words], {
      folder,
      env,
      onOutput: (text) => text.includes('Its token is in') && isListening(),
    })
    await listening
    const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
    const [text, json] = [await run('status'), await run('status', '--json')]
    const found = await findDaemon(join(folder, 'state', 'toolwell', 'gateway'))
    if (found.kind !== 'running') throw new Error('it is not running')
    await askDaemon(found, 'POST', '/stop')
    return { log: (await serving).output, status: text.output, json: JSON.parse(json.output), folder }
  }
  const BROKEN = { gh: { command: 'node', env: { T: '${NOT_SET_ANYWHERE}' } }, five: 5 }
  const own = join('config', 'toolwell', 'toolwell.json')

  it('is named with its line and what to do, in the log and in status', async () => {
    const { log, status, json } = await said({ [own]: { mcpServers: { ...CONFIG.mcpServers, ...BROKEN } } })
    for (const text of [log, status]) {
      expect(text).toMatch(/^! gh is not usable: .*toolwell\.json:\d+ mcpServers\.gh.*NOT_SET_ANYWHERE.*\.$/m)
      expect(text).toMatch(/^! five is not usable: .*mcpServers\.five: a server must be an object\. Write/m)
      expect(text).not.toContain('No servers')
    }
    expect(json.serverSets[0].problems).toContainEqual({
      server: 'five',
      stillUsed: false,
      problem: expect.stringContaining('a server must be an object'),
    })
  })

  it('is not said to hold no servers where none of them can be used', async () => {
    const { log, status } = await said({ [own]: { mcpServers: BROKEN } })
    for (const text of [log, status]) {
      expect(text).toContain('No servers: no entry of the config is usable.')
      expect(text).not.toContain('toolwell connect')
    }
  })

  it('is named where a folder has the name of the file', async () => {
    const { log, status, folder } = await said({ [join(own, 'file')]: '' })
    for (const text of [log, status])
      expect(text).toContain(`! ${join(folder, own)}: this is a folder. Give the path of a file.`)
  })

  it('is left to the first client if a bridge started the gateway', async () => {
    const { log } = await said({ [own]: CONFIG }, '--by-bridge')
    expect(log).not.toContain('No servers')
    const { log: without, folder } = await said({}, '--by-bridge')
    expect(without).toContain(`No servers: ${join(folder, own)} does not exist.`)
  })
})

describe('status and stop', () => {
  it('say that none is running', async () => {
    const { run } = place()
    expect(await run('status')).toMatchObject({ code: 1 })
    expect(JSON.parse((await run('status', '--json')).output)).toEqual({ running: false })
    expect(JSON.parse((await run('stop', '--json')).output)).toEqual({ stopped: false, reason: 'none' })
  })

  it('leave a process alone that is not the gateway, whatever the file says', async () => {
    const { run, folder, env } = place()
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    onTestFinished(() => {
      stranger.kill('SIGKILL')
      silent.closeAllConnections()
      silent.close()
    })
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as AddressInfo
    await run('token')
    const path = join(folder, 'state', 'toolwell', 'gateway', 'daemon.json')
    const file = { pid: stranger.pid, port, instance: 'x', key: 'k', version: '1', protocol: 1, start: 'x-1' }
    writeFileSync(path, JSON.stringify(file))
    const stopped = await run('stop', '--force')
    expect(stopped).toMatchObject({ code: 1 })
    expect(stopped.output).toContain(`process ${stranger.pid}, which is another program`)
    expect(JSON.parse((await run('stop', '--force', '--json')).output)).toMatchObject({
      stopped: false,
      stranger: stranger.pid,
    })

    // A gateway that runs, with the id of another process in its file.
    const serving = new Promise<void>((resolve) => {
      void toolwell(['serve', '--config', 'toolwell.json', '--port', '0'], {
        folder,
        env,
        onOutput: () => resolve(),
      })
    })
    await serving
    const own = JSON.parse(readFileSync(path, 'utf8'))
    expect(own.pid).toBe(process.pid)
    writeFileSync(path, JSON.stringify({ ...own, pid: stranger.pid }))
    expect(await run('stop', '--force')).toMatchObject({ code: 0 })
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
  })

  it('end with 2 where the file of the gateway cannot be written', async () => {
    const { run, folder } = place()
    mkdirSync(join(folder, 'home', 'daemon.json'), { recursive: true, mode: 0o700 })
    const { code, errors } = await run(
      'serve',
      '--config',
      'toolwell.json',
      '--port',
      '0',
      '--folder',
      'home',
    )
    expect(code).toBe(2)
    expect(errors).toContain('Cannot write')
  })
})
