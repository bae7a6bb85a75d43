/** `toolwell login`. What it does is loaded when it is asked for: it brings the MCP client with it. */
import { readServerName, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const login = defineVerb({
  name: 'login',
  summary: 'Log in to a remote MCP server, in the browser.',
  usage: ['SERVER [flags]'],
  takesWords: true,
  flags: {
    config: serverFlags.config,
    browser: {
      type: 'boolean',
      default: true,
      description: 'Only print the address.',
    },
    timeout: {
      type: 'string',
      valueHint: 'TIME',
      description: 'How long to wait for you: 90s, 10m, or a number of seconds. Default 5m.',
    },
    json: { type: 'boolean', description: 'The outcome as JSON.' },
  },
  notes: [
    'The address is printed on standard error, and opened if that is a terminal. Tokens are kept in a file that only you can\nread, and are renewed without you. A program that is already running finds them.',
  ],
  examples: [
    { line: 'toolwell login notes', about: 'the server that the config calls notes' },
    {
      line: 'toolwell login notes --config .mcp.json --no-browser',
      about: 'of another config, without a browser',
    },
  ],
  exits: {
    0: 'You are logged in, or need not be.',
    1: 'You or the server said no, or there was no answer in time.',
    2: 'Wrong arguments, no such server, or one that cannot be logged in to.',
  },
  async run(flags, terminal) {
    const name = readServerName(flags._, 'login')
    const { runLogin } = await import('./run-login.js')
    return runLogin(name, flags, terminal)
  },
})
