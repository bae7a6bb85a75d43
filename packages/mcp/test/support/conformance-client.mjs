/** The program that the conformance suite starts: hands its task to the test, which is much faster than starting a host for each. */
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const [test = '', url = ''] = process.argv.slice(2)
// Only logins are tested.
if (!scenario.startsWith('auth/')) process.exit(0)
const response = await fetch(test, {
  method: 'POST',
  body: JSON.stringify({ url, scenario, context: JSON.parse(context) }),
})
if (!response.ok) {
  console.error(await response.text())
  process.exitCode = 1
}
