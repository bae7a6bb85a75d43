/** A server that tells all it knows, in its log and in its definitions. With `--dies` it ends after the log. */
import { tell } from './told.mjs'

const { argv, env } = process
const { log, ...definition } = tell({
  args: argv.slice(3),
  argv,
  env: Object.values(env),
  cwd: process.cwd(),
  most: 40,
})
process.stderr.write(`${log}\n`)
if (argv.includes('--dies')) process.exit(3)
argv[2] = JSON.stringify(definition)
await import(new URL('../../../mcp/test/support/odd-server.mjs', import.meta.url).href)
