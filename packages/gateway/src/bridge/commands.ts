/** Commands that are printed for somebody to paste, with the config that they are about. Thin: Node alone. */
import { shellWord } from './shell-word.js'

/** `config`: the file, where it is not the one that the command reads by itself. */
export function configWords(config: string | undefined): string {
  return config === undefined ? '' : ` --config ${shellWord(config)}`
}

/** The command that shows what is held back and asks, and the one that approves what it names. */
export function approval(target: string, config: string | undefined): { look: string; approve: string } {
  const words = configWords(config)
  return { look: `toolwell approve${words}`, approve: `toolwell approve ${shellWord(target)}${words}` }
}
