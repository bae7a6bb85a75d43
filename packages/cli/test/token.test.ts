/** `toolwell token`: tokens with rights, added and revoked by a person, printed once. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { homeWith } from './support/home.js'

const tokens = (home: string) => join(home, '.local', 'state', 'toolwell', 'gateway', 'tokens.json')

it('adds a token, prints it once, lists and revokes it', async () => {
  const { atTerminal, run, home } = homeWith({})
  const words = ['token', 'add', 'ci', '--servers', 'github,files*', '--read-only', '--expires', '30d']
  const added = await atTerminal(words)
  expect(added.code).toBe(0)
  const [token = '', about] = added.output.split('\n')
  expect(token).toMatch(/^tw_[\w-]{43}$/)
  expect(about).toMatch(
    /^This token is shown only now\. It opens servers github, files\*; only read-only tools, until \d{4}-\d\d-\d\d \d\d:\d\d\.$/,
  )
  expect(readFileSync(tokens(home), 'utf8')).not.toContain(token)
  const { output } = await run(['token', 'list'])
  expect(output).toMatch(/^name +opens +added +expires\nowner +everything +never\nci +servers github/)
  expect(output).not.toContain(token)
  const [listed] = JSON.parse((await run(['token', 'list', '--json'])).output)
  expect(listed).toMatchObject({ name: 'ci', rights: { servers: ['github', 'files*'], readOnly: true } })
  expect(listed).not.toHaveProperty('hash')
  expect(await atTerminal(words)).toMatchObject({
    code: 2,
    errors: expect.stringContaining('There is already a token ci. Revoke it first: toolwell token revoke ci'),
  })
  expect(await atTerminal(['token', 'revoke', 'ic'])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('There is no token ic. Did you mean ci?'),
  })
  expect((await atTerminal(['token', 'revoke', 'ci'])).output).toContain('Revoked ci.')
  expect((await run(['token', 'list', '--json'])).output).toBe('[]\n')
})

it('revokes a stdio client, limits it, and allows it again', async () => {
  const { atTerminal, run, home } = homeWith({})
  const read = () => JSON.parse(readFileSync(tokens(home), 'utf8'))
  const revoked = await atTerminal(['token', 'revoke', 'stdio:codex'])
  expect(revoked).toMatchObject({ code: 0, output: expect.stringContaining('Revoked stdio:codex.') })
  expect((await run(['token', 'list'])).output).toMatch(/\nstdio:codex .* revoked\n/)
  const limited = await atTerminal(['token', 'add', 'stdio:codex', '--servers', 'github'])
  expect(limited.output).toBe('stdio:codex may connect. It opens servers github.\n')
  expect(read()).toMatchObject([{ name: 'stdio:codex', rights: { servers: ['github'] } }])
  const allowed = await atTerminal(['token', 'add', 'stdio:codex'])
  expect(allowed.output).toBe('stdio:codex may connect. It opens everything.\n')
  expect(read()).toEqual([])
})

it('changes tokens only at a terminal', async () => {
  const { run, atTerminal } = homeWith({})
  await atTerminal(['token', 'add', 'ci'])
  for (const words of [
    ['token', 'add', 'other'],
    ['token', 'add', 'other', '--json'],
    ['token', 'revoke', 'ci'],
  ])
    expect(await run(words)).toMatchObject({ code: 2, errors: expect.stringContaining('needs a terminal') })
  expect(JSON.parse((await run(['token', 'list', '--json'])).output)).toHaveLength(1)
})

describe('says what is wrong', () => {
  it.each<[string[], string]>([
    [['add'], 'The name of the token is missing.'],
    [['add', 'owner'], 'Replace it with: toolwell token --new'],
    [['revoke', 'owner'], 'Replace it with: toolwell token --new'],
    [['add', 'a b'], '"a b" cannot be the name of a token.'],
    [['add', 'stdio:'], 'cannot be the name of a token.'],
    [['add', 'a', 'b'], 'Unexpected argument "b".'],
    [['list', 'b'], 'Unexpected argument "b".'],
    [['lst'], 'Did you mean list?'],
    [['add', 'a', '--expires', '30'], '--expires "30" is not a duration. Write a number and a unit'],
    [['add', 'a', '--expires', '0d'], 'is not a duration.'],
    [['add', 'a', '--servers', 'one,,two'], '--servers contains an empty name.'],
    [['--servers', 'one'], '--servers needs add.'],
    [['list', '--new'], '--new and list cannot be combined.'],
  ])('%j', async (words, message) => {
    const { atTerminal } = homeWith({})
    const { code, errors } = await atTerminal(['token', ...words])
    expect(code).toBe(2)
    expect(errors).toContain(message)
  })
})
