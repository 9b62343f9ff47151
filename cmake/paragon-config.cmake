# For programs that use Paragon's runtime by themselves (docs/runtime.md): find_package(paragon) and
# target_link_libraries(program PRIVATE paragon::runtime). What is built with paragon-cc needs none of this.
#
# The target has the headers' folder, and has the program look for the runtime in the library's folder when it runs: nothing is linked to it.

get_filename_component(PARAGON_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(PARAGON_RUNTIME "${PARAGON_PREFIX}/lib/libparagon_rt.so")
if(NOT TARGET paragon::runtime)
  add_library(paragon::runtime INTERFACE IMPORTED)
  set_target_properties(paragon::runtime PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PARAGON_PREFIX}/include/paragon"
    INTERFACE_LINK_OPTIONS "LINKER:-rpath,${PARAGON_PREFIX}/lib"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
