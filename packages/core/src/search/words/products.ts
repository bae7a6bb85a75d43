/** Products and services that people ask for by name: what does not know the name does something else. */

/** Only names that are no word of their own: "zoom", "box" and "teams" are not here. */
const products: ReadonlySet<string> = new Set(
  `adyen airbnb airtable alexa aliexpress asana atlassian auth0 bamboohr basecamp bigquery bitbucket bitly
  bloomberg braintree calendly canva circleci clickup cloudflare confluence coursera craigslist databricks datadog
  deezer deliveroo digitalocean discord docusign doordash dropbox duolingo ebay etsy eventbrite evernote expedia
  facebook fastmail fedex figma firebase fitbit freshdesk garmin github gitlab gmail godaddy gofundme grafana
  grubhub heroku hotjar hubspot icloud imdb instagram jenkins jira kickstarter klarna lastpass launchdarkly
  linkedin lyft mailchimp mailgun mapbox mastodon mixpanel n8n netflix netlify newrelic notion okta onedrive
  onenote opentable pagerduty patreon paypal photoshop pinterest pipedrive playstation postman quickbooks reddit
  revolut robinhood salesforce sendgrid sentry servicenow sharepoint shopify skype slack snapchat soundcloud
  splunk spotify squarespace stackoverflow strava stripe supabase surveymonkey tableau telegram ticketmaster
  tiktok tinder todoist trello tripadvisor trustpilot tumblr twilio twitch twitter typeform uber udemy vercel
  vimeo webex webflow wechat whatsapp wikipedia wix woocommerce wordpress xbox xero yelp youtube zapier zendesk
  zillow zoho`.split(/\s+/),
)

/** `word` is in lower case. */
export function isProduct(word: string): boolean {
  return products.has(word)
}
