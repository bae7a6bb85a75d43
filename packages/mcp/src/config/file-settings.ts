/** Reads the settings of a config file besides its servers: profiles, `hostTools` and `scan`. */

import { dropUndefined, isRecord, matchesGlob, nearest } from '@toolwell/core/internal'
import { checkRuleSetting, type RuleSettings } from '../trust/scan/rules.js'
import { type ConfigDocument, type ConfigProblem, createProblem, type Path, pathText } from './document.js'
import { describeMisfit, HOST_TOOLS_KEYS, PROFILE_KEYS, showExample } from './keys.js'
import { matchesDenied, matchesTool, type ServerConfig } from './server-config.js'

export interface Profile {
  readonly servers?: readonly string[]
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** Reads the profiles of one file. Adds problems and skips the profile that has one. */
export function readProfiles(document: ConfigDocument, problems: ConfigProblem[]): Record<string, Profile> {
  const profiles: Record<string, Profile> = {}
  const given = document.value?.profiles
  if (given === undefined) return profiles
  if (!isRecord(given)) {
    problems.push(
      createProblem(
        document,
        ['profiles'],
        'profiles must be an object',
        'Write { "name": { "servers": […] } }',
      ),
    )
    return profiles
  }
  for (const [name, value] of Object.entries(given)) {
    const path = ['profiles', name]
    const wrongName = nameProblem(name)
    if (wrongName) {
      problems.push(createProblem(document, path, wrongName, 'Rename it'))
      continue
    }
    if (!isRecord(value)) {
      problems.push(
        createProblem(document, path, 'a profile must be an object', 'Write { "servers": ["name"] }'),
      )
      continue
    }
    const wrong = Object.entries(value).flatMap(([key, each]): ConfigProblem[] => {
      const known = Object.hasOwn(PROFILE_KEYS, key) ? PROFILE_KEYS[key] : undefined
      const [suggestion] = nearest(key, Object.keys(PROFILE_KEYS), 1)
      if (!known)
        return [
          createProblem(
            document,
            [...path, key],
            `unknown key ${JSON.stringify(key)}`,
            suggestion === undefined
              ? `Known keys: ${Object.keys(PROFILE_KEYS).join(', ')}`
              : `Did you mean ${JSON.stringify(suggestion)}?`,
          ),
        ]
      const message = describeMisfit(each, known)
      return message
        ? [
            createProblem(
              document,
              [...path, key],
              `${key} ${message}`,
              `Write "${key}": ${showExample(known)}`,
            ),
          ]
        : []
    })
    problems.push(...wrong)
    if (wrong.length === 0) profiles[name] = value as Profile
  }
  return profiles
}

/** The gateway uses the name as a path segment, so names with another meaning there are refused. */
function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'a profile needs a name'
  if (name === 'all') return 'no profile can be called "all": the gateway uses this path for every tool'
  if (name === '.' || name === '..')
    return `no profile can be called ${JSON.stringify(name)}: in an address this means another path`
  if (/[/\\]/.test(name)) return 'the name of a profile cannot contain a slash: it becomes part of an address'
  return undefined
}

/** Selects the servers of a profile and applies its `allow` and `deny`. Without a profile, all servers. */
export function applyProfile(
  servers: readonly ServerConfig[],
  profiles: Readonly<Record<string, Profile>>,
  name: string | undefined,
  files: readonly string[],
  problems: ConfigProblem[],
): ServerConfig[] {
  if (name === undefined) return [...servers]
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!profile) {
    const [suggestion] = nearest(name, Object.keys(profiles), 1)
    const known = Object.keys(profiles).join(', ') || 'none'
    problems.push({
      file: files.at(-1) ?? '',
      path: 'profiles',
      line: undefined,
      message: `there is no profile ${JSON.stringify(name)}`,
      fix:
        suggestion === undefined ? `Known profiles: ${known}` : `Did you mean ${JSON.stringify(suggestion)}?`,
      severity: 'error',
    })
    // No servers are safer than too many.
    return []
  }
  return selectByProfile(servers, profile)
}

export function selectByProfile(servers: readonly ServerConfig[], profile: Profile): ServerConfig[] {
  return servers
    .filter((server) => (profile.servers ?? ['*']).some((pattern) => matchesGlob(pattern, server.name)))
    .map((server) => ({
      ...server,
      allowedByProfile: profile.allow,
      deniedByProfile: profile.deny ?? [],
    }))
}

/** Every tool that a server lists. */
interface ListedTools {
  readonly name: string
  readonly tools: readonly string[]
  readonly denied: readonly string[]
  readonly unusable: readonly { readonly name?: string | undefined }[]
}

/** Finds patterns in `deny` and `allow` that match no tool, unless a server that may have the tool is not listed yet. */
export function findUnmatchedPatterns(
  servers: readonly ServerConfig[],
  profiles: Readonly<Record<string, Profile>>,
  listed: readonly ListedTools[],
): { readonly server?: string; readonly message: string; readonly fix: string }[] {
  const toolsOf = new Map(
    listed.map(({ name, tools, denied, unusable }) => [
      name,
      [...tools, ...denied, ...unusable.flatMap((entry) => entry.name ?? [])],
    ]),
  )
  const isUnmatched = (key: 'allow' | 'deny', pattern: string, server: string) => {
    const [tools, matches] = [toolsOf.get(server) ?? [], key === 'deny' ? matchesDenied : matchesTool]
    return tools.length > 0 && !tools.some((tool) => matches(pattern, server, tool))
  }
  const find = (owner: string, lists: Pick<Profile, 'allow' | 'deny'>, among: readonly ServerConfig[]) =>
    (['allow', 'deny'] as const).flatMap((key) =>
      (lists[key] ?? [])
        .filter((pattern) => among.every(({ name }) => isUnmatched(key, pattern, name)))
        .map((pattern) => ({
          message: `${JSON.stringify(key)} of ${owner} contains ${JSON.stringify(pattern)}, which matches no tool`,
          fix: 'Correct or remove it. Write the name of a tool, or server/tool',
        })),
    )
  const used = servers.filter(({ enabled }) => enabled)
  return [
    ...used.flatMap((server) => {
      const lists = { deny: server.deny, ...dropUndefined({ allow: server.allow }) }
      return find(`the server ${JSON.stringify(server.name)}`, lists, [server]).map((found) => ({
        ...found,
        server: server.name,
      }))
    }),
    ...Object.entries(profiles).flatMap(([name, profile]) =>
      find(`the profile ${JSON.stringify(name)}`, profile, selectByProfile(used, profile)),
    ),
  ]
}

export interface HostTools {
  /** Names or patterns of own tools that the agent defers. */
  readonly defer: readonly string[]
}

/** Reads `hostTools`. Adds what is wrong to `problems` and uses the rest. */
export function readHostTools(
  document: ConfigDocument,
  foreign: boolean,
  problems: ConfigProblem[],
): HostTools {
  const refuse = (path: Path, message: string, fix: string) => {
    const { file } = document
    const severity = foreign ? 'warning' : 'error'
    problems.push({ file, path: pathText(path), line: document.lineOf(path), message, fix, severity })
  }
  const given = document.value?.hostTools
  if (given === undefined || given === null) return { defer: [] }
  if (!isRecord(given)) {
    refuse(['hostTools'], 'hostTools must be an object', 'Write { "defer": ["…"] }')
    return { defer: [] }
  }
  const known = Object.keys(HOST_TOOLS_KEYS)
  let defer: readonly string[] = []
  for (const [name, value] of Object.entries(given)) {
    const key = Object.hasOwn(HOST_TOOLS_KEYS, name) ? HOST_TOOLS_KEYS[name] : undefined
    const wrong = key && describeMisfit(value, key)
    if (!key) {
      const [meant = 'defer'] = nearest(name, known, 1)
      refuse(
        ['hostTools', name],
        `unknown key ${JSON.stringify(name)}`,
        `Did you mean ${JSON.stringify(meant)}?`,
      )
    } else if (wrong) refuse(['hostTools', name], `${name} ${wrong}`, `Write ${showExample(key)}`)
    else defer = value as string[]
  }
  return { defer }
}

const KEYS = ['rules']

/** Reads `scan`: the rules that are switched off. Adds what is wrong to `problems` and uses the rest. */
export function readScanSettings(
  document: ConfigDocument,
  foreign: boolean,
  problems: ConfigProblem[],
): RuleSettings {
  const refuse = (path: Path, message: string, fix: string) => {
    const { file } = document
    const severity = foreign ? 'warning' : 'error'
    problems.push({ file, path: pathText(path), line: document.lineOf(path), message, fix, severity })
  }
  const scan = document.value?.scan
  if (scan === undefined || scan === null) return {}
  if (!isRecord(scan)) {
    refuse(['scan'], 'scan must be an object', 'Write { "rules": { "steer-preference": "off" } }')
    return {}
  }
  for (const key of Object.keys(scan).filter((each) => !KEYS.includes(each))) {
    const [known = 'rules'] = nearest(key, KEYS, 1)
    refuse(['scan', key], `unknown key ${JSON.stringify(key)}`, `Did you mean ${JSON.stringify(known)}?`)
  }
  const { rules = {} } = scan
  if (!isRecord(rules)) {
    refuse(['scan', 'rules'], 'rules must be an object', 'Write { "steer-preference": "off" }')
    return {}
  }
  const off: Record<string, 'off'> = {}
  for (const [id, value] of Object.entries(rules)) {
    const problem = checkRuleSetting(id, value)
    if (problem) refuse(['scan', 'rules', id], problem.message, problem.fix)
    else off[id] = 'off'
  }
  return off
}
