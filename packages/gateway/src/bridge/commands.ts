/** Commands that are printed for somebody to paste, with the config that they are about. Thin: Node alone. */

/** How the command is called where it is installed. */
export const COMMAND = 'toolwell'

/** `config`: the file, where it is not the one that the command reads by itself. */
export function configFlag(config: string | undefined): string {
  return config === undefined ? '' : ` --config ${shellWord(config)}`
}

/** The command that shows what is held back and asks, and the one that approves what it names. `command`: how it is called. */
export function approval(
  target: string,
  config: string | undefined,
  command = COMMAND,
): { look: string; approve: string } {
  const words = configFlag(config)
  return { look: `${command} approve${words}`, approve: `${command} approve ${shellWord(target)}${words}` }
}

/** A word of a command that is printed for somebody to paste: in quotes where a shell would read more than one out of it. */
export function shellWord(word: string, isWindows = process.platform === 'win32'): string {
  if (isWindows) return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
