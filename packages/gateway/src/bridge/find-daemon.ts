/** Finds the daemon and checks its identity without revealing the key. Uses only Node. */
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { createProof, isSame, readDaemonFile } from './folder.js'
import { isAlive, isDaemon } from './processes.js'
import type { DaemonFile, Identity } from './protocol.js'

export type Found =
  | { readonly kind: 'running'; readonly file: DaemonFile }
  /** No file, or its process is gone. `stranger`: another program now has that process id. */
  | { readonly kind: 'none'; readonly stranger?: number }
  /** The daemon runs but does not answer. */
  | { readonly kind: 'silent'; readonly file: DaemonFile }

/** Most milliseconds for the whole identity request. */
const PATIENCE = 2000

export async function findDaemon(folder: string, patience = PATIENCE): Promise<Found> {
  const file = readDaemonFile(folder)
  if (!file) return { kind: 'none' }
  const none = async (): Promise<Found> =>
    isAlive(file.pid) && !(await isDaemon(file)) ? { kind: 'none', stranger: file.pid } : { kind: 'none' }
  const challenge = randomBytes(16).toString('hex')
  const answer = await ask(file.port, `/identity?challenge=${challenge}`, patience)
  if (answer === 'refused') return none()
  if (answer === 'late') return (await isDaemon(file)) ? { kind: 'silent', file } : none()
  // Another program may have the port.
  const { instance, proof } = answer as Partial<Identity>
  if (instance !== file.instance || typeof proof !== 'string') return none()
  if (!isSame(proof, createProof(file.key, { ...file, challenge }))) return none()
  return { kind: 'running', file }
}

/** Resolves with `late` after `patience`: an unknown program on the port could send a byte at a time for hours. */
function ask(port: number, path: string, patience: number): Promise<unknown> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > 10_000) asked.destroy()
      })
      response.on('error', () => resolve('refused'))
      response.on('close', () => {
        try {
          resolve(JSON.parse(text) ?? {})
        } catch {
          resolve({})
        }
      })
    })
    const deadline = setTimeout(() => {
      resolve('late')
      asked.destroy()
    }, patience)
    asked.on('close', () => clearTimeout(deadline))
    asked.on('error', () => resolve('refused'))
    asked.end()
  })
}

/** Asks a verified daemon, for example for its status. Returns the parsed answer. */
export function askDaemon(
  { file }: Pick<Extract<Found, { kind: 'running' }>, 'file'>,
  method: 'GET' | 'POST',
  path: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port: file.port,
        method,
        path,
        agent: false,
        headers: { Authorization: `Bearer ${file.key}` },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
        })
        response.on('error', reject)
        response.on('end', () => {
          try {
            resolve(JSON.parse(text))
          } catch (error) {
            reject(error)
          }
        })
      },
    )
    asked.on('error', reject)
    asked.end()
  })
}
