# One folder, one library: the words the CMakeLists.txt files of this repository are made of.

# millrace_add_folders(src): adds every folder directly below `parent` that has a CMakeLists.txt.
function(millrace_add_folders parent)
  file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${parent}/*/CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(folder ${list} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endfunction()

# Test code runs once: optimising it takes longer than it can save. What it tests is the library as it ships.
function(_millrace_unoptimised target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O0;-g0>")
endfunction()

# Two precompiled headers, one for libraries and one for test programs, shared by all of their kind:
# parsing Asio and gtest once instead of per file halves a full build. Each is compiled with the
# flags of an ordinary target of its kind, which is what makes it usable there.
function(millrace_precompile)
  if(NOT MILLRACE_PCH)
    return()
  endif()
  set(empty ${CMAKE_BINARY_DIR}/generated/pch.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "" @ONLY)
  # ccache compares contents; without the time stamp equal headers give equal files.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  add_library(millrace_pch STATIC ${empty})
  set_target_properties(millrace_pch PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(millrace_pch PRIVATE ${MILLRACE_ASIO_DEFINITIONS})
  target_link_libraries(millrace_pch PRIVATE Boost::headers Boost::json fmt::fmt Threads::Threads)
  target_precompile_headers(millrace_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/product.h)
  if(MILLRACE_TESTS)
    add_library(millrace_pch_test STATIC ${empty})
    _millrace_unoptimised(millrace_pch_test)
    target_compile_definitions(millrace_pch_test PRIVATE ${MILLRACE_ASIO_DEFINITIONS})
    target_link_libraries(millrace_pch_test PRIVATE
      Boost::headers Boost::json fmt::fmt Threads::Threads GTest::gmock GTest::gtest)
    target_precompile_headers(millrace_pch_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/test.h)
  endif()
endfunction()

# Folder names become targets (base -> millrace_base); real target names stay as they are.
function(_millrace_targets out)
  set(targets)
  foreach(dep IN LISTS ARGN)
    if(dep MATCHES "::" OR dep MATCHES "^millrace_")
      list(APPEND targets ${dep})
    else()
      list(APPEND targets millrace_${dep})
    endif()
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# millrace_library(base DEPS fmt::fmt [PRIVATE_DEPS ...] [TEST_DEPS ...] [SUBFOLDERS handlers]):
# the static library millrace_<name> of every *.cpp here, and <name>_test of every *_test.cpp.
function(millrace_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;PRIVATE_DEPS;TEST_DEPS;SUBFOLDERS")
  _millrace_targets(deps ${arg_DEPS})
  _millrace_targets(private_deps ${arg_PRIVATE_DEPS})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(subfolder IN LISTS arg_SUBFOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${subfolder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  if(sources)
    set(scope PUBLIC)
    add_library(millrace_${name} STATIC ${sources})
    target_link_libraries(millrace_${name} PRIVATE ${private_deps})
    set_target_properties(millrace_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(MILLRACE_PCH)
      target_precompile_headers(millrace_${name} REUSE_FROM millrace_pch)
    endif()
  else()
    set(scope INTERFACE)
    add_library(millrace_${name} INTERFACE)
  endif()
  target_include_directories(millrace_${name} ${scope}
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>)
  target_link_libraries(millrace_${name} ${scope} ${deps})
  set_property(GLOBAL APPEND PROPERTY MILLRACE_LIBRARIES millrace_${name})

  if(tests AND MILLRACE_TESTS)
    millrace_test(${name}_test SOURCES ${tests} DEPS ${name} ${arg_TEST_DEPS})
  endif()
endfunction()

# millrace_test(base_test SOURCES ... DEPS base [POSTGRES] [TIMEOUT 60] [LABELS unit]
# [PROPERTIES name value ...]): a gtest program, one ctest entry per case, each with the properties.
# POSTGRES: needs the throw-away server of tests/support. WHOLE: one entry for all cases, which share
# what is expensive to start: a server, a worker, a browser.
function(millrace_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "POSTGRES;WHOLE" "TIMEOUT;LABELS" "SOURCES;DEPS;PROPERTIES")
  _millrace_targets(deps ${arg_DEPS})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  _millrace_unoptimised(${name})
  target_link_libraries(${name} PRIVATE ${deps} GTest::gmock GTest::gtest)
  if(MILLRACE_PCH)
    target_precompile_headers(${name} REUSE_FROM millrace_pch_test)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_POSTGRES)
    target_link_libraries(${name} PRIVATE millrace_test_support)
    list(APPEND properties FIXTURES_REQUIRED postgres)
    if(NOT arg_LABELS)
      set(arg_LABELS postgres)
    endif()
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    if(NOT arg_LABELS)
      set(arg_LABELS unit)
    endif()
  endif()
  list(APPEND properties LABELS ${arg_LABELS} ${arg_PROPERTIES})
  if(arg_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}." PROPERTIES ${properties})
endfunction()

# millrace_pg_tests([DEPS ...] [EXCEPT names] [TIMEOUT 300]): every *_pg_test.cpp of this folder
# becomes a program of its own, linked with all of src/ except app: adding a test is adding a file.
function(millrace_pg_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TIMEOUT" "DEPS;EXCEPT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  get_property(libraries GLOBAL PROPERTY MILLRACE_LIBRARIES)
  list(REMOVE_ITEM libraries millrace_app)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_pg_test.cpp)
  foreach(test IN LISTS tests)
    get_filename_component(name ${test} NAME_WE)
    if(name IN_LIST arg_EXCEPT)
      continue()
    endif()
    millrace_test(${name} POSTGRES TIMEOUT ${arg_TIMEOUT}
      SOURCES ${test} DEPS ${libraries} ${arg_DEPS})
  endforeach()
endfunction()
