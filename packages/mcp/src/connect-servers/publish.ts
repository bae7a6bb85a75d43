/** Publishes servers to the catalogue. */
import type { Catalogue, SourceState, SourceUpdate } from '@toolwell/core'
import { dropUndefined, quote } from '@toolwell/core/internal'
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

/** A server with known tools is ready, even if it is not running. */
export function toSourceState({ state, definition }: Pick<Upstream, 'state' | 'definition'>): SourceState {
  if (state === 'disabled' || state === 'needs-login' || state === 'failed') return state
  return definition ? 'ready' : 'connecting'
}

/** Advice for the user about a source in this state; may be empty. */
export function adviseSource(server: ServerConfig, state: SourceState): string {
  return state === 'needs-login' ? loginAdvice(server) : ''
}

/** Why a server cannot be used. Empty if it can. */
function sourceReason({ reason }: Pick<Upstream, 'reason'>, state: SourceState): string {
  return state === 'ready' || state === 'connecting' ? '' : reason
}

/** `folder`: replaces `${workspaceFolder}` in the definition. */
export function createSourceUpdate(upstream: Upstream, run: RunTool, folder?: string): SourceUpdate {
  const { server, review, definition: known } = upstream
  const definition = known && folder !== undefined ? insertFolderInDefinition(known, folder) : known
  const state = toSourceState(upstream)
  const tools = definition ? toTools(server, definition, run) : []
  // A model reads no text of a quarantined server.
  const isTrusted = definition !== undefined && review.server === undefined
  const description = isTrusted ? describeServer(server, definition) : server.description
  // All other inputs of the search index.
  const use = JSON.stringify([
    description,
    server.allow,
    server.allowedByProfile,
    server.deny,
    server.deniedByProfile,
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
      // Of a tool that is listed twice, one is usable.
      name === undefined || tools.some((tool) => tool.name === name) ? [] : [{ name, problem: reason }],
    ),
    tentative: upstream.isTentative,
    ...dropUndefined({ kept: definition && upstream.known.keptFor(use) }),
    quarantined: review.server === undefined ? [...review.quarantined.keys()] : tools.map(({ name }) => name),
  }
}

export interface PublisherOptions {
  readonly catalogue: Catalogue
  readonly runOn: (server: string) => RunTool
  /** Callers may work in different folders. */
  readonly hasFolders: boolean
  readonly warn: (server: string, warning: ServerWarning) => void
  /** Tries again to reach a server that failed. */
  readonly wake: (server: string) => void
}

export interface Publisher {
  /** Updates the catalogue. True if the tools of the server may have changed. */
  publish(upstream: Upstream): boolean
  /** Forces the next `publish` of this server. */
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
      // Keep the tools of a replaced server until the new one is listed.
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
          text: `its config names tools that it does not list: ${unknown.map((name) => quote(name, 60)).join(', ')}`,
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

/** Names in the config that no tool has. */
function unlisted(server: ServerConfig, { tools }: ServerDefinition): string[] {
  const listed = new Set(tools.map(({ name }) => name))
  const named = new Set([...Object.keys(server.examples), ...Object.keys(server.insteadOf)])
  return [...named].filter((name) => !listed.has(name)).slice(0, MOST_UNLISTED)
}

const MOST_UNLISTED = 5
