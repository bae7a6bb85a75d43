/** The release server: from the version number to the published release. */
import type { Tool } from '@toolwell/core'
import { groupNames } from './changelog.ts'
import { createPublishReleaseTool } from './publish-release.ts'
import { createPublishRelease } from './publish-release-action.ts'
import { createRelease } from './release-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

const version = (description: string) =>
  text(description, { pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' })
const changelogPath = text('The changelog, relative to the workspace folder.', { default: 'CHANGELOG.md' })
const algorithm = choice(['sha256', 'sha512', 'sha1'], 'How checksums are computed. Prefer sha256.', {
  default: 'sha256',
})
const globs = (description: string, more = {}) =>
  list(text('A glob such as "dist/*.tgz".'), description, more)
const field = list(text('A key.', { minLength: 1 }), 'Keys that lead to the field, outermost first.', {
  minItems: 1,
  examples: [['scripts', 'build']],
})

export function createReleaseTools(store: Store): Tool[] {
  const release = createRelease(store)
  return [
    {
      name: 'bump_version',
      description: prose(
        'Raise the version in a package manifest and in other files that repeat it.',
        'Give either level or exact. If one of the other files does not contain the old version, nothing',
        'is written.',
      ),
      inputSchema: object({
        manifest_path: text('A JSON manifest with a version field, relative to the workspace folder.', {
          default: 'package.json',
        }),
        level: choice(
          ['major', 'minor', 'patch', 'prerelease'],
          'Which part to raise. patch turns 1.4.0-beta.2 into 1.4.0; prerelease counts beta.2 up to beta.3.',
        ),
        exact: version('The new version itself; has to be later than the present one.'),
        prerelease_label: text('Word for a prerelease. Default: the present one, else beta.', {
          pattern: '^[a-z]+$',
          examples: ['alpha', 'rc'],
        }),
        also_update: list(
          object(
            {
              path: text('A file that repeats the version.'),
              text: text('Text around the version, with {version} in its place. Default: the bare version.', {
                default: '{version}',
                examples: ["VERSION = '{version}'"],
              }),
            },
            ['path'],
          ),
          'Further files to keep in step.',
          { maxItems: 20 },
        ),
        indent: integer('Blanks per level when the manifest is written.', {
          minimum: 0,
          maximum: 8,
          default: 2,
        }),
        dry_run: flag('Only report old and new version.', false),
      }),
      annotations: { title: 'Bump version', readOnlyHint: false, destructiveHint: false },
      domain: 'delivery',
      searchHint: 'semver increment npm version',
      execute: release.bumpVersion,
    },
    {
      name: 'edit_manifest',
      description: prose(
        'Set or remove fields of a package manifest without disturbing the others.',
        'Missing objects on the way to a field are made. For the version use bump_version, which also',
        'checks the order.',
      ),
      inputSchema: object({
        path: text('The JSON manifest, relative to the workspace folder.', { default: 'package.json' }),
        set: list(
          object(
            {
              field,
              value: {
                type: ['string', 'number', 'boolean', 'array', 'object', 'null'],
                description: 'The new value. Objects and arrays replace what was there.',
              },
            },
            ['field', 'value'],
          ),
          'Fields to set, in order.',
          { maxItems: 50 },
        ),
        remove: list(field, 'Fields to remove. Those that are missing are passed over.', { maxItems: 50 }),
        sort: list(
          text('Name of a top-level object.'),
          'Objects whose keys to put into alphabetical order.',
          {
            examples: [['dependencies', 'scripts']],
          },
        ),
        create: flag('Make the manifest when it does not exist.', false),
      }),
      annotations: { title: 'Edit manifest', readOnlyHint: false, idempotentHint: true },
      domain: 'delivery',
      aliases: ['update_package_json'],
      searchHint: 'package.json dependencies scripts fields',
      execute: release.editManifest,
    },
    {
      name: 'add_changelog_entry',
      description: prose(
        'Add an entry to the unreleased section of the changelog.',
        'Makes file, section and group when they are missing. Write for people who use the software: what',
        'is different for them, not what was done in the code.',
      ),
      inputSchema: object(
        {
          path: changelogPath,
          group: choice(groupNames, 'Where the entry belongs.'),
          text: text('One or two sentences with a final full stop.', { minLength: 5, maxLength: 600 }),
          issues: list(
            integer('Number of an issue.', { minimum: 1 }),
            'Issues it settles; written as #12 at the end.',
            {
              uniqueItems: true,
            },
          ),
          breaking: flag('Mark it as a change that users must react to.', false),
          impact: object(
            {
              affects: text('Who notices it, without full stop.', {
                examples: ['everyone who exports to CSV'],
              }),
              action: text('What they should do, without full stop.', {
                examples: ['run the export once more'],
              }),
            },
            [],
            { description: 'Consequences, added to the entry as sentences.' },
          ),
        },
        ['group', 'text'],
      ),
      annotations: { title: 'Add changelog entry', readOnlyHint: false, destructiveHint: false },
      domain: 'delivery',
      searchHint: 'keep a changelog history unreleased note',
      execute: release.addChangelogEntry,
    },
    {
      name: 'cut_changelog',
      description: prose(
        'Turn the unreleased section of the changelog into the section of a version.',
        'Fails when there is nothing unreleased, or when the version has a section already.',
      ),
      inputSchema: object(
        {
          path: changelogPath,
          version: version('Version that the entries are released in.'),
          date: text('Day of the release. Default: today.', { format: 'date' }),
          introduction: text('A paragraph to put before the groups.', { maxLength: 2000 }),
          keep_unreleased_heading: flag('Leave an empty unreleased section on top.', true),
          allow_empty: flag('Make the section even without entries.', false),
        },
        ['version'],
      ),
      annotations: { title: 'Cut changelog', readOnlyHint: false, destructiveHint: false },
      domain: 'delivery',
      searchHint: 'finalise changelog version section',
      execute: release.cutChangelog,
    },
    {
      name: 'checksum_artefacts',
      description: prose(
        'Compute checksums of files and write them to a checksum file.',
        'The format "lines" is that of sha256sum and can be checked with verify_artefacts.',
      ),
      inputSchema: object(
        {
          include: globs('Which files of the workspace to take. Hidden ones are never taken.', {
            minItems: 1,
          }),
          exclude: globs('Files to leave out again.'),
          algorithm,
          output_path: text('Where to write, relative to the workspace folder.', {
            default: 'checksums.txt',
          }),
          format: choice(['lines', 'json'], 'lines: checksum and path per line. json: with sizes.', {
            default: 'lines',
          }),
        },
        ['include'],
      ),
      annotations: {
        title: 'Checksum artefacts',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'delivery',
      aliases: ['hash_files'],
      searchHint: 'sha256 digest integrity fingerprint',
      execute: release.checksumArtefacts,
    },
    {
      name: 'verify_artefacts',
      description: prose(
        'Check files against a checksum file.',
        'Reports each file as intact, changed or missing. Files that the checksum file does not list are',
        'not looked at.',
      ),
      inputSchema: object({
        checksum_path: text('The checksum file, relative to the workspace folder.', {
          default: 'checksums.txt',
        }),
        algorithm,
        only: globs('Only check files that match one of these.'),
        stop_at_first_failure: flag('Do not look further once a file is changed or missing.', false),
      }),
      annotations: { title: 'Verify artefacts', readOnlyHint: true },
      domain: 'delivery',
      searchHint: 'sha256 check integrity tampered',
      execute: release.verifyArtefacts,
    },
    {
      name: 'write_release_notes',
      description: prose(
        'Write release notes for people out of the changelog section of a version.',
        'The section must exist: make it with cut_changelog. An existing file is replaced.',
      ),
      inputSchema: object(
        {
          version: version('Version to write about.'),
          changelog_path: changelogPath,
          title: text('Headline. Default: the version.', { maxLength: 120 }),
          introduction: text('A paragraph to begin with, in Markdown.', { maxLength: 3000 }),
          highlights: list(
            object(
              {
                title: text('A few words.', { maxLength: 60 }),
                text: text('What it gives the reader, in a sentence.', { maxLength: 300 }),
              },
              ['title', 'text'],
            ),
            'The things most readers should see, set off above the full list.',
            { maxItems: 5 },
          ),
          groups: list(
            choice(groupNames, 'A group.'),
            'Groups of the changelog to include, in this order. Default: all.',
            {
              uniqueItems: true,
            },
          ),
          upgrade_instructions: text('How to upgrade, in Markdown.'),
          contributors: list(text('A name.'), 'People to thank.', { uniqueItems: true }),
          output_path: text('Where to write. Default: release-notes/ and the version.', {
            pattern: '\\.md$',
          }),
        },
        ['version'],
      ),
      annotations: {
        title: 'Write release notes',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'delivery',
      searchHint: 'announcement what is new summary',
      execute: release.writeReleaseNotes,
    },
    createPublishReleaseTool(createPublishRelease(store, release)),
  ]
}
