/** Plans the update from one config to the next while servers run. */
import { canonicalJson } from '@toolwell/core/internal'
import type { ConfigProblem } from '../config/document.js'
import type { Config } from '../config/load-config.js'
import type { ServerConfig } from '../config/server-config.js'

export interface UpdateReport {
  /** False: nothing was changed, because of `problems`. */
  readonly isApplied: boolean
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** These keep their processes. */
  readonly unchanged: readonly string[]
  /** Errors of the new config. A server with an error stays as it was. After an error of a whole file, nothing changes. */
  readonly problems: readonly ConfigProblem[]
}

/** The result of `loadConfig`, or servers defined in code. */
export type UpdatedConfig =
  | (Pick<Config, 'servers'> & Partial<Pick<Config, 'problems'>>)
  | readonly ServerConfig[]

export interface UpdatePlan extends UpdateReport {
  /** All servers after the update. */
  readonly servers: readonly ServerConfig[]
}

export function planUpdate(current: readonly ServerConfig[], config: UpdatedConfig): UpdatePlan {
  const { servers: wanted, problems: all = [] } =
    'servers' in config ? config : { servers: config, problems: undefined }
  const problems = all.filter(({ severity }) => severity === 'error')
  const before = new Map(current.map((server) => [server.name, server]))
  // After an error of a whole file, it is not clear which servers it should contain.
  if (problems.some(({ server }) => server === undefined))
    return {
      isApplied: false,
      servers: current,
      added: [],
      changed: [],
      removed: [],
      unchanged: [...before.keys()],
      problems,
    }
  const broken = new Set(problems.flatMap(({ server }) => server ?? []))
  const after = new Map(wanted.map((server) => [server.name, server]))
  for (const name of broken) {
    const old = before.get(name)
    if (old) after.set(name, old)
  }
  const names = [...after.keys()]
  const isSame = (name: string) => {
    const [old, now] = [before.get(name), after.get(name)]
    return old !== undefined && now !== undefined && isSameServer(old, now)
  }
  return {
    isApplied: true,
    servers: [...after.values()].map((server) =>
      isSame(server.name) ? (before.get(server.name) ?? server) : server,
    ),
    added: names.filter((name) => !before.has(name)),
    changed: names.filter((name) => before.has(name) && !isSame(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    unchanged: names.filter(isSame),
    problems,
  }
}

/** Equal in every folder and in all settings. */
function isSameServer(one: ServerConfig, other: ServerConfig): boolean {
  return one === other || canonicalJson(comparable(one)) === canonicalJson(comparable(other))
}

/** JSON has no `Infinity`. */
function comparable(server: ServerConfig): object {
  return { ...server, idle: String(server.idle) }
}
