/** `toolwell login` and `toolwell logout`. What they do is loaded when it is asked for: it brings the MCP client with it. */
import { usageProblem } from '../problem.js'
import { serverFlags } from '../servers/flags.js'
import { defineVerb } from '../verb.js'

const { config } = serverFlags
const json = { type: 'boolean', description: 'The outcome as JSON.' } as const

export const login = defineVerb({
  name: 'login',
  summary: 'Log in to a remote MCP server, in the browser.',
  usage: ['SERVER [flags]'],
  flags: {
    config,
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
    json,
  },
  notes: [
    'The address is printed on standard error, and opened if that is a screen. Tokens are kept in a file that only you can\nread, and renewed by themselves. A program that runs already finds them by itself.',
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
    1: 'You, or the server, said no; or nobody answered in time.',
    2: 'Wrong words, no such server, or one that cannot be logged in to.',
  },
  async run(flags, terminal) {
    const name = onlyName(flags._, 'login')
    const { runLogin } = await import('./run-login.js')
    return runLogin(name, flags, terminal)
  },
})

export const logout = defineVerb({
  name: 'logout',
  summary: 'End the login to a remote MCP server, and delete its tokens.',
  usage: ['SERVER [flags]'],
  flags: { config, json },
  examples: [{ line: 'toolwell logout notes', about: 'the server that the config calls notes' }],
  exits: {
    0: 'You are logged out.',
    1: 'There was no login.',
    2: 'Wrong words, or no such server.',
  },
  async run(flags, terminal) {
    const name = onlyName(flags._, 'logout')
    const { runLogout } = await import('./run-logout.js')
    return runLogout(name, flags, terminal)
  },
})

function onlyName(words: readonly string[], verb: string): string {
  const [name = '', ...rest] = words
  if (name === '') throw usageProblem('There is no server.', `Say which: toolwell ${verb} NAME`)
  if (rest.length > 0)
    throw usageProblem(
      `There is one server at a time, not ${words.length}.`,
      'A name with spaces goes into quotes.',
    )
  return name
}
