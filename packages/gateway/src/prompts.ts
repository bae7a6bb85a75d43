/** Every sentence of the gateway that a model reads. What search and refused calls say is in the prompts of the core. */

export const READ_NAME = 'tool_read'

/** Commands for the user. */
interface Approval {
  readonly look: string
  readonly approve: string
}

export const prompts = {
  /** What a client may show its model of the whole server. */
  instructions: ({ loader, bridge }: { readonly loader: string; readonly bridge: string }): string =>
    `Many tools are behind this server, and they are not listed. Find one with ${loader}, then call it with ${bridge}, or with ${READ_NAME} where the answer says that it is approved as read-only.`,
  /** Stands behind it, or alone, for a client that has named no folder. */
  noWorkspace: ({ header }: { readonly header: string }): string =>
    `This client has named no project folder, so servers that work in one run in the user's home folder. For another, the user can add the header ${header}, with the absolute path of the folder, to the client's entry for this gateway.`,
  read: ({ loader, bridge }: { readonly loader: string; readonly bridge: string }): string =>
    `Calls a tool that ${loader} has found, if the user has approved it as read-only. It takes what ${bridge} takes. Any other tool is refused here: call that with ${bridge}.`,
  notReadOnly: ({ name, bridge }: { readonly name: string; readonly bridge: string }): string =>
    `${name} is not approved as read-only, so ${READ_NAME} does not call it. Call it with ${bridge}; the arguments fit.`,
  /** Stands behind a search answer. */
  readable: ({ names }: { readonly names: readonly string[] }): string =>
    `Approved as read-only, so ${READ_NAME} may call ${names.length === 1 ? 'it' : 'them'}: ${names.join(', ')}.`,
  /** What the user can do about a tool that is held back. `look` goes through all that waits; `approve` is about this one. */
  quarantined: ({ state, look, approve }: { readonly state: string } & Approval): string =>
    `${state} (its definition has changed or looks harmful; the user can look at it with \`${look}\` and approve it with \`${approve}\`)`,
  /** Stands in a search answer where tools that may have fitted are held back. */
  toolsQuarantined: ({
    count,
    source,
    look,
    approve,
  }: { readonly count: number; readonly source: string } & Approval): string =>
    count === 1
      ? `A tool of ${source} that may fit is held back, because its definition has changed or looks harmful. The user can look at it with \`${look}\` and approve it with \`${approve}\`.`
      : `${count} tools of ${source} that may fit are held back, because their definitions have changed or look harmful. The user can look at them with \`${look}\` and approve them with \`${approve}\`.`,
  /** Why nothing of a result is shown. */
  tooDeep: 'the result cannot be passed on: it is nested too deeply',
  /** Why a server cannot be used whose entry in the config is wrong. */
  brokenEntry: ({ reason, find }: { readonly reason: string; readonly find: string }): string =>
    `its entry in the config is wrong: ${reason}; the user finds the place with \`${find}\``,
  /** What the user can do about a server that works in a folder, where the caller named none. */
  needsWorkspace: ({ header }: { readonly header: string }): string =>
    `it works in a project folder, and this client has named none: the user can add the header ${header}, with the absolute path of the folder, to the client's entry for this gateway, or connect the client over stdio`,
} as const
