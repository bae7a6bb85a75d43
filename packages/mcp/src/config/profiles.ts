/** Profiles: named selections of servers and tools. */
import { isRecord, matchesGlob, nearest } from '@toolwell/core/internal'
import { type ConfigDocument, problemIn } from './document.js'
import { exampleOf, misfit, PROFILE_KEYS } from './keys.js'
import type { ConfigProblem } from './problem.js'
import type { ServerConfig } from './server-config.js'

export interface Profile {
  readonly servers?: readonly string[]
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** The profiles of one file. What is wrong with one is added to the problems, and the profile left out. */
export function profilesOf(document: ConfigDocument, problems: ConfigProblem[]): Record<string, Profile> {
  const profiles: Record<string, Profile> = {}
  const given = document.value?.profiles
  if (given === undefined) return profiles
  if (!isRecord(given)) {
    problems.push(
      problemIn(document, ['profiles'], 'profiles must be an object', 'Write { "name": { "servers": […] } }'),
    )
    return profiles
  }
  for (const [name, value] of Object.entries(given)) {
    const path = ['profiles', name]
    const wrongName = nameProblem(name)
    if (wrongName) {
      problems.push(problemIn(document, path, wrongName, 'Rename it'))
      continue
    }
    if (!isRecord(value)) {
      problems.push(problemIn(document, path, 'a profile must be an object', 'Write { "servers": ["name"] }'))
      continue
    }
    const wrong = Object.entries(value).flatMap(([key, each]): ConfigProblem[] => {
      const known = Object.hasOwn(PROFILE_KEYS, key) ? PROFILE_KEYS[key] : undefined
      const [suggestion] = nearest(key, Object.keys(PROFILE_KEYS), 1)
      if (!known)
        return [
          problemIn(
            document,
            [...path, key],
            `unknown key ${JSON.stringify(key)}`,
            suggestion === undefined
              ? `Known keys: ${Object.keys(PROFILE_KEYS).join(', ')}`
              : `Did you mean ${JSON.stringify(suggestion)}?`,
          ),
        ]
      const message = misfit(each, known)
      return message
        ? [problemIn(document, [...path, key], `${key} ${message}`, `Write "${key}": ${exampleOf(known)}`)]
        : []
    })
    problems.push(...wrong)
    if (wrong.length === 0) profiles[name] = value as Profile
  }
  return profiles
}

/** A name is one part of the gateway's address, and not one that means something else there: a client would get more than its profile. */
function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'a profile needs a name'
  if (name === 'all') return 'no profile can be called "all": the gateway shows every tool there'
  if (name === '.' || name === '..')
    return `no profile can be called ${JSON.stringify(name)}: at the end of an address that is another one`
  if (/[/\\]/.test(name)) return 'the name of a profile cannot have a slash: it is one part of an address'
  return undefined
}

/** The servers of a profile, with what it allows and denies. All of them where no profile is asked for. */
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
    // No servers at all is safer than more than were asked for.
    return []
  }
  return inProfile(servers, profile)
}

export function inProfile(servers: readonly ServerConfig[], profile: Profile): ServerConfig[] {
  return servers
    .filter((server) => (profile.servers ?? ['*']).some((pattern) => matchesGlob(pattern, server.name)))
    .map((server) => ({
      ...server,
      within: profile.allow && ofServer(server.name, profile.allow),
      deny: [...server.deny, ...ofServer(server.name, profile.deny ?? [])],
    }))
}

/** `server/tool` is about one server; a pattern without a slash is about all. */
function ofServer(server: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const slash = pattern.indexOf('/')
    if (slash < 0) return [pattern]
    return matchesGlob(pattern.slice(0, slash), server) ? [pattern.slice(slash + 1)] : []
  })
}
