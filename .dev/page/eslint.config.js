import js from "@eslint/js";
import globals from "globals";

const PAGE = "broker/controls/http/page/**/*.js";

export default [
  { files: [PAGE], ...js.configs.recommended },
  {
    files: [PAGE],
    languageOptions: { globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" },
  },
];
