/** Which words of a command line name what is run: packages, images, modules. Their names and versions may be shown. */
import { basename } from 'node:path'

const RUNNERS = /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|uvx?|pipx|docker|podman|deno)$/
/** Words between a runner and what it runs. */
const VERBS: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'start', '--'])
/** Switches that no value follows. */
const ALONE =
  /^(?:-y|--yes|-i|-t|-it|-q|--rm|--init|--quiet|--interactive|--tty|-A|--allow-\w+|--isolated|--no-\w[\w-]*)$/
/** Switches that a package follows. */
const BEFORE_PACKAGE = /^(?:--from|--with|--package|-p)$/

/** Places in `args`. What follows the name is for the program, and may be anything. */
export function namesRun(command: string, args: readonly string[]): ReadonlySet<number> {
  const program = basename(command.replaceAll('\\', '/'))
    .replace(/\.(?:exe|cmd)$/i, '')
    .toLowerCase()
  // As Windows needs it: cmd /c npx …
  const [flag = '', inner = '', ...rest] = args
  if (program === 'cmd' && flag.toLowerCase() === '/c')
    return new Set([...namesRun(inner, rest)].map((at) => at + 2))
  if (/^python[\d.]*$/.test(program)) {
    const module = args.findIndex((word, at) => args[at - 1] === '-m' && /^[a-z_]\w*(?:\.\w+)*$/i.test(word))
    return new Set(
      module < 0 || args.slice(0, module - 1).some((word) => !word.startsWith('-')) ? [] : [module],
    )
  }
  if (!RUNNERS.test(program)) return new Set()
  // There it publishes a port.
  const isContainer = program === 'docker' || program === 'podman'
  const names = new Set<number>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    if (VERBS.has(word) || ALONE.test(word) || /^-[^=]*=/.test(word)) continue
    if (!word.startsWith('-')) return names.add(at)
    at++
    if (BEFORE_PACKAGE.test(word) && !isContainer) names.add(at)
  }
  return names
}
