/** The folder that the command runs in, which may have been removed since. Thin: nothing is loaded. */

/** Undefined where it is gone: then the system has no name for it. */
export function currentFolder({ cwd }: { readonly cwd: () => string }): string | undefined {
  try {
    return cwd()
  } catch {
    return undefined
  }
}
