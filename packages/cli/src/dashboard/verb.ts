/** `toolwell dashboard`: prints or opens a link to the dashboard of the gateway. */
import { realpathSync } from 'node:fs'
import { folderArgument, folderFlag, gatewayFolder } from '../shared/gateway.js'
import { Problem } from '../shared/problem.js'
import { withStatus } from '../shared/progress.js'
import { requireTerminal } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'

export const dashboard = defineVerb({
  name: 'dashboard',
  summary: 'Show what the gateway does, in your browser.',
  usage: ['[--open]'],
  flags: {
    open: { type: 'boolean', description: 'Open the link in your browser.' },
    folder: folderFlag,
  },
  notes: [
    'Starts the gateway if none is running. The link works once, within two minutes, and only on this computer. Then your\nbrowser keeps access until the gateway stops, or until a day without use.',
    'Anyone with the link can approve definitions and change the config, so the command needs a terminal. Agents and\nscripts can read /api/v1 with a token instead.',
  ],
  examples: [
    { line: 'toolwell dashboard', about: 'print a link' },
    { line: 'toolwell dashboard --open', about: 'open the dashboard in your browser' },
  ],
  exits: {
    0: 'The link was printed or opened.',
    2: 'Wrong flags, no terminal, or the gateway does not start or does not answer.',
  },
  async run(flags, terminal) {
    requireTerminal(terminal, 'Opening the dashboard', ' Scripts can read /api/v1 with a token.')
    const { askDaemon, DAEMON_FLAGS, DASHBOARD_LINK_PATH, findOrStartDaemon, StartProblem } = await import(
      '@toolwell/gateway/bridge'
    )
    const { output, env } = terminal
    const folder = gatewayFolder(flags.folder, terminal)
    const [node, script] = terminal.program
    const command = [node, ...DAEMON_FLAGS, realpathSync(script), 'serve', '--by-bridge', '--folder', folder]
    const found = await withStatus(
      () => 'Starting the gateway …',
      terminal,
      () => findOrStartDaemon({ folder, command }),
    ).catch((error: unknown) => {
      if (!(error instanceof StartProblem)) throw error
      throw new Problem(error.message, '', { reason: 'not-started', cause: error })
    })
    const { url } = ((await askDaemon(found, 'POST', DASHBOARD_LINK_PATH)) ?? {}) as { url?: string }
    if (url === undefined)
      throw new Problem(
        `The running gateway (${found.file.version}) has no dashboard.`,
        `Restart it with: ${terminal.name} stop${folderArgument(folder, env)}`,
        { reason: 'no-dashboard' },
      )
    if (flags.open) {
      const { openBrowser } = await import('../login/run-login.js')
      if (openBrowser(url, env)) {
        await output.write('Your browser should open. If it does not, open this link within two minutes:\n')
      } else await output.write('No browser was found. Open this link within two minutes:\n')
    }
    await output.write(`${url}\n`)
    return 0
  },
})
