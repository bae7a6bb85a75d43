/** What has to be known of the items before a place in a history to write those behind it. */

import type { SurfaceView } from '../../surface/project.js'

export interface Progress {
  /** The ids of searches as they were written, as far as they are not taken again by another call. */
  readonly searches: Set<string>
  /** Words that wait for an item that takes them. */
  waiting: string
  /** The namespaces that were declared. */
  readonly declared: Set<string>
  /** Functions that stand in no namespace. */
  readonly plain: Set<string>
  /** The functions of each namespace. */
  readonly spaces: Map<string, Set<string>>
  readonly ids: Set<string>
  readonly reasoningIds: Set<string>
}

export function startProgress({ tools }: SurfaceView): Progress {
  return {
    searches: new Set(),
    waiting: '',
    declared: new Set(),
    plain: new Set(tools.map(({ name }) => name)),
    spaces: new Map(),
    ids: new Set(),
    reasoningIds: new Set(),
  }
}

export function copyProgress(progress: Progress): Progress {
  const { searches, waiting, declared, plain, spaces, ids, reasoningIds } = progress
  return {
    searches: new Set(searches),
    waiting,
    declared: new Set(declared),
    plain: new Set(plain),
    spaces: new Map([...spaces].map(([space, names]) => [space, new Set(names)])),
    ids: new Set(ids),
    reasoningIds: new Set(reasoningIds),
  }
}
