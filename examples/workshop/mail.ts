/** The mail server: drafts, templates and an outbox. Sent messages become files; none leaves the machine. */
import type { Tool } from '@toolwell/core'
import { createMail } from './mail-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

const id = text('Id of the message, as list_messages returns it.', { pattern: '^message-[0-9]+$' })
const addresses = (description: string, more = {}) =>
  list(
    object(
      {
        email: text('The address.', { format: 'email' }),
        name: text('Name to show with it.', { maxLength: 100 }),
      },
      ['email'],
    ),
    description,
    { maxItems: 100, ...more },
  )
const attachments = (description: string) =>
  list(
    object(
      {
        path: text('File to attach, relative to the workspace folder. It is read when the message is sent.'),
        file_name: text('Name that recipients see. Default: the name of the file.', { maxLength: 120 }),
      },
      ['path'],
    ),
    description,
    { maxItems: 20 },
  )
const importance = choice(['low', 'normal', 'high'], 'How urgent it is shown to be.', { default: 'normal' })
const labels = (description: string) =>
  list(text('A label.', { maxLength: 40 }), description, { uniqueItems: true })

export function createMailTools(store: Store): Tool[] {
  const mail = createMail(store)
  return [
    {
      name: 'create_draft',
      description: prose(
        'Write a mail message and keep it as a draft.',
        'Nothing is sent: show the draft to the person you work for, then call send_draft with its id.',
        'Recipients can be left out for now. Attached files must exist already. To answer a message give',
        'its id in in_reply_to, which joins both to one thread, and repeat the recipients.',
      ),
      inputSchema: object(
        {
          to: addresses('Main recipients.'),
          cc: addresses('Recipients of a copy.'),
          bcc: addresses('Recipients of a copy whom the others do not see.'),
          from: text('Address of the sender. Default: the address of the assistant.', { format: 'email' }),
          reply_to: text('Where answers should go, when not to the sender.', { format: 'email' }),
          subject: text('Subject line.', { minLength: 1, maxLength: 250 }),
          body: object(
            {
              content: text('The text of the message, with greeting and closing.', { minLength: 1 }),
              format: choice(['plain', 'html', 'markdown'], 'How content is to be read.', {
                default: 'plain',
              }),
              signature: text('Lines to put below, set off by a separator.', { maxLength: 1000 }),
            },
            ['content'],
            { description: 'What the message says.' },
          ),
          attachments: attachments('Files to send along.'),
          importance,
          labels: labels('Labels to find the message by. Recipients do not see them.'),
          request_receipt: flag('Ask recipients to confirm that they have read it.', false),
          in_reply_to: text('Id of the message this one answers.', { pattern: '^message-[0-9]+$' }),
          headers: list(
            object(
              {
                name: text('Name of the header.', { pattern: '^X-[A-Za-z0-9-]+$', examples: ['X-Campaign'] }),
                value: text('Its value, on one line.', { maxLength: 500 }),
              },
              ['name', 'value'],
            ),
            'Further headers, of your own making only.',
            { maxItems: 10 },
          ),
        },
        ['subject', 'body'],
      ),
      annotations: { title: 'Create draft', readOnlyHint: false, destructiveHint: false },
      domain: 'communication',
      aliases: ['compose_mail'],
      searchHint: 'email write letter reply message',
      execute: mail.createDraft,
    },
    {
      name: 'update_draft',
      description: prose(
        'Change a draft: text, recipients or attachments.',
        'Only drafts can be changed. What is not mentioned stays as it is.',
      ),
      inputSchema: object(
        {
          id,
          set: object(
            {
              subject: text('New subject line.', { minLength: 1, maxLength: 250 }),
              body: text('New text, instead of the old one.'),
              importance,
              labels: labels('The complete new list of labels.'),
            },
            [],
            { description: 'Fields to replace.' },
          ),
          append_to_body: text('Text to add at the end of the body as it stands.'),
          recipients: object(
            {
              add_to: addresses('Main recipients to add.'),
              add_cc: addresses('Recipients of a copy to add.'),
              add_bcc: addresses('Hidden recipients to add.'),
              remove: list(
                text('An address.', { format: 'email' }),
                'Addresses to remove wherever they stand.',
              ),
            },
            [],
            { description: 'Changes to the recipients.' },
          ),
          attach: attachments('Files to attach as well.'),
          detach: list(text('Name of an attachment, as recipients would see it.'), 'Attachments to remove.'),
        },
        ['id'],
      ),
      annotations: { title: 'Update draft', readOnlyHint: false, destructiveHint: false },
      domain: 'communication',
      searchHint: 'edit email add recipient attach file',
      execute: mail.updateDraft,
    },
    {
      name: 'discard_draft',
      description: prose(
        'Throw a draft away.',
        'It disappears from lists but can still be read, unless it is discarded permanently.',
      ),
      inputSchema: object(
        {
          id,
          permanently: flag('Also erase its text and attachments.', false),
        },
        ['id'],
      ),
      annotations: {
        title: 'Discard draft',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
      },
      domain: 'communication',
      searchHint: 'delete email trash',
      execute: mail.discardDraft,
    },
    {
      name: 'list_messages',
      description: prose(
        'List drafts and sent messages, with the beginning of their text.',
        'All conditions must hold. Discarded drafts appear only when their folder is named.',
      ),
      inputSchema: object({
        folder: choice(['drafts', 'outbox', 'discarded', 'any'], 'Where to look.', { default: 'any' }),
        recipient: text('Only messages to this address, copies included.', { format: 'email' }),
        label: text('Only messages with this label.'),
        contains: text('Only messages with this text in subject or body, in any case.', { minLength: 2 }),
        only_with_attachments: flag('Leave out messages without attachments.', false),
        order: choice(['newest_first', 'oldest_first'], 'Order of the list.', { default: 'newest_first' }),
        preview_characters: integer('How much of each body to show.', {
          minimum: 0,
          maximum: 500,
          default: 80,
        }),
        limit: integer('Most messages to return.', { minimum: 1, maximum: 200, default: 25 }),
      }),
      annotations: { title: 'List messages', readOnlyHint: true },
      domain: 'communication',
      aliases: ['search_messages'],
      searchHint: 'email inbox find sent drafts',
      execute: mail.listMessages,
    },
    {
      name: 'read_message',
      description: prose(
        'Read one message with all its fields, or as it goes over the wire.',
        'With include_thread the messages it answers come along, oldest first.',
      ),
      inputSchema: object(
        {
          id,
          form: choice(
            ['fields', 'source'],
            'fields: structured. source: headers and encoded parts as text.',
            {
              default: 'fields',
            },
          ),
          include_thread: flag('Also return the earlier messages of the thread.', false),
          body_limit: integer('Cut the body after this many characters.', {
            minimum: 100,
            maximum: 200000,
            default: 20000,
          }),
        },
        ['id'],
      ),
      annotations: { title: 'Read message', readOnlyHint: true },
      domain: 'communication',
      searchHint: 'open email view content',
      execute: mail.readMessage,
    },
    {
      name: 'send_draft',
      description: prose(
        'Send a draft to its recipients.',
        'A message that was sent cannot be called back. Safeguards: a limit on the number of recipients',
        'and, if given, a list of allowed domains; when one of them fails, nothing is sent.',
      ),
      inputSchema: object(
        {
          id,
          send_at: text('When to send it. Default: at once.', { format: 'date-time' }),
          most_recipients: integer('Refuse to send to more people than this.', {
            minimum: 1,
            maximum: 300,
            default: 20,
          }),
          allowed_domains: list(
            text('A domain.', { format: 'hostname' }),
            'Refuse addresses outside these domains.',
          ),
        },
        ['id'],
      ),
      annotations: { title: 'Send draft', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
      risk: 'external',
      domain: 'communication',
      aliases: ['send_mail'],
      searchHint: 'email deliver dispatch',
      guidelines: ['Send only what the person you work for has seen, or has told you to send unseen.'],
      execute: mail.sendDraft,
    },
    {
      name: 'create_drafts_from_template',
      description: prose(
        'Write one personal draft per recipient out of a template.',
        'Placeholders such as {{name}} are filled from the values of the recipient, else from',
        'shared_values; name and email are always there. If a value is missing no draft is made, unless',
        'blanks are allowed. The drafts are sent one by one with send_draft.',
      ),
      inputSchema: object(
        {
          template: object(
            {
              subject: text('Subject line, with placeholders.', { minLength: 1, maxLength: 250 }),
              body: text('Text with placeholders. Give this or body_path.'),
              body_path: text('File of the workspace that has the text.'),
              format: choice(['plain', 'html', 'markdown'], 'How the text is to be read.', {
                default: 'plain',
              }),
            },
            ['subject'],
            { description: 'What every message is made from.' },
          ),
          recipients: list(
            object(
              {
                email: text('Address of the recipient.', { format: 'email' }),
                name: text('Name of the recipient.'),
                values: {
                  type: 'object',
                  description: 'Values of placeholders for this recipient.',
                  additionalProperties: { type: ['string', 'number'], description: 'The value.' },
                },
              },
              ['email'],
            ),
            'Who gets a message.',
            { minItems: 1, maxItems: 200 },
          ),
          shared_values: {
            type: 'object',
            description: 'Values of placeholders for everybody.',
            additionalProperties: { type: ['string', 'number'], description: 'The value.' },
          },
          attachments: attachments('Files to send along with every message.'),
          labels: labels('Labels for all the drafts.'),
          on_missing_value: choice(['fail', 'blank'], 'What to do about a placeholder without value.', {
            default: 'fail',
          }),
          preview: flag('Return the filled messages without making drafts.', false),
        },
        ['template', 'recipients'],
      ),
      annotations: { title: 'Create drafts from template', readOnlyHint: false, destructiveHint: false },
      domain: 'communication',
      aliases: ['mail_merge'],
      searchHint: 'newsletter bulk personalised email',
      execute: mail.createDraftsFromTemplate,
    },
  ]
}
