# cmake -DCMAKE_TOOLCHAIN_FILE=.../paragon-toolchain.cmake: C is compiled by paragon-cc, found beside this file's installation
# or on PATH; everything else as ever. Paragon changes nothing without optimisation: build with CMAKE_BUILD_TYPE=Release.
find_program(PARAGON_CC paragon-cc
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../target/release")
if(NOT PARAGON_CC)
  message(FATAL_ERROR "paragon-cc not found: put it on PATH or set PARAGON_CC")
endif()
set(CMAKE_C_COMPILER "${PARAGON_CC}")
