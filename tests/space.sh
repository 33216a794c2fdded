#!/usr/bin/env bash
# Push the commit at hand to a Hugging Face Space:  bash tests/space.sh https://huggingface.co/spaces/NAME/SPACE
#
# The Hub accepts binary files and files over 10 MiB only by LFS, in all of the history. So one fresh commit with
# .gitattributes replaces what the Space holds, and README.md begins with the settings of tests/space.yml. Without an address the push goes to a bare repository with the same rules,
# which must reject the history as it is and give back every file of the fresh commit.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v git-lfs >/dev/null || { echo "git-lfs is not available here, so nothing was pushed: apt-get install git-lfs"; exit $#; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
space=${1:-"file://$work/space.git"}

if [ $# = 0 ]; then
  git init -q --bare -b main "$work/space.git"
  cat > "$work/space.git/hooks/pre-receive" <<'HOOK'
#!/usr/bin/env bash
set -o pipefail
empty=$(git hash-object -t tree /dev/null)
while read -r old new ref; do
  git rev-list --objects "$new" | git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' |
    awk '$1 == "blob" && $2 > 10 * 1024 * 1024 { print "larger than 10 MiB: " $3; bad = 1 } END { exit bad }' || exit 1
  git diff --numstat "$empty" "$new" | awk '$1 == "-" { print "binary: " $3; bad = 1 } END { exit bad }' || exit 1
done
HOOK
  chmod +x "$work/space.git/hooks/pre-receive"
  ! git push -q "$space" HEAD:refs/heads/main || { echo "The rules did not reject the history as it is."; exit 1; }
fi

mkdir "$work/fresh"
git archive HEAD | tar -x -C "$work/fresh"
cd "$work/fresh"
# The Hub reads the settings of a Space from the front matter of its README.md; people read README.md without them.
{ cat tests/space.yml; echo; git -C "$OLDPWD" show HEAD:README.md; } > README.md
git init -q -b main
git lfs install --local >/dev/null
# Whatever git takes for binary goes by LFS, with all files of that kind.
git -C "$OLDPWD" diff --numstat "$(git hash-object -t tree /dev/null)" HEAD | sed -n 's/^-.*\./*./p' | sort -u | xargs git lfs track
git add -A
git -c user.name=specviz -c user.email=specviz@localhost commit -qm "specviz $(sed -n 's/__version__ = "\(.*\)"/\1/p' specviz/base/files.py)"
git push --force "$space" main

if [ $# = 0 ]; then
  git init -q -b main "$work/back"
  git -C "$work/back" lfs install --local >/dev/null
  git -C "$work/back" remote add origin "$space"
  git -C "$work/back" pull -q origin main
  diff -r --exclude=.git "$work/fresh" "$work/back"
  head -1 "$work/back/README.md" | grep -qx -- '---' || { echo "README.md does not begin with the settings of the Space."; exit 1; }
  echo "The history as it is was rejected; the fresh commit was accepted and came back whole."
fi
