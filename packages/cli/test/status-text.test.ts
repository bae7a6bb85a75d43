/** What `status` shows of a gateway that another version of the command has started, and commands that can be pasted. */
import { spawnSync } from 'node:child_process'
import type { GatewayReport } from '@toolwell/gateway'
import { type DaemonFile, shellWord } from '@toolwell/gateway/bridge'
import { expect, it } from 'vitest'
import { untrustedLine } from '../src/shared/gateway/untrusted-line.js'
import { statusText } from '../src/status/text.js'

const file: DaemonFile = {
  pid: 1,
  port: 7411,
  instance: 'i',
  version: '0.0.1',
  protocol: 1,
  startedBy: 'person',
  startedAt: 0,
}
const report: GatewayReport = {
  version: '0.0.1',
  instance: 'i',
  pid: 1,
  startedAt: 0,
  uptime: 1000,
  clients: [],
  halls: [
    {
      workspaces: [],
      profiles: [],
      files: ['/a/toolwell.json'],
      missing: [],
      untrusted: [],
      problem: undefined,
      servers: [],
      tokens: { all: 10, list: 5 },
    },
  ],
  counts: { calls: 0, searches: 0, refused: 0, failed: 0, lists: 0 },
  answerTokens: 0,
  memory: { gateway: 1, servers: undefined },
}

it('shows an older gateway, which knows less', () => {
  const { missing: _, untrusted: __, ...hall } = report.halls[0] as GatewayReport['halls'][number]
  const shown = statusText({ ...report, halls: [hall] }, file, '')
  expect(shown).toBe(statusText(report, file, ''))
  expect(shown).toContain('toolwell stop')
  expect(shown).toContain('there are none in /a/toolwell.json')
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

it('quotes folders in commands that are printed', () => {
  const line = untrustedLine({ folder: '/my project', file: '/my project/toolwell.json' }, '')
  expect(line).toContain(process.platform === 'win32' ? '--trust "/my project"' : "--trust '/my project'")
})
