/** One pi session: its servers, and the conversation whose ledger is on the current branch. */
import { join } from 'node:path'
import { type Conversation, createToolwell } from '@toolwell/core'
import { type Framework, type FrameworkTool, framework } from '@toolwell/core/framework'
import { USUAL_WIRE } from '@toolwell/core/internal'
import { resultFolder } from '@toolwell/core/stores/results'
import { connectServers, type Servers } from '@toolwell/mcp'
import { defaultTrustFolder, type ProjectFile, trustedProjects } from '@toolwell/mcp/internal'
import type { ProjectFiles } from './config-files.js'
import { readConfig } from './config-files.js'
import { deferOwnTools, withoutBridge } from './own-tools.js'
import {
  findWire,
  indexCallIds,
  readBody,
  readReferences,
  removeTools,
  replaceHistory,
  restoreCallIds,
  restoreReferences,
  type WireName,
} from './payload.js'
import type { Context, Pi } from './pi.js'
import { say } from './pi.js'
import { awaitsCompaction, createReset, ENTRY, isFromNewer, sessionStore } from './session-store.js'

/** Milliseconds that a prompt waits for first-time listings. */
const FIRST_WAIT = 10_000

/** pi's prompt has about 1,200 tokens, so cards only say what each server is for. */
const CARD_TOKENS = 140

/** Large results go to this folder next to pi's session files, for a week and up to 512 MB. */
const RESULTS = 'toolwell-results'

const NEWER =
  'A newer version of Toolwell has written to this session. Tools it loaded stay in the file but are not used. Tools loaded now are forgotten when pi exits. Update Toolwell to continue.'

export interface Session {
  readonly servers: Servers
  readonly conversation: Conversation
  /** Problems in the config files, as sentences. */
  readonly problems: readonly string[]
  /** Config files of the folder, trusted or not. */
  readonly project: ProjectFiles
  /** Records the user's decision about a config file and applies it. */
  decide(file: ProjectFile, isTrusted: boolean): void
  /** Reads the config files again and returns new problems. If a file cannot be read, its servers stay unchanged. */
  reload(): readonly string[]
  /** Waits for first-time listings, because the first request decides how tools are sent. */
  ready(): Promise<unknown>
  /** Tools that pi runs through this extension. */
  tools(): readonly FrameworkTool[]
  findWire(api: string | undefined): WireName | undefined
  adapterFor(api: string | undefined): Framework
  /**
   * Returns the changed payload, or undefined if it is sent unchanged. `isOurs` covers every tool registered with pi, even
   * removed ones.
   */
  request(payload: unknown, api: string | undefined, isOurs: (name: string) => boolean): Promise<unknown>
  /** Opens the conversation of the branch that the session switched to. */
  reopen(): Promise<void>
  close(): Promise<void>
}

export async function openSession(pi: Pi, context: Context): Promise<Session> {
  const { cwd, sessionManager } = context
  const projects = trustedProjects(defaultTrustFolder())
  let known = readConfig(cwd, projects)
  const deferred = deferOwnTools(pi, known.config.hostTools.defer)
  const folder = sessionManager.getSessionFile() === undefined ? undefined : sessionManager.getSessionDir()
  const well = createToolwell({
    store: sessionStore(pi, sessionManager),
    limits: { cardBudget: CARD_TOKENS },
    ...(deferred.tools.length === 0 ? {} : { tools: deferred.tools, policy: withoutBridge }),
    ...(folder === undefined ? {} : { results: resultFolder(join(folder, RESULTS)) }),
  })
  const servers = connectServers(well.catalogue, known.config)
  const id = sessionManager.getSessionId()
  /** If the ledger cannot be read, loaded tools are lost but the session continues. */
  const open = () => {
    if (isFromNewer(sessionManager.getBranch())) say(context, NEWER, 'warning')
    return well.open({ id }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      say(context, `Toolwell starts this session again with nothing loaded. ${reason}`, 'warning')
      pi.appendEntry(ENTRY, createReset(reason))
      return well.open({ id })
    })
  }
  const isOwn = new Set(deferred.tools.map(({ name }) => name))
  let conversation = await open()
  let adapters = new Map<WireName, Framework>()
  const adapterFor = (api: string | undefined) => {
    const wire = findWire(api) ?? USUAL_WIRE
    const made = adapters.get(wire) ?? framework(conversation, { wire, native: true })
    adapters.set(wire, made)
    return made
  }
  const reload = () => {
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
      reload()
    },
    reload,
    ready: () => servers.settled(FIRST_WAIT),
    tools: () =>
      adapterFor(undefined)
        .tools()
        .filter(({ name }) => !isOwn.has(name)),
    findWire,
    adapterFor,
    async request(payload, api, isOurs) {
      const wire = findWire(api)
      const request = wire && readBody(payload, wire)
      if (!request) return undefined
      const branch = sessionManager.getBranch()
      if (!isFromNewer(branch) && awaitsCompaction(branch)) adapterFor(api).compacted()
      const idOf = indexCallIds(branch)
      const here = new Set(
        adapterFor(api)
          .tools()
          .map(({ name }) => name),
      )
      const offered = removeTools(request.body, (name) => isOurs(name) && !here.has(name))
      const body = await adapterFor(api).request(
        replaceHistory(offered, wire, (history) =>
          restoreReferences(restoreCallIds(history, idOf), readReferences(branch)),
        ),
      )
      return body && request.payloadOf(body)
    },
    async reopen() {
      conversation = await open()
      adapters = new Map()
    },
    close: () => servers.close(),
  }
}
