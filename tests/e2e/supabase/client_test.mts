// What must come of the sources' client code on this server. Environment: SUPABASE_URL, ANON_KEY,
// SERVICE_KEY (a JWT), SECRET_KEY (sb_secret_…), and of two people USER_ID, USER_TOKEN, PROFILE_ID,
// OTHER_ID, OTHER_TOKEN.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@supabase/supabase-js';
import * as sources from './sources.mts';

const env = (name: string): string => {
  const value = process.env[name];
  assert.ok(value, `${name} must be set`);
  return value;
};
const url = env('SUPABASE_URL');
const userId = env('USER_ID');
const otherId = env('OTHER_ID');
const profileId = env('PROFILE_ID');
const quiet = { auth: { persistSession: false, autoRefreshToken: false } };

// A front end: the public key, and the token of whoever is signed in.
const asUser = (token: string) =>
  createClient(url, env('ANON_KEY'), { ...quiet, accessToken: async () => token });
const user = asUser(env('USER_TOKEN'));
const other = asUser(env('OTHER_TOKEN'));
// A server renders for a user: the same, with a header.
const rendered = createClient(url, env('ANON_KEY'), {
  ...quiet,
  global: { headers: { Authorization: `Bearer ${env('USER_TOKEN')}` } },
});
const anon = createClient(url, env('ANON_KEY'), quiet);
const service = createClient(url, env('SERVICE_KEY'), quiet);
const secret = createClient(url, env('SECRET_KEY'), quiet);

const documentId = '0190a000-0000-7000-8000-0000000000d0';
const scan = new File([Buffer.from('%PDF-1.7\na page of a scan\n')], 'scan of hand.pdf', {
  type: 'application/pdf',
  lastModified: 1700000000000,
});

class Worker extends sources.GuardianWorkerV4 {
  done: string[] = [];
  failed: unknown[] = [];
  protected async processJobByType(job: sources.Job) {
    this.done.push(job.job_id);
    return { tokens_used: 10, pages: 1 };
  }
  protected async handleJobError(_job: sources.Job, error: unknown) {
    this.failed.push(error);
  }
  async runOne(types: string[]): Promise<boolean> {
    const { data, error } = await this.supabase.rpc('claim_next_job_v3', {
      worker_id: this.workerId,
      job_types: types,
    });
    assert.equal(error, null);
    if (!data?.length) return false;
    await this.processJob(data[0]);
    return true;
  }
}

// A URL of a stream with a token in it, as EventSource can send no header (H-04).
const streamUrl = async (path: string, token: string) => {
  const reply = await fetch(`${url}/api/v1/stream-tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ path }),
  });
  assert.equal(reply.status, 201);
  const ticket = (await reply.json()) as { token: string };
  return `${url}${path}?token=${encodeURIComponent(ticket.token)}`;
};
const openStream = async (path: string, token: string) => new EventSource(await streamUrl(path, token));
const eventOf = (source: EventSource, name: string) =>
  new Promise<any>((resolve) => {
    source.addEventListener(name, (e) => resolve(JSON.parse((e as MessageEvent).data)), { once: true });
  });

test('an upload makes one file and one job, however often it is repeated', async () => {  // U-03, U-05
  const first = await sources.guardianUpload(user, profileId, 1)(scan, userId);
  assert.match(first.id, /^[0-9a-f-]{36}$/);
  const again = await sources.guardianUpload(user, profileId, 2)(scan, userId);
  assert.equal(again.id, first.id);

  const { data: row } = await rendered.from('shell_files').select('*').eq('id', first.id).single();
  assert.equal(row.status, 'uploaded');
  assert.equal(row.patient_id, profileId);
  assert.equal(row.content_type, 'application/pdf');
  assert.equal(row.storage_path, `${userId}/1_scan of hand.pdf`);
  const { count } = await service
    .from('job_queue')
    .select('*', { count: 'exact', head: true })
    .eq('job_type', 'fast_queue_security')
    .eq('status', 'pending');
  assert.equal(count, 1);
  const { data: job } = await service.from('job_queue').select('job_payload').eq('id', row.job_id).single();
  assert.equal(job.job_payload.shell_file_id, first.id);
});

test('a live stream tells the end of the job that a worker completes by the sources code', async () => {
  const { data: file } = await user.from('shell_files').select('id, job_id').limit(1).single();
  const stream = await openStream(`/api/v1/jobs/${file.job_id}/events`, env('USER_TOKEN'));
  try {
    const snapshot = await eventOf(stream, 'snapshot');
    assert.equal(snapshot.jobId, file.job_id);
    assert.equal(snapshot.status, 'pending');
    const completed = eventOf(stream, 'completed');
    const worker = new Worker(service, 'worker-1');
    assert.equal(await worker.runOne(['fast_queue_security']), true);
    assert.deepEqual(worker.done, [file.job_id]);
    assert.deepEqual(worker.failed, []);
    assert.equal((await completed).jobId, file.job_id);
    assert.equal(await worker.runOne(['fast_queue_security']), false);
  } finally {
    stream.close();
  }
});

test('capacity of a provider is taken and given back by rpc', async () => {
  const { data: jobId, error } = await service.rpc('enqueue_job_v3', {
    job_type: 'ai_queue_pass1',
    job_name: 'pass 1',
    job_payload: { shell_file_id: 'x' },
  });
  assert.equal(error, null);
  const worker = new Worker(secret, 'worker-2');
  assert.equal(await worker.runOne(['ai_queue_pass1']), true);
  assert.deepEqual(worker.done, [jobId]);
  const { data: job } = await service.from('job_queue').select('status, job_result').eq('id', jobId).single();
  assert.equal(job.status, 'completed');
  assert.equal(job.job_result.tokens_used, 10);
});

test('a user enqueues and writes no jobs', async () => {  // U-10, I06
  const enqueued = await user.rpc('enqueue_job_v3', { job_type: 'fast_queue_ocr', job_name: 'x', job_payload: {} });
  assert.equal(enqueued.status, 403);
  assert.equal(enqueued.error.code, '42501');
  await assert.rejects(sources.createExportJob(user, userId, documentId, {}), { code: '42501' });
});

test('an export goes from its job to a download by a signed URL', async () => {  // V-13, V-18
  assert.equal(await sources.canProcessMoreJobs(service), true);
  const job = await sources.createExportJob(service, userId, documentId, { template: 'minimal' });
  assert.equal(job.status, 'pending');
  assert.equal((await sources.getJobStatus(user, job.id, userId)).status, 'pending');
  await assert.rejects(sources.getJobStatus(other, job.id, userId), { code: 'PGRST116' });
  await assert.rejects(sources.cancelJob(user, job.id, userId), { code: '42501' });

  const fetched = await sources.fetchNextJob(service);
  assert.equal(fetched.id, job.id);
  assert.equal(fetched.status, 'processing');
  await sources.resetStuckJobs(service);
  assert.equal((await sources.getJobStatus(user, job.id, userId)).status, 'processing');

  const pdf = Buffer.from('%PDF-1.7\nan export\n');
  const { path, url: link } = await sources.uploadExport(service, userId, documentId, pdf);
  const { data: history, error } = await service
    .from('export_history')
    .insert({
      user_id: userId,
      document_id: documentId,
      format: 'pdf',
      template_slug: 'minimal',
      file_name: 'Résumé.pdf',
      file_path: path,
      file_size: pdf.length,
      job_id: job.id,
      expires_at: new Date(Date.now() + 7 * 24 * 60 * 60 * 1000),
    })
    .select('id')
    .single();
  assert.equal(error, null);
  await sources.completeJob(service, job.id, path, pdf.length, 2);
  const finished = await sources.getJobStatus(user, job.id, userId);
  assert.equal(finished.status, 'completed');
  assert.equal(finished.progress, 100);
  assert.equal(finished.result_url, path);
  // What has ended stays as it is, and whoever looks is told (B08, G08).
  await sources.failJob(service, job.id, 'too late');
  assert.equal((await sources.getJobStatus(user, job.id, userId)).status, 'completed');
  const late = await service.from('export_jobs').update({ status: 'failed', error_message: 'x' }).eq('id', job.id);
  assert.equal(late.error.code, 'MR001');

  // The worker's own link, and one that the user makes from the history.
  assert.equal(await (await fetch(link)).text(), pdf.toString());
  const found = await sources.downloadFromHistory(user, history.id, userId);
  assert.equal(found.status, 302);
  const reply = await fetch(found.location);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/pdf');
  assert.equal(await reply.text(), pdf.toString());
  const { data: counted } = await user.from('export_history').select('download_count').eq('id', history.id).single();
  assert.equal(counted.download_count, 1);
  assert.equal((await sources.downloadFromHistory(other, history.id, otherId)).status, 404);
  const quota = await sources.checkStorageQuota(user, userId);
  assert.equal(quota.allowed, true);
});

test('an export fails, is put back, reports progress and ends by the words of the sources', async () => {  // I06, B08
  const another = '0190a000-0000-7000-8000-0000000000d1';
  const job = await sources.createExportJob(service, userId, another, {});
  const status = () => sources.getJobStatus(user, job.id, userId);
  assert.equal((await sources.fetchNextJob(service)).id, job.id);
  const moved = await service.from('export_jobs').update({ progress: 25 }).eq('id', job.id).select('progress').single();
  assert.equal(moved.data.progress, 25);
  await sources.failJob(service, job.id, 'the template is missing');
  const failed = await status();
  assert.equal(failed.status, 'pending');
  assert.equal(failed.attempts, 1);
  assert.equal(failed.error_message, 'the template is missing');
  assert.ok(new Date(failed.run_after) > new Date());
  // Not due yet: nobody gets it. A user can neither write nor cancel it by the table.
  assert.equal(await sources.fetchNextJob(service), null);
  assert.equal((await user.from('export_jobs').update({ status: 'failed' }).eq('id', job.id)).error.code, '42501');
  assert.equal((await service.from('export_jobs').update({ status: 'cancelled' }).eq('id', job.id)).error.code, '42501');
  assert.equal((await service.rpc('cancel_job', { p_job_id: job.id })).error, null);
  assert.equal((await status()).status, 'cancelled');

  const stuck = await sources.createExportJob(service, userId, '0190a000-0000-7000-8000-0000000000d2', {});
  assert.equal((await sources.fetchNextJob(service)).id, stuck.id);
  await sources.resetStuckJobs(service, -1);
  assert.equal((await sources.getJobStatus(user, stuck.id, userId)).status, 'pending');
  assert.equal((await service.rpc('cancel_job', { p_job_id: stuck.id })).error, null);
});

test('an export is watched and polled to its download, however its worker ends it', async () => {  // H-02, H-05, H-06, X-07
  const authorization = { Authorization: `Bearer ${env('USER_TOKEN')}` };
  for (const title of ['One', 'Other']) {
    const kept = await fetch(`${url}/api/v1/export/documents`, {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title, data: { profile: { name: 'Ada' } } }),
    });
    assert.equal(kept.status, 201);
    const document = ((await kept.json()) as any).data.id;
    const ordered = await fetch(`${url}/api/v1/export/pdf`, {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ documentId: document }),
    });
    assert.equal(ordered.status, 202);
    const { jobId } = ((await ordered.json()) as any).data;

    // The component, which does both here.
    const seen: number[] = [];
    const view = () => {
      let found: (url: string) => void;
      const downloadUrl = new Promise<string>((resolve) => (found = resolve));
      return {
        downloadUrl,
        setProgress: (progress: number) => void seen.push(progress),
        setDownloadUrl: (link: string) => found(link),
        setError: (message: string) => assert.fail(message),
      };
    };
    const watching = view();
    const polling = view();
    const stream = sources.watchExport(
      await streamUrl(`/api/v1/export/job/${jobId}/stream`, env('USER_TOKEN')),
      watching
    );
    await eventOf(stream, 'progress');
    await sources.exportPoller(
      {
        fetch: (path) => fetch(`${url}${path}`, { headers: authorization }),
        // The pace of the test.
        setInterval: (run, ms) => setInterval(run, ms / 50),
        setTimeout: (run, ms) => void setTimeout(run, ms).unref(),
      },
      polling
    )(jobId);

    // The worker.
    const job = await sources.fetchNextJob(service, userId);
    assert.equal(job.id, jobId);
    // The claim is told first, as progress of 0.
    const told: number[] = [];
    const progressed = new Promise<void>((resolve) => {
      stream.addEventListener('progress', (e) => {
        told.push(JSON.parse((e as MessageEvent).data).progress);
        if (told.at(-1) !== 0) resolve();
      });
    });
    await service.from('export_jobs').update({ progress: 75 }).eq('id', jobId);
    await progressed;
    assert.equal(told.at(-1), 75);
    const pdf = Buffer.from(`%PDF-1.7\n${document}\n`);
    const { path, url: link } = await sources.uploadExport(service, userId, document, pdf);
    if (title === 'One') {
      await sources.completeJob(service, jobId, link, pdf.length, 2);
    } else {
      const { error } = await service.rpc('complete_job', {
        p_job_id: jobId,
        p_worker_id: job.locked_by,
        p_job_result: { file_path: path, file_name: 'CV.pdf' },
      });
      assert.equal(error, null);
    }
    for (const found of [await watching.downloadUrl, await polling.downloadUrl]) {
      assert.match(found, /^https?:/);
      assert.equal(await (await fetch(found)).text(), pdf.toString());
    }
    assert.ok(seen.includes(75) && seen.includes(100));
  }
});

test('expired exports are cleaned up by the function for it', async () => {  // H-10
  const row = { user_id: userId, file_name: 'old.pdf', file_path: `${userId}/older.pdf`, file_size: 3, expires_at: '2020-01-01T00:00:00Z' };
  assert.equal((await service.from('export_history').insert(row)).status, 201);
  const { data, error } = await service.functions.invoke('cleanup-exports');
  assert.equal(error, null);
  assert.deepEqual(data, { deleted: 1 });
  assert.notEqual((await user.functions.invoke('cleanup-exports')).error, null);
});

test('buckets are listed and named', async () => {
  const { data: buckets, error } = await user.storage.listBuckets();
  assert.equal(error, null);
  assert.deepEqual(buckets.map((bucket) => bucket.name), ['exports', 'medical-docs']);
  const { data: bucket } = await service.storage.getBucket('exports');
  assert.equal(bucket.public, false);
  assert.notEqual((await user.storage.getBucket('nowhere')).error, null);
});

test('one row is written, or none', async () => {
  const row = (name: string) => ({ user_id: otherId, file_name: name, file_path: `${otherId}/${name}`, file_size: 1 });
  const two = await service.from('export_history').insert([row('a.pdf'), row('b.pdf')]).select().single();
  assert.equal(two.error.code, 'PGRST116');
  assert.equal(two.status, 406);
  assert.deepEqual((await other.from('export_history').select('*')).data, []);
});

test('expired exports are cleaned up, object and row', async () => {  // V-16
  const path = `${userId}/old.pdf`;
  assert.equal((await service.storage.from('exports').upload(path, Buffer.from('old'))).error, null);
  const row = { user_id: userId, file_name: 'old.pdf', file_path: path, file_size: 3, expires_at: '2020-01-01T00:00:00Z' };
  assert.equal((await service.from('export_history').insert(row)).status, 201);
  assert.deepEqual(await sources.cleanupExports(service), { deleted: 1 });
  assert.deepEqual(await sources.cleanupExports(service), { deleted: 0 });
  assert.equal((await user.storage.from('exports').exists(path)).data, false);
});

test('objects are uploaded in every form that the package sends, and read back the same', async () => {
  const bucket = user.storage.from('exports');
  const form = new FormData();
  form.append('file', new Blob(['content'], { type: 'text/plain' }), 'as people call it.txt');
  const forms: [string, any][] = [
    ['form', form],
    ['buffer', Buffer.from('content')],
    ['blob', new Blob(['content'], { type: 'text/plain' })],
    ['text', 'content'],
    ['array', new TextEncoder().encode('content')],
    ['stream', new Blob(['content']).stream()],
  ];
  for (const [name, body] of forms) {
    const stored = await bucket.upload(`${userId}/forms/${name}`, body, { contentType: 'text/plain', duplex: 'half' });
    assert.equal(stored.error, null, name);
    assert.equal(stored.data.path, `${userId}/forms/${name}`);
    assert.equal(stored.data.fullPath, `exports/${userId}/forms/${name}`);
    const read = await bucket.download(`${userId}/forms/${name}`);
    assert.equal(read.error, null, name);
    assert.equal(await read.data.text(), 'content', name);
  }
  const { data: entries } = await bucket.list(`${userId}/forms`, { limit: 2, sortBy: { column: 'name', order: 'asc' } });
  assert.deepEqual(entries.map((entry) => entry.name), ['array', 'blob']);
  assert.equal(entries[0].metadata.size, 7);
  const { data: folders } = await bucket.list(userId);
  assert.ok(folders.some((entry) => entry.name === 'forms' && entry.id === null));
  const { data: info } = await bucket.info(`${userId}/forms/blob`);
  assert.equal(info.size, 7);
  assert.equal((await bucket.exists(`${userId}/forms/blob`)).data, true);
  const { data: gone } = await bucket.remove(forms.map(([name]) => `${userId}/forms/${name}`));
  assert.equal(gone.length, forms.length);
  assert.deepEqual((await bucket.list(`${userId}/forms`)).data, []);
});

test('an object is replaced only by leave, and errors are worded as by Storage', async () => {
  const bucket = user.storage.from('exports');
  const path = `${userId}/once.txt`;
  assert.equal((await bucket.upload(path, 'one')).error, null);
  const duplicate = await bucket.upload(path, 'two');
  assert.equal((duplicate.error as any).statusCode, '409');
  assert.match(duplicate.error.message, /already exists/);
  assert.equal((await bucket.upload(path, 'three', { upsert: true })).error, null);
  assert.equal((await bucket.update(path, 'four')).error, null);
  assert.equal(await (await bucket.download(path)).data.text(), 'four');
  const missing = await bucket.createSignedUrl(`${userId}/none.txt`, 60);
  assert.equal((missing.error as any).statusCode, '404');
  const foreign = await bucket.upload(`${otherId}/mine.txt`, 'x');
  assert.equal((foreign.error as any).statusCode, '403');
  assert.notEqual((await other.storage.from('exports').download(path)).error, null);
  assert.deepEqual((await other.storage.from('exports').remove([path])).data, []);
  assert.notEqual((await anon.storage.from('exports').download(path)).error, null);
  assert.notEqual((await user.storage.from('nowhere').upload(path, 'x')).error, null);
});

test('signed URLs carry names, come in lists, and end', async () => {  // T-13
  const bucket = user.storage.from('exports');
  const path = `${userId}/a name with spaces.txt`;
  assert.equal((await bucket.upload(path, 'signed')).error, null);
  const named = await bucket.createSignedUrl(path, 60, { download: 'for you.txt' });
  const reply = await fetch(named.data.signedUrl);
  assert.match(reply.headers.get('content-disposition'), /attachment.*for you\.txt/);
  assert.equal(await reply.text(), 'signed');
  const { data: list } = await bucket.createSignedUrls([path, `${userId}/none`], 60);
  assert.equal((await fetch(list[0].signedUrl)).status, 200);
  assert.notEqual(list[1].error, null);
  assert.equal(list[1].signedUrl, null);
  // Another object cannot be opened with it.
  assert.equal((await fetch(named.data.signedUrl.replace('a%20name', 'b%20name'))).status, 400);
  // A second is over at some time: asked until then.
  const short = await bucket.createSignedUrl(path, 1);
  let last = await fetch(short.data.signedUrl);
  while (last.status === 200) {
    await last.arrayBuffer();
    last = await fetch(short.data.signedUrl);
  }
  assert.equal(last.status, 400);
  assert.equal(((await last.json()) as any).code, 'ExpiredToken');
});

test('rows are read with filters, order, ranges, counts and aliases', async () => {
  for (let i = 0; i < 5; ++i) {
    const row = { user_id: otherId, file_name: `${i}.pdf`, file_path: `${otherId}/${i}.pdf`, file_size: i };
    assert.equal((await service.from('export_history').insert(row)).error, null);
  }
  const all = () => other.from('export_history');
  const page = await all().select('file_name', { count: 'exact' }).order('file_size', { ascending: false }).range(1, 2);
  assert.deepEqual(page.data.map((row) => row.file_name), ['3.pdf', '2.pdf']);
  assert.equal(page.count, 5);
  assert.equal(page.status, 206);
  const chosen = await all().select('name:file_name').in('file_name', ['0.pdf', '4.pdf']).order('file_name');
  assert.deepEqual(chosen.data, [{ name: '0.pdf' }, { name: '4.pdf' }]);
  const between = await all().select('file_size').gt('file_size', 0).lte('file_size', 2).neq('file_size', 1);
  assert.deepEqual(between.data, [{ file_size: 2 }]);
  const like = await all().select('file_name').like('file_name', '%.pdf').not('file_name', 'ilike', '0%').limit(1).order('file_name');
  assert.deepEqual(like.data, [{ file_name: '1.pdf' }]);
  assert.equal((await all().select('*').is('job_id', null)).data.length, 5);
  const none = await all().select('*').eq('file_name', 'none').maybeSingle();
  assert.equal(none.error, null);
  assert.equal(none.data, null);
  const bad = await all().select('*').eq('id', 'not-a-uuid');
  assert.equal(bad.status, 400);
  assert.equal(bad.error.code, '22P02');
  const unknown = await all().select('nonsense');
  assert.equal(unknown.error.code, '42703');
  assert.equal((await other.from('job_fact').select('*')).error.code, 'PGRST205');
  assert.equal((await other.rpc('pg_sleep', { seconds: 9 })).error.code, 'PGRST202');
  const embedded = await all().select('*, documents(title)');
  assert.equal(embedded.error.code, 'PGRST200');
  assert.equal((await other.from('export_history').delete().eq('user_id', otherId).select()).data.length, 5);
});

test('others see nothing, and nobody sees less', async () => {  // T-02, V-06, V-07
  assert.deepEqual((await other.from('shell_files').select('*')).data, []);
  assert.deepEqual((await other.storage.from('medical-docs').list(userId)).data, []);
  const nobody = await anon.from('shell_files').select('*');
  assert.equal(nobody.data, null);
  assert.equal(nobody.status, 401);
  const wrong = createClient(url, 'not a key', quiet);
  assert.equal((await wrong.from('shell_files').select('*')).status, 401);
});

test('a file is renamed and deleted by its owner', async () => {
  const { data: file } = await user.from('shell_files').select('id, storage_path').limit(1).single();
  const renamed = await user.from('shell_files').update({ file_name: 'hand.pdf' }).eq('id', file.id).select('file_name').single();
  assert.equal(renamed.data.file_name, 'hand.pdf');
  const forged = await user.from('shell_files').update({ status: 'completed' }).eq('id', file.id);
  assert.equal(forged.error.code, '42501');
  assert.deepEqual((await other.from('shell_files').delete().eq('id', file.id).select()).data, []);
  assert.equal((await user.from('shell_files').delete().eq('id', file.id)).status, 204);
  assert.deepEqual((await user.from('shell_files').select('id').eq('id', file.id)).data, []);
  assert.equal((await user.storage.from('medical-docs').exists(file.storage_path)).data, false);
});
