/** Output of `status` about a gateway from another version, and commands that can be pasted. */
import { spawnSync } from 'node:child_process'
import type { GatewayEvent, GatewayReport } from '@toolwell/gateway'
import { type DaemonFile, shellWord } from '@toolwell/gateway/bridge'
import { expect, it } from 'vitest'
import { describeEvent } from '../src/serve/events.js'
import { problemLine, untrustedLine } from '../src/shared/gateway.js'
import { statusText } from '../src/status/verb.js'

const file: DaemonFile = {
  pid: 1,
  port: 7411,
  instance: 'i',
  key: 'k',
  version: '0.0.1',
  protocol: 1,
  startedBy: 'person',
  startedAt: 0,
}
const hints = { name: 'toolwell', at: '', hasChanged: () => false }
const report: GatewayReport = {
  version: '0.0.1',
  instance: 'i',
  pid: 1,
  startedAt: 0,
  uptime: 1000,
  clients: [],
  serverSets: [
    {
      workspaces: [],
      profiles: [],
      files: ['/a/toolwell.json'],
      missing: [],
      untrusted: [],
      problem: undefined,
      problems: [],
      servers: [],
      tokens: { all: 1000, list: 300, saved: 700 },
    },
  ],
  counts: { calls: 0, searches: 0, refused: 0, failed: 0, lists: 0 },
  database: undefined,
  lost: { calls: { count: 0, reason: '' }, results: { count: 0, reason: '' } },
  answerTokens: 0,
  memory: { gateway: 1, servers: undefined },
}

it('shows an older gateway, which knows less', () => {
  const {
    missing: _,
    untrusted: __,
    problems: ___,
    ...set
  } = report.serverSets[0] as GatewayReport['serverSets'][number]
  const { lost: ____, ...older } = report
  const shown = statusText({ ...older, serverSets: [set] }, file, hints)
  expect(shown).toBe(statusText(report, file, hints))
  expect(shown).toContain('toolwell stop')
  expect(shown).toContain('/a/toolwell.json has none')
})

it.each(['/plain/folder', '/with blank/it', `/with 'quotes' "of" $both \`kinds\``, '/a;b&c|d*e?(f)', ''])(
  'a shell reads the word %j as it was',
  (word) => {
    const { stdout } = spawnSync('sh', ['-c', `printf '[%s]' ${shellWord(word, false)}`], {
      encoding: 'utf8',
    })
    expect(stdout).toBe(`[${word}]`)
  },
)

it('shows what a full disk has lost', () => {
  const lost = { calls: { count: 2, reason: 'ENOSPC' }, results: { count: 1, reason: 'too large' } }
  const shown = statusText({ ...report, lost }, file, hints)
  expect(shown).toContain('! 2 calls could not be recorded: ENOSPC. Check the disk.\n')
  expect(shown).toContain('! 1 long result could not be kept: too large. Check the disk.\n')
})

it('quotes folders in commands that are printed', () => {
  const line = untrustedLine({ folder: '/my project', file: '/my project/toolwell.json' }, hints)
  expect(line).toContain(process.platform === 'win32' ? '--trust "/my project"' : "--trust '/my project'")
})

it('says what a request saves, and how much of that the searches took', () => {
  expect(statusText({ ...report, answerTokens: 1500 }, file, hints)).toMatch(
    /A request carries 300 tokens of tools instead of 1,000: 700 saved per request\.\n.*about 1,500 tokens, as much as 3 requests saved\.\n/s,
  )
  const [set] = report.serverSets
  const small = { ...report, serverSets: [{ ...set, tokens: { all: 100, list: 300, saved: -200 } }] }
  expect(statusText(small, file, hints)).toContain('300 tokens of tools instead of 100: 200 more.\n')
})

it.each([
  [['helper'], undefined, '1 tool of a is quarantined: helper', 'it', ''],
  [
    ['helper', 'two words'],
    '/my project/b.json',
    '2 tools of a are quarantined: helper, "two words"',
    'them',
    " --config '/my project/b.json'",
  ],
])('names the command that shows %j before the command that approves', (tools, config, what, them, words) => {
  const [set] = report.serverSets
  const server = {
    name: 'a',
    state: 'cached',
    reason: '',
    endpoint: '',
    pids: [],
    sharedBy: 'everyone',
    processes: [],
    starts: 0,
    tools: 2,
    quarantined: Object.fromEntries(tools.map((name) => [name, 'changed'])),
    config,
  }
  const shown = statusText({ ...report, serverSets: [{ ...set, servers: [server] }] }, file, hints)
  const quoted = process.platform === 'win32' ? words.replaceAll("'", '"') : words
  expect(shown).toContain(
    `! ${what}\n    Review ${them} first: toolwell approve${quoted}\n    Approve ${them}: toolwell approve a${quoted}\n`,
  )
})

it('says which clients share a process, and whose the others are', () => {
  const [set] = report.serverSets
  const known = {
    state: 'ready',
    reason: '',
    endpoint: '',
    starts: 1,
    tools: 2,
    quarantined: {},
    config: undefined,
  }
  const servers = [
    { ...known, name: 'web', pids: [7], sharedBy: 'everyone', processes: [{ pid: 7, client: undefined }] },
    {
      ...known,
      name: 'browser',
      pids: [8, 9],
      sharedBy: 'client',
      processes: [
        { pid: 8, client: 'bridge a' },
        { pid: 9, client: 'bridge b' },
      ],
    },
  ]
  const clients = [{ id: 'bridge a', name: 'codex 0.166', pid: 5, kind: 'stdio', endpoint: '/mcp' }].map(
    (each) => ({
      ...{ workspace: '/a', since: 0, lastUsed: 0, calls: 0, searches: 0, refused: 0 },
      ...each,
    }),
  )
  const shown = statusText({ ...report, clients, serverSets: [{ ...set, servers }] }, file, hints)
  expect(shown).toMatch(/^ *web +ready +2 +all clients +7 *$/m)
  expect(shown).toMatch(
    /^ *browser +ready +2 +each client +8 \(codex 0\.166, process 5\) 9 \(client has left\) *$/m,
  )
})

it('names once what is wrong in the config of the user, whatever projects are open', () => {
  const [set] = report.serverSets
  const problems = [{ server: 'a', problem: '/a/toolwell.json:3: no', stillUsed: false }]
  const own = { server: 'b', problem: '/p/toolwell.json:1: no', stillUsed: false }
  const serverSets = [
    { ...set, problems },
    { ...set, problems: [...problems, own] },
  ]
  const shown = statusText({ ...report, serverSets }, file, hints)
  expect(shown.split('! a is not usable: /a/toolwell.json:3: no\n')).toHaveLength(2)
  expect(shown.split('! b is not usable')).toHaveLength(2)
  expect(shown.split('No servers: no entry of the config is usable.')).toHaveLength(3)
})

it('removes control characters from names and folders of clients, and from names of servers', () => {
  const evil = 'x\u001b[2J\u001b]0;t\u0007\ny'
  const client = {
    name: evil,
    kind: 'http',
    endpoint: '/mcp',
    calls: 0,
    searches: 0,
    refused: 0,
    workspace: evil,
  }
  const [set] = report.serverSets
  const clients = [client] as unknown as GatewayReport['clients']
  const paths = {
    workspaces: [evil],
    files: [evil],
    missing: [evil],
    untrusted: [{ folder: evil, file: evil }],
    problem: evil,
    problems: [{ server: 'a', problem: evil, stillUsed: false }],
    servers: [
      {
        name: evil,
        state: 'ready',
        reason: '',
        tools: 1,
        sharedBy: 'everyone',
        processes: [],
        quarantined: { [evil]: 'changed' },
      },
    ],
  }
  const shown = [paths, { ...paths, problems: [] }, { ...paths, problems: [], missing: [] }]
    .map((some) => statusText({ ...report, clients, serverSets: [{ ...set, ...some }] }, file, hints))
    .join('')
  const line = describeEvent({ kind: 'listed', client: evil, endpoint: '/mcp' }, hints) ?? ''
  const events = [
    { kind: 'server-state', server: evil, state: 'ready', reason: '' },
    { kind: 'tools-quarantined', server: evil, tools: new Map([[evil, 'changed']]) },
  ].map((event) => describeEvent({ kind: 'server', event } as unknown as GatewayEvent, hints) ?? '')
  expect(events.join()).toContain('quarantined')
  for (const text of [shown, line, ...events]) expect(text).not.toMatch(/[\u001b\u0007]|^y/m)
})

it('escapes the name of a server that is not usable', () => {
  expect(problemLine({ server: 'na\u001b[2Jme', problem: 'x\u001b[2J', stillUsed: false })).not.toContain(
    '\u001b',
  )
})
