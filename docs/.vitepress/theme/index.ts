/** VitePress's own theme without its fonts, our colours, and the stepped picture of one conversation. */
import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import ConversationSteps from './conversation-steps.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('ConversationSteps', ConversationSteps),
} satisfies Theme
