// Client code of the source documents. Free variables of theirs (supabase, userProfileId …) are
// parameters of a function around it; lines that a requirement forbids are replaced and say so.
import type { SupabaseClient } from '@supabase/supabase-js';

// Guardian v2: upload with idempotency.
export const guardianUpload = (supabase: SupabaseClient, userProfileId: string, timestamp: number) => {
  const uploadFile = async (file: File, userId: string) => {
    const idempotencyKey = `${userId}_${file.name}_${file.size}_${file.lastModified}`;

    // 1. Storage upload (always succeeds)
    const { data: storageData } = await supabase.storage
      .from('medical-docs')
      .upload(`${userId}/${timestamp}_${file.name}`, file);

    // 2. Database record creation (atomic with job enqueuing)
    const { data: shellFile } = await supabase
      .from('shell_files')
      .upsert({
        patient_id: userProfileId,
        storage_path: storageData.path,
        idempotency_key: idempotencyKey,
        status: 'uploaded'
      }, { onConflict: 'idempotency_key' })
      .select('id')
      .single();

    // 3. The source enqueues here, as the user. The row has done it (U-10).

    return shellFile;
  };
  return uploadFile;
};

// Guardian v4: one job of a worker.
export interface Job {
  job_id: string;
  job_type: string;
  job_payload: Record<string, any>;
}

export abstract class GuardianWorkerV4 {
  protected logger = { info: (_message: string, _fields: object) => {} };
  protected supabase: SupabaseClient;
  protected workerId: string;

  constructor(supabase: SupabaseClient, workerId: string) {
    this.supabase = supabase;
    this.workerId = workerId;
  }

  protected abstract processJobByType(job: Job): Promise<any>;
  protected abstract handleJobError(job: Job, error: unknown): Promise<void>;

  async processJob(job: Job) {
    const jobId = job.job_id;
    const estimatedTokens = job.job_payload.estimated_tokens || 1000;
    let actualTokens = 0;
    let apiCapacityAcquired = false;

    try {
      this.logger.info('Processing job', { job_id: jobId, job_type: job.job_type });

      // Update heartbeat using RPC (not direct DB)
      await this.supabase.rpc('update_job_heartbeat', {
        p_job_id: jobId,
        p_worker_id: this.workerId
      });

      // API rate limiting for AI jobs
      if (job.job_type.startsWith('ai_queue')) {
        const hasCapacity = await this.supabase.rpc('acquire_api_capacity', {
          p_provider_name: 'openai',
          p_api_endpoint: 'gpt-4o-mini',
          p_estimated_tokens: estimatedTokens
        });

        if (!hasCapacity.data) {
          await this.supabase.rpc('reschedule_job', {
            p_job_id: jobId,
            p_delay_seconds: 30,
            p_reason: 'api_rate_limit_backpressure',
            p_add_jitter: true
          });
          return;
        }
        apiCapacityAcquired = true;
      }

      // Process and track actual tokens used
      const results = await this.processJobByType(job);
      actualTokens = results.tokens_used || estimatedTokens;

      // Complete job with correlation
      await this.supabase.rpc('complete_job', {
        p_job_id: jobId,
        p_worker_id: this.workerId,
        p_job_result: results
      });

    } catch (error) {
      await this.handleJobError(job, error);
    } finally {
      // Always release API capacity with proper token delta
      if (apiCapacityAcquired) {
        await this.supabase.rpc('release_api_capacity', {
          p_provider_name: 'openai',
          p_api_endpoint: 'gpt-4o-mini',
          p_estimated_tokens: estimatedTokens,
          p_actual_tokens: actualTokens
        });
      }
    }
  }
}

// Export: the repository of export jobs.
export interface ExportJob {
  id: string;
  user_id: string;
  document_id: string;
  format: 'pdf';
  options: Record<string, any>;
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled';
  progress: number;
  attempts: number;
  max_attempts: number;
  run_after: string | null;
  result_url: string | null;
  error_message: string | null;
  created_at: string;
  locked_by?: string;
}

export async function createExportJob(
  supabase: SupabaseClient,
  userId: string,
  documentId: string,
  options: Record<string, any>
): Promise<ExportJob> {
  const { data, error } = await supabase
    .from('export_jobs')
    .insert({
      user_id: userId,
      document_id: documentId,
      format: 'pdf',
      options,
      status: 'pending',
    })
    .select()
    .single();

  if (error) throw error;
  return data;
}

export async function fetchNextJob(
  supabase: SupabaseClient,
  userId?: string
): Promise<ExportJob | null> {
  const { data, error } = await supabase.rpc('fetch_next_export_job', {
    p_user_id: userId,
  });

  if (error) throw error;
  return data?.[0] || null;
}

export function calculateRetryDelay(attempt: number): number {
  const baseDelay = 60; // 1 minute (in seconds)
  const maxDelay = 3600; // 1 hour

  // Exponential: 1min, 2min, 4min, 8min, 16min, 32min, 60min (capped)
  const delay = Math.min(baseDelay * Math.pow(2, attempt - 1), maxDelay);

  // Add jitter (±20%) to prevent thundering herd
  const jitter = delay * 0.2 * (Math.random() - 0.5);

  return Math.round(delay + jitter);
}

export async function failJob(
  supabase: SupabaseClient,
  jobId: string,
  errorMessage: string
): Promise<void> {
  // Fetch job to check attempts
  const { data: job } = await supabase
    .from('export_jobs')
    .select('attempts, max_attempts')
    .eq('id', jobId)
    .single();

  if (!job) throw new Error('Job not found');

  if (job.attempts >= job.max_attempts) {
    // Max retries exceeded - mark as permanently failed
    await supabase
      .from('export_jobs')
      .update({
        status: 'failed',
        error_message: errorMessage,
        completed_at: new Date().toISOString(),
      })
      .eq('id', jobId);
  } else {
    // Schedule retry with exponential backoff
    const retryDelay = calculateRetryDelay(job.attempts);
    const runAfter = new Date(Date.now() + retryDelay * 1000);

    await supabase
      .from('export_jobs')
      .update({
        status: 'pending',
        error_message: errorMessage,
        run_after: runAfter.toISOString(),
      })
      .eq('id', jobId);
  }
}

export async function completeJob(
  supabase: SupabaseClient,
  jobId: string,
  resultUrl: string,
  fileSize: number,
  pageCount: number
): Promise<void> {
  await supabase
    .from('export_jobs')
    .update({
      status: 'completed',
      progress: 100,
      result_url: resultUrl,
      file_size: fileSize,
      page_count: pageCount,
      completed_at: new Date().toISOString(),
    })
    .eq('id', jobId);
}

export async function getJobStatus(
  supabase: SupabaseClient,
  jobId: string,
  userId: string
): Promise<ExportJob | null> {
  const { data, error } = await supabase
    .from('export_jobs')
    .select('*')
    .eq('id', jobId)
    .eq('user_id', userId)
    .single();

  if (error) throw error;
  return data;
}

export async function cancelJob(
  supabase: SupabaseClient,
  jobId: string,
  userId: string
): Promise<void> {
  const { error } = await supabase
    .from('export_jobs')
    .update({ status: 'cancelled', completed_at: new Date().toISOString() })
    .eq('id', jobId)
    .eq('user_id', userId)
    .eq('status', 'pending'); // Can only cancel pending jobs

  if (error) throw error;
}

export async function canProcessMoreJobs(supabase: SupabaseClient): Promise<boolean> {
  const { count } = await supabase
    .from('export_jobs')
    .select('*', { count: 'exact', head: true })
    .eq('status', 'processing');

  return count < 3; // Hard limit of 3 concurrent jobs
}

// Cron job: Reset stuck jobs (runs every 15 minutes). The threshold of the source is a parameter here.
export async function resetStuckJobs(supabase: SupabaseClient, stuckThreshold = 15) {
  const { data: stuckJobs } = await supabase
    .from('export_jobs')
    .select('id, attempts, max_attempts')
    .eq('status', 'processing')
    .lt('started_at', new Date(Date.now() - stuckThreshold * 60 * 1000).toISOString());

  for (const job of stuckJobs) {
    if (job.attempts >= job.max_attempts) {
      // Max retries exceeded - mark as failed
      await supabase
        .from('export_jobs')
        .update({ status: 'failed', error_message: 'Job timed out' })
        .eq('id', job.id);
    } else {
      // Reset to pending for retry
      const retryDelay = calculateRetryDelay(job.attempts);
      await supabase
        .from('export_jobs')
        .update({
          status: 'pending',
          run_after: new Date(Date.now() + retryDelay * 1000).toISOString(),
        })
        .eq('id', job.id);
    }
  }
}

// Export: storage.
export async function uploadExport(
  supabase: SupabaseClient,
  userId: string,
  documentId: string,
  pdfBuffer: Buffer
): Promise<{ path: string; url: string }> {
  const timestamp = Date.now();
  const fileName = `${userId}/${documentId}_${timestamp}.pdf`;

  // Upload to 'exports' bucket
  const { data, error } = await supabase.storage
    .from('exports')
    .upload(fileName, pdfBuffer, {
      contentType: 'application/pdf',
      cacheControl: '3600', // 1 hour cache
      upsert: false, // Never overwrite
    });

  if (error) throw error;

  // Generate signed URL (1-hour expiry for immediate download)
  const { data: signedData } = await supabase.storage
    .from('exports')
    .createSignedUrl(fileName, 3600); // 1 hour

  return {
    path: fileName,
    url: signedData.signedUrl,
  };
}

// Export: a download from the history. apiError and the redirect of the source are values here.
export async function downloadFromHistory(supabase: SupabaseClient, historyId: string, userId: string) {
  const { data: history } = await supabase
    .from('export_history')
    .select('file_path, expires_at, download_count')
    .eq('id', historyId)
    .eq('user_id', userId)
    .single();

  if (!history) return { status: 404, message: 'Export not found' };

  // Check expiry
  if (new Date(history.expires_at) < new Date()) {
    return { status: 410, message: 'Export expired and has been deleted' };
  }

  // Generate fresh signed URL (1 hour)
  const { data: signedData, error } = await supabase.storage
    .from('exports')
    .createSignedUrl(history.file_path, 3600);

  if (error) return { status: 404, message: 'File not found in storage' };

  // Increment download counter
  await supabase
    .from('export_history')
    .update({ download_count: history.download_count + 1 })
    .eq('id', historyId);

  return { status: 302, location: signedData.signedUrl };
}

// Export: the clean-up function.
export async function cleanupExports(supabase: SupabaseClient): Promise<{ deleted: number }> {
  const { data: expiredExports } = await supabase
    .from('export_history')
    .select('id, file_path')
    .lt('expires_at', new Date().toISOString());

  if (!expiredExports?.length) {
    return { deleted: 0 };
  }

  let deletedCount = 0;

  // Delete from storage and database
  for (const exp of expiredExports) {
    try {
      // Delete from storage
      await supabase.storage.from('exports').remove([exp.file_path]);

      // Delete from history
      await supabase.from('export_history').delete().eq('id', exp.id);

      deletedCount++;
    } catch (error) {
      console.error(`Failed to delete export ${exp.id}:`, error);
    }
  }

  return { deleted: deletedCount };
}

export async function checkStorageQuota(
  supabase: SupabaseClient,
  userId: string
): Promise<{ allowed: boolean; usedMB: number; limitMB: number }> {
  const limitMB = 100; // Per user limit

  const { data: userExports } = await supabase
    .from('export_history')
    .select('file_size')
    .eq('user_id', userId)
    .gte('expires_at', new Date().toISOString());

  const totalBytes = userExports.reduce((sum, exp) => sum + (exp.file_size || 0), 0);
  const usedMB = totalBytes / 1024 / 1024;

  return {
    allowed: usedMB < limitMB,
    usedMB: Math.round(usedMB * 100) / 100,
    limitMB,
  };
}

// Export: how a component watches its export. What the component sets is a parameter; so are the
// functions of the browser that the test replaces.
export interface ExportView {
  setProgress(progress: number): void;
  setDownloadUrl(url: string): void;
  setError(message: string): void;
}

// The source's URL carries no credentials: a stream token stands in it (H-04). Its `error` is the
// browser's own event: what the server has to say is `job_error` (H-05).
export const watchExport = (streamUrl: string, { setProgress, setDownloadUrl, setError }: ExportView) => {
  const eventSource = new EventSource(streamUrl);

  eventSource.addEventListener('progress', (e) => {
    const data = JSON.parse(e.data);
    setProgress(data.progress);
  });

  eventSource.addEventListener('completed', (e) => {
    const data = JSON.parse(e.data);
    setDownloadUrl(data.resultUrl);
    eventSource.close();
  });

  eventSource.addEventListener('job_error', (e) => {
    const data = JSON.parse((e as MessageEvent).data);
    setError(data.message);
    eventSource.close();
  });
  return eventSource;
};

export interface Browser {
  fetch(path: string): Promise<Response>;
  setInterval(run: () => Promise<void>, ms: number): ReturnType<typeof setInterval>;
  setTimeout(run: () => void, ms: number): void;
}

export const exportPoller = (
  { fetch, setInterval, setTimeout }: Browser,
  { setProgress, setDownloadUrl }: ExportView
) => {
  // Client polling pattern
  const pollJobStatus = async (jobId: string) => {
    const interval = setInterval(async () => {
      const response = await fetch(`/api/v1/export/job/${jobId}`);
      const { data } = (await response.json()) as any;

      setProgress(data.progress);

      if (['completed', 'failed', 'cancelled'].includes(data.status)) {
        clearInterval(interval);
        if (data.status === 'completed') {
          setDownloadUrl(data.resultUrl);
        }
      }
    }, 1000); // Poll every 1 second

    // Timeout after 60 seconds
    setTimeout(() => clearInterval(interval), 60000);
  };
  return pollJobStatus;
};
