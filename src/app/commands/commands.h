// The command groups: each declares its part of the command line and what it does.
#pragma once

#include "app/cli/command.h"

namespace millrace::app {

void add_up_command(Command& root);
void add_serve_command(Command& root);
void add_worker_command(Command& root);
void add_appserver_command(Command& root);
void add_migrate_commands(Command& root);
void add_psql_command(Command& root);
void add_restore_check_command(Command& root);

void add_enqueue_command(Command& root);
void add_jobs_commands(Command& root);
void add_documents_commands(Command& root);
void add_export_commands(Command& root);
void add_search_command(Command& root);
void add_dlq_commands(Command& root);
void add_batch_commands(Command& root);
void add_cron_commands(Command& root);

void add_queues_commands(Command& root);
void add_limits_commands(Command& root);
void add_pipeline_commands(Command& root);
void add_workers_command(Command& root);
void add_audit_commands(Command& root);
void add_token_commands(Command& root);
void add_tenants_commands(Command& root);
void add_openapi_command(Command& root);
void add_import_command(Command& root);

void add_config_commands(Command& root);
void add_doctor_command(Command& root);
void add_demo_command(Command& root);
void add_bench_commands(Command& root);
void add_completion_command(Command& root);
void add_version_command(Command& root);

}  // namespace millrace::app
