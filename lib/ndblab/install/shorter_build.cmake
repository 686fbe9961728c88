# Shortens the build of NDB's programs. MySQL's CMakeLists.txt includes this file at its beginning
# (CMAKE_PROJECT_<name>_INCLUDE), and CMake calls `shorten` at its end.
# What a data node or a client runs per transaction keeps its flags and its files: there, the
# compiler only reads common headers once.

# Many short files with the same headers, which are compiled together.
set(NDBLAB_JOINED mysys_objlib mytime_objlib ndbsignaldata_objlib ndbmgmapi_objlib ndblogger_objlib)
# Not these: one repeats the default of a parameter, the header of one has no include guard, and one
# needs a variable of MySQL Server.
set(NDBLAB_ALONE my_version.cc my_kdf.cc my_rm_dir_w_symlink.cc)
# Code that runs at start, in messages and at a prompt.
set(NDBLAB_RARE mysys_objlib ndbsignaldata_objlib ndbNDBT)
# Code that runs after a crash, at a prompt, or in no program of NDB (compression of the protocol).
set(NDBLAB_UNUSED zstd_objlib backtrace_objlib edit)
# Names of a target and of the header that most of its files begin with.
set(NDBLAB_HEADERS
    ndbblocks SimulatedBlock.hpp
    ndbapi_objlib API.hpp
    ndbgeneral_objlib ndb_global.h
    ndbNDBT NDBT.hpp
    ndbportlib_objlib ndb_global.h)

function(shorten)
  set_target_properties(${NDBLAB_JOINED} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  list(TRANSFORM NDBLAB_ALONE PREPEND ${CMAKE_SOURCE_DIR}/mysys/)
  set_source_files_properties(${NDBLAB_ALONE} TARGET_DIRECTORY mysys_objlib
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  foreach(target IN LISTS NDBLAB_RARE)
    target_compile_options(${target} PRIVATE -O1)
  endforeach()
  foreach(target IN LISTS NDBLAB_UNUSED)
    target_compile_options(${target} PRIVATE -O0)
  endforeach()
  while(NDBLAB_HEADERS)
    list(POP_FRONT NDBLAB_HEADERS target header)
    target_precompile_headers(${target} PRIVATE <${header}>)
  endwhile()
endfunction()

cmake_language(DEFER CALL shorten)
