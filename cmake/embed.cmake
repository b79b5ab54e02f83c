# millrace_embed_sql(dir): target millrace_sql, every *.sql file below `dir` inside the program.
#
# An assembler file with .incbin is instant, read-only and safe with ccache (#embed is not: a
# changed file gives the old object). Adding a file re-runs CMake, changing one the assembler.
function(millrace_embed_sql dir)
  file(GLOB_RECURSE files RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/*.sql)
  list(SORT files)
  set(out ${CMAKE_BINARY_DIR}/generated)
  set(assembly "    .section .rodata\n")
  set(declarations "")
  set(rows "")
  set(depends)
  set(count 0)
  foreach(file IN LISTS files)
    string(APPEND assembly
      "    .balign 16\n    .globl millrace_sql_${count}_begin\nmillrace_sql_${count}_begin:\n"
      "    .incbin \"${dir}/${file}\"\n"
      "    .globl millrace_sql_${count}_end\nmillrace_sql_${count}_end:\n    .byte 0\n")
    string(APPEND declarations
      "extern const char millrace_sql_${count}_begin[];\n"
      "extern const char millrace_sql_${count}_end[];\n")
    string(APPEND rows
      "      {\"${file}\", text(millrace_sql_${count}_begin, millrace_sql_${count}_end)},\n")
    list(APPEND depends ${dir}/${file})
    math(EXPR count "${count} + 1")
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",%progbits\n")

  set(MILLRACE_SQL_DECLARATIONS "${declarations}")
  set(MILLRACE_SQL_ROWS "${rows}")
  set(MILLRACE_SQL_COUNT ${count})
  file(CONFIGURE OUTPUT ${out}/sql_files.S CONTENT "${assembly}" @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/sql_files.cpp.in ${out}/sql_files.cpp @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/sql_files.h.in ${out}/sql_files.h @ONLY)
  set_source_files_properties(${out}/sql_files.S PROPERTIES OBJECT_DEPENDS "${depends}")

  add_library(millrace_sql STATIC ${out}/sql_files.S ${out}/sql_files.cpp)
  target_include_directories(millrace_sql PUBLIC $<BUILD_INTERFACE:${out}>)
  set_target_properties(millrace_sql PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# millrace_embed_files(pipelines dir pattern): target millrace_embedded_pipelines, the files of `dir`
# that match inside the program; millrace::embedded::pipelines() of "embedded/pipelines.h" has them.
function(millrace_embed_files name dir pattern)
  file(GLOB files RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/${pattern})
  list(SORT files)
  set(out ${CMAKE_BINARY_DIR}/generated/embedded)
  set(assembly "    .section .rodata\n")
  set(declarations "")
  set(rows "")
  set(depends)
  set(count 0)
  foreach(file IN LISTS files)
    set(symbol millrace_${name}_${count})
    string(APPEND assembly
      "    .balign 16\n    .globl ${symbol}_begin\n${symbol}_begin:\n"
      "    .incbin \"${dir}/${file}\"\n"
      "    .globl ${symbol}_end\n${symbol}_end:\n    .byte 0\n")
    string(APPEND declarations
      "extern const char ${symbol}_begin[];\nextern const char ${symbol}_end[];\n")
    string(APPEND rows "      {\"${file}\", text(${symbol}_begin, ${symbol}_end)},\n")
    list(APPEND depends ${dir}/${file})
    math(EXPR count "${count} + 1")
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",%progbits\n")

  set(MILLRACE_EMBEDDED_NAME ${name})
  set(MILLRACE_EMBEDDED_DECLARATIONS "${declarations}")
  set(MILLRACE_EMBEDDED_ROWS "${rows}")
  set(MILLRACE_EMBEDDED_COUNT ${count})
  file(CONFIGURE OUTPUT ${out}/${name}.S CONTENT "${assembly}" @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_files.cpp.in ${out}/${name}.cpp @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_files.h.in ${out}/${name}.h @ONLY)
  set_source_files_properties(${out}/${name}.S PROPERTIES OBJECT_DEPENDS "${depends}")

  add_library(millrace_embedded_${name} STATIC ${out}/${name}.S ${out}/${name}.cpp)
  target_include_directories(millrace_embedded_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>)
  set_target_properties(millrace_embedded_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
