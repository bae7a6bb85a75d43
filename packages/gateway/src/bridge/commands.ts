/** Builds commands for the user to paste. Uses only Node. */

/** Name of the installed command. */
export const COMMAND = 'toolwell'

/** Flag for a config file that the command does not read by default. */
export function configFlag(config: string | undefined): string {
  return config === undefined ? '' : ` --config ${shellWord(config)}`
}

/** Commands that show everything quarantined and that approve one target. */
export function approval(
  target: string,
  config: string | undefined,
  command = COMMAND,
): { look: string; approve: string } {
  const words = configFlag(config)
  return { look: `${command} approve${words}`, approve: `${command} approve ${shellWord(target)}${words}` }
}

/** Quotes a word for the shell if needed. */
export function shellWord(word: string, isWindows = process.platform === 'win32'): string {
  if (isWindows) return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
