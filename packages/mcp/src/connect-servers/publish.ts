/** From a server to what the catalogue is told of it. Pure but for `createPublisher`, which knows what was told last. */
import type { Catalogue, SourceState, SourceUpdate } from '@toolwell/core'
import { defined, quote } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import { insertFolderInDefinition } from '../definition/clean-definition.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import { describeUnusable } from '../definition/usable-tools.js'
import type { ServerWarning } from '../definition/warning.js'
import type { Review } from '../trust/review.js'
import { loginAdvice } from '../upstream/failures.js'
import type { Upstream } from '../upstream/upstream.js'
import { listUnusable } from './report.js'
import { describeServer, type RunTool, toTools } from './source-tools.js'

/** A server that is not running can be used all the same, as long as its tools are known. */
export function toSourceState({ state, definition }: Pick<Upstream, 'state' | 'definition'>): SourceState {
  if (state === 'disabled' || state === 'needs-login' || state === 'failed') return state
  return definition ? 'ready' : 'connecting'
}

/** What the user can do about a source in this state; empty where there is nothing to do. */
export function adviseSource(server: ServerConfig, state: SourceState): string {
  return state === 'needs-login' ? loginAdvice(server) : ''
}

/** Why a server cannot be used, for people. What it was before matters no more. */
function sourceReason({ reason }: Pick<Upstream, 'reason'>, state: SourceState): string {
  return state === 'ready' || state === 'connecting' ? '' : reason
}

/** `folder`: of all who read it; without one, definitions name `${workspaceFolder}`. */
export function createSourceUpdate(upstream: Upstream, run: RunTool, folder?: string): SourceUpdate {
  const { server, review, definition: known } = upstream
  const definition = known && folder !== undefined ? insertFolderInDefinition(known, folder) : known
  const state = toSourceState(upstream)
  const tools = definition ? toTools(server, definition, run) : []
  // What is held back says nothing to a model, not even what it is.
  const isSpoken = definition !== undefined && review.server === undefined
  const description = isSpoken ? describeServer(server, definition) : server.description
  // Everything besides the definition that decides what search makes of these tools.
  const use = JSON.stringify([
    description,
    server.allow,
    server.within,
    server.deny,
    server.trust,
    server.marks,
    ...(definition === known ? [] : [folder]),
  ])
  return {
    tools,
    description,
    state,
    reason: sourceReason(upstream, state),
    advice: adviseSource(server, state),
    unusable: listUnusable(server, definition).flatMap(({ name, reason }) =>
      // Of what is listed twice, one is there.
      name === undefined || tools.some((tool) => tool.name === name) ? [] : [{ name, problem: reason }],
    ),
    tentative: upstream.isTentative,
    ...defined({ kept: definition && upstream.known.keptFor(use) }),
    quarantined: review.server === undefined ? [...review.quarantined.keys()] : tools.map(({ name }) => name),
  }
}

export interface PublisherOptions {
  readonly catalogue: Catalogue
  readonly runOn: (server: string) => RunTool
  /** Callers may work in other folders than the one that the config was read for. */
  readonly hasFolders: boolean
  readonly warn: (server: string, warning: ServerWarning) => void
  /** Tries again to reach a server that failed. */
  readonly wake: (server: string) => void
}

export interface Publisher {
  /** Brings the catalogue up to what is known of a server. True where its tools may be others than before. */
  publish(upstream: Upstream): boolean
  /** What is known of a server of this name is told anew, whatever was told last. */
  forget(server: string): void
  remove(server: string): void
}

export function createPublisher({ catalogue, runOn, hasFolders, warn, wake }: PublisherOptions): Publisher {
  const published = new Map<string, { readonly definition: ServerDefinition; readonly review: Review }>()
  return {
    publish(upstream) {
      const { server, definition, review } = upstream
      const last = published.get(server.name)
      const isSame = last !== undefined && last.definition === definition && last.review === review
      // What another config had of this name stays in sight until the list of this one is there.
      const isAwaited =
        !definition && (catalogue.sources.get(server.name)?.ids.size ?? 0) > 0 && server.enabled
      if (isSame || isAwaited) {
        const state = isAwaited && upstream.state === 'connecting' ? 'ready' : toSourceState(upstream)
        catalogue.setState(server.name, state, {
          advice: adviseSource(server, state),
          tentative: upstream.isTentative,
          reason: sourceReason(upstream, state),
        })
        return false
      }
      if (definition) published.set(server.name, { definition, review })
      const unusable = listUnusable(server, definition)
      if (unusable.length > 0)
        warn(server.name, { code: 'entries-unusable', text: describeUnusable(unusable) })
      const unknown = definition ? unlisted(server, definition) : []
      if (unknown.length > 0)
        warn(server.name, {
          code: 'tools-unknown',
          text: `its config speaks of tools that it does not list: ${unknown.map((name) => quote(name, 60)).join(', ')}`,
          fix: 'Correct the names in `examples` and `insteadOf`.',
        })
      catalogue.setSource(server.name, {
        ...createSourceUpdate(upstream, runOn(server.name), hasFolders ? undefined : server.workspace.folder),
        wake: () => wake(server.name),
      })
      return true
    },
    forget: (server) => void published.delete(server),
    remove: (server) => catalogue.removeSource(server),
  }
}

/** Names of the config that no tool has. */
function unlisted(server: ServerConfig, { tools }: ServerDefinition): string[] {
  const listed = new Set(tools.map(({ name }) => name))
  const named = new Set([...Object.keys(server.examples), ...Object.keys(server.insteadOf)])
  return [...named].filter((name) => !listed.has(name)).slice(0, MOST_UNLISTED)
}

const MOST_UNLISTED = 5
