/** A word of a command that is printed for somebody to paste: in quotes where a shell would read more than one out of it. */
export function shellWord(word: string, isWindows = process.platform === 'win32'): string {
  if (isWindows) return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
