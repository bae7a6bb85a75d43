/** The conformance suite imports one function of Node 22 for a part that is not run here; on Node 20 it would not start without it. */
import * as fs from 'node:fs'
import { register } from 'node:module'

const whole = `export * from 'node:fs'
export { default } from 'node:fs'
export const globSync = () => { throw new Error('needs Node 22') }`
const hook = `export function resolve(specifier, context, next) {
  return specifier === 'fs' && !context.parentURL?.startsWith('data:')
    ? { url: ${JSON.stringify(asModule(whole))}, shortCircuit: true }
    : next(specifier, context)
}`

function asModule(text) {
  return `data:text/javascript,${encodeURIComponent(text)}`
}

if (!('globSync' in fs)) register(asModule(hook))
