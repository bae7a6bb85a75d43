/** The review of definitions in the form that connected servers ask for. */

import type { Reviewer, ReviewFinding } from '../review.js'
import type { Finding } from '../scan/finding.js'
import type { Decision, DefinitionReview } from './create-review.js'

/** For `connectServers({ review })`: holds back what the lock, first use or the scan do not let through. */
export function lockReviewer(review: DefinitionReview): Reviewer {
  return ({ server, definition }) => {
    const { server: whole, tools } = review.list({
      name: server.name,
      instructions: definition.instructions,
      tools: definition.tools,
    })
    const quarantined = new Map<string, string>()
    const findings: ReviewFinding[] = notes(whole)
    for (const [tool, decision] of tools) {
      if (!decision.allowed) quarantined.set(tool, decision.reason)
      findings.push(...notes(decision, tool))
    }
    return { quarantined, findings, ...(whole.allowed ? {} : { server: whole.reason }) }
  }
}

function notes(decision: Decision, tool?: string): ReviewFinding[] {
  const about = tool === undefined ? {} : { tool }
  const found = decision.findings.map(
    (finding): ReviewFinding => ({ ...about, severity: finding.severity, detail: describe(finding) }),
  )
  return decision.allowed && decision.warning !== undefined
    ? [...found, { ...about, severity: 'soft', detail: decision.warning }]
    : found
}

const describe = ({ rule, where, why, excerpt, fix }: Finding) =>
  `${rule} in ${where || 'the definition'}: ${why}: ${excerpt}. ${fix}`
