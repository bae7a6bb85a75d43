/** `toolwell token`: prints or replaces the token that HTTP clients send to the gateway. */
import { folderFlag, gatewayFolder } from '../shared/gateway.js'
import { Problem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

export const token = defineVerb({
  name: 'token',
  summary: 'Print the token of the gateway, or replace it.',
  usage: ['[--new]'],
  flags: {
    new: { type: 'boolean', description: 'Generate a new token. The old one stops working.' },
    folder: folderFlag,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  notes: [
    'The token survives restarts. Stdio clients do not need it in their config: they read it from its file. A running\ngateway uses a new token at once. Connected stdio clients stay connected until they or the gateway stop.',
  ],
  examples: [
    { line: 'toolwell token', about: 'print the token' },
    { line: 'toolwell token --new', about: 'replace the token; then update the config of your HTTP clients' },
  ],
  exits: { 0: 'The token was printed.', 2: 'Wrong flags, or an unusable folder.' },
  async run(flags, terminal) {
    const folder = gatewayFolder(flags.folder, terminal)
    const { FolderProblem, preparePrivateFolder, readToken, replaceToken, tokenFileIn } = await import(
      '@toolwell/gateway/bridge'
    )
    try {
      preparePrivateFolder(folder)
      const text = flags.new ? replaceToken(folder) : readToken(folder)
      const answer = flags.json ? JSON.stringify({ token: text, file: tokenFileIn(folder) }) : text
      await terminal.output.write(`${answer}\n`)
      return 0
    } catch (error) {
      if (error instanceof FolderProblem) throw new Problem(error.message, '', { reason: 'folder' })
      throw error
    }
  },
})
