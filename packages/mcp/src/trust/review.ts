/** Review of definitions between listing and catalogue. A reviewer can quarantine tools or a whole server. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import type { ServerWarning } from '../definition/warning.js'

export interface ReviewFinding {
  /** Undefined: about the server itself, such as its instructions. */
  readonly tool?: string
  readonly severity: 'hard' | 'soft'
  /** Finding, location and advice in one line that is safe to print. */
  readonly detail: string
  /** Rule of the scan. */
  readonly rule?: string
  readonly where?: string
  readonly fix?: string
}

export interface Review {
  /** Tools that must not be seen or called, with the reason. */
  readonly quarantined: ReadonlyMap<string, string>
  /** Reason why the whole server must not be used. */
  readonly server?: string
  readonly findings: readonly ReviewFinding[]
  /** Messages that do not quarantine anything. */
  readonly warnings?: readonly ServerWarning[]
}

export interface ReviewRequest {
  readonly server: ServerConfig
  readonly definition: ServerDefinition
  /** The definition in use until now. */
  readonly previous: ServerDefinition | undefined
  /** The definition comes from the cache, not from the server. */
  readonly fromCache: boolean
}

/** Called for every definition, cached ones included, before its tools can be found. Synchronous, because a start waits for it. */
export type Reviewer = (request: ReviewRequest) => Review

export const NOTHING_FOUND: Review = { quarantined: new Map(), findings: [] }

/** Combines reviewers: each can quarantine, none can release. A reviewer that throws quarantines the whole server. */
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
