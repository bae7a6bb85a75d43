/** The catalogue state of a server in each of its states. */
import type { SourceState } from '@toolwell/core'
import { defineServer, type ServerDefinition, type ServerState } from '@toolwell/mcp'
import { expect, it } from 'vitest'
import { adviseSource, toSourceState } from '../src/connect-servers/publish.js'

const definition: ServerDefinition = {
  tools: [],
  instructions: '',
  capabilities: {},
  info: undefined,
  era: 'modern',
  ttlMs: undefined,
  cacheScope: 'private',
}

it.each<[ServerState, known: SourceState, unknown: SourceState]>([
  ['cached', 'ready', 'connecting'],
  ['connecting', 'ready', 'connecting'],
  ['ready', 'ready', 'connecting'],
  ['idle', 'ready', 'connecting'],
  ['quarantined', 'ready', 'connecting'],
  ['failed', 'failed', 'failed'],
  ['disabled', 'disabled', 'disabled'],
  ['needs-login', 'needs-login', 'needs-login'],
])('%s is %s if its tools are known, and %s if they are not', (state, known, unknown) => {
  expect(toSourceState({ state, definition })).toBe(known)
  expect(toSourceState({ state, definition: undefined })).toBe(unknown)
})

it('advice is given where a login is needed, and nowhere else', () => {
  const server = defineServer('my notes', { url: 'https://example.com/mcp' })
  expect(adviseSource(server, 'needs-login')).toBe('run toolwell login "my notes"')
  expect(adviseSource(server, 'failed')).toBe('')
})
