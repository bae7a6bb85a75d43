/** Every sentence of the gateway that a model reads. What search and refused calls say is in the prompts of the core. */

export const READ_NAME = 'tool_read'

export const prompts = {
  /** What a client may show its model of the whole server. */
  instructions: ({ loader, bridge }: { readonly loader: string; readonly bridge: string }): string =>
    `Many tools are behind this server, and they are not listed. Find one with ${loader}, then call it with ${bridge}, or with ${READ_NAME} where the answer says that it is approved as read-only.`,
  read: ({ loader, bridge }: { readonly loader: string; readonly bridge: string }): string =>
    `Calls a tool that ${loader} has found, if the user has approved it as read-only. It takes what ${bridge} takes. Any other tool is refused here: call that with ${bridge}.`,
  notReadOnly: ({ name, bridge }: { readonly name: string; readonly bridge: string }): string =>
    `${name} is not approved as read-only, so ${READ_NAME} does not call it. Call it with ${bridge}; the arguments fit.`,
  /** Stands behind a search answer. */
  readable: ({ names }: { readonly names: readonly string[] }): string =>
    `Approved as read-only, so ${READ_NAME} may call ${names.length === 1 ? 'it' : 'them'}: ${names.join(', ')}.`,
  /** What the user can do about a tool that is held back. */
  heldBack: ({ state }: { readonly state: string }): string =>
    `${state}: its definition has changed or looks harmful. The user can look at it with: toolwell approve`,
  /** What the user can do about a server that works in a folder, where the caller named none. */
  needsWorkspace: ({ header }: { readonly header: string }): string =>
    `it works in a project folder, and this client has named none: the user can add the header ${header}, with the absolute path of the folder, to the client's entry for this gateway, or connect the client over stdio`,
} as const
