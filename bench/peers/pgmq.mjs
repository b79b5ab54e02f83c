// A loop over pgmq's functions: read a batch, handle it, delete it. Its SQL is installed beforehand.
import pg from "pg";

export async function install(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select pgmq.create('bench')");
  await client.end();
}

async function connected(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export async function bulk(url) {
  const client = await connected(url);
  return {
    add: (payloads) =>
      client.query({
        name: "send",
        text: "select pgmq.send_batch('bench', $1::jsonb[])",
        values: [payloads.map((payload) => JSON.stringify(payload))],
      }),
    close: () => client.end(),
  };
}

export async function single(url) {
  const client = await connected(url);
  return {
    add: (payload) =>
      client.query({
        name: "send",
        text: "select pgmq.send('bench', $1::jsonb)",
        values: [JSON.stringify(payload)],
      }),
    close: () => client.end(),
  };
}

export const pending = "select count(*)::int as left from pgmq.q_bench";

async function loop(client, config, onJobs) {
  for (;;) {
    const { rows } = await client.query({
      name: "read",
      text: "select msg_id, message from pgmq.read('bench', 60, $1)",
      values: [config.qty],
    });
    if (rows.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      continue;
    }
    onJobs(rows.map((row) => row.message));
    await client.query({
      name: "delete",
      text: "select pgmq.delete('bench', $1::bigint[])",
      values: [rows.map((row) => row.msg_id)],
    });
  }
}

export async function startWorker(url, config, onJobs) {
  for (let i = 0; i < (config.loops ?? 1); ++i) {
    const client = await connected(url);
    loop(client, config, onJobs).catch((error) => {
      console.error(error);
      process.exit(1);
    });
  }
}
