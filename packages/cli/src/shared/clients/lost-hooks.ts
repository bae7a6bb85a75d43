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
import { ENTRY_NAME } from './toolwell-entry.js'

export interface LostHook {
  /** The names of the tools, as the client compares them. */
  readonly matcher: string
  readonly file: string
}

/** Events before a tool runs. Gemini CLI has the third, and Copilot CLI also the last two. */
const EVENTS = ['PreToolUse', 'PermissionRequest', 'BeforeTool', 'preToolUse', 'permissionRequest']

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
        isFields(each) && isText(each.matcher) && isLost(each.matcher, client)
          ? [{ matcher: each.matcher, file }]
          : [],
      )
    }),
  )
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

/** A matcher for every tool, or with the name of the gateway, still matches. Compares texts, because a stranger's pattern may take long. */
function isLost(matcher: string, client: string): boolean {
  if (/^[mcp_.*+^$()]*$/.test(matcher) || matcher.includes(ENTRY_NAME)) return false
  // Copilot CLI calls a tool SERVER-TOOL.
  const named = client === 'copilot-cli' ? /[^\w\s()^$]/ : /^(?:\(\?:)?[\s(^]*[.[*]|mcp_|__/
  return matcher.split('|').some((part) => named.test(part))
}
