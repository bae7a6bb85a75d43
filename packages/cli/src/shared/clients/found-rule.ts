/** Rules for tools and servers, from names in the settings of a client. */
import type { Rule, RuleAction } from '@toolwell/gateway/bridge'
import { isFields, isText, type Source, WrongKey } from './rule-source.js'

/** A rule as the user wrote it. */
export interface FoundRule {
  readonly action: RuleAction
  readonly text: string
  readonly file: string
  readonly rule: Rule
}

/** The name of the entry that `connect` writes. Rules may also name the tools of the gateway. */
export const GATEWAY = 'toolwell'

/** A rule for a full name with the client's prefix. Empty if the rule is not for MCP tools. */
export function ruleFor(action: RuleAction, text: string, file: string, prefix: string): FoundRule[] {
  // Arguments in parentheses are dropped: the rule then counts for every call.
  const given = text.replace(/\(.*$/s, '').trim()
  const name = given === '*' && action !== 'allow' ? `${prefix}*` : given
  if (name === prefix || name === `${prefix}${GATEWAY}` || !name.startsWith(prefix)) return []
  // Such a rule would allow more than the user wrote.
  if (action === 'allow' && (text !== given || name.includes('?'))) return []
  const pattern = action === 'deny' && isShortened(name) ? name.replace(SHORTENED, '*') : name
  return [{ action, text, file, rule: [action, pattern.replaceAll('?', '*')] }]
}

/** Gemini CLI and Qwen Code shorten names that model APIs refuse, and show them so. Qwen Code has two forms. */
const SHORTENED = /\.\.\.|___|_[\da-z]{7,8}$/
export const isShortened = (name: string) => name.length >= 60

export const serverRule = (action: RuleAction, server: string, file: string, text = server): FoundRule => ({
  action,
  text,
  file,
  rule: [action, '*', server],
})

/** These clients compare names in a list as they are, so a wildcard allows nothing. */
export const isPlain = (name: string) => !name.includes('*')

/** A list of allowed servers denies every other. The gateway itself does not count. */
export function allowedServers(names: readonly string[] | undefined, file: string): FoundRule[] {
  const others = names?.filter((name) => name !== GATEWAY) ?? []
  if (others.length === 0) return []
  const all: FoundRule = { ...serverRule('deny', '*', file), text: `servers other than ${others.join(', ')}` }
  return [all, ...others.filter(isPlain).map((name) => serverRule('allow', name, file, ''))]
}

export const disabledServers = (names: readonly string[], file: string) =>
  names.filter((name) => name !== GATEWAY).map((name) => serverRule('deny', name, file))

/** `deniedMcpServers` and `allowedMcpServers` of an administrator. */
export function managedServers(sources: readonly Source[]): FoundRule[][] {
  const servers = (source: Source, key: string) => {
    const list = source.value[key]
    if (list === undefined) return undefined
    if (!Array.isArray(list)) throw new WrongKey(source.file, `"${key}" must be a list`)
    return list.map((each: unknown) => {
      const { serverName } = isFields(each) ? each : { serverName: each }
      if (isText(serverName)) return serverName
      throw new WrongKey(
        source.file,
        `"${key}" has an entry without "serverName", and Toolwell compares only names`,
      )
    })
  }
  return [
    sources.flatMap((source) =>
      (servers(source, 'deniedMcpServers') ?? []).map((name) => serverRule('deny', name, source.file)),
    ),
    ...sources.map((source) => allowedServers(servers(source, 'allowedMcpServers'), source.file)),
  ]
}

/** `Mcp(server)` and `Mcp(server/tool)`. */
export function mcpRule(action: RuleAction, text: string, file: string): FoundRule[] {
  const [, server, tool = '*'] = /^\s*mcp\(([^/)]+)(?:\/([^)]*))?\)/i.exec(text) ?? []
  if (server === undefined || server === GATEWAY) return []
  return [{ action, text, file, rule: [action, tool.trim() || '*', server.trim()] }]
}

/** Lists of tools for one server, as Codex, Gemini CLI and Qwen Code have them. */
export function toolLists(
  server: string,
  only: readonly string[] | undefined,
  not: readonly string[] | undefined,
  file: string,
): FoundRule[] {
  // In the gateway's own entry, the names are those of the gateway.
  const isOwn = server === GATEWAY
  const rule = (action: RuleAction, tool: string, text: string): FoundRule => {
    return { action, text, file, rule: [action, tool.replace(/\(.*$/s, ''), server] }
  }
  const isLimited = only !== undefined && (!isOwn || only.some((name) => name.includes('__')))
  return [
    ...(isLimited ? [rule('deny', '*', `${server}: tools other than ${only.join(', ') || '(none)'}`)] : []),
    ...(isLimited ? only.filter(isPlain).map((tool) => rule('allow', tool, '')) : []),
    ...(not ?? []).map((tool) => rule('deny', tool, `${server}/${tool}`)),
  ]
}
