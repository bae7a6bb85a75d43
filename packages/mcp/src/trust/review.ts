/** The step between listing and the catalogue: whatever checks definitions stands here, and may hold some of them back. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import type { ServerWarning } from '../definition/warning.js'

export interface ReviewFinding {
  /** Undefined: about the server itself, its instructions say. */
  readonly tool?: string
  readonly severity: 'hard' | 'soft'
  /** What was found, where, and what to do: one line that is safe to print. */
  readonly detail: string
  /** The rule of the scan, and the JSON path within the definition. */
  readonly rule?: string
  readonly where?: string
  readonly fix?: string
}

export interface Review {
  /** Tools that must not be seen or called, with the reason. */
  readonly quarantined: ReadonlyMap<string, string>
  /** The whole server must not be used, for this reason. */
  readonly server?: string
  readonly findings: readonly ReviewFinding[]
  /** Worth telling, and no reason to hold anything back. */
  readonly warnings?: readonly ServerWarning[]
}

export interface ReviewRequest {
  readonly server: ServerConfig
  readonly definition: ServerDefinition
  /** What was in use until now. */
  readonly previous: ServerDefinition | undefined
  /** Read from the cache, not from the server itself. */
  readonly fromCache: boolean
}

/** Asked about every definition before a tool of it can be found, cached ones included. Synchronous: a start waits for it. */
export type Reviewer = (request: ReviewRequest) => Review

export const NOTHING_FOUND: Review = { quarantined: new Map(), findings: [] }

/** Several reviewers as one: each may hold back, none may let loose. A reviewer that throws holds everything back. */
export function combineReviews(...reviewers: readonly Reviewer[]): Reviewer {
  return (request) => {
    const quarantined = new Map<string, string>()
    const findings: ReviewFinding[] = []
    const warnings: ServerWarning[] = []
    let server: string | undefined
    for (const reviewer of reviewers) {
      try {
        const review = reviewer(request)
        for (const [tool, reason] of review.quarantined)
          if (!quarantined.has(tool)) quarantined.set(tool, reason)
        findings.push(...review.findings)
        warnings.push(...(review.warnings ?? []))
        server ??= review.server
      } catch (error) {
        server ??= `a check of its definitions failed: ${error instanceof Error ? error.message : String(error)}`
      }
    }
    return { quarantined, findings, warnings, ...dropUndefined({ server }) }
  }
}
