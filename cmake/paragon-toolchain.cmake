# Builds C with Paragon: cmake -DCMAKE_TOOLCHAIN_FILE=.../paragon-toolchain.cmake
#
# paragon-cc is looked for beside this file (installed, or in the source tree) and then in PATH; PARAGON_COMPILER names
# another one. Other languages keep their compilers.

find_program(PARAGON_COMPILER paragon-cc
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../target/release"
  DOC "Paragon's C compiler")
if(NOT PARAGON_COMPILER)
  message(FATAL_ERROR "paragon-cc was not found; set PARAGON_COMPILER to its path")
endif()

# Checks are projects of their own that read this file again.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PARAGON_COMPILER)
set(CMAKE_C_COMPILER "${PARAGON_COMPILER}")
