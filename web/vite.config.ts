import { defineConfig } from 'vite';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2021',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        // The charts are the largest part and change least.
        manualChunks: (id: string) => (/node_modules\/(@observablehq|d3|isoformat|interval-tree)/.test(id) ? 'charts' : undefined),
      },
    },
    chunkSizeWarningLimit: 600,
  },
  // Keeps the Host header of the page, because the server refuses requests from other sites.
  // The examples of the pages are files of the repository.
  server: { fs: { allow: ['..'] }, proxy: { '/api': { target: 'http://127.0.0.1:8477', changeOrigin: false }, '/metrics': { target: 'http://127.0.0.1:8477', changeOrigin: false } } },
});
