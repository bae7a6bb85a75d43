/** The seam for results that are too large to send: where they are kept whole. Two drivers: memory, and a folder of files. */

/** A kept result: text, or the bytes of a file. */
export type KeptContent =
  | { readonly text: string }
  | { readonly data: string; readonly mediaType: string; readonly name?: string }

export interface ResultStore {
  /**
   * Keeps a result under the ledger it was given to. The same handle again replaces it. False where there is no room for
   * it: then nothing is kept.
   */
  write(ledger: string, handle: string, content: KeptContent): Promise<boolean>
  /** Undefined where it is not there, or not any more. */
  read(ledger: string, handle: string): Promise<KeptContent | undefined>
  /** Removes everything that is kept under a ledger. None is no mistake. */
  delete?(ledger: string): Promise<void>
}

export interface ResultStoreLimits {
  /** Bytes of everything that is kept; the oldest makes room. */
  readonly maxBytes?: number
  /** Milliseconds after which a result is gone. */
  readonly maxAge?: number
}

/** An estimate that is never too small by much: three bytes at most for each UTF-16 code unit. */
export function sizeOf(content: KeptContent): number {
  if ('data' in content) return content.data.length
  const { text } = content
  let size = text.length
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) size += 2
  return size
}
