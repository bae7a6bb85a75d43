/**
 * A server that tells all it knows: its arguments, its environment and its folder go to standard error, into its
 * instructions and into a tool. With `--dies` it ends after that.
 */
const told = [...process.argv.slice(2), ...Object.values(process.env), process.cwd()].join('\n')
process.stderr.write(`Error: ${told}\n${JSON.stringify(process.argv)}\n${told.replaceAll('\n', ' ')}\n`)
if (process.argv.includes('--dies')) process.exit(3)
const description = `Started with ${process.argv.slice(3).join(' ')} and ${Object.values(process.env).join(' ')}.`
const tool = { name: 'tell', description, inputSchema: { type: 'object' } }
process.argv[2] = JSON.stringify({ tools: [tool], instructions: told })
await import(new URL('../../../mcp/test/support/odd-server.mjs', import.meta.url).href)
