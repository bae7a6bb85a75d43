/** What `publish_release` does: run the checks, then record release, channel and announcements. */

import { formatSection } from './changelog.ts'
import { clock } from './clock.ts'
import { flagIn, type Input, numberIn, objectIn, objectsIn, optionalText, textIn, textsIn } from './input.ts'
import type { createRelease } from './release-store.ts'
import type { Store } from './store.ts'

export function createPublishRelease(store: Store, release: ReturnType<typeof createRelease>) {
  const recordFile = (version: string) => {
    if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
      throw new Error(`"${version}" is no version. Write it like 1.4.0.`)
    return `.release/releases/${version}.json`
  }

  async function notesOf(version: string, notes: Input): Promise<string> {
    const source = textIn(notes, 'source', 'changelog')
    if (source === 'inline') return textIn(notes, 'content')
    if (source === 'file') return store.readText(textIn(notes, 'path'))
    return formatSection(await release.sectionOf(textIn(notes, 'path', 'CHANGELOG.md'), version))
  }

  async function failedChecks(input: Input, version: string): Promise<string[]> {
    const checks = objectIn(input, 'checks')
    const failures: string[] = []
    if (await store.exists(recordFile(version))) failures.push(`${version} is published already`)
    const manifest = textIn(checks, 'manifest_path', 'package.json')
    if (flagIn(checks, 'manifest_version_matches', true) && (await store.exists(manifest))) {
      const found = (await release.readManifest(manifest)).version
      if (found !== version) failures.push(`${manifest} has version ${found}, not ${version}`)
    }
    const needed = numberIn(checks, 'minimum_approvals', 0)
    const approvals = objectsIn(input, 'approvals').filter(
      (approval) => textIn(approval, 'decision') === 'approved',
    )
    if (approvals.length < needed) failures.push(`${approvals.length} of ${needed} approvals are given`)
    for (const artefact of objectsIn(input, 'artefacts')) {
      const path = textIn(artefact, 'path')
      const expected = optionalText(artefact, 'expected_sha256')
      if (!(await store.exists(path))) failures.push(`artefact ${path} is missing`)
      else if (expected !== undefined && (await release.checksumOf(path)) !== expected)
        failures.push(`artefact ${path} does not have the expected checksum`)
    }
    for (const path of textsIn(checks, 'required_files'))
      if (!(await store.exists(path))) failures.push(`${path} is missing`)
    const percents = objectsIn(objectIn(input, 'rollout'), 'stages').map((stage) =>
      numberIn(stage, 'percent'),
    )
    if (percents.some((percent, index) => percent <= (percents[index - 1] ?? 0)))
      failures.push('the percentages of the rollout stages do not rise')
    return failures
  }

  return async (input: Input) => {
    const version = textIn(input, 'version')
    const channel = textIn(input, 'channel', 'stable')
    const failures = await failedChecks(input, version)
    const dryRun = flagIn(input, 'dry_run', false)
    if (failures.length > 0 && !dryRun)
      throw new Error(`Not published: ${failures.join('; ')}. Put that right and call again.`)
    if (dryRun) return { version, channel, published: false, failures }

    const artefacts = await Promise.all(
      objectsIn(input, 'artefacts').map(async (artefact) => ({
        ...artefact,
        sha256: await release.checksumOf(textIn(artefact, 'path')),
      })),
    )
    const channelFile = `.release/channels/${channel}.json`
    const previous = (await store.readJson<{ version: string | null }>(channelFile, { version: null }))
      .version
    const announcements = await Promise.all(
      objectsIn(input, 'announcements').map(async (announcement, index) => {
        const file = `.release/announcements/${version}-${index + 1}-${textIn(announcement, 'medium')}.md`
        const subject = textIn(announcement, 'subject', `${textIn(input, 'title', version)} is out`)
        await store.write(file, `# ${subject}\n\n${textIn(announcement, 'body', '')}\n`)
        return file
      }),
    )
    const { checks: _, dry_run: __, ...given } = input
    const notes = await notesOf(version, objectIn(input, 'notes'))
    const record = recordFile(version)
    await store.writeJson(record, {
      ...given,
      channel,
      notes,
      artefacts,
      previous,
      published_at: clock.now(),
    })
    await store.writeJson(channelFile, { version, previous })
    return { version, channel, published: true, previous, record, announcements, artefacts: artefacts.length }
  }
}
