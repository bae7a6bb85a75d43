/** Finds hooks of a client that may block tools of MCP servers, and do not run for tools behind Toolwell. */
import { join } from 'node:path'
import { RulesProblem, readSources } from './client-rules.js'
import { valueAt } from './read-client.js'
import { copilotHome, copilotSystem, RULE_READERS, type RuleReader } from './rule-readers.js'
import {
  filesIn,
  foldersUp,
  isFields,
  isText,
  type RulePlaces,
  type Source,
  WrongKey,
} from './rule-source.js'
import type { Fields } from './shapes.js'
import { ENTRY_NAME } from './toolwell-entry.js'

export interface LostHook {
  /** The names of the tools, as the client compares them. */
  readonly matcher: string
  readonly file: string
}

/** Events before a tool runs. Gemini CLI has the third, and Copilot CLI also the last three. */
const EVENTS = [
  'PreToolUse',
  'PermissionRequest',
  'BeforeTool',
  'preToolUse',
  'permissionRequest',
  'preMcpToolCall',
]

/** Throws `RulesProblem` if a file cannot be read. */
export async function findLostHooks(client: string, places: RulePlaces): Promise<LostHook[]> {
  if (!Object.hasOwn(RULE_READERS, client)) return []
  const { files, more }: RuleReader = RULE_READERS[client as keyof typeof RULE_READERS]
  const sources: Source[] = []
  try {
    sources.push(...(await readSources([...files(places), ...hookFiles(client, places)], places)))
    if (more) sources.push(...(await readSources(more(sources, places), places)))
  } catch (error) {
    throw error instanceof WrongKey
      ? new RulesProblem(`${error.file}: ${error.message}. It may contain hooks that block tools.`)
      : error
  }
  return sources.flatMap(({ file, value }) =>
    EVENTS.flatMap((event) => {
      const list = valueAt(value, ['hooks', event])
      return (Array.isArray(list) ? list : []).flatMap((each: unknown) =>
        isFields(each)
          ? namesOf(each)
              .filter((matcher) => isLost(matcher, client))
              .map((matcher) => ({ matcher, file }))
          : [],
      )
    }),
  )
}

/** The matcher, and the rules in `if`, which Claude Code compares for each command of a hook. */
function namesOf({ matcher, hooks }: Fields): string[] {
  const conditions = (Array.isArray(hooks) ? hooks : []).map((hook: unknown) => valueAt(hook, ['if']))
  return [matcher, ...conditions.filter(isText).map((rule) => rule.replace(/\(.*$/s, ''))].filter(isText)
}

function hookFiles(client: string, places: RulePlaces): string[] {
  const { home, folder, env } = places
  if (client === 'copilot-cli')
    return [
      join(copilotHome(places), 'hooks'),
      ...foldersUp(folder).map((each) => join(each, '.github', 'hooks')),
      join(copilotSystem(places), 'policy.d'),
    ].flatMap((each) => filesIn(each, '.json'))
  if (client !== 'codex') return []
  const folders = [
    env.CODEX_HOME || join(home, '.codex'),
    ...foldersUp(folder).map((each) => join(each, '.codex')),
  ]
  return folders.map((each) => join(each, 'hooks.json'))
}

/** Matches the tools behind Toolwell, as the client names them. */
export const exampleMatcher = (client: string) =>
  client === 'copilot-cli' ? 'toolwell-.*' : 'mcp__toolwell__.*'

/** A matcher for every tool, or with the name of the gateway, still matches. Compares texts, because a stranger's pattern may take long. */
export function isLost(matcher: string, client: string): boolean {
  if (/^[mcp_.*+^$()]*$/.test(matcher) || matcher.includes(ENTRY_NAME)) return false
  const named = NAMED[client] ?? /^(?:\(\?:)?[\s(^]*[.[*]|mcp_|__/
  // Claude Code compares a matcher without special characters with the whole name.
  const isWhole = client === 'claude-code' && /^[\w\s|,]*$/.test(matcher)
  return matcher.split('|').some((part) => (isWhole ? /mcp_|__/ : named).test(part))
}

/** Built-in tools of these clients begin with a capital letter, and their patterns match anywhere in a name. */
const CAPITALS = /^[\s(?:]*[^\sA-Z(?:^]|^[\s(^]*[.[*]|mcp_|__/

const NAMED: Readonly<Record<string, RegExp>> = {
  'claude-code': CAPITALS,
  continue: CAPITALS,
  kimi: CAPITALS,
  // It calls a tool SERVER-TOOL.
  'copilot-cli': /[^\w\s()^$]/,
}
