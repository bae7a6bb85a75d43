/** Messages of the mail server: JSON in `.mail/messages`; sent ones also as `.eml` in `.mail/outbox`. */
import path from 'node:path'
import { clock } from './clock.ts'
import { flagIn, type Input, numberIn, objectIn, objectsIn, optionalText, textIn, textsIn } from './input.ts'
import type { Store } from './store.ts'

interface Address {
  email: string
  name?: string | undefined
}

interface Message {
  id: string
  folder: 'drafts' | 'outbox' | 'discarded'
  from: string
  to: Address[]
  cc: Address[]
  bcc: Address[]
  reply_to?: string | undefined
  subject: string
  body: string
  format: string
  attachments: { path: string; file_name: string }[]
  importance: string
  labels: string[]
  headers: Record<string, string>
  in_reply_to?: string | undefined
  request_receipt: boolean
  send_at?: string | undefined
}

export function createMail(store: Store) {
  const fileOf = (id: string) => {
    if (!/^message-\d+$/.test(id)) throw new Error(`"${id}" is no message id. Take it from list_messages.`)
    return `.mail/messages/${id}.json`
  }
  const save = async (message: Message) => {
    await store.writeJson(fileOf(message.id), message)
    return message
  }

  async function all(): Promise<Message[]> {
    const files = await store.listFiles('.mail/messages')
    const messages = await Promise.all(files.map((file) => load(file.replace('.json', ''))))
    return messages.sort((a, b) => Number(a.id.slice(8)) - Number(b.id.slice(8)))
  }

  async function load(id: string): Promise<Message> {
    const message = await store.readJson<Message | undefined>(fileOf(id), undefined)
    if (!message) throw new Error(`There is no message "${id}". See list_messages.`)
    return message
  }

  async function loadDraft(id: string): Promise<Message> {
    const message = await load(id)
    if (message.folder !== 'drafts')
      throw new Error(`"${id}" is no draft any more (${message.folder}). Write a new one.`)
    return message
  }

  async function attachmentsIn(input: Input, name: string) {
    const attachments = objectsIn(input, name).map((entry) => ({
      path: textIn(entry, 'path'),
      file_name: textIn(entry, 'file_name', path.basename(textIn(entry, 'path'))),
    }))
    for (const attachment of attachments) await store.readBytes(attachment.path)
    return attachments
  }

  async function draft(input: Input): Promise<Message> {
    const answered = optionalText(input, 'in_reply_to')
    if (answered !== undefined) await load(answered)
    const body = objectIn(input, 'body')
    const signature = optionalText(body, 'signature')
    return save({
      id: `message-${(await all()).length + 1}`,
      folder: 'drafts',
      from: textIn(input, 'from', 'assistant@workshop.example'),
      to: addressesIn(input, 'to'),
      cc: addressesIn(input, 'cc'),
      bcc: addressesIn(input, 'bcc'),
      reply_to: optionalText(input, 'reply_to'),
      subject: oneLine(textIn(input, 'subject')),
      body: textIn(body, 'content') + (signature === undefined ? '' : `\n\n-- \n${signature}`),
      format: textIn(body, 'format', 'plain'),
      attachments: await attachmentsIn(input, 'attachments'),
      importance: textIn(input, 'importance', 'normal'),
      labels: textsIn(input, 'labels'),
      headers: Object.fromEntries(
        objectsIn(input, 'headers').map((entry) => [textIn(entry, 'name'), oneLine(textIn(entry, 'value'))]),
      ),
      in_reply_to: answered,
      request_receipt: flagIn(input, 'request_receipt', false),
    })
  }

  async function encode(message: Message): Promise<string> {
    const header = (name: string, value: string | undefined) => (value ? [`${name}: ${value}`] : [])
    const boundary = `part-of-${message.id}`
    const mixed = message.attachments.length > 0
    const type = `text/${message.format}; charset=utf-8`
    const head = [
      ...header('From', message.from),
      ...header('To', message.to.map(written).join(', ')),
      ...header('Cc', message.cc.map(written).join(', ')),
      ...header('Reply-To', message.reply_to),
      ...header('Subject', message.subject),
      ...header('Date', new Date(message.send_at ?? clock.now()).toUTCString()),
      ...header('Message-ID', `<${message.id}@workshop.example>`),
      ...header('In-Reply-To', message.in_reply_to && `<${message.in_reply_to}@workshop.example>`),
      ...header('Importance', message.importance),
      ...header('Disposition-Notification-To', message.request_receipt ? message.from : undefined),
      ...Object.entries(message.headers).flatMap(([name, value]) => header(name, value)),
      'MIME-Version: 1.0',
      `Content-Type: ${mixed ? `multipart/mixed; boundary="${boundary}"` : type}`,
    ]
    if (!mixed) return [...head, '', message.body, ''].join('\r\n')
    const parts = [`--${boundary}`, `Content-Type: ${type}`, '', message.body]
    for (const attachment of message.attachments) {
      const content = (await store.readBytes(attachment.path)).toString('base64').replace(/.{76}/g, '$&\r\n')
      parts.push(
        `--${boundary}`,
        'Content-Type: application/octet-stream',
        'Content-Transfer-Encoding: base64',
      )
      parts.push(`Content-Disposition: attachment; filename="${oneLine(attachment.file_name)}"`, '', content)
    }
    return [...head, '', ...parts, `--${boundary}--`, ''].join('\r\n')
  }

  return {
    createDraft: draft,

    async updateDraft(input: Input) {
      const message = await loadDraft(textIn(input, 'id'))
      const set = objectIn(input, 'set')
      const recipients = objectIn(input, 'recipients')
      const change = (name: 'to' | 'cc' | 'bcc') => {
        const removed = textsIn(recipients, 'remove')
        const added = addressesIn(recipients, `add_${name}`)
        const kept = message[name].filter(
          ({ email }) => !removed.includes(email) && !added.some((one) => one.email === email),
        )
        return [...kept, ...added]
      }
      const detached = textsIn(input, 'detach')
      const added = await attachmentsIn(input, 'attach')
      return save({
        ...message,
        to: change('to'),
        cc: change('cc'),
        bcc: change('bcc'),
        subject: oneLine(textIn(set, 'subject', message.subject)),
        body: textIn(set, 'body', message.body) + textIn(input, 'append_to_body', ''),
        importance: textIn(set, 'importance', message.importance),
        labels: 'labels' in set ? textsIn(set, 'labels') : message.labels,
        attachments: [...message.attachments.filter((one) => !detached.includes(one.file_name)), ...added],
      })
    },

    async discardDraft(input: Input) {
      const message = await loadDraft(textIn(input, 'id'))
      if (flagIn(input, 'permanently', false))
        await save({ ...message, folder: 'discarded', body: '', attachments: [] })
      else await save({ ...message, folder: 'discarded' })
      return { id: message.id, discarded: true }
    },

    async listMessages(input: Input) {
      const folder = textIn(input, 'folder', 'any')
      const [recipient, label] = [optionalText(input, 'recipient'), optionalText(input, 'label')]
      const words = optionalText(input, 'contains')?.toLowerCase()
      const found = (await all())
        .filter((message) => (folder === 'any' ? message.folder !== 'discarded' : message.folder === folder))
        .filter(
          (message) =>
            recipient === undefined || recipientsOf(message).some(({ email }) => email === recipient),
        )
        .filter((message) => label === undefined || message.labels.includes(label))
        .filter(
          (message) =>
            words === undefined || `${message.subject}\n${message.body}`.toLowerCase().includes(words),
        )
        .filter((message) => !flagIn(input, 'only_with_attachments', false) || message.attachments.length > 0)
      if (textIn(input, 'order', 'newest_first') === 'newest_first') found.reverse()
      const messages = found.slice(0, numberIn(input, 'limit', 25)).map((message) => ({
        id: message.id,
        folder: message.folder,
        to: message.to.map(({ email }) => email),
        subject: message.subject,
        labels: message.labels,
        preview: message.body.slice(0, numberIn(input, 'preview_characters', 80)),
      }))
      return { total: found.length, messages }
    },

    async readMessage(input: Input) {
      const message = await load(textIn(input, 'id'))
      if (textIn(input, 'form', 'fields') === 'source') return encode(message)
      const limit = numberIn(input, 'body_limit', 20000)
      const shown = { ...message, body: message.body.slice(0, limit), truncated: message.body.length > limit }
      if (!flagIn(input, 'include_thread', false)) return shown
      const thread: { id: string; subject: string; body: string }[] = []
      for (let id = message.in_reply_to; id !== undefined; ) {
        const earlier = await load(id)
        thread.unshift({ id, subject: earlier.subject, body: earlier.body })
        id = earlier.in_reply_to
      }
      return { ...shown, thread }
    },

    async sendDraft(input: Input) {
      const message = await loadDraft(textIn(input, 'id'))
      const recipients = recipientsOf(message)
      if (recipients.length === 0)
        throw new Error(`"${message.id}" has no recipients. Add some with update_draft.`)
      const limit = numberIn(input, 'most_recipients', 20)
      if (recipients.length > limit)
        throw new Error(`There are ${recipients.length} recipients. Raise most_recipients if that is meant.`)
      const domains = textsIn(input, 'allowed_domains')
      const outside = recipients.find(
        ({ email }) => domains.length > 0 && !domains.includes(email.split('@')[1] ?? ''),
      )
      if (outside)
        throw new Error(
          `${outside.email} is outside the allowed domains. Remove the address or allow its domain.`,
        )
      const sent = await save({
        ...message,
        folder: 'outbox',
        send_at: textIn(input, 'send_at', clock.now()),
      })
      const file = `.mail/outbox/${message.id}.eml`
      await store.write(file, await encode(sent))
      return { id: message.id, file, recipients: recipients.map(({ email }) => email), send_at: sent.send_at }
    },

    async createDraftsFromTemplate(input: Input) {
      const template = objectIn(input, 'template')
      const file = optionalText(template, 'body_path')
      const body = file === undefined ? textIn(template, 'body') : await store.readText(file)
      const shared = objectIn(input, 'shared_values')
      const letters = objectsIn(input, 'recipients').map((recipient) => {
        const values = {
          ...shared,
          email: recipient.email,
          name: recipient.name,
          ...objectIn(recipient, 'values'),
        }
        return {
          to: [{ email: textIn(recipient, 'email'), name: optionalText(recipient, 'name') }],
          subject: fill(textIn(template, 'subject'), values, input),
          body: { content: fill(body, values, input), format: textIn(template, 'format', 'plain') },
          attachments: input.attachments,
          labels: textsIn(input, 'labels'),
        }
      })
      if (flagIn(input, 'preview', false)) return { created: [], previews: letters }
      const created: string[] = []
      for (const letter of letters) created.push((await draft(letter)).id)
      return { created, previews: [] }
    },
  }
}

const oneLine = (value: string) => value.replace(/[\r\n]+/g, ' ')
const written = ({ email, name }: Address) =>
  oneLine(name === undefined ? email : `"${name.replaceAll('"', '')}" <${email}>`)
const recipientsOf = (message: Message) => [...message.to, ...message.cc, ...message.bcc]

function addressesIn(input: Input, name: string): Address[] {
  return objectsIn(input, name).map((entry) => ({
    email: textIn(entry, 'email'),
    name: optionalText(entry, 'name'),
  }))
}

/** Fills `{{placeholder}}`s; what has no value stops the whole batch unless blanks were asked for. */
function fill(template: string, values: Input, input: Input): string {
  return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, key: string) => {
    const value = values[key]
    if (value !== undefined && value !== null) return String(value)
    if (textIn(input, 'on_missing_value', 'fail') === 'blank') return ''
    throw new Error(
      `The template needs a value for "${key}". Add it to values or shared_values. No draft was made.`,
    )
  })
}
