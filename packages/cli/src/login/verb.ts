/** `toolwell login`: logs in to a remote server. Loads the MCP client only when it runs. */
import { databaseFlag } from '../shared/database.js'
import { readServerName, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const login = defineVerb({
  name: 'login',
  summary: 'Log in to a remote MCP server, in the browser.',
  usage: ['SERVER [flags]'],
  takesWords: true,
  flags: {
    config: serverFlags.config,
    database: databaseFlag,
    browser: {
      type: 'boolean',
      default: true,
      description: 'Print the address without opening a browser.',
    },
    timeout: {
      type: 'string',
      valueHint: 'TIME',
      description: 'How long to wait for you: 90s, 10m, or a number of seconds. Default 5m.',
    },
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  notes: [
    'The address is printed to standard error, and opened in your browser if that is a terminal. Tokens are stored in a file\nthat only you can read, and are renewed automatically. Running programs pick them up.',
  ],
  examples: [
    { line: 'toolwell login notes', about: 'log in to the server called notes in your config' },
    {
      line: 'toolwell login notes --config .mcp.json --no-browser',
      about: 'use another config, and print the address only',
    },
  ],
  exits: {
    0: 'You are logged in, or the server needs no login.',
    1: 'The login was denied or timed out.',
    2: 'Wrong arguments, an unknown server, or a server without login.',
  },
  async run(flags, terminal) {
    const name = readServerName(flags._, 'login')
    const { runLogin } = await import('./run-login.js')
    return runLogin(name, flags, terminal)
  },
})
