// Peer: what a tenant would write on Node: http + node:crypto + pg, a process a core, named prepared statements.
const cluster = require('node:cluster'), http = require('node:http'), crypto = require('node:crypto'), fs = require('node:fs');
const port = +process.env.PORT, workers = +process.env.WORKERS;
if (cluster.isPrimary) {
  process.on('SIGTERM', () => process.exit(0)); // the workers end when their channel closes
  cluster.on('exit', () => process.exit(1));
  for (let i = 0; i < workers; i++) cluster.fork();
  return;
}
process.on('SIGTERM', () => process.exit(0));
const { Pool } = require('pg');
const pool = new Pool({ max: +process.env.POOL });
const text = fs.readFileSync(process.env.MINT_SQL, 'utf8');
const key = crypto.createPrivateKey(fs.readFileSync(process.env.KEY));
const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: 'k1' })).toString('base64url') + '.';

async function mint(body, res) {
  try {
    const { client_id, audience, dpop_jkt } = JSON.parse(body);
    const now = Math.floor(Date.now() / 1000), jti = crypto.randomBytes(16).toString('base64url');
    const r = await pool.query({ name: 'mint', text, values: [client_id, dpop_jkt, jti] });
    if (!r.rows[0].ok) return res.writeHead(429).end();
    const claims = { iss: client_id, sub: client_id, aud: audience, iat: now, exp: now + 60, jti, cnf: { jkt: dpop_jkt } };
    const input = header + Buffer.from(JSON.stringify(claims)).toString('base64url');
    const signature = crypto.sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    const out = JSON.stringify({ client_assertion: input + '.' + signature, jti, expires_in: 60 });
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': out.length }).end(out);
  } catch (e) { res.writeHead(500).end(); }
}

http.createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => mint(body, res));
}).listen({ port, host: '127.0.0.1', backlog: 4096 });
