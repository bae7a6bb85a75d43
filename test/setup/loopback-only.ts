/**
 * A vitest setup file that keeps every test on this machine: TCP connections (and so http, fetch and TLS) to anything but
 * loopback or a Unix socket fail at once, before a name is resolved. UDP and child processes are not covered.
 */

import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { isLoopback } from './is-loopback.js'

const PATCHED = Symbol.for('toolwell.loopback-only')

function refusal(host: string): Error {
  return new Error(`Tests may only connect to loopback, not to ${host}`)
}

/** The host in the arguments of `Socket.connect`; undefined for a Unix socket or the default, localhost. */
function hostOf(args: readonly unknown[]): string | undefined {
  const [first, second] = args
  // net.connect passes its arguments as one normalised array: [options, listener].
  if (Array.isArray(first)) return hostOf(first)
  if (typeof first === 'object' && first !== null) {
    const { path, host } = first as { path?: unknown; host?: unknown }
    // http passes `path: null`; only a non-empty path means a Unix socket.
    return path || !host ? undefined : String(host)
  }
  const isPort = typeof first === 'number' || /^\d+$/.test(String(first))
  return isPort && typeof second === 'string' && second !== '' ? second : undefined
}

function patch(): void {
  const connect = net.Socket.prototype.connect as (this: net.Socket, ...args: unknown[]) => net.Socket
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const host = hostOf(args)
    if (host === undefined || isLoopback(host)) return connect.apply(this, args)
    // Like a failing connect: writes wait, and the error follows one tick later, when callers listen for it.
    Object.assign(this, { connecting: true })
    process.nextTick(() => this.destroy(refusal(host)))
    return this
  } as typeof net.Socket.prototype.connect

  const lookup = dns.lookup as (...args: unknown[]) => void
  const lookupPromise = dns.promises.lookup as (...args: unknown[]) => Promise<unknown>
  Object.assign(dns, {
    lookup(...args: unknown[]) {
      const [host, callback] = [args[0], args.at(-1)]
      if (!host || isLoopback(String(host)) || typeof callback !== 'function') return lookup(...args)
      process.nextTick(() => callback(refusal(String(host))))
    },
  })
  Object.assign(dns.promises, {
    async lookup(...args: unknown[]) {
      if (!args[0] || isLoopback(String(args[0]))) return lookupPromise(...args)
      throw refusal(String(args[0]))
    },
  })
  syncBuiltinESMExports()
}

// Once per process: without isolation the setup file runs again for every test file.
if (!(PATCHED in net.Socket.prototype)) {
  Object.defineProperty(net.Socket.prototype, PATCHED, { value: true })
  patch()
}
