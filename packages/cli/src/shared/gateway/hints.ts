/** What lines about a gateway need to know, so that their commands can be pasted and their reasons are the right ones. */

export interface Hints {
  /** How the command is called. */
  readonly name: string
  /** What a command needs to reach this gateway. */
  readonly at: string
  /** Whether the config of a project was trusted as it was once, and is another one by now. */
  readonly hasChanged: (file: string) => boolean
}
