/** Describes each event of the gateway in one line. */
import { firstLine } from '@toolwell/core/internal'
import type { GatewayEvent } from '@toolwell/gateway'
import type { Hints } from '../shared/gateway.js'
import { problemLine, quarantinedLines, untrustedLine } from '../shared/gateway.js'

type Called = Extract<GatewayEvent, { kind: 'call' }>
type TurnedAway = Extract<GatewayEvent, { kind: 'turned-away' }>

/** Fixed texts, because messages may contain arguments. */
const NOT_RUN: Readonly<Record<NonNullable<Called['reason']>, string>> = {
  invalid: 'the arguments do not fit its schema',
  unknown: 'there is no such tool',
  unavailable: 'its server is unavailable',
  denied: 'it is not allowed',
  refused: 'it was refused',
  stale: 'its definition has changed',
  hint: 'it was answered with a hint',
  'already-started': 'the same call was already started',
  'timed-out': 'it took too long',
  error: 'an error occurred',
  'not-recorded': 'the call could not be checked',
  'not-read-only': 'it is not approved as read-only, so run_read_only_tool does not run it',
  'no-folder': 'its server needs a project folder, and the client named none',
  limit: 'the client reached a limit of its server',
}

const TURNED_AWAY: Readonly<Record<NonNullable<TurnedAway['reason']>, string>> = {
  'no-token': 'no token',
  'wrong-token': 'wrong token',
  elsewhere: 'the request does not come from this machine',
}

/** Returns undefined for events that are not printed. */
export function describeEvent(event: GatewayEvent, hints: Hints): string | undefined {
  switch (event.kind) {
    case 'client-joined':
      return `+ a client over ${over(event.client)} at ${event.endpoint}`
    case 'client-left':
      return `- a client over ${over(event.client)}${event.endpoint === '' ? '' : ` at ${event.endpoint}`}`
    case 'listed':
      return `  ${named(event.client)} listed the tools of ${event.endpoint}`
    case 'call':
      if (event.what === 'search')
        return `  ${named(event.client)} searched ${JSON.stringify(firstLine(event.query ?? '', 60))} → ${event.found ?? 0} found`
      if (event.what === 'refused')
        return `  ${named(event.client)}: ${firstLine(event.tool, 80)} was not run: ${NOT_RUN[event.reason ?? 'not-recorded']}`
      return `  ${named(event.client)} called ${firstLine(event.tool, 80)}${event.isError ? ', which failed' : ''}`
    case 'config-read':
      return `  the config has changed: ${event.servers} servers`
    case 'config-refused':
      return `! the new config has errors, so the previous one stays active: ${event.problem}`
    case 'config-problem':
      return problemLine(event)
    case 'project-untrusted':
      return untrustedLine(event, hints)
    case 'turned-away':
      return `  refused: ${TURNED_AWAY[event.reason ?? 'elsewhere']} (${event.status})`
    case 'server': {
      const { event: about } = event
      if (about.kind === 'server-state') {
        const reason = about.reason === '' ? '' : `: ${about.reason}`
        return `  server ${firstLine(about.server, 100)} is ${about.state}${reason}`
      }
      if (about.kind === 'tools-quarantined')
        return quarantinedLines(about.server, [...about.tools.keys()], event.config, hints.name).join('\n')
      return undefined
    }
  }
}

function over(kind: string): string {
  return kind === 'session' ? 'HTTP' : kind
}

function named(client: string): string {
  return firstLine(client, 100) || 'a client'
}
