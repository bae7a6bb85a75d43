/** One thing that is wrong, or could be better, and what to do about it. */

export type Level = 'error' | 'warning' | 'note'

/** What is looked at, in the order in which it is shown. */
export const RULES = {
  config: 'The config can be read and every entry of it used',
  clients: 'Every client that was connected finds Toolwell where it looks for it',
  'dead-server': 'Every server can be started or reached, and listed',
  'slow-server': 'Servers are listed quickly',
  'same-server': 'No server is configured twice under different names',
  'held-back': 'Nothing waits for approval',
  lock: 'Definitions are pinned by a lock',
  changed: 'Definitions are what they were when first seen',
  poisoned: 'No definition looks poisoned',
  collision: 'Names cannot be taken for one another',
  'shared-name': 'No two servers call a tool the same',
  'long-name': 'Names with their server fit the 64 characters that providers take',
  'bad-schema': 'Everything that is listed can be used, and every schema is valid',
  portability: 'Schemas fit the dialect of every provider',
  floor: 'Tools that must be visible are not deferred',
  ambient: 'No text that is always sent asks for a tool that is hidden',
  surface: 'No server puts more into every request than it may',
  'large-tool': 'No single definition takes a large part of a request',
} as const

export type RuleName = keyof typeof RULES

export interface Diagnosis {
  readonly rule: RuleName
  readonly level: Level
  readonly server?: string
  readonly tool?: string
  /** A sentence; safe to print. */
  readonly message: string
  /** What to do about it. */
  readonly fix: string
  readonly file?: string
  readonly line?: number
}
