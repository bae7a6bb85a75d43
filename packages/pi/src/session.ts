/** One session of pi: its servers, and the conversation whose ledger is the branch where the session stands. */
import { join } from 'node:path'
import { type Conversation, createToolwell } from '@toolwell/core'
import { type Framework, type FrameworkTool, framework } from '@toolwell/core/framework'
import { resultFolder } from '@toolwell/core/stores/results'
import { connectServers, type Servers } from '@toolwell/mcp'
import { defaultTrustFolder, type LookedAt, trustedProjects } from '@toolwell/mcp/internal'
import { callIdsIn, withCallIds } from './call-ids.js'
import { nativeResultsIn, withNativeResults } from './native-results.js'
import { ownTools, withoutBridge } from './own-tools.js'
import { bodyOf, type WireName, wireOf, withHistory, withoutTools } from './payload.js'
import type { Context, Pi } from './pi.js'
import type { ProjectFiles } from './project-files.js'
import { readConfig } from './read-config.js'
import { say } from './say.js'
import { awaitsCompaction, ENTRY, isFromNewer, resetBecause, sessionStore } from './session-store.js'

/** Milliseconds that a prompt waits for servers that nobody has listed before. */
const FIRST_WAIT = 10_000

/** pi's own prompt has some 1,200 tokens: servers are named with what they are for, and their tools are left to search. */
const CARD_TOKENS = 140

/** Results that are too large to send are kept here, below the folder of pi's session files, for a week and up to 512 MB. */
const RESULTS = 'toolwell-results'

const NEWER =
  'A newer Toolwell has written in this session. What it has loaded stays in the file and is not used; what is loaded now is forgotten when pi ends. Update Toolwell to go on where it was.'

export interface Session {
  readonly servers: Servers
  readonly conversation: Conversation
  /** What is wrong with the config files, in words. */
  readonly problems: readonly string[]
  /** The config files of the folder, and whether they are used. */
  readonly project: ProjectFiles
  /** What the user says of a config file of the folder counts from now on. */
  decide(file: LookedAt, isTrusted: boolean): void
  /** Reads the config files again. What cannot be read leaves the servers as they are. Gives the problems that are new. */
  readAgain(): readonly string[]
  /** How tools are sent is decided with the first request: servers that are met for the first time are waited for. */
  ready(): Promise<unknown>
  /** What pi has to run by way of this extension. */
  tools(): readonly FrameworkTool[]
  wireOf(api: string | undefined): WireName | undefined
  door(api: string | undefined): Framework
  /** The payload to send instead; undefined where it goes out as it is. `isOurs`: what pi knows from this extension, gone by now or not. */
  request(payload: unknown, api: string | undefined, isOurs: (name: string) => boolean): Promise<unknown>
  /** The session went to another branch: the conversation is what that branch says. */
  reopen(): Promise<void>
  close(): Promise<void>
}

export async function openSession(pi: Pi, context: Context): Promise<Session> {
  const { cwd, sessionManager } = context
  const projects = trustedProjects(defaultTrustFolder())
  let known = readConfig(cwd, projects)
  const deferred = ownTools(pi, known.config.hostTools.defer)
  const folder = sessionManager.getSessionFile() === undefined ? undefined : sessionManager.getSessionDir()
  const well = createToolwell({
    store: sessionStore(pi, sessionManager),
    limits: { cardBudget: CARD_TOKENS },
    ...(deferred.tools.length === 0 ? {} : { tools: deferred.tools, policy: withoutBridge }),
    ...(folder === undefined ? {} : { results: resultFolder(join(folder, RESULTS)) }),
  })
  const servers = connectServers(well.catalogue, known.config)
  const id = sessionManager.getSessionId()
  /** A ledger that cannot be read costs what was loaded, and no session. */
  const open = () => {
    if (isFromNewer(sessionManager.getBranch())) say(context, NEWER, 'warning')
    return well.open({ id }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      say(context, `Toolwell begins anew in this session, with nothing loaded. ${reason}`, 'warning')
      pi.appendEntry(ENTRY, resetBecause(reason))
      return well.open({ id })
    })
  }
  const isOwn = new Set(deferred.tools.map(({ name }) => name))
  let conversation = await open()
  let doors = new Map<WireName, Framework>()
  const door = (api: string | undefined) => {
    const wire = wireOf(api) ?? 'openai-chat'
    const made = doors.get(wire) ?? framework(conversation, { wire, native: true })
    doors.set(wire, made)
    return made
  }
  const readAgain = () => {
    const before = new Set(known.problems)
    known = readConfig(cwd, projects)
    servers.update(known.config)
    return known.problems.filter((problem) => !before.has(problem))
  }
  return {
    servers,
    get conversation() {
      return conversation
    },
    get problems() {
      return [...known.problems, ...deferred.problems]
    },
    get project() {
      return known.project
    },
    decide(file, isTrusted) {
      projects.remember(file, isTrusted)
      readAgain()
    },
    readAgain,
    ready: () => servers.settled(FIRST_WAIT),
    tools: () =>
      door(undefined)
        .tools()
        .filter(({ name }) => !isOwn.has(name)),
    wireOf,
    door,
    async request(payload, api, isOurs) {
      const wire = wireOf(api)
      const request = wire && bodyOf(payload, wire)
      if (!request) return undefined
      const branch = sessionManager.getBranch()
      if (!isFromNewer(branch) && awaitsCompaction(branch)) door(api).compacted()
      const idOf = callIdsIn(branch)
      const here = new Set(
        door(api)
          .tools()
          .map(({ name }) => name),
      )
      const offered = withoutTools(request.body, (name) => isOurs(name) && !here.has(name))
      const body = await door(api).request(
        withHistory(offered, wire, (history) => {
          const named = withCallIds(history, idOf)
          return wire === 'anthropic' ? withNativeResults(named, nativeResultsIn(branch)) : named
        }),
      )
      return body && request.payloadOf(body)
    },
    async reopen() {
      conversation = await open()
      doors = new Map()
    },
    close: () => servers.close(),
  }
}
