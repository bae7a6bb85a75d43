/** Commands that are printed for somebody to paste, with the config that they are about. Thin: Node alone. */
import { shellWord } from './shell-word.js'

/** How the command is called where it is installed. */
export const COMMAND = 'toolwell'

/** `config`: the file, where it is not the one that the command reads by itself. */
export function configWords(config: string | undefined): string {
  return config === undefined ? '' : ` --config ${shellWord(config)}`
}

/** The command that shows what is held back and asks, and the one that approves what it names. `command`: how it is called. */
export function approval(
  target: string,
  config: string | undefined,
  command = COMMAND,
): { look: string; approve: string } {
  const words = configWords(config)
  return { look: `${command} approve${words}`, approve: `${command} approve ${shellWord(target)}${words}` }
}
