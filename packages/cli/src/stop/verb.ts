/** `toolwell stop`: ends the gateway that runs. */
import { folderArgument, folderFlag, gatewayFolder } from '../shared/gateway/folder.js'
import { Problem } from '../shared/problem.js'
import { withStatus } from '../shared/progress.js'
import { defineVerb } from '../shared/verb.js'

export const stop = defineVerb({
  name: 'stop',
  summary: 'Stop the gateway and its servers.',
  usage: ['[--force]'],
  flags: {
    force: { type: 'boolean', description: 'End the process where it does not answer.' },
    folder: folderFlag,
    json: { type: 'boolean', description: 'The answer as JSON.' },
  },
  notes: [
    'Calls that are under way are answered as interrupted. A client over stdio that is still open starts the gateway\nagain with its next request.',
  ],
  examples: [{ line: 'toolwell stop', about: 'ends it, and every server it started' }],
  exits: { 0: 'It has stopped.', 1: 'None was running.', 2: 'Wrong flags, or it does not stop.' },
  async run(flags, terminal) {
    const { askDaemon, endDaemon, findDaemon, isDaemon } = await import('@toolwell/gateway/bridge')
    const folder = gatewayFolder(flags.folder, terminal)
    const { output } = terminal
    const say = (value: object, text: string) =>
      output.write(flags.json ? `${JSON.stringify(value)}\n` : `${text}\n`)
    const found = await findDaemon(folder)
    if (found.kind === 'none') {
      const { stranger } = found
      if (stranger === undefined) await say({ stopped: false, reason: 'none' }, 'No gateway is running.')
      else
        await say(
          { stopped: false, reason: 'none', stranger },
          `No gateway is running. Process ${stranger}, which its file names, is another program, and is left alone.`,
        )
      return 1
    }
    const { file } = found
    const { pid } = file
    if (found.kind === 'silent' && !flags.force)
      throw new Problem(
        `The gateway (process ${pid}) does not answer.`,
        `End its process with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
        { reason: 'silent' },
      )
    if (found.kind === 'running') await askDaemon(found, 'POST', '/stop')
    else await endDaemon(folder, file)
    const until = Date.now() + 15_000
    await withStatus(
      () => `Waiting for process ${pid} to end …`,
      terminal,
      async () => {
        while ((await isDaemon(file)) && Date.now() < until)
          await new Promise((resolve) => setTimeout(resolve, 50))
      },
    )
    if (await isDaemon(file)) {
      if (!flags.force)
        throw new Problem(
          `Process ${pid} has not ended.`,
          `End it with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
          {
            reason: 'late',
          },
        )
      await endDaemon(folder, file)
    }
    await say({ stopped: true, pid }, `The gateway (process ${pid}) has stopped.`)
    return 0
  },
})
