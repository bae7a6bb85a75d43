/** `toolwell token`: prints or replaces the owner's token, and adds, lists and revokes tokens with rights. */
import { nearest } from '@toolwell/core/internal'
import type { Rights, TokenRecord, TokenStore } from '@toolwell/gateway/storage'
import { databaseFlag, withDatabase } from '../shared/database.js'
import { readDuration } from '../shared/duration.js'
import { everyValue } from '../shared/flags.js'
import { folderFlag, gatewayFolder } from '../shared/gateway.js'
import { table } from '../shared/layout.js'
import { Problem, usageProblem } from '../shared/problem.js'
import { serverFlags } from '../shared/servers/flags.js'
import { requireTerminal, type Terminal } from '../shared/terminal.js'
import { defineVerb, type ExitCode } from '../shared/verb.js'

export const token = defineVerb({
  name: 'token',
  summary: 'Print the token of the gateway, or give other clients tokens with fewer rights.',
  usage: [
    '[--new]',
    'add NAME [--profile NAME] [--servers NAMES] [--tools NAMES] [--read-only] [--expires 30d]',
    'list [--json]',
    'revoke NAME',
    'revoke stdio:CLIENT',
  ],
  takesWords: true,
  flags: {
    new: { type: 'boolean', description: 'Generate a new token for the owner. The old one stops working.' },
    profile: { ...serverFlags.profile, description: 'With add: only this profile, also at /mcp.' },
    servers: {
      type: 'string',
      valueHint: 'NAMES',
      description: 'With add: only these servers, separated by commas. * matches any characters.',
    },
    tools: {
      type: 'string',
      valueHint: 'NAMES',
      description:
        'With add: only these tools, as TOOL or SERVER/TOOL, separated by commas. * matches any characters.',
    },
    'read-only': {
      type: 'boolean',
      description: 'With add: only tools that you have approved as read-only.',
    },
    expires: {
      type: 'string',
      valueHint: 'DURATION',
      description:
        'With add: how long the token works, for example 12h or 30d. Default: until you revoke it.',
    },
    database: databaseFlag,
    folder: folderFlag,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  notes: [
    'Without arguments, it prints the token of the owner, which opens everything and survives restarts. Stdio clients do not\nneed it in their config: they read it from its file. A running gateway uses a new token at once. Connected stdio clients\nstay connected until they or the gateway stop.',
    'A token of `add` is printed once; only its hash is stored. Its clients do not see tools outside its rights. HTTP\nclients send it like the token of the owner. The entry of a stdio client contains only its name:\n`toolwell serve --stdio --token NAME`. After `revoke`, running calls finish and further requests are refused. Adding and\nrevoking need a terminal, so that a person decides.',
  ],
  examples: [
    { line: 'toolwell token', about: 'print the token of the owner' },
    { line: 'toolwell token --new', about: 'replace it; then update the config of your HTTP clients' },
    {
      line: 'toolwell token add ci --servers github --read-only --expires 30d',
      about: 'a token for one task',
    },
    { line: "toolwell token add notes --tools 'notes/*,files/read_*'", about: 'a token for some tools' },
    { line: 'toolwell token revoke ci', about: 'refuse further requests with this token' },
    { line: 'toolwell token revoke stdio:codex', about: 'refuse a client that `connect` set up' },
    { line: 'toolwell token add stdio:codex', about: 'allow it again' },
  ],
  exits: {
    0: 'Done.',
    1: 'There is no token of this name.',
    2: 'Wrong flags or names, no terminal, or an unusable folder.',
  },
  async run(flags, terminal) {
    const folder = gatewayFolder(flags.folder, terminal)
    const [action = '', name, ...rest] = flags._
    const isJson = flags.json === true
    const given = ['profile', 'servers', 'tools', 'read-only', 'expires'].find(
      (key) => flags[key] !== undefined,
    )
    if (given !== undefined && action !== 'add')
      throw usageProblem(`--${given} needs add.`, 'Write: toolwell token add NAME')
    if (flags.new && action !== '')
      throw usageProblem(`--new and ${action} cannot be combined.`, 'Remove one of them.')
    const [extra] = action === 'add' || action === 'revoke' ? rest : [name, ...rest]
    if (extra !== undefined) throw usageProblem(`Unexpected argument ${JSON.stringify(extra)}.`, 'Remove it.')
    const { FolderProblem } = await import('@toolwell/gateway/bridge')
    try {
      if (action === '') return await printOwner(folder, flags.new === true, isJson, terminal)
      const withTokens = (work: (tokens: TokenStore) => Promise<ExitCode>) =>
        withDatabase(flags.database, terminal, async (shared) =>
          work(shared?.storage.tokens ?? (await openTokens(folder))),
        )
      if (action === 'list') return await withTokens((tokens) => listTokens(tokens, isJson, terminal))
      if (action === 'revoke') {
        const revoked = await readName(name)
        return await withTokens((tokens) => revoke(revoked, tokens, terminal))
      }
      if (action === 'add') {
        const rights = {
          profile: flags.profile,
          servers: readNames(flags, 'servers'),
          tools: readNames(flags, 'tools'),
          readOnly: flags['read-only'] ? true : undefined,
        }
        const lasts = flags.expires === undefined ? undefined : readDuration(flags.expires, '--expires')
        const added = await readName(name)
        return await withTokens((tokens) => add(added, rights, lasts, tokens, isJson, terminal))
      }
    } catch (error) {
      if (error instanceof FolderProblem) throw new Problem(error.message, '', { reason: 'folder' })
      throw error
    }
    const [meant] = nearest(`--${action}`, ['--add', '--list', '--revoke', '--new'], 1)
    throw usageProblem(
      `Unexpected argument ${JSON.stringify(action)}.`,
      meant ? `Did you mean ${meant === '--new' ? meant : meant.slice(2)}?` : 'Write add, list or revoke.',
    )
  },
})

async function printOwner(folder: string, isNew: boolean, isJson: boolean, { output }: Terminal): Promise<0> {
  const { preparePrivateFolder, readToken, replaceToken, tokenFileIn } = await import(
    '@toolwell/gateway/bridge'
  )
  preparePrivateFolder(folder)
  const text = isNew ? replaceToken(folder) : readToken(folder)
  await output.write(`${isJson ? JSON.stringify({ token: text, file: tokenFileIn(folder) }) : text}\n`)
  return 0
}

async function readName(name: string | undefined): Promise<string> {
  const { isTokenName } = await import('@toolwell/gateway/bridge')
  if (name === undefined) throw usageProblem('The name of the token is missing.', 'Give one, for example: ci')
  if (name === 'owner')
    throw usageProblem(
      'The name owner is taken by the token of the owner.',
      'Replace it with: toolwell token --new',
    )
  if (isTokenName(name) || STDIO_CLIENT.test(name)) return name
  throw usageProblem(
    `${JSON.stringify(name.slice(0, 60))} cannot be the name of a token.`,
    'Use up to 40 letters, digits, dots, dashes and underscores.',
  )
}

function readNames(flags: object, flag: string): string[] | undefined {
  const names = everyValue(flags, flag).flatMap((value) => value.split(',').map((name) => name.trim()))
  if (names.includes(''))
    throw usageProblem(`--${flag} contains an empty name.`, `Separate names by commas: --${flag} one,two`)
  return names.length === 0 ? undefined : names
}

/** The name of a stdio client, which has no token. With `add` and flags, it gets fewer rights. */
const STDIO_CLIENT = /^stdio:[a-z\d][\w.-]{0,39}$/i

async function openTokens(folder: string) {
  const { fileStorage } = await import('@toolwell/gateway/storage')
  return fileStorage(folder).tokens
}

async function add(
  name: string,
  limits: { readonly [Key in keyof Rights]: Rights[Key] | undefined },
  lasts: number | undefined,
  tokens: TokenStore,
  isJson: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  requireTerminal(terminal, 'Adding a token', '')
  const [{ newToken }, { hashToken }] = await Promise.all([
    import('@toolwell/gateway/bridge'),
    import('@toolwell/gateway/storage'),
  ])
  const text = newToken()
  const createdAt = Date.now()
  const rights = Object.fromEntries(
    Object.entries(limits).filter(([, value]) => value !== undefined),
  ) as Rights
  const record: TokenRecord = {
    name,
    hash: hashToken(text),
    createdAt,
    ...(lasts === undefined ? {} : { expiresAt: createdAt + lasts }),
    rights,
  }
  const isStdio = STDIO_CLIENT.test(name)
  if (isStdio) await tokens.remove(name)
  if (isStdio && Object.keys(rights).length === 0 && lasts === undefined) {
    await terminal.output.write(
      isJson ? `${JSON.stringify({ name, rights })}\n` : `${name} may connect. It opens everything.\n`,
    )
    return 0
  }
  if (!(await tokens.add(record)))
    throw new Problem(`There is already a token ${name}.`, `Revoke it first: toolwell token revoke ${name}`, {
      reason: 'taken',
    })
  const { hash: _, ...shown } = record
  await terminal.output.write(
    isJson
      ? `${JSON.stringify(isStdio ? shown : { ...shown, token: text })}\n`
      : `${isStdio ? `${name} may connect.` : `${text}\nThis token is shown only now.`} It opens ${describeRights(rights)}${record.expiresAt === undefined ? '' : `, until ${writeTime(record.expiresAt)}`}.\n`,
  )
  return 0
}

async function listTokens(tokens: TokenStore, isJson: boolean, { output }: Terminal): Promise<0> {
  const records = tokens.list()
  if (isJson) {
    await output.write(`${JSON.stringify(records.map(({ hash: _, ...record }) => record))}\n`)
    return 0
  }
  const rows = records.map(({ name, rights, createdAt, expiresAt }) => [
    name,
    describeRights(rights),
    writeTime(createdAt),
    expiresAt === undefined
      ? 'never'
      : expiresAt > Date.now()
        ? writeTime(expiresAt)
        : STDIO_CLIENT.test(name)
          ? 'revoked'
          : 'expired',
  ])
  const columns = ['name', 'opens', 'added', 'expires'].map((title) => ({ title }))
  const lines = table(columns, [['owner', 'everything', '', 'never'], ...rows])
  await output.write(`${lines.join('\n')}\n`)
  return 0
}

async function revoke(name: string, tokens: TokenStore, terminal: Terminal): Promise<ExitCode> {
  requireTerminal(terminal, 'Revoking a token', '')
  const wasKnown = await tokens.remove(name)
  if (STDIO_CLIENT.test(name)) {
    const [{ newToken }, { hashToken }] = await Promise.all([
      import('@toolwell/gateway/bridge'),
      import('@toolwell/gateway/storage'),
    ])
    // No token has this hash. The record says that the name no longer opens anything.
    const now = Date.now()
    await tokens.add({ name, hash: hashToken(newToken()), createdAt: now, expiresAt: now, rights: {} })
  }
  if (wasKnown || STDIO_CLIENT.test(name)) {
    await terminal.output.write(`Revoked ${name}. Running calls finish, and further requests are refused.\n`)
    return 0
  }
  const known = tokens.list().map((each) => each.name)
  const [meant] = nearest(name, known, 1)
  await terminal.errors.write(
    `toolwell: There is no token ${name}. ${meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ') || 'none'}.`}\n`,
  )
  return 1
}

function describeRights({ profile, servers, tools, readOnly }: Rights): string {
  const parts = [
    ...(profile === undefined ? [] : [`profile ${profile}`]),
    ...(servers ? [`servers ${servers.join(', ')}`] : []),
    ...(tools ? [`tools ${tools.join(', ')}`] : []),
    ...(readOnly ? ['only read-only tools'] : []),
  ]
  return parts.join('; ') || 'everything'
}

/** Local time without seconds, as 2026-11-18 13:54. */
function writeTime(milliseconds: number): string {
  return new Date(milliseconds).toLocaleString('sv-SE').slice(0, 16)
}
