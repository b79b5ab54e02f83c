// Settings of workers that make exports. What orders may take is the database's to know
// (system_configuration: export.*), time and memory of one PDF the pipeline's (export.toml).
#include "app/config/schema.h"

namespace millrace::app {

std::vector<SettingSpec> export_specs() {
  using enum SettingType;
  return {
      {.section = "export",
       .key = "enabled",
       .type = boolean,
       .default_value = "true",
       .description = "Workers take orders of exports, where there is a browser"},
      {.section = "export",
       .key = "program",
       .type = text,
       .default_value = "",
       .description = "Browser that prints; default: chromium-headless-shell, else chromium"},
      {.section = "export",
       .key = "browsers",
       .type = integer,
       .default_value = "0",
       .description = "Browsers of a worker, each for one export at a time; 0: one for each "
                      "processor, three at most",
       .min = 0,
       .max = 64},
      {.section = "export",
       .key = "documents_per_browser",
       .type = integer,
       .default_value = "100",
       .description = "Exports after which a browser is replaced by a new one",
       .min = 1,
       .max = 1'000'000},
      {.section = "export",
       .key = "memory_max_mb",
       .type = integer,
       .default_value = "1024",
       .description = "Memory of all browsers of a worker together; above it one that waits is "
                      "ended, or the largest with its export",
       .min = 256,
       .max = 1'000'000},
      {.section = "export",
       .key = "require_confinement",
       .type = boolean,
       .default_value = "false",
       .description = "Start no browser where the kernel refuses one of the walls around it; "
                      "false: start it and warn"},
      {.section = "export",
       .key = "scratch_dir",
       .type = text,
       .default_value = "",
       .description = "Folder for files of browsers; default: scratch/browsers in "
                      "database.data_dir"},
      {.section = "export",
       .key = "template_dirs",
       .type = list,
       .default_value = "",
       .description = "Folders with folders of templates, besides those in the program; a later "
                      "one replaces an earlier one of its name"},
  };
}

}  // namespace millrace::app
