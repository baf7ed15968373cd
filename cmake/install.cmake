# What `cmake --install` gives: components runtime, generator, simulator, each with its part of the CMake package.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mlaforge)

# mlaforge_install(PART TARGETS...): the targets as a component with an export file of its own.
function(mlaforge_install part)
  install(TARGETS ${ARGN} EXPORT mlaforge-${part}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${part}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT mlaforge-${part} NAMESPACE mlaforge:: DESTINATION ${package_folder} COMPONENT ${part})
endfunction()

mlaforge_install(runtime mlaforge_runtime mlaforge_runtime_shared)
install(DIRECTORY runtime/include/mlaforge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.h*")
configure_package_config_file(cmake/mlaforge-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/cmake/mlaforge-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cmake/mlaforge-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cmake/mlaforge-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/cmake/mlaforge-config-version.cmake cmake/mlaforge_add_kernels.cmake
  DESTINATION ${package_folder} COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mlaforge COMPONENT runtime)

if(TARGET mlaforge)
  mlaforge_install(generator mlaforge)
  install(DIRECTORY configs templates DESTINATION ${CMAKE_INSTALL_DATADIR}/mlaforge COMPONENT generator)
endif()

if(TARGET mlaforge_simulator_hip)
  mlaforge_install(simulator mlaforge_simulator_hip)
  install(FILES simulator/hip/mlaforge_simulator.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mlaforge COMPONENT simulator)
  # The names of AMD's library, in a folder of their own for LD_LIBRARY_PATH.
  foreach(suffix "" .5 .6 .7)
    set(link ${CMAKE_CURRENT_BINARY_DIR}/cmake/hip-simulator/libamdhip64.so${suffix})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cmake/hip-simulator)
    file(CREATE_LINK ../../libmlaforge_simulator_hip.so ${link} SYMBOLIC)
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_LIBDIR}/mlaforge/hip-simulator COMPONENT simulator)
  endforeach()
endif()
