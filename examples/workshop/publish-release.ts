/** The largest definition of the workshop: everything a release can say about itself, in one call. */
import type { Tool } from '@toolwell/core'
import { choice, flag, integer, list, number, object, prose, text } from './schema.ts'

const version = (description: string) =>
  text(description, {
    pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$',
    examples: ['2.4.0', '3.0.0-beta.2'],
  })
const moment = (description: string) =>
  text(description, { format: 'date-time', examples: ['2026-03-02T09:00:00Z'] })
const audiences = ['users', 'developers', 'administrators', 'team']

const artefacts = list(
  object(
    {
      path: text('The file, relative to the workspace folder. It has to exist.', { minLength: 1 }),
      kind: choice(
        [
          'archive',
          'installer',
          'container_image',
          'package',
          'source',
          'documentation',
          'checksums',
          'other',
        ],
        'What sort of file it is.',
        { default: 'archive' },
      ),
      label: text('What people see instead of the file name.', { maxLength: 120 }),
      platform: choice(['any', 'linux', 'macos', 'windows', 'android', 'ios', 'web'], 'Where it runs.', {
        default: 'any',
      }),
      architecture: choice(['any', 'x64', 'arm64', 'x86', 'riscv64'], 'For which processors it was built.', {
        default: 'any',
      }),
      minimum_platform_version: text('Oldest version of the platform on which it works.', {
        examples: ['13.0'],
      }),
      expected_sha256: text('Checksum the file must have. Publishing fails when it differs.', {
        pattern: '^[0-9a-f]{64}$',
      }),
      signature_path: text('File with a detached signature, relative to the workspace folder.'),
      licence: text('SPDX expression, when it differs from that of the project.', {
        examples: ['MIT OR Apache-2.0'],
      }),
    },
    ['path'],
  ),
  'Files that belong to the release. The checksum of each is computed and recorded.',
  { maxItems: 60 },
)

const compatibility = object(
  {
    breaking: flag('Whether users have to change something of theirs.', false),
    upgrade_from: list(version('An earlier version.'), 'Versions from which a direct upgrade was tested.'),
    oldest_supported: version('Oldest version that still gets fixes after this release.'),
    runtimes: list(
      object(
        {
          name: text('Name of the runtime or platform.', { examples: ['node', 'postgresql'] }),
          range: text('Versions that work, as a semantic version range.', { examples: ['>=20.19 <25'] }),
          tested: list(text('A version.'), 'Versions the release was really tested on.'),
        },
        ['name', 'range'],
      ),
      'What the release needs in order to run.',
      { maxItems: 20 },
    ),
    data_migration: object(
      {
        required: flag('Whether stored data must be converted.', false),
        reversible: flag('Whether the conversion can be undone.', true),
        expected_minutes: integer('How long it takes on a typical installation.', { minimum: 0 }),
        instructions_path: text('File with the steps, relative to the workspace folder.'),
      },
      ['required'],
      { description: 'What happens to existing data.' },
    ),
  },
  [],
  { description: 'What people have to know before they upgrade.' },
)

const rollout = object(
  {
    strategy: choice(
      ['immediate', 'staged', 'scheduled'],
      'immediate: everybody at once. staged: a growing share, see stages. scheduled: everybody at starts_at.',
      { default: 'immediate' },
    ),
    starts_at: moment('When the rollout begins. Default: at once.'),
    stages: list(
      object(
        {
          percent: number('Share of users who get the release in this stage.', {
            exclusiveMinimum: 0,
            maximum: 100,
          }),
          after_hours: integer('Hours to wait after the stage before.', { minimum: 0, maximum: 720 }),
          audience: choice([...audiences, 'everyone'], 'Who is included.', { default: 'everyone' }),
          regions: list(
            text('A country code of two letters.', { pattern: '^[A-Z]{2}$' }),
            'Only users in these countries.',
          ),
          gate: object(
            {
              metric: choice(
                ['error_rate', 'crash_free_sessions', 'latency_p95_milliseconds', 'support_requests'],
                'What is watched.',
              ),
              comparison: choice(['at_most', 'at_least'], 'On which side of the threshold it has to stay.'),
              threshold: number(
                'The value to compare with, in the unit of the metric; rates are between 0 and 1.',
              ),
              window_hours: integer('Over how many hours the metric is taken.', {
                minimum: 1,
                maximum: 168,
                default: 24,
              }),
            },
            ['metric', 'comparison', 'threshold'],
            { description: 'Condition for going on to the next stage.' },
          ),
        },
        ['percent'],
      ),
      'For a staged rollout: the stages, with rising percentages.',
      { maxItems: 10 },
    ),
    on_failed_gate: choice(['pause', 'roll_back', 'notify'], 'What to do when a gate is not met.', {
      default: 'pause',
    }),
  },
  [],
  { description: 'How the release reaches its users.' },
)

const approvals = list(
  object(
    {
      approver: text('Name of the person.', { minLength: 1 }),
      role: choice(['maintainer', 'quality', 'security', 'legal', 'product', 'operations'], 'In which role.'),
      decision: choice(['approved', 'rejected', 'abstained'], 'What they decided.'),
      decided_at: moment('When they decided.'),
      comment: text('What they said, in a sentence.', { maxLength: 1000 }),
    },
    ['approver', 'decision'],
  ),
  'Decisions of people. Record only what somebody has really said.',
  { maxItems: 20 },
)

const checks = object(
  {
    manifest_version_matches: flag('The manifest has to carry the version that is published.', true),
    manifest_path: text('The manifest, relative to the workspace folder.', { default: 'package.json' }),
    minimum_approvals: integer('How many approvals there have to be.', {
      minimum: 0,
      maximum: 10,
      default: 0,
    }),
    required_files: list(
      text('A path relative to the workspace folder.'),
      'Files that have to exist, such as a licence.',
    ),
  },
  [],
  { description: 'What has to hold. Every failure is reported, and with any of them nothing is published.' },
)

const announcements = list(
  object(
    {
      medium: choice(['mail', 'blog', 'chat', 'status_page', 'in_product'], 'Where it appears.'),
      audience: choice(audiences, 'For whom it is written.', { default: 'users' }),
      subject: text('Headline. Default: made from the title of the release.', { maxLength: 200 }),
      body: text('The text, in Markdown.', { maxLength: 20000 }),
      language: text('Language of the text, as a BCP 47 tag.', { default: 'en', examples: ['en', 'de-AT'] }),
      publish_at: moment('When it should appear. Default: together with the release.'),
    },
    ['medium'],
  ),
  'Texts that tell people about the release. Each is written to a file.',
  { maxItems: 10 },
)

const rollback = object(
  {
    to_version: version('The version to go back to.'),
    deadline_hours: integer('Up to how many hours after publishing a rollback is possible.', { minimum: 0 }),
    steps: list(text('One step.'), 'What to do, in order.', { maxItems: 20 }),
    contact: text('Whom to call.', { format: 'email' }),
  },
  ['to_version'],
  { description: 'The way back if the release turns out to be bad.' },
)

export function createPublishReleaseTool(execute: NonNullable<Tool['execute']>): Tool {
  return {
    name: 'publish_release',
    description: prose(
      'Publish a version on a channel, with artefacts, rollout plan and announcements.',
      'Runs all checks first and publishes nothing if one of them fails; dry_run reports the failures',
      'without publishing. A version can be published once. The usual order before this call is',
      'bump_version, cut_changelog, checksum_artefacts. What is recorded: a release record with the',
      'checksum of every artefact, the new head of the channel, and one file per announcement.',
    ),
    inputSchema: object(
      {
        version: version('The version to publish.'),
        channel: choice(
          ['stable', 'beta', 'nightly', 'long_term'],
          'Channel on which it becomes the newest version.',
          {
            default: 'stable',
          },
        ),
        title: text('Name of the release for people. Default: the version.', { maxLength: 120 }),
        notes: object(
          {
            source: choice(
              ['changelog', 'file', 'inline'],
              'changelog: the section of this version. file: the file at path. inline: the text in content.',
              { default: 'changelog' },
            ),
            path: text('The changelog or file, relative to the workspace folder.'),
            content: text('The notes themselves, in Markdown.'),
          },
          [],
          { description: 'Where the release notes come from.' },
        ),
        artefacts,
        compatibility,
        rollout,
        approvals,
        checks,
        announcements,
        rollback,
        supersedes: list(version('An earlier version.'), 'Versions that nobody should install any more.'),
        security_fixes: list(
          object(
            {
              identifier: text('Public identifier of the weakness.', { examples: ['CVE-2026-0001'] }),
              severity: choice(['low', 'medium', 'high', 'critical'], 'How bad it is.'),
              summary: text('What an attacker could do, in a sentence.', { maxLength: 500 }),
            },
            ['identifier', 'severity'],
          ),
          'Weaknesses that the release repairs.',
        ),
        metadata: {
          type: 'object',
          description: 'Further facts to record, such as the number of the build.',
          additionalProperties: { type: ['string', 'number', 'boolean'], description: 'The value.' },
        },
        dry_run: flag('Run the checks and report, but publish nothing.', false),
      },
      ['version'],
    ),
    annotations: {
      title: 'Publish release',
      readOnlyHint: false,
      destructiveHint: false,
      openWorldHint: true,
    },
    risk: 'external',
    domain: 'delivery',
    searchHint: 'ship deploy launch rollout distribute',
    guidelines: ['Call it with dry_run first, and publish only what the person you work for has agreed to.'],
    execute,
  }
}
