/** Shows an address in the user's browser, if there is one. */
import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import type { Terminal } from '../shared/terminal.js'

/** False where no browser is known. The address is not read by a shell. */
export function openBrowser(address: string, env: Terminal['env']): boolean {
  const [program, ...words] = findBrowser(env)
  if (program === undefined) return false
  const child = spawn(program, [...words, address], {
    env: { ...env },
    stdio: 'ignore',
    detached: true,
  })
  // Whoever has no browser opens the printed address elsewhere.
  child.on('error', () => undefined)
  child.unref()
  return true
}

function findBrowser(env: Terminal['env']): string[] {
  const own = (env.BROWSER ?? '').split(/\s+/).filter((word) => word !== '' && word !== '%s')
  if (own.length > 0) return own
  if (platform() === 'darwin') return ['open']
  if (platform() === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Without a screen xdg-open starts a browser in this very terminal, or nothing.
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
