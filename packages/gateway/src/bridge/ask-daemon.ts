/** Asks a daemon that is known to be ours: for its status, or to stop. Thin: Node alone. */
import { request } from 'node:http'
import type { Found } from './find-daemon.js'

/** The parsed answer. Rejects where there is none. */
export function askDaemon(
  { file, token }: Pick<Extract<Found, { kind: 'running' }>, 'file' | 'token'>,
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
        headers: { Authorization: `Bearer ${token}` },
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
