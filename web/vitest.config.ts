import { defineConfig, mergeConfig } from 'vitest/config';
import page from './vite.config';

// The tests share no state, so one thread runs them all: starting a process for each file takes longer than the tests.
export default mergeConfig(page, defineConfig({ test: { pool: 'threads', isolate: false, fileParallelism: false } }));
