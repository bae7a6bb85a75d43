/** Warnings: a code for programs and a text for people. Code must depend only on the code. */

export type WarningCode =
  /** Definitions cannot be stored on disk: every start lists every server. */
  | 'cache-unwritable'
  /** A cache file cannot be opened. */
  | 'cache-unreadable'
  /** A cache file is damaged, or has another version. It was renamed. */
  | 'cache-damaged'
  /** The host's cache threw, or returned an invalid definition. */
  | 'cache-failed'
  /** The first-use record of a server is damaged. It was renamed. */
  | 'first-use-damaged'
  /** A login file cannot be opened. */
  | 'login-unreadable'
  /** A login file is damaged, or has another version. It was renamed. */
  | 'login-damaged'
  /** Other users could read a login file. Its permissions were corrected. */
  | 'login-exposed'
  /** A renewed login cannot be stored, and works only while this program runs. */
  | 'login-not-kept'
  /** Without a lock: the tools of a new server are trusted on first use. */
  | 'first-use'
  /** The host's first-use store threw, or returned an invalid record. */
  | 'first-use-failed'
  /** First-use records cannot be stored. */
  | 'first-use-unwritable'
  /** A server is started or reached in another way than the lock says, or than before. */
  | 'start-changed'
  /** Without a lock: something changed since it was first seen. */
  | 'instructions-changed'
  | 'tools-changed'
  | 'tools-added'
  | 'tools-removed'
  /** A server lists entries that cannot be used as tools. */
  | 'entries-unusable'
  /** The config has examples or `insteadOf` for tools that a server does not list. */
  | 'tools-unknown'
  /** A server announced a new list, which could not be read. */
  | 'list-failed'
  /** From a reviewer of the host. */
  | 'reviewer'

export interface ServerWarning {
  readonly code: WarningCode
  /** One line, without a line break. */
  readonly text: string
  /** What to do about it, if there is something to do. */
  readonly fix?: string
}

export type WarningListener = (warning: ServerWarning) => void

export function describeWarning({ text, fix }: ServerWarning): string {
  return fix === undefined ? text : `${text}. ${fix}`
}
