/** Notes about a client: other entries called "toolwell", and problems of its servers. */
import { isRecord } from '@toolwell/core/internal'
import type { RuleAction } from '@toolwell/gateway/bridge'
import type { ConfigProblem } from '@toolwell/mcp'
import type { Addition } from '../import/plan.js'
import { folderFiles, type UserFile } from '../shared/clients/clients.js'
import type { FoundRule } from '../shared/clients/found-rule.js'
import { nameInput, valueAt } from '../shared/clients/read-client.js'
import type { Fields } from '../shared/clients/shapes.js'
import { ENTRY_NAME, readCommandLine, readToolwellEntry } from '../shared/clients/toolwell-entry.js'

/** Commands that remove an entry of a folder. Other clients have a file to edit. */
const REMOVE: Readonly<Record<string, string>> = {
  'claude-code': 'claude mcp remove --scope project',
  gemini: 'gemini mcp remove --scope project',
  qwen: 'qwen mcp remove --scope project',
}

/**
 * Finds entries called "toolwell" of a folder, which override the entry of the user. `value`: content of the user's file. `line`:
 * the command line of our entry.
 */
export function overrideNotes(
  from: UserFile,
  value: Fields,
  folder: string,
  line: readonly string[],
): string[] {
  const isOther = (entry: unknown) =>
    entry !== undefined && readCommandLine(entry).join('\n') !== line.join('\n')
  const note = (place: string, remove: string) =>
    `In ${place}, another entry called ${ENTRY_NAME} overrides this one. ${remove}`
  const folders = from.shape === 'claude-code' && isRecord(value.projects) ? value.projects : {}
  const local = Object.keys(folders)
    .filter((place) => isOther(valueAt(folders[place], ['mcpServers', ENTRY_NAME])))
    .map((place) => note(place, `Remove it there: claude mcp remove --scope local ${ENTRY_NAME}`))
  const shared = folderFiles(folder)
    .filter(
      (each) => each.client === from.client && each.file !== from.file && isOther(readToolwellEntry(each)),
    )
    .map(({ client, file }) => {
      // No command edits this file.
      const command = file.endsWith('settings.local.json') ? undefined : REMOVE[client]
      return note(folder, command ? `Remove it there: ${command} ${ENTRY_NAME}` : `Remove it from ${file}`)
    })
  return [...local, ...shared]
}

/** Names rules that no longer match, because the tools have other names behind the gateway. Deny rules still count. */
export function lostRuleNotes(
  { label }: UserFile,
  rules: readonly FoundRule[],
  lostAsk: readonly string[] = [],
): string[] {
  const named = (action: RuleAction) => {
    const texts = rules.filter((each) => each.action === action && !namesGateway(each.text))
    return [...new Set(texts.map(({ text }) => text))].join(', ')
  }
  const [asked, allowed] = [named('ask'), named('allow')]
  return [
    ...(lostAsk.length === 0
      ? []
      : [
          `${label} no longer recognises these ask rules: ${lostAsk.join(', ')}. Do not let it run the tools of Toolwell without asking.`,
        ]),
    ...(asked === ''
      ? []
      : [
          `${label} no longer recognises these ask rules: ${asked}. The read-only tool of Toolwell never runs these tools. Do not let ${label} run the other tools of Toolwell without asking.`,
        ]),
    ...(allowed === ''
      ? []
      : [`${label} no longer recognises these allow rules, so it asks again: ${allowed}.`]),
  ]
}

/** Rules with the gateway's name, or for every tool, still match in the client. */
const namesGateway = (text: string) => text.includes(ENTRY_NAME) || /^(?:mcp__?)?\*$/.test(text)

/** Explains why a server stays in its client. */
export function explainProblem({ message, fix }: ConfigProblem, addition: Addition | undefined): string {
  const named = nameInput(message, addition?.inputs ?? new Map())
  const [, variable] = /the environment variable (\w+) is not set/.exec(message) ?? []
  if (variable === undefined) return `${named}. ${fix}`
  // Only Claude Code supports defaults: code.claude.com/docs/en/mcp.
  const hasDefaults = addition?.from.every(({ client }) => client === 'claude-code') === true
  const orDefault = hasDefaults ? `, or add a default to the entry: \${${variable}:-value}` : ''
  return `${named}. Set ${variable} in the shell that runs this command and before you start the gateway${orDefault}`
}
