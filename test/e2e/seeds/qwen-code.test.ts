import { playSeed } from './play.ts'

playSeed('qwen-code')
