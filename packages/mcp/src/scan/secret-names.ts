/** Names under which secrets lie in an environment: `AWS_SECRET_ACCESS_KEY`, `$GITHUB_TOKEN`. */

/** In capitals, as environments have them, with an ending that only secrets have. */
const NAME =
  /(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,5}_(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|MNEMONIC|SEED_PHRASE)(?:S|_ID)?(?![A-Za-z0-9_])/
/** What a shell or a template puts the value for. */
const REFERENCE =
  /\$\{?\{?\s{0,2}(?:env[.:]|process\.env\.|secrets\.)?[A-Z][A-Z0-9_]{2,60}|process\.env(?:\.|\[["'])\w{2,60}|os\.environ(?:\.get)?[([]|%[A-Z][A-Z0-9_]{2,60}%|\$env:[A-Z][A-Z0-9_]{2,60}|\bgetenv\(/i

export function secretNameIn(text: string): string | undefined {
  return text.includes('_') ? NAME.exec(text)?.[0] : undefined
}

/** The name, where the text stands for its value. */
export function secretReferenceIn(text: string): string | undefined {
  return REFERENCE.test(text) ? secretNameIn(text) : undefined
}

/** Is the tool about whatever the secret belongs to: its service, or secrets themselves? */
export function isAboutSecret(subject: string, name: string): boolean {
  const service = name.toLowerCase().split('_')[0] ?? ''
  return (
    subject.toLowerCase().includes(service) ||
    /\b(?:secrets?|environment|env|variables?|credentials?|tokens?|keys?|vault|auth\w*|deploy\w*|ci|log ?in|sign|config\w*|workflow|container|lambda|function)\b/i.test(
      subject,
    )
  )
}
