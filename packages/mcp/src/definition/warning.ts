/** What is worth telling and stops nothing: a code for programs, a clause for people. Modules decide by the code alone. */

export type WarningCode =
  /** Definitions cannot be kept on disk: every start lists every server. */
  | 'cache-unwritable'
  /** A file of the cache cannot be opened. */
  | 'cache-unreadable'
  /** A file of the cache is damaged, or of another version. It was set aside. */
  | 'cache-damaged'
  /** The cache that the host gave threw, or returned what is not a definition. */
  | 'cache-failed'
  /** The record of what a server was when first seen is damaged. It was set aside. */
  | 'first-use-damaged'
  /** A file with a login cannot be opened. */
  | 'login-unreadable'
  /** A file with a login is damaged, or of another version. It was set aside. */
  | 'login-damaged'
  /** Other users could read a login. They cannot any more. */
  | 'login-exposed'
  /** A renewed login cannot be written, and holds only while this program runs. */
  | 'login-not-kept'
  /** Without a lock: the tools of a server are trusted because they were not known before. */
  | 'first-use'
  /** The store of first use that the host gave threw, or returned what is no record. */
  | 'first-use-failed'
  /** What servers were when first seen cannot be kept. */
  | 'first-use-unwritable'
  /** A server is started or reached in another way than the lock holds, or than it was. */
  | 'start-changed'
  /** Without a lock: something is not what it was when first seen. */
  | 'instructions-changed'
  | 'tools-changed'
  | 'tools-added'
  | 'tools-removed'
  /** A server lists entries that cannot be used as tools. */
  | 'entries-unusable'
  /** The config has examples, or words, for tools that a server does not list. */
  | 'tools-unknown'
  /** A server said that its list has changed, and the new one could not be read. */
  | 'list-failed'
  /** Said by a reviewer of the host. */
  | 'reviewer'

export interface ServerWarning {
  readonly code: WarningCode
  /** One line, without its end. */
  readonly text: string
  /** What to do about it, where there is something to do. */
  readonly fix?: string
}

export type WarningListener = (warning: ServerWarning) => void

/** The whole of it in one line. */
export function describeWarning({ text, fix }: ServerWarning): string {
  return fix === undefined ? text : `${text}. ${fix}`
}
