// Rules for the browser's code: modules that stay small, unused things that are named, and text that is never markup.

import js from '@eslint/js';
import globals from 'globals';

const MARKUP = 'Text comes from models and visitors: write it with textContent or append, never as markup.';

export default [
  { ignores: ['assets/web/base/words.js'] }, // made from assets/words.toml
  js.configs.recommended,
  {
    files: ['assets/web/**/*.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: globals.browser },
    rules: {
      'max-len': ['error', { code: 100, ignoreUrls: true }],
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', { max: 200 }],
      'no-control-regex': 'off',
      'no-eval': 'error',
      'no-nested-ternary': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-shadow': ['error', { builtinGlobals: false }],
      'no-unused-vars': ['error', { args: 'after-used', ignoreRestSiblings: true }],
      'prefer-const': ['error', { destructuring: 'all' }],
      'eqeqeq': 'error',
      'no-restricted-properties': ['error', ...['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map(property => ({ property, message: MARKUP }))],
      'no-restricted-globals': ['error', 'event', 'name', 'status', 'parent', 'top', 'length'],
      'no-restricted-syntax': ['error',
        { selector: 'ExportDefaultDeclaration, ExportAllDeclaration, ImportDefaultSpecifier, ImportNamespaceSpecifier, ExportNamedDeclaration[specifiers.length>0]',
          message: 'Import { names } and export before a declaration: modules are joined by specviz/view/web.py.' },
        { selector: 'AssignmentExpression[left.object.name="window"]', message: 'Parts of the page talk over base/bus.js.' }],
    },
  },
  { files: ['assets/web/tests/**/*.js'], languageOptions: { globals: globals.node }, rules: { 'max-len': ['error', { code: 100, ignoreStrings: true }], 'no-restricted-syntax': 'off' } },
];
