/** What happens in the gateway, a line each, for whoever watches it. */
import type { GatewayEvent } from '@toolwell/gateway'

/** Undefined for what is not worth a line. */
export function inWords(event: GatewayEvent): string | undefined {
  switch (event.kind) {
    case 'client-joined':
      return `+ a client over ${event.client} at ${event.endpoint}`
    case 'client-left':
      return `- a client over ${event.client}${event.endpoint === '' ? '' : ` at ${event.endpoint}`}`
    case 'listed':
      return `  ${named(event.client)} listed the tools of ${event.endpoint}`
    case 'call':
      if (event.what === 'search') return `  ${named(event.client)} searched`
      if (event.what === 'refused')
        return `  ${named(event.client)}: a call of ${event.tool} was answered without running it`
      return `  ${named(event.client)} called ${event.tool}${event.isError ? ', which failed' : ''}`
    case 'config-read':
      return `  the config has changed: ${event.servers} servers`
    case 'config-refused':
      return `! the config has changed and cannot be used, so the one before stays: ${event.problem}`
    case 'server': {
      const { event: about } = event
      if (about.kind === 'server-state') {
        const reason = about.reason === '' ? '' : `: ${about.reason}`
        return `  server ${about.server} is ${about.state}${reason}`
      }
      if (about.kind === 'tools-quarantined')
        return `! ${about.tools.size} tools of ${about.server} are held back. Look at them with: toolwell approve`
      return undefined
    }
  }
}

function named(client: string): string {
  return client === '' ? 'a client' : client
}
