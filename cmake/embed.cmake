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
