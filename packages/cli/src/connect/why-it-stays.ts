/** Why a server stays in its client: what is wrong in its entry as it would be read here, and what to do about it there. */
import type { ConfigProblem } from '@toolwell/mcp'
import type { Addition } from '../import/plan.js'
import { nameInput } from '../shared/clients/inputs.js'

export function explainProblem({ message, fix }: ConfigProblem, addition: Addition | undefined): string {
  const named = nameInput(message, addition?.inputs ?? new Map())
  const [, variable] = /the environment variable (\w+) is not set/.exec(message) ?? []
  if (variable === undefined) return `${named}. ${fix}`
  // Of all clients, this one reads a default: code.claude.com/docs/en/mcp.
  const hasDefaults = addition?.from.every(({ client }) => client === 'claude-code') === true
  const orDefault = hasDefaults ? `, or give a default there: \${${variable}:-value}` : ''
  return `${named}. Set ${variable} in the shell that runs this command, and where the gateway is started${orDefault}`
}
