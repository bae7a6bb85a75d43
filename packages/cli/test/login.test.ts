/** Logins from the terminal, against a real authorization server on loopback. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { defineServer, diskLogins } from '../../mcp/src/index.js'
import { browse, type ProtectedOptions, startProtected } from '../../mcp/test/support/auth-server.js'
import { startModern } from '../../mcp/test/support/http-servers.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { setup } from '../../mcp/test/support/setup.js'
import { folderWith, toolwell, trustFolder } from './support/run.js'

const program = fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url))

interface Place {
  readonly folder: string
  readonly env: Record<string, string>
  readonly logins: string
}

/** A project with one server, and a user with nothing else. */
function placeOf(url: string, more: object = {}): Place {
  const folder = folderWith({ 'toolwell.json': { mcpServers: { notes: { url, ...more } } } })
  const env = {
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_STATE_HOME: join(folder, 'state'),
  }
  return { folder, env, logins: join(folder, 'data', 'toolwell', 'logins') }
}

/** The program as a separate process; a user opens the address it prints and agrees. */
async function run(words: readonly string[], { folder, env }: Place) {
  trustFolder(words, folder, env)
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  let isOpened = false
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => {
    errors += chunk
    const [, address] = /^ {2}(http\S+)\n/m.exec(errors) ?? []
    if (address === undefined || isOpened) return
    isOpened = true
    void browse(address)
  })
  const [code] = await once(child, 'close')
  return { code, output, errors }
}

/** The same within this process. */
function here(words: readonly string[], place: Place) {
  let isOpened = false
  return toolwell(words, {
    ...place,
    onErrors(text) {
      const [, address] = /^ {2}(http\S+)\n/m.exec(text) ?? []
      if (address === undefined || isOpened) return
      isOpened = true
      void browse(address)
    },
  })
}

async function remoteAndPlace(options: ProtectedOptions = {}, more: object = {}) {
  const remote = await startProtected(options)
  return { remote, place: placeOf(remote.url, more) }
}

describe('the program', () => {
  it('logs in and out, keeps tokens to itself, and lets a host use them', async () => {
    const { remote, place } = await remoteAndPlace({ expiresIn: 600 })
    const first = await run(['login', 'notes'], place)
    expect(first).toEqual({ code: 0, output: 'Logged in to notes.\n', errors: expect.any(String) })
    const [file = ''] = readdirSync(place.logins)
    expect(statSync(place.logins).mode & 0o777).toBe(0o700)
    expect(statSync(join(place.logins, file)).mode & 0o777).toBe(0o600)

    const server = defineServer('notes', { url: remote.url })
    const { text } = await setup([server], { logins: diskLogins({ folder: place.logins }) })
    expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
    remote.expire()
    expect(await text('notes', 'echo', { a: 2 })).toBe('{"a":2}')

    const again = await run(['login', 'notes', '--json'], place)
    expect(JSON.parse(again.output)).toEqual({
      server: 'notes',
      loggedIn: true,
      issuer: remote.issuer,
      scopes: ['notes:read'],
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      renewable: true,
    })

    const out = await run(['logout', 'notes'], place)
    expect(out).toEqual({ code: 0, output: 'Logged out of notes.\n', errors: '' })
    expect(readdirSync(place.logins)).toEqual([])
    expect(remote.asked.map(({ path }) => path)).toContain('/revoke')
    expect(await run(['logout', 'notes'], place)).toEqual({
      code: 1,
      output: '',
      errors: 'toolwell: There was no login to notes.\n',
    })
    const said = [first, again, out].map(({ output, errors }) => output + errors).join()
    expect(remote.secrets.length).toBeGreaterThan(4)
    for (const secret of remote.secrets) expect(said).not.toContain(secret)
  })

  it('ends with 1 when the user denies', async () => {
    const { place } = await remoteAndPlace({ consent: 'deny' })
    const { code, output, errors } = await run(['login', 'notes', '--json'], place)
    expect(code).toBe(1)
    expect(JSON.parse(output)).toMatchObject({ server: 'notes', loggedIn: false, reason: 'denied' })
    expect(errors).toMatch(/toolwell: The login to notes was denied: .*\. Run it again and agree/)
    expect(readdirSync(place.logins)).toEqual([])
  })
})

describe('a login', () => {
  it('reports an answer to another login, and keeps waiting', async () => {
    let isRefused = false
    let address = ''
    const { place } = await remoteAndPlace({
      get consent() {
        return isRefused ? ('agree' as const) : ('wrong-state' as const)
      },
    })
    const { code, output } = await toolwell(['login', 'notes'], {
      ...place,
      onErrors(text) {
        address ||= /^ {2}(http\S+)\n/m.exec(text)?.[1] ?? ''
        isRefused ||= text.includes('belongs to another login. Still waiting')
        if (text.includes('Waiting up to') || text.includes('Still waiting')) void browse(address)
      },
    })
    expect(isRefused).toBe(true)
    expect({ code, output }).toEqual({ code: 0, output: 'Logged in to notes.\n' })
  })

  it('that nobody answers ends in time', async () => {
    const { place } = await remoteAndPlace()
    const { code, errors } = await toolwell(['login', 'notes', '--timeout', '0.1'], place)
    expect(code).toBe(1)
    expect(errors).toMatch(/toolwell: Nobody answered within .* Run it again, or increase the timeout\.\n$/)
  })

  it('opens the browser from a screen, unless a flag forbids it', async () => {
    const { place } = await remoteAndPlace()
    const seen = join(place.folder, 'seen')
    const browser = join(place.folder, 'browser.mjs')
    writeFileSync(
      browser,
      `import { writeFileSync } from 'node:fs'
       writeFileSync(${JSON.stringify(seen)}, process.argv[2])
       await (await fetch(process.argv[2])).text()`,
    )
    const env = { ...place.env, BROWSER: `${process.execPath} ${browser}` }
    const screen = { errors: 80 }
    const shown = await toolwell(['login', 'notes'], { ...place, env, screen })
    expect(shown).toMatchObject({ code: 0, output: 'Logged in to notes.\n' })
    expect(shown.errors).toContain(readFileSync(seen, 'utf8'))
    writeFileSync(seen, '')
    const words = ['login', 'notes', '--timeout', '500ms']
    expect(await toolwell([...words, '--no-browser'], { ...place, env, screen })).toMatchObject({ code: 1 })
    expect(await toolwell(words, { ...place, env })).toMatchObject({ code: 1 })
    expect(readFileSync(seen, 'utf8')).toBe('')
  })

  it('reads a client out of the config, whose secret is never shown', async () => {
    const client = { id: 'known', secret: 'shh-very-secret' }
    const { remote, place } = await remoteAndPlace(
      { client, registration: false },
      { oauth: { clientId: 'known', clientSecret: `\${CLIENT_SECRET}` } },
    )
    const env = { ...place.env, CLIENT_SECRET: client.secret }
    await toolwell(['approve', '--yes', 'notes'], { ...place, env, screen: { output: 100 } })
    const { code, output, errors } = await here(['login', 'notes'], { ...place, env })
    expect({ code, output }).toEqual({ code: 0, output: 'Logged in to notes.\n' })
    for (const secret of remote.secrets) expect(errors).not.toContain(secret)
  })

  it('is what inspect asks for, and what it then uses', async () => {
    const { place } = await remoteAndPlace()
    const before = await toolwell(['inspect', '--json'], place)
    expect(JSON.parse(before.output).servers).toMatchObject([
      { name: 'notes', state: 'needs-login', reason: 'notes asks for a login: run toolwell login notes' },
    ])
    expect((await toolwell(['inspect'], place)).output).toContain('toolwell login notes')
    expect((await here(['login', 'notes'], place)).code).toBe(0)
    const after = await toolwell(['inspect', '--json'], place)
    expect(JSON.parse(after.output).servers).toMatchObject([{ name: 'notes', tools: 2 }])
  })

  it('is not needed everywhere', async () => {
    const { url } = await startModern({
      before: (request, response) => {
        if (request.url === '/mcp') return false
        response.writeHead(404).end()
        return true
      },
    })
    expect(await toolwell(['login', 'notes'], placeOf(url))).toEqual({
      code: 0,
      output: '',
      errors: 'toolwell: notes needs no login. Use it without one.\n',
    })
  })
})

describe('words and configs that are wrong', () => {
  const local = { mcpServers: { files: { command: 'x' }, far: { url: 'http://127.0.0.1:9/mcp' } } }
  it.each([
    [['login'], 'The name of the server is missing. Write: toolwell login NAME\nSee: toolwell login --help'],
    [
      ['logout'],
      'The name of the server is missing. Write: toolwell logout NAME\nSee: toolwell logout --help',
    ],
    [['login', 'a', 'b'], 'Give one server, not 2. Put a name with spaces in quotes.'],
    [['login', 'a', '--timeout', 'soon'], '--timeout "soon" is not a valid duration. Write 90, 90s or 10m.'],
    [['login', 'fiels'], 'Unknown server "fiels". Did you mean files?'],
    [['login', 'zzzzzz'], 'Unknown server "zzzzzz". Known: far, files.'],
    [['login', 'files'], 'files is a local program and has no login.'],
    [['login', 'far'], 'far does not answer as an MCP server: '],
    [['login', 'broken', '--config', 'broken.json'], 'the server has neither a command nor a url'],
    [['login', 'x', '--config', 'no.json'], 'no.json: there is no such file. Check the path.'],
    [['logout', 'fiels'], 'Unknown server "fiels". Did you mean files?'],
  ])('%j end with 2 and %j', async (words, message) => {
    const folder = folderWith({ 'toolwell.json': local, 'broken.json': { mcpServers: { broken: {} } } })
    const env = {
      XDG_DATA_HOME: join(folder, 'data'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_STATE_HOME: join(folder, 'state'),
    }
    const { code, output, errors } = await toolwell(words, { folder, env })
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain(message)
  })

  it('differ from having no config at all', async () => {
    const folder = folderWith({})
    const { code, errors } = await toolwell(['login', 'x'], { folder, env: { XDG_CONFIG_HOME: folder } })
    expect(code).toBe(2)
    expect(errors).toMatch(/^toolwell: No config found\. .* --config FILE/)
  })

  it('renames a damaged login, and says so', async () => {
    const { place } = await remoteAndPlace()
    expect((await here(['login', 'notes'], place)).code).toBe(0)
    const [file = ''] = readdirSync(place.logins)
    writeFileSync(join(place.logins, file), '{')
    const { code, errors } = await here(['login', 'notes'], place)
    expect(code).toBe(0)
    expect(errors).toContain('was renamed to')
    await eventually(
      () => readdirSync(place.logins).length === 2,
      'both the damaged and the new file are there',
    )
  })
})
