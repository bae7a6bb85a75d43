/** pi does not start servers of a cloned folder by itself: the real pi, with and without a UI. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { piHome } from './support/pi-home.ts'
import { serverFile } from './support/server-file.ts'

const api = 'openai-responses'

/** A folder whose `.mcp.json` has a server that leaves a mark when it starts. */
async function clonedFolder(replies: number) {
  const mark = join((await import('node:os')).tmpdir(), `toolwell-pi-mark-${process.pid}-${Math.random()}`)
  const server = serverFile([{ name: 'greet', description: 'Greets somebody by name' }], { mark })
  const pi = await piHome(
    api,
    Array.from({ length: replies }, () => ({ text: 'Done.' })),
    { servers: { greeter: [server] }, place: 'project' },
  )
  const wasStarted = () => existsSync(mark)
  const offered = () => JSON.stringify(pi.endpoint.requests.at(-1)?.body).includes('greeter')
  return { pi, wasStarted, offered }
}

it('leaves the servers of a folder out where nobody can be asked, and trusts nothing there', async () => {
  const { pi, wasStarted, offered } = await clonedFolder(2)
  const first = await pi.run(['-p', 'Hello.'])
  expect(first.code).toBe(0)
  expect(first.output).toContain(pi.config)
  expect(first.output).toContain('The user decides')
  expect([wasStarted(), offered()]).toEqual([false, false])

  const typed = await pi.run(['-p', '/toolwell trust'])
  expect(typed.output).toContain('nobody has trusted it. The user decides')
  expect((await pi.run(['-p', 'Hello.'])).output).toContain('The user decides')
  expect([wasStarted(), offered()]).toEqual([false, false])
})

it('asks before /toolwell trust uses a file, also after a no and after a change', async () => {
  const { pi, wasStarted, offered } = await clonedFolder(3)
  const client = pi.rpc()
  client.answer(await client.next(({ method }) => method === 'confirm'), { confirmed: false })
  const since = client.all.length
  const command = client.command('prompt', { message: '/toolwell trust' })
  const question = await client.next(({ method }) => method === 'confirm', since)
  expect(question.message).toContain('greeter: ')
  expect(wasStarted()).toBe(false)
  client.answer(question, { confirmed: true })
  await command
  expect(await client.prompt('Hello.')).toBe('Done.')
  expect([wasStarted(), offered()]).toEqual([true, true])
  await client.end()

  writeFileSync(pi.config, readFileSync(pi.config, 'utf8').replace('greeter', 'gree2er'))
  expect((await pi.run(['-p', 'Hello.'])).output).toContain('The user decides')
  expect(JSON.stringify(pi.endpoint.requests.at(-1)?.body)).not.toContain('gree2er')
})

it.each([true, false])(
  'asks once if there is a screen, shows what would run, and keeps the answer: %s',
  async (confirmed) => {
    const { pi, wasStarted, offered } = await clonedFolder(2)
    const first = pi.rpc()
    const question = await first.next(({ method }) => method === 'confirm')
    expect(question.title).toContain(pi.config)
    expect(question.message).toContain('greeter: ')
    expect(wasStarted()).toBe(false)
    first.answer(question, { confirmed })
    expect(await first.prompt('Hello.')).toBe('Done.')
    expect([wasStarted(), offered()]).toEqual([confirmed, confirmed])
    await first.end()

    const second = pi.rpc()
    expect(await second.prompt('Hello.')).toBe('Done.')
    expect(second.all.some(({ method }) => method === 'confirm')).toBe(false)
    expect(offered()).toBe(confirmed)
  },
)

it('does not wait for a screen that never answers', async () => {
  const { pi, wasStarted } = await clonedFolder(1)
  const client = pi.rpc()
  expect(await client.prompt('Hello.')).toBe('Done.')
  expect(wasStarted()).toBe(false)
})
