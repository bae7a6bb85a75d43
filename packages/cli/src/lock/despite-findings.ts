/** The flag without which nothing is approved that looks poisoned, of every verb that approves. */
export const despiteFindings = {
  type: 'boolean',
  description: 'Approve also what the scan has hard findings of. Without it, that is shown and left.',
} as const
